/* Parents of stored fields; see field_links.h.
 *
 * Two kinds of stored fields are no fields of the tree: what is below a v2 blob in manifests, and
 * the descriptor that footers list behind one, with ids and parents of -1. Format facts: schema to
 * columns, blobs.
 */
#include "field_links.h"

#include <stdlib.h>

#include "field_metadata.h"
#include "field_parents.h"
#include "lance/file.pb-c.h"
#include "util/macros.h"

#define TOP_LEVEL (-1)

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

static void
link_all(struct field_links *links, struct Lance__File__Field *const *stored, size_t count,
	const size_t *parents, struct seen *seen)
{
	bool behind_blob = false;

	for (size_t i = 0; i < count; i++) {
		const Lance__File__Field *field = stored[i];
		size_t above = parents[i];
		struct field_link *parent;

		if (behind_blob && field->id == -1 && field->parent_id == TOP_LEVEL) {
			seen[i].is_out = true;
			continue;
		}
		seen[i].is_blob = behind_blob = field_metadata_is_blob_v2(field);
		if (above == count) {
			append(links, &links->first_root, &links->last_root, &links->root_count, i);
			continue;
		}
		seen[i].is_out = seen[above].is_out || seen[above].is_blob;
		parent = &links->nodes[above];
		if (!seen[i].is_out)
			append(links, &parent->first_child, &parent->last_child,
				&parent->child_count, i);
	}
}

int
field_links_init(struct field_links *links, struct Lance__File__Field *const *stored, size_t count,
	struct lancet_error *err)
{
	lancet_autofree size_t *parents = NULL;
	lancet_autofree struct seen *seen = calloc(count + 1, sizeof(*seen));
	struct field_links made = { .nodes = NULL };

	TRY(field_parents(stored, count, &parents, err));
	made.nodes = calloc(count + 1, sizeof(*made.nodes));
	if (seen == NULL || made.nodes == NULL) {
		free(made.nodes);
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu fields", count);
	}
	link_all(&made, stored, count, parents, seen);
	*links = made;
	return LANCET_OK;
}

void
field_links_release(struct field_links *links)
{
	free(links->nodes);
	*links = (struct field_links){ 0 };
}
