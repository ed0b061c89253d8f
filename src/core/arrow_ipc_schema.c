/* The Schema message of an Arrow IPC stream. Tables and slots are those of Arrow's Schema.fbs and
 * Message.fbs.
 */
#include "arrow_ipc.h"

#include "util/flatbuild.h"
#include "util/macros.h"

/* The union Type of Schema.fbs. */
enum {
	TYPE_NULL = 1,
	TYPE_INT = 2,
	TYPE_FLOAT = 3,
	TYPE_BINARY = 4,
	TYPE_TEXT = 5,
	TYPE_BOOL = 6,
	TYPE_DECIMAL = 7,
	TYPE_DATE = 8,
	TYPE_TIME = 9,
	TYPE_TIMESTAMP = 10,
	TYPE_LIST = 12,
	TYPE_STRUCT = 13,
	TYPE_FIXED_BINARY = 15,
	TYPE_FIXED_LIST = 16,
	TYPE_MAP = 17,
	TYPE_DURATION = 18,
	TYPE_LARGE_BINARY = 19,
	TYPE_LARGE_TEXT = 20,
	TYPE_LARGE_LIST = 21,
};

static uint8_t
type_number(const struct arrow_type *type)
{
	switch (type->kind) {
	case ARROW_NULL:
		return TYPE_NULL;
	case ARROW_BOOL:
		return TYPE_BOOL;
	case ARROW_INT:
		return TYPE_INT;
	case ARROW_FLOAT:
		return TYPE_FLOAT;
	case ARROW_DECIMAL:
		return TYPE_DECIMAL;
	case ARROW_TEXT:
		return type->large ? TYPE_LARGE_TEXT : TYPE_TEXT;
	case ARROW_BINARY:
		return type->large ? TYPE_LARGE_BINARY : TYPE_BINARY;
	case ARROW_FIXED_BINARY:
		return TYPE_FIXED_BINARY;
	case ARROW_DATE:
		return TYPE_DATE;
	case ARROW_TIME:
		return TYPE_TIME;
	case ARROW_TIMESTAMP:
		return TYPE_TIMESTAMP;
	case ARROW_DURATION:
		return TYPE_DURATION;
	case ARROW_LIST:
		return type->large ? TYPE_LARGE_LIST : TYPE_LIST;
	case ARROW_FIXED_LIST:
		return TYPE_FIXED_LIST;
	case ARROW_STRUCT:
		return TYPE_STRUCT;
	case ARROW_MAP:
		return TYPE_MAP;
	}
	return 0;
}

static size_t
put_timestamp(struct buf *out, const struct arrow_type *type)
{
	struct flatfield fields[] = { { 0, 2, type->unit, 0 }, FLAT_REFERENCE(1) };
	bool has_zone = type->zone[0] != '\0';
	size_t table = flatbuild_table(out, fields, has_zone ? 2 : 1);

	if (has_zone)
		flatbuild_refer(out, fields[1].at, flatbuild_string(out, slice_text(type->zone)));
	return table;
}

/* The table of the type: what its number alone does not say. */
static size_t
put_type(struct buf *out, const struct arrow_type *type, bool sorted)
{
	struct flatfield fields[3] = { { .slot = 0 }, { .slot = 1 }, { .slot = 2 } };
	size_t count = 1;

	switch (type->kind) {
	case ARROW_INT:
		fields[0] = (struct flatfield){ 0, 4, type->bits, 0 };
		fields[1] = (struct flatfield){ 1, 1, type->is_signed, 0 };
		count = 2;
		break;
	case ARROW_FLOAT: /* half, single, double */
		fields[0] = (struct flatfield){ 0, 2, type->bits / 32, 0 };
		break;
	case ARROW_DECIMAL:
		fields[0] = (struct flatfield){ 0, 4, (uint32_t)type->precision, 0 };
		fields[1] = (struct flatfield){ 1, 4, (uint32_t)type->scale, 0 };
		fields[2] = (struct flatfield){ 2, 4, type->bits, 0 };
		count = 3;
		break;
	case ARROW_DATE: /* days, milliseconds */
		fields[0] = (struct flatfield){ 0, 2, type->bits == 64, 0 };
		break;
	case ARROW_TIME:
		fields[0] = (struct flatfield){ 0, 2, type->unit, 0 };
		fields[1] = (struct flatfield){ 1, 4, type->bits, 0 };
		count = 2;
		break;
	case ARROW_TIMESTAMP:
		return put_timestamp(out, type);
	case ARROW_DURATION:
		fields[0] = (struct flatfield){ 0, 2, type->unit, 0 };
		break;
	case ARROW_FIXED_BINARY:
	case ARROW_FIXED_LIST:
		fields[0] = (struct flatfield){ 0, 4, (uint32_t)type->size, 0 };
		break;
	case ARROW_MAP:
		fields[0] = (struct flatfield){ 0, 1, sorted, 0 };
		break;
	default:
		count = 0;
	}
	return flatbuild_table(out, fields, count);
}

