/* From the bitmaps of overlays to the source of each row; see overlay_set.h. */
#include "overlay_set.h"

#include <inttypes.h>
#include <stdlib.h>

#include "deletion.h"
#include "util/macros.h"

#define MARKS 4096u
#define NONE  SIZE_MAX

static bool
is_atomic(const struct field *field)
{
	return field->kind != FIELD_STRUCT || field->packed || field->blob != FIELD_NO_BLOB ||
	       field->child_count == 0;
}

static size_t
count_atoms(const struct field *field)
{
	size_t count = 0;

	if (is_atomic(field))
		return 1;
	for (size_t i = 0; i < field->child_count; i++)
		count += count_atoms(&field->children[i]);
	return count;
}

static void
list_atoms(struct overlay_set *set, const struct field *field)
{
	if (is_atomic(field)) {
		set->atoms[set->atom_count++].field = field;
		return;
	}
	for (size_t i = 0; i < field->child_count; i++)
		list_atoms(set, &field->children[i]);
}

/* The atomic field that an ordinal of the root lies in; NULL for a struct around them. */
static struct overlay_atom *
find_atom(struct overlay_set *set, uint32_t ordinal)
{
	size_t low = 0, high = set->atom_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (data_schema_end(set->atoms[middle].field) <= ordinal)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == set->atom_count || set->atoms[low].field->ordinal > ordinal)
		return NULL;
	return &set->atoms[low];
}

static int
add_source(struct overlay_set *set, struct overlay_atom *atom, size_t overlay, size_t position,
	struct lancet_error *err)
{
	struct overlay_source source = { .overlay = overlay };
	struct overlay_source *sources =
		reallocarray(atom->sources, atom->source_count + 1, sizeof(*sources));

	if (sources == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "overlays of a field");
	atom->sources = sources;
	TRY(data_files_coverage(set->files, overlay, position, &source.coverage, err));
	atom->sources[atom->source_count++] = source;
	return LANCET_OK;
}

/* The bitmap of the first leaf counts; of a field whose leaves are not listed, its own. */
static int
add_overlay(struct overlay_set *set, size_t overlay, size_t *positions, struct lancet_error *err)
{
	const struct lancet_overlay *stored = &data_files_info(set->files)->overlays[overlay];
	const struct data_schema *schema = data_files_schema(set->files);

	for (size_t i = 0; i < set->atom_count; i++)
		positions[i] = NONE;
	for (size_t i = 0; i < stored->file.field_count; i++) {
		int32_t id = stored->file.fields[i];
		struct overlay_atom *atom = NULL;
		uint32_t ordinal;
		size_t *position;

		if (id >= 0 && data_schema_find(schema, id, &ordinal))
			atom = find_atom(set, ordinal);
		if (atom == NULL)
			continue;
		position = &positions[atom - set->atoms];
		if (*position == NONE ||
			(schema->fields[ordinal]->child_count == 0 &&
				stored->file.fields[*position] == atom->field->id &&
				atom->field->child_count > 0))
			*position = i;
	}
	for (size_t i = 0; i < set->atom_count; i++) {
		if (positions[i] != NONE)
			TRY(add_source(set, &set->atoms[i], overlay, positions[i], err));
	}
	return LANCET_OK;
}

static int
fill(struct overlay_set *set, struct lancet_error *err)
{
	size_t overlays = data_files_info(set->files)->overlay_count;
	size_t count = count_atoms(set->root);
	lancet_autofree size_t *positions = calloc(count, sizeof(*positions));

	set->atoms = calloc(count, sizeof(*set->atoms));
	if (set->atoms == NULL || positions == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "overlays of a field");
	list_atoms(set, set->root);
	for (size_t i = overlays; i-- > 0;)
		TRY(add_overlay(set, i, positions, err));
	return LANCET_OK;
}

int
overlay_set_open(struct data_files *files, const struct field *root, struct overlay_set **ret_set,
	struct lancet_error *err)
{
	struct overlay_set *set;
	size_t sources = 0;
	int rc;

	if (data_files_info(files)->overlay_count == 0)
		return LANCET_OK;
	set = calloc(1, sizeof(*set));
	if (set == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "overlays of a field");
	set->files = files;
	set->root = root;
	rc = fill(set, err);
	for (size_t i = 0; rc == LANCET_OK && i < set->atom_count; i++)
		sources += set->atoms[i].source_count;
	if (rc == LANCET_OK && sources > 0)
		*ret_set = set;
	else
		overlay_set_free(set);
	return rc;
}

