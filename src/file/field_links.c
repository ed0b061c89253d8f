/* Parents of stored fields; see field_links.h.
 *
 * Two kinds of stored fields are no fields of the tree: what is below a v2 blob in manifests, and
 * the descriptor that footers list behind one, with ids and parents of -1. Format facts: schema to
 * columns, blobs.
 */
#include "field_links.h"

#include <inttypes.h>
#include <stdlib.h>

#include "field_metadata.h"
#include "lance/file.pb-c.h"
#include "util/macros.h"

#define TOP_LEVEL (-1)

struct place {
	int32_t id;
	size_t index;
};

static int
compare(const void *left, const void *right)
{
	const struct place *a = left;
	const struct place *b = right;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* The first field with the id, or count. */
static size_t
find_first(const struct place *places, size_t count, int32_t id)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && places[low].id == id ? places[low].index : count;
}

static void
append(struct field_links *links, size_t *first, size_t *last, size_t *count, size_t index)
{
	if (*count == 0)
		*first = index;
	else
		links->nodes[*last].next = index;
	*last = index;
	++*count;
}

/* What is known of the stored fields before. */
struct seen {
	bool is_blob; /* of v2: nothing below it is read */
	bool is_out;  /* no part of the tree, nor is what it holds */
};

static int
link_all(struct field_links *links, struct Lance__File__Field *const *stored, size_t count,
	const struct place *places, struct seen *seen, struct lancet_error *err)
{
	bool behind_blob = false;

	for (size_t i = 0; i < count; i++) {
		const Lance__File__Field *field = stored[i];
		struct field_link *parent;
		size_t above;

		if (behind_blob && field->id == -1 && field->parent_id == TOP_LEVEL) {
			seen[i].is_out = true;
			continue;
		}
		seen[i].is_blob = behind_blob = field_metadata_is_blob_v2(field);
		if (field->parent_id == TOP_LEVEL) {
			append(links, &links->first_root, &links->last_root, &links->root_count, i);
			continue;
		}
		above = find_first(places, count, field->parent_id);
		if (above >= i)
			return lancet_fail(err, LANCET_CORRUPT,
				"field %" PRId32 ": its parent %" PRId32 " is no earlier field",
				field->id, field->parent_id);
		seen[i].is_out = seen[above].is_out || seen[above].is_blob;
		parent = &links->nodes[above];
		if (!seen[i].is_out)
			append(links, &parent->first_child, &parent->last_child,
				&parent->child_count, i);
	}
	return LANCET_OK;
}

int
field_links_init(struct field_links *links, struct Lance__File__Field *const *stored, size_t count,
	struct lancet_error *err)
{
	lancet_autofree struct place *places = calloc(count + 1, sizeof(*places));
	lancet_autofree struct seen *seen = calloc(count + 1, sizeof(*seen));
	struct field_links made = { .nodes = calloc(count + 1, sizeof(*made.nodes)) };
	int rc;

	if (places == NULL || seen == NULL || made.nodes == NULL) {
		free(made.nodes);
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu fields", count);
	}
	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){ stored[i]->id, i };
	qsort(places, count, sizeof(*places), compare);
	rc = link_all(&made, stored, count, places, seen, err);
	if (rc != LANCET_OK) {
		free(made.nodes);
		return rc;
	}
	*links = made;
	return LANCET_OK;
}

void
field_links_release(struct field_links *links)
{
	free(links->nodes);
	*links = (struct field_links){ 0 };
}
