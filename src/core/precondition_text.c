/* Preconditions as users write them: "COLUMNS@FRAG:OFFSETS;FRAG:*". */
#include "precondition.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "change_build.h"
#include "lance/precondition.pb-c.h"
#include "precondition_parts.h"
#include "schema.h"
#include "util/macros.h"
#include "util/text.h"

typedef Lance__Table__Precondition__FragmentRows FragmentRows;

struct writing {
	lancet_version *read;
	struct arena *arena;
	Lance__Table__Precondition message;
	struct lancet_error *err;
};

static int
no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "preconditions: no memory");
}

/* The part up to one of the marks or the end, which is stepped over with it. */
static struct slice
next_part(const char **at, const char *marks)
{
	struct slice part = slice_of((const uint8_t *)*at, strcspn(*at, marks));

	*at += part.size;
	if (**at != '\0')
		(*at)++;
	return part;
}

static size_t
count_parts(struct slice text, char mark)
{
	size_t count = 1;

	for (size_t i = 0; i < text.size; i++)
		count += text.data[i] == (uint8_t)mark;
	return count;
}

static int
add_column(struct writing *w, const size_t *parents, struct slice part)
{
	const struct lancet_field *fields;
	size_t count, place;
	char *path;
	int32_t id;

	if (part.size == 0)
		return lancet_fail(w->err, LANCET_INVALID, "a column without a name");
	path = arena_alloc(w->arena, part.size + 1);
	if (path == NULL)
		return no_memory(w->err);
	memcpy(path, part.data, part.size);
	path[part.size] = '\0';
	TRY(change_find_field(w->read, parents, path, &place, w->err));
	TRY(lancet_version_fields(w->read, &fields, &count, w->err));
	id = fields[place].id;
	if (id < 0)
		return lancet_fail(
			w->err, LANCET_CORRUPT, "column %s: field id %" PRId32, path, id);
	for (size_t i = 0; i < w->message.n_field_ids; i++)
		if (w->message.field_ids[i] == id)
			return lancet_fail(w->err, LANCET_INVALID, "column %s: named twice", path);
	w->message.field_ids[w->message.n_field_ids++] = id;
	return LANCET_OK;
}

static int
add_columns(struct writing *w, struct slice text)
{
	size_t count = count_parts(text, ',');
	lancet_autofree size_t *parents = NULL;
	const char *at;
	char *copy = arena_alloc(w->arena, text.size + 1);

	w->message.field_ids = arena_zalloc(w->arena, count, sizeof(int32_t));
	if (copy == NULL || w->message.field_ids == NULL)
		return no_memory(w->err);
	memcpy(copy, text.data, text.size);
	copy[text.size] = '\0';
	TRY(schema_parents(w->read->message, &parents, w->err));
	at = copy;
	for (size_t i = 0; i < count; i++)
		TRY(add_column(w, parents, next_part(&at, ",")));
	return LANCET_OK;
}

/* "5" or "17-20" */
static bool
parse_range(struct slice text, uint64_t *ret_first, uint64_t *ret_last)
{
	const uint8_t *dash = text.size == 0 ? NULL : memchr(text.data, '-', text.size);
	size_t size = dash == NULL ? text.size : (size_t)(dash - text.data);

	if (!text_to_u64(slice_of(text.data, size), ret_first))
		return false;
	*ret_last = *ret_first;
	return dash == NULL || (text_to_u64(slice_of(dash + 1, text.size - size - 1), ret_last) &&
				       *ret_last >= *ret_first);
}

static int
add_offsets(struct writing *w, const char *text, uint64_t rows, roaring_bitmap_t *offsets)
{
	size_t count = count_parts(slice_text(text), ',');
	const char *at = text;

	for (size_t i = 0; i < count; i++) {
		struct slice part = next_part(&at, ",");
		uint64_t first, last;

		if (!parse_range(part, &first, &last))
			return lancet_fail(w->err, LANCET_INVALID, "\"%.*s\" is no row offset",
				(int)(part.size > 40 ? 40 : part.size), (const char *)part.data);
		if (last >= rows)
			return lancet_fail(w->err, LANCET_INVALID,
				"row offset %" PRIu64 ": the fragment has %" PRIu64 " rows", last,
				rows);
		roaring_bitmap_add_range(offsets, first, last + 1);
	}
	return LANCET_OK;
}

static int
put_offsets(struct writing *w, FragmentRows *rows, roaring_bitmap_t *offsets)
{
	size_t size;
	uint8_t *bytes;

	roaring_bitmap_run_optimize(offsets);
	size = roaring_bitmap_portable_size_in_bytes(offsets);
	bytes = arena_alloc(w->arena, size);
	if (bytes == NULL)
		return no_memory(w->err);
	(void)roaring_bitmap_portable_serialize(offsets, (char *)bytes);
	rows->selection_case = LANCE__TABLE__PRECONDITION__FRAGMENT_ROWS__SELECTION_OFFSETS;
	rows->offsets = (ProtobufCBinaryData){ size, bytes };
	return LANCET_OK;
}

