/* Reading the values of overlays and putting them among those of the base; see overlay.h. */
#include "overlay.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"

/* The part of a root's array that is of the field at or below it. */
static struct array *
array_of(struct array *root, const struct field *field)
{
	struct array *parent;

	if (field == root->field)
		return root;
	parent = array_of(root, field->parent);
	return &parent->children[field - field->parent->children];
}

static int
read_source(struct overlay_set *set, const struct overlay_atom *atom, struct overlay_source *source,
	struct array_budget *budget, struct lancet_error *err)
{
	uint64_t covered = lancet_deletion_count(source->coverage);
	struct lancet_bytes path;
	int rc = LANCET_OK;

	if (source->row_count == 0)
		return LANCET_OK;
	if (source->reader == NULL)
		rc = data_files_overlay_reader(set->files, source->overlay, set->root, atom->field,
			covered, &source->reader, err);
	if (rc == LANCET_OK)
		rc = array_init(&source->values, set->root, budget, err);
	if (rc == LANCET_OK)
		rc = field_reader_read(
			source->reader, source->rows, source->row_count, &source->values, err);
	if (rc == LANCET_OK)
		return rc;
	path = data_files_info(set->files)->overlays[source->overlay].file.path;
	return lancet_wrap(err, rc, "overlay %zu (data/%.*s)", source->overlay,
		path.size < 100 ? (int)path.size : 100, (const char *)path.data);
}

/* Rows [first, end) have one source; `taken`: how many values of each were used so far. */
static int
append_run(const struct overlay_atom *atom, const struct array *base, uint64_t first, uint64_t end,
	uint64_t *taken, struct array *merged, struct lancet_error *err)
{
	uint32_t route = atom->route[first];
	struct array *values;

	if (route == ROUTE_BASE)
		return array_append_range(merged, base, first, end - first, err);
	values = array_of(&atom->sources[route - 1].values, atom->field);
	TRY(array_append_range(merged, values, taken[route - 1], end - first, err));
	taken[route - 1] += end - first;
	return LANCET_OK;
}

static int
append_runs(const struct overlay_atom *atom, const struct array *base, struct array *merged,
	struct lancet_error *err)
{
	lancet_autofree uint64_t *taken = calloc(atom->source_count, sizeof(*taken));

	if (taken == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "overlays of a field");
	for (uint64_t first = 0, end; first < base->length; first = end) {
		end = first + 1;
		while (end < base->length && atom->route[end] == atom->route[first])
			end++;
		TRY(append_run(atom, base, first, end, taken, merged, err));
	}
	return LANCET_OK;
}

/* Puts the values of an atomic field's overlays into the root's array. */
static int
merge_atom(struct overlay_set *set, struct overlay_atom *atom, struct array *root,
	struct lancet_error *err)
{
	struct array *base = array_of(root, atom->field);
	struct array merged;
	int rc;

	for (size_t i = 0; i < atom->source_count; i++)
		TRY(read_source(set, atom, &atom->sources[i], root->budget, err));
	TRY(array_init(&merged, atom->field, root->budget, err));
	rc = append_runs(atom, base, &merged, err);
	if (rc != LANCET_OK) {
		array_release(&merged);
		return rc;
	}
	array_release(base);
	*base = merged;
	return LANCET_OK;
}

static int
merge(struct overlay_set *set, struct array *root, struct lancet_error *err)
{
	for (size_t i = 0; i < set->atom_count; i++) {
		if (set->atoms[i].is_routed)
			TRY(merge_atom(set, &set->atoms[i], root, err));
	}
	return LANCET_OK;
}

static int
read_merged(struct overlay_set *set, struct field_reader *base, const struct row_range *ranges,
	size_t count, struct array *out, struct lancet_error *err)
{
	struct array root;
	int rc;

	TRY(array_init(&root, set->root, out->budget, err));
	rc = field_reader_read(base, ranges, count, &root, err);
	if (rc == LANCET_OK)
		rc = merge(set, &root, err);
	if (rc == LANCET_OK && out->length == 0) {
		array_release(out);
		*out = root;
		return rc;
	}
	if (rc == LANCET_OK)
		rc = array_append_range(out, &root, 0, root.length, err);
	array_release(&root);
	return rc;
}

int
overlay_set_read(struct overlay_set *set, struct field_reader *base, const struct row_range *ranges,
	size_t count, struct array *out, struct lancet_error *err)
{
	uint64_t rows = 0;
	bool any = false;
	int rc;

	for (size_t i = 0; i < count; i++)
		rows += ranges[i].count;
	if (rows == 0)
		return LANCET_OK;
	rc = overlay_set_route(set, ranges, count, rows, &any, err);
	if (rc == LANCET_OK)
		rc = any ? read_merged(set, base, ranges, count, out, err)
			 : field_reader_read(base, ranges, count, out, err);
	overlay_set_reset(set);
	return rc;
}
