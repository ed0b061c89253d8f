/* Types of Arrow's Schema.fbs, spelt as logical types are. */
#include "import_arrow_type.h"

#include <inttypes.h>
#include <stdio.h>

#include "json_text.h"
#include "util/macros.h"
#include "util/text.h"

enum { FIELD_TYPE_TAG = 2, FIELD_TYPE = 3 };

/* What the number alone says: INT32_MIN in `width` marks those that have parameters. */
static const struct {
	uint8_t tag;
	struct import_type type;
} plain[] = {
	{ 1, { .layout = IMPORT_NULLS, .words = "null" } },
	{ 4, { .layout = IMPORT_BYTES, .width = 4, .words = "binary" } },
	{ 5, { .layout = IMPORT_BYTES, .width = 4, .words = "string" } },
	{ 6, { .layout = IMPORT_BITS, .words = "bool" } },
	{ 12, { .layout = IMPORT_LISTS, .width = 4, .words = "list" } },
	{ 13, { .layout = IMPORT_STRUCTS, .words = "struct" } },
	{ 17, { .layout = IMPORT_LISTS, .width = 4, .words = "map" } },
	{ 19, { .layout = IMPORT_BYTES, .width = 8, .words = "large_binary" } },
	{ 20, { .layout = IMPORT_BYTES, .width = 8, .words = "large_string" } },
	{ 21, { .layout = IMPORT_LISTS, .width = 8, .words = "large_list" } },
	{ 23, { .layout = IMPORT_VIEWS, .words = "binary_view" } },
	{ 24, { .layout = IMPORT_VIEWS, .words = "string_view" } },
	{ 25, { .layout = IMPORT_LIST_VIEWS, .width = 4, .words = "list_view" } },
	{ 26, { .layout = IMPORT_LIST_VIEWS, .width = 8, .words = "large_list_view" } },
};

static const char *
unit_name(int16_t unit)
{
	static const char *const names[] = { "s", "ms", "us", "ns" };

	return unit >= 0 && (size_t)unit < ARRAY_SIZE(names) ? names[unit] : NULL;
}

static bool
parse_int(const struct flattable *type, struct import_type *into)
{
	int32_t bits = flatview_i32(type, 0, 0);

	into->width = (unsigned)bits / 8;
	into->is_signed = flatview_bool(type, 1, false);
	(void)snprintf(into->words, sizeof(into->words), "%sint%" PRId32,
		into->is_signed ? "" : "u", bits);
	return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static bool
parse_float(const struct flattable *type, struct import_type *into)
{
	static const char *const names[] = { "halffloat", "float", "double" };
	int16_t precision = flatview_i16(type, 0, 0);

	if (precision < 0 || (size_t)precision >= ARRAY_SIZE(names))
		return false;
	into->width = 2u << precision;
	(void)snprintf(into->words, sizeof(into->words), "%s", names[precision]);
	return true;
}

static bool
parse_decimal(const struct flattable *type, struct import_type *into)
{
	int32_t bits = flatview_i32(type, 2, 128);

	into->width = (unsigned)bits / 8;
	(void)snprintf(into->words, sizeof(into->words), "decimal:%" PRId32 ":%" PRId32 ":%" PRId32,
		bits, flatview_i32(type, 0, 0), flatview_i32(type, 1, 0));
	return bits == 32 || bits == 64 || bits == 128 || bits == 256;
}

static bool
parse_date(const struct flattable *type, struct import_type *into)
{
	int16_t unit = flatview_i16(type, 0, 1);

	into->width = unit == 0 ? 4 : 8;
	(void)snprintf(into->words, sizeof(into->words), unit == 0 ? "date32:day" : "date64:ms");
	return unit == 0 || unit == 1;
}

static bool
parse_time(const struct flattable *type, struct import_type *into)
{
	const char *unit = unit_name(flatview_i16(type, 0, 1));
	int32_t bits = flatview_i32(type, 1, 32);

	into->width = (unsigned)bits / 8;
	(void)snprintf(into->words, sizeof(into->words), "time%" PRId32 ":%s", bits,
		unit == NULL ? "" : unit);
	return unit != NULL && (bits == 32 || bits == 64);
}

static bool
parse_timestamp(const struct flattable *type, struct import_type *into)
{
	const char *unit = unit_name(flatview_i16(type, 0, 0));
	struct slice zone = flatview_string(type, 1);

	if (zone.size == 0)
		zone = slice_text("-");
	into->width = 8;
	(void)snprintf(into->words, sizeof(into->words), "timestamp:%s:%.*s",
		unit == NULL ? "" : unit, FIELD_TEXT(zone));
	return unit != NULL;
}

static bool
parse_duration(const struct flattable *type, struct import_type *into)
{
	const char *unit = unit_name(flatview_i16(type, 0, 1));

	into->width = 8;
	(void)snprintf(into->words, sizeof(into->words), "duration:%s", unit == NULL ? "" : unit);
	return unit != NULL;
}

static bool
parse_binary(const struct flattable *type, struct import_type *into)
{
	int32_t size = flatview_i32(type, 0, 0);

	into->width = (unsigned)size;
	(void)snprintf(into->words, sizeof(into->words), "fixed_size_binary:%" PRId32, size);
	return size > 0;
}

static bool
parse_list(const struct flattable *type, struct import_type *into)
{
	int32_t size = flatview_i32(type, 0, 0);

	into->layout = IMPORT_FIXED_LISTS;
	into->dimension = (uint64_t)(uint32_t)size;
	(void)snprintf(into->words, sizeof(into->words), "fixed_size_list of %" PRId32, size);
	return size > 0;
}

static const struct {
	uint8_t tag;
	bool (*parse)(const struct flattable *type, struct import_type *into);
} parsers[] = {
	{ 2, parse_int },
	{ 3, parse_float },
	{ 7, parse_decimal },
	{ 8, parse_date },
	{ 9, parse_time },
	{ 10, parse_timestamp },
	{ 15, parse_binary },
	{ 16, parse_list },
	{ 18, parse_duration },
};

static bool
parse(uint8_t tag, const struct flattable *type, struct import_type *into)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		if (plain[i].tag == tag) {
			*into = plain[i].type;
			return true;
		}
	}
	*into = (struct import_type){ .layout = IMPORT_FIXED };
	for (size_t i = 0; i < ARRAY_SIZE(parsers); i++) {
		if (parsers[i].tag == tag)
			return parsers[i].parse(type, into);
	}
	return false;
}