/* A vector of KeyValue; 0 when there are no entries. */
static size_t
put_metadata(struct buf *out, const struct ArrowSchema *schema)
{
	struct arrow_metadata metadata = arrow_metadata_begin(schema);
	struct slice key, value;
	size_t vector;

	if (metadata.left == 0)
		return 0;
	vector = flatbuild_vector(out, NULL, (size_t)metadata.left, 4, 4);
	for (size_t i = 0; arrow_metadata_next(&metadata, &key, &value); i++) {
		struct flatfield fields[] = { FLAT_REFERENCE(0), FLAT_REFERENCE(1) };
		size_t table = flatbuild_table(out, fields, ARRAY_SIZE(fields));

		flatbuild_refer(out, flatbuild_element(vector, i), table);
		flatbuild_refer(out, fields[0].at, flatbuild_string(out, key));
		flatbuild_refer(out, fields[1].at, flatbuild_string(out, value));
	}
	return vector;
}

/* DictionaryEncoding: the number of the dictionary and the type of its keys. */
static size_t
put_encoding(struct buf *out, const struct ArrowSchema *schema, const struct arrow_type *keys,
	uint32_t id)
{
	struct flatfield fields[] = { { 0, 8, id, 0 }, FLAT_REFERENCE(1),
		{ 2, 1, (schema->flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0, 0 } };
	size_t table = flatbuild_table(out, fields, ARRAY_SIZE(fields));

	flatbuild_refer(out, fields[1].at, put_type(out, keys, false));
	return table;
}

struct schema_writer {
	struct buf *out;
	uint32_t dictionaries; /* numbered so far */
};

static int put_fields(struct schema_writer *w, const struct ArrowSchema *schema, unsigned depth,
	size_t *ret_vector, struct lancet_error *err);

/* Slots of Field. */
enum {
	FIELD_NAME = 0,
	FIELD_NULLABLE = 1,
	FIELD_TYPE_NUMBER = 2,
	FIELD_TYPE = 3,
	FIELD_DICTIONARY = 4,
	FIELD_CHILDREN = 5,
	FIELD_METADATA = 6,
};

/* The field with the given types: of its values, and of its keys where it has a dictionary. Its
 * type's number goes to the values; the keys are in the encoding. */
static int
put_field_of(struct schema_writer *w, const struct ArrowSchema *schema, unsigned depth,
	const struct arrow_type *type, const struct arrow_type *keys, size_t *ret_table,
	struct lancet_error *err)
{
	const struct ArrowSchema *values = keys != NULL ? schema->dictionary : schema;
	struct flatfield fields[7] = { FLAT_REFERENCE(FIELD_NAME), FLAT_REFERENCE(FIELD_TYPE),
		FLAT_REFERENCE(FIELD_CHILDREN), { FIELD_TYPE_NUMBER, 1, type_number(type), 0 },
		{ FIELD_NULLABLE, 1, (schema->flags & ARROW_FLAG_NULLABLE) != 0, 0 } };
	bool has_metadata = arrow_metadata_begin(schema).left > 0;
	size_t count = 5, children = 0;
	struct flatfield *metadata = &fields[count], *encoding;

	if (has_metadata)
		fields[count++] = (struct flatfield)FLAT_REFERENCE(FIELD_METADATA);
	encoding = &fields[count];
	if (keys != NULL)
		fields[count++] = (struct flatfield)FLAT_REFERENCE(FIELD_DICTIONARY);
	*ret_table = flatbuild_table(w->out, fields, count);
	flatbuild_refer(w->out, fields[0].at,
		flatbuild_string(w->out, slice_text(schema->name != NULL ? schema->name : "")));
	flatbuild_refer(w->out, fields[1].at,
		put_type(w->out, type, (values->flags & ARROW_FLAG_MAP_KEYS_SORTED) != 0));
	if (has_metadata)
		flatbuild_refer(w->out, metadata->at, put_metadata(w->out, schema));
	if (keys != NULL)
		flatbuild_refer(w->out, encoding->at,
			put_encoding(w->out, schema, keys, w->dictionaries++));
	TRY(put_fields(w, values, depth + 1, &children, err));
	flatbuild_refer(w->out, fields[2].at, children);
	return LANCET_OK;
}

static int
put_field(struct schema_writer *w, const struct ArrowSchema *schema, unsigned depth,
	size_t *ret_table, struct lancet_error *err)
{
	struct arrow_type keys, type;

	if (depth > ARROW_DEPTH_MAX)
		return lancet_fail(
			err, LANCET_LIMIT, "types nested deeper than %u", ARROW_DEPTH_MAX);
	TRY(arrow_type_of(schema, &keys, err));
	if (schema->dictionary == NULL)
		return put_field_of(w, schema, depth, &keys, NULL, ret_table, err);
	TRY(arrow_type_of(schema->dictionary, &type, err));
	if (schema->dictionary->dictionary != NULL)
		return lancet_fail(err, LANCET_UNSUPPORTED, "a dictionary of a dictionary");
	return put_field_of(w, schema, depth, &type, &keys, ret_table, err);
}

static int
put_fields(struct schema_writer *w, const struct ArrowSchema *schema, unsigned depth,
	size_t *ret_vector, struct lancet_error *err)
{
	size_t vector = flatbuild_vector(w->out, NULL, (size_t)schema->n_children, 4, 4);

	for (int64_t i = 0; i < schema->n_children; i++) {
		size_t table = 0;

		TRY(put_field(w, schema->children[i], depth, &table, err));
		flatbuild_refer(w->out, flatbuild_element(vector, (size_t)i), table);
	}
	*ret_vector = vector;
	return LANCET_OK;
}

int
ipc_schema_message(const struct ArrowSchema *schema, struct buf *out, uint32_t *ret_dictionaries,
	struct lancet_error *err)
{
	struct flatfield message[] = { { 0, 2, IPC_VERSION, 0 }, { 1, 1, IPC_SCHEMA, 0 },
		FLAT_REFERENCE(2), { 3, 8, 0, 0 } };
	struct flatfield fields[] = { { 0, 2, 0 /* little-endian */, 0 }, FLAT_REFERENCE(1),
		FLAT_REFERENCE(2) };
	struct schema_writer w = { .out = out };
	bool has_metadata = arrow_metadata_begin(schema).left > 0;
	struct arrow_type type;
	size_t table, vector = 0;

	TRY(arrow_type_of(schema, &type, err));
	if (type.kind != ARROW_STRUCT)
		return lancet_fail(err, LANCET_INVALID, "batches are structs of columns");
	flatbuild_begin(out);
	flatbuild_refer(out, 0, flatbuild_table(out, message, ARRAY_SIZE(message)));
	table = flatbuild_table(out, fields, has_metadata ? 3 : 2);
	flatbuild_refer(out, message[2].at, table);
	TRY(put_fields(&w, schema, 1, &vector, err));
	flatbuild_refer(out, fields[1].at, vector);
	if (has_metadata)
		flatbuild_refer(out, fields[2].at, put_metadata(out, schema));
	TRY(buf_check(out, "schema", err));
	*ret_dictionaries = w.dictionaries;
	return LANCET_OK;
}