void
overlay_set_free(struct overlay_set *set)
{
	if (set == NULL)
		return;
	overlay_set_reset(set);
	for (size_t i = 0; i < set->atom_count; i++) {
		struct overlay_atom *atom = &set->atoms[i];

		for (size_t j = 0; j < atom->source_count; j++) {
			lancet_deletion_unref(atom->sources[j].coverage);
			field_reader_free(atom->sources[j].reader);
			free(atom->sources[j].rows);
		}
		free(atom->sources);
	}
	free(set->atoms);
	free(set);
}

void
overlay_set_reset(struct overlay_set *set)
{
	for (size_t i = 0; i < set->atom_count; i++) {
		struct overlay_atom *atom = &set->atoms[i];

		free(atom->route);
		atom->route = NULL;
		atom->is_routed = false;
		for (size_t j = 0; j < atom->source_count; j++) {
			atom->sources[j].row_count = 0;
			array_release(&atom->sources[j].values);
		}
	}
}

/* One more row of the overlay is needed; they come in ascending order. */
static int
need_row(struct overlay_source *source, uint64_t row, struct lancet_error *err)
{
	struct row_range *last =
		source->row_count == 0 ? NULL : &source->rows[source->row_count - 1];

	if (last != NULL && last->first + last->count == row) {
		last->count++;
		return LANCET_OK;
	}
	if (source->row_count == source->row_capacity) {
		size_t capacity = source->row_capacity == 0 ? 16 : source->row_capacity * 2;
		struct row_range *rows = reallocarray(source->rows, capacity, sizeof(*rows));

		if (rows == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "rows of an overlay");
		source->rows = rows;
		source->row_capacity = capacity;
	}
	source->rows[source->row_count++] = (struct row_range){ row, 1 };
	return LANCET_OK;
}

/* Rows [first, first + count), count <= MARKS, which are rows [at, …) of the read. */
static int
route_window(struct overlay_atom *atom, uint32_t number, uint64_t first, size_t count, uint64_t at,
	struct lancet_error *err)
{
	struct overlay_source *source = &atom->sources[number];
	uint8_t marks[MARKS];
	uint64_t rank = 0;
	bool ranked = false;

	lancet_deletion_marks(source->coverage, first, count, marks);
	for (size_t i = 0; i < count; i++) {
		if (!marks[i])
			continue;
		rank = ranked ? rank + 1 : deletion_rank(source->coverage, first + i);
		ranked = true;
		if (atom->route[at + i] != ROUTE_BASE)
			continue;
		atom->route[at + i] = number + 1;
		atom->is_routed = true;
		TRY(need_row(source, rank, err));
	}
	return LANCET_OK;
}

static int
route_source(struct overlay_atom *atom, uint32_t number, const struct row_range *ranges,
	size_t count, struct lancet_error *err)
{
	uint64_t at = 0;

	for (size_t i = 0; i < count; i++) {
		for (uint64_t done = 0; done < ranges[i].count;) {
			uint64_t left = ranges[i].count - done;
			size_t window = left < MARKS ? (size_t)left : MARKS;

			TRY(route_window(
				atom, number, ranges[i].first + done, window, at + done, err));
			done += window;
		}
		at += ranges[i].count;
	}
	return LANCET_OK;
}

int
overlay_set_route(struct overlay_set *set, const struct row_range *ranges, size_t count,
	uint64_t rows, bool *ret_any, struct lancet_error *err)
{
	bool any = false;

	for (size_t i = 0; i < set->atom_count; i++) {
		struct overlay_atom *atom = &set->atoms[i];

		if (atom->source_count == 0)
			continue;
		atom->route = calloc((size_t)rows, sizeof(*atom->route));
		if (atom->route == NULL)
			return lancet_fail(
				err, LANCET_NO_MEMORY, "overlays of %" PRIu64 " rows", rows);
		for (size_t j = 0; j < atom->source_count; j++)
			TRY(route_source(atom, (uint32_t)j, ranges, count, err));
		any = any || atom->is_routed;
	}
	*ret_any = any;
	return LANCET_OK;
}