int
import_type_of(
	const struct flattable *field, struct import_type *ret_type, struct lancet_error *err)
{
	static const char *const others[] = {
		[11] = "interval", [14] = "union", [22] = "run-end encoded"
	};
	uint8_t tag = flatview_u8(field, FIELD_TYPE_TAG, 0);
	struct flattable type = flatview_table(field, FIELD_TYPE);

	if (parse(tag, &type, ret_type))
		return LANCET_OK;
	return lancet_fail(err, LANCET_UNSUPPORTED, "Arrow type %s",
		tag < ARRAY_SIZE(others) && others[tag] != NULL ? others[tag]
		: ret_type->words[0] != '\0'                    ? ret_type->words
								: "that is not known");
}

int
import_type_of_keys(
	const struct flattable *encoding, struct import_type *ret_type, struct lancet_error *err)
{
	struct flattable type = flatview_table(encoding, 1);

	*ret_type = (struct import_type){ .width = 4, .is_signed = true, .words = "int32" };
	if (flattable_present(&type) && !parse_int(&type, ret_type))
		return lancet_fail(
			err, LANCET_CORRUPT, "dictionary keys of type %s", ret_type->words);
	ret_type->layout = IMPORT_KEYS;
	return LANCET_OK;
}

static bool
is_word(const struct import_type *type, const char *word)
{
	return strcmp(type->words, word) == 0;
}

/* Instants are the same in every zone; a time without one is no instant. */
static bool
same_instants(const struct import_type *type, struct slice logical)
{
	size_t unit = strcspn(type->words + sizeof("timestamp:") - 1, ":") + sizeof("timestamp:");

	if (strncmp(type->words, "timestamp:", 10) != 0 || logical.size <= unit ||
		memcmp(logical.data, type->words, unit) != 0)
		return false;
	return strcmp(type->words + unit, "-") != 0 && logical.data[unit] != '-';
}

static bool
parse_decimal_words(struct slice words, uint64_t parts[2], struct slice *ret_scale)
{
	static const char head[] = "decimal:";
	const uint8_t *at = words.data + sizeof(head) - 1, *end = words.data + words.size;

	if (words.size < sizeof(head) || memcmp(words.data, head, sizeof(head) - 1) != 0)
		return false;
	for (size_t i = 0; i < 2; i++) {
		const uint8_t *colon = memchr(at, ':', (size_t)(end - at));

		if (colon == NULL || !text_to_u64(slice_of(at, (size_t)(colon - at)), &parts[i]))
			return false;
		at = colon + 1;
	}
	*ret_scale = slice_of(at, (size_t)(end - at));
	return true;
}

/* Equal scale, and no digit that has no room. */
static bool
decimal_fits(const struct import_type *type, struct slice logical)
{
	struct slice from_scale, to_scale;
	uint64_t from[2], to[2]; /* bits, digits */

	return parse_decimal_words(slice_text(type->words), from, &from_scale) &&
	       parse_decimal_words(logical, to, &to_scale) && slice_equal(from_scale, to_scale) &&
	       from[0] <= to[0] && from[1] <= to[1];
}

static bool
is_text_field(const struct field *field)
{
	return field->format[0] == 'u' || field->format[0] == 'U';
}

/* Stored as binary values, written as text by most programs. */
static bool
is_json_text(const struct import_type *type, const struct field *field)
{
	return json_text_is_for(field) && strstr(type->words, "string") != NULL;
}

bool
import_type_fits(struct import_type *type, const struct field *field)
{
	if (type->layout == IMPORT_NULLS)
		return true;
	switch (field->kind) {
	case FIELD_NULL:
		return false;
	case FIELD_STRUCT:
		return type->layout == IMPORT_STRUCTS;
	case FIELD_MAP:
		return is_word(type, "map");
	case FIELD_LIST:
		return (type->layout == IMPORT_LISTS || type->layout == IMPORT_LIST_VIEWS) &&
		       !is_word(type, "map");
	case FIELD_FIXED_LIST:
		return type->layout == IMPORT_FIXED_LISTS && type->dimension == field->dimension;
	case FIELD_VARIABLE:
		type->is_json_text = is_json_text(type, field);
		if (type->layout != IMPORT_BYTES && type->layout != IMPORT_VIEWS)
			return false;
		return type->is_json_text ||
		       is_text_field(field) == (strstr(type->words, "string") != NULL);
	case FIELD_FIXED:
		if (slice_equal(field->logical_type, slice_text("lance.bfloat16")))
			return is_word(type, "fixed_size_binary:2");
		return slice_equal(field->logical_type, slice_text(type->words)) ||
		       same_instants(type, field->logical_type) ||
		       decimal_fits(type, field->logical_type);
	case FIELD_DICTIONARY:
		break;
	}
	return false;
}