static int
select_rows(struct writing *w, FragmentRows *rows, const char *text)
{
	roaring_bitmap_t *offsets;
	uint64_t physical;
	int rc;

	TRY(condition_count_rows(w->read, rows->fragment_id, &physical, w->err));
	if (strcmp(text, "*") == 0) {
		rows->selection_case =
			LANCE__TABLE__PRECONDITION__FRAGMENT_ROWS__SELECTION_WHOLE_FRAGMENT;
		rows->whole_fragment = 1;
		return LANCET_OK;
	}
	offsets = roaring_bitmap_create();
	if (offsets == NULL)
		return no_memory(w->err);
	rc = add_offsets(w, text, physical, offsets);
	if (rc == LANCET_OK)
		rc = put_offsets(w, rows, offsets);
	roaring_bitmap_free(offsets);
	return rc;
}

static int
add_fragment(struct writing *w, char *text)
{
	FragmentRows *rows = arena_alloc(w->arena, sizeof(*rows));
	char *colon = strchr(text, ':');
	uint64_t ordinal;
	int rc;

	if (rows == NULL)
		return no_memory(w->err);
	lance__table__precondition__fragment_rows__init(rows);
	if (colon == NULL || !text_to_u64(slice_of((const uint8_t *)text, (size_t)(colon - text)),
				     &rows->fragment_id))
		return lancet_fail(w->err, LANCET_INVALID,
			"\"%.40s\" is not FRAGMENT:OFFSETS or FRAGMENT:*", text);
	TRY(lancet_version_find_fragment(w->read, rows->fragment_id, &ordinal, w->err));
	rc = select_rows(w, rows, colon + 1);
	if (rc != LANCET_OK)
		return lancet_wrap(w->err, rc, "fragment %" PRIu64, rows->fragment_id);
	w->message.rows[w->message.n_rows++] = rows;
	return LANCET_OK;
}

static int
compare_fragments(const void *left, const void *right)
{
	const FragmentRows *a = *(FragmentRows *const *)left, *b = *(FragmentRows *const *)right;

	return (a->fragment_id > b->fragment_id) - (a->fragment_id < b->fragment_id);
}

static int
add_fragments(struct writing *w, const char *text)
{
	size_t count = count_parts(slice_text(text), ';');
	char *copy = arena_copy(w->arena, text, strlen(text) + 1), *at = copy;

	w->message.rows = arena_zalloc(w->arena, count, sizeof(FragmentRows *));
	if (copy == NULL || w->message.rows == NULL)
		return no_memory(w->err);
	for (size_t i = 0; i < count; i++) {
		char *part = at;

		at += strcspn(at, ";");
		if (i + 1 < count)
			*at++ = '\0';
		TRY(add_fragment(w, part));
	}
	qsort(w->message.rows, count, sizeof(FragmentRows *), compare_fragments);
	for (size_t i = 1; i < count; i++)
		if (w->message.rows[i]->fragment_id == w->message.rows[i - 1]->fragment_id)
			return lancet_fail(w->err, LANCET_INVALID,
				"fragment %" PRIu64 " is named twice",
				w->message.rows[i]->fragment_id);
	return LANCET_OK;
}

static int
pack(struct writing *w, struct slice **ret_list)
{
	size_t size = lance__table__precondition__get_packed_size(&w->message);
	struct slice *list = arena_alloc(w->arena, sizeof(*list));
	uint8_t *bytes = arena_alloc(w->arena, size);

	if (list == NULL || bytes == NULL)
		return no_memory(w->err);
	*list = slice_of(bytes, lance__table__precondition__pack(&w->message, bytes));
	*ret_list = list;
	return LANCET_OK;
}

int
preconditions_encode(lancet_version *read, const char *text, struct arena *arena,
	struct slice **ret_list, size_t *ret_count, struct lancet_error *err)
{
	struct writing w = { .read = read, .arena = arena, .err = err };
	const char *at = strrchr(text, '@'); /* a name may hold one */
	int rc;

	lance__table__precondition__init(&w.message);
	if (at == NULL)
		return lancet_fail(err, LANCET_INVALID,
			"precondition \"%.80s\": COLUMNS@FRAGMENT:OFFSETS;... is wanted", text);
	rc = add_columns(&w, slice_of((const uint8_t *)text, (size_t)(at - text)));
	if (rc == LANCET_OK)
		rc = add_fragments(&w, at + 1);
	if (rc == LANCET_OK)
		rc = pack(&w, ret_list);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "precondition");
	*ret_count = 1;
	return LANCET_OK;
}
