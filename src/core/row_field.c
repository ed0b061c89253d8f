/* Fields of rows that are written as text, and the writer's own business: emptying its buffer,
 * and cutting.
 */
#include "row_field.h"

#include "util/jsonw.h"
#include "util/macros.h"
#include "util/text.h"

/* Both spellings of a name, in the arena. */
static int
set_name(struct row_field *field, const char *name, struct arena *arena, struct lancet_error *err)
{
	struct slice text = slice_text(name != NULL ? name : "");
	struct buf plain = { 0 }, label = { 0 };
	bool failed;

	if (text_is_utf8(text)) {
		buf_put_slice(&plain, text);
	} else {
		buf_put_text(&plain, "base64:");
		jsonw_put_base64(&plain, text);
	}
	buf_put_byte(&label, '"');
	jsonw_put_escaped(&label, buf_slice(&plain));
	buf_put_text(&label, "\":");
	field->name = slice_of(arena_copy(arena, plain.data, plain.size), plain.size);
	field->label = slice_of(arena_copy(arena, label.data, label.size), label.size);
	failed = plain.failed != LANCET_OK || label.failed != LANCET_OK || arena->full;
	buf_release(&plain);
	buf_release(&label);
	if (failed)
		return lancet_fail(err, LANCET_NO_MEMORY, "names of columns: out of memory");
	return LANCET_OK;
}

static int
set_children(struct row_field *field, const struct ArrowSchema *schema, unsigned depth,
	struct arena *arena, struct lancet_error *err)
{
	field->child_count = (size_t)schema->n_children;
	field->children = arena_zalloc(arena, field->child_count, sizeof(*field->children));
	if (field->children == NULL && field->child_count > 0)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns: out of memory");
	for (size_t i = 0; i < field->child_count; i++)
		TRY(row_field_init(
			&field->children[i], schema->children[i], depth + 1, arena, err));
	if (field->type.kind == ARROW_MAP) {
		field->children->children[0].label = slice_text("\"key\":");
		field->children->children[1].label = slice_text("\"value\":");
	}
	return LANCET_OK;
}

/* Extension types whose storage says little to people. */
static void
set_extension(struct row_field *field, const struct ArrowSchema *schema)
{
	struct arrow_type *type = &field->type;

	field->is_json = type->kind == ARROW_TEXT && arrow_has_extension(schema, "arrow.json");
	field->is_bfloat16 = type->kind == ARROW_FIXED_BINARY && type->size == 2 &&
			     arrow_has_extension(schema, "lance.bfloat16");
	if (field->is_bfloat16)
		*type = (struct arrow_type){ .kind = ARROW_FLOAT, .bits = 16 };
}

int
row_field_init(struct row_field *field, const struct ArrowSchema *schema, unsigned depth,
	struct arena *arena, struct lancet_error *err)
{
	struct row_field *values;

	if (depth > ARROW_DEPTH_MAX)
		return lancet_fail(
			err, LANCET_LIMIT, "types nested deeper than %u", ARROW_DEPTH_MAX);
	TRY(arrow_type_of(schema, &field->type, err));
	TRY(set_name(field, schema->name, arena, err));
	set_extension(field, schema);
	if (schema->dictionary == NULL)
		return set_children(field, schema, depth, arena, err);
	values = arena_zalloc(arena, 1, sizeof(*values));
	if (values == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns: out of memory");
	field->values = values;
	return row_field_init(values, schema->dictionary, depth + 1, arena, err);
}

bool
row_resolve(const struct row_field **field, const struct ArrowArray **array, int64_t *index)
{
	while (arrow_is_valid(*array, *index)) {
		const struct row_field *keyed = *field;
		const void *keys;

		if (keyed->values == NULL)
			return keyed->type.kind != ARROW_NULL;
		keys = (*array)->buffers[1];
		*index = keyed->type.is_signed
				 ? arrow_signed(keys, keyed->type.bits, (*array)->offset + *index)
				 : (int64_t)arrow_unsigned(
					   keys, keyed->type.bits, (*array)->offset + *index);
		*array = (*array)->dictionary;
		*field = keyed->values;
		if (*index < 0 || *index >= (*array)->length)
			return false;
	}
	return false;
}

struct slice
row_bytes(const struct row_field *field, const struct ArrowArray *array, int64_t index)
{
	int64_t at = array->offset + index, from, to;

	if (field->type.kind == ARROW_FIXED_BINARY)
		return slice_of((const uint8_t *)array->buffers[1] + at * field->type.size,
			(size_t)field->type.size);
	from = arrow_offset(array, field->type.large, at);
	to = arrow_offset(array, field->type.large, at + 1);
	if (from == to)
		return slice_of("", 0); /* there may be no buffer */
	return slice_of((const uint8_t *)array->buffers[2] + from, (size_t)(to - from));
}

void
row_flush(struct row_writer *writer, size_t enough)
{
	struct buf *text = writer->text;

	if (writer->failed == LANCET_OK)
		writer->failed = buf_check(text, "rows", writer->err);
	if (writer->sink == NULL || text->size < enough)
		return;
	if (writer->failed == LANCET_OK && text->size > 0)
		writer->failed = writer->sink->write(writer->sink->context, text->data, text->size);
	text->size = 0;
}

size_t
row_take_bytes(struct row_writer *writer, size_t size)
{
	if (writer->cut.bytes == 0)
		return size;
	size = size < writer->left.bytes ? size : writer->left.bytes;
	writer->left.bytes -= size;
	return size;
}

int64_t
row_take_items(struct row_writer *writer, int64_t count)
{
	if (writer->cut.items == 0)
		return count;
	count = (uint64_t)count < writer->left.items ? count : (int64_t)writer->left.items;
	writer->left.items -= (size_t)count;
	return count;
}

void
row_put_mark(struct buf *text, uint64_t count, const char *unit)
{
	buf_put_text(text, "\xe2\x80\xa6(+");
	buf_put_u64(text, 0, count);
	buf_put_byte(text, ' ');
	buf_put_text(text, unit);
	buf_put_byte(text, ')');
}
