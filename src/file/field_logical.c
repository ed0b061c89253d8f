/* Logical types parsed by table; see field_logical.h.
 *
 * Types of one spelling are rows with all that is known of them. The others have a parser each,
 * found by the word before the first colon.
 */
#include "field_logical.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

#include "util/macros.h"
#include "util/text.h"

/* Arrow counts bytes of a value and items of a list in 32 bits, with a sign. */
#define COUNT_MAX     ((uint64_t)INT32_MAX)
#define BINARY_MAX    ((uint64_t)UINT32_MAX / 8)
#define FORMAT_MAX    64u
#define PRECISION_128 38
#define PRECISION_256 76

static const struct fixed_row {
	const char *name;
	enum field_kind kind;
	const char *format;
	uint32_t bits;
	bool large, is_signed;
} fixed_rows[] = {
	{ "null", FIELD_NULL, "n", 0, false, false },
	{ "bool", FIELD_FIXED, "b", 1, false, false },
	{ "int8", FIELD_FIXED, "c", 8, false, true },
	{ "uint8", FIELD_FIXED, "C", 8, false, false },
	{ "int16", FIELD_FIXED, "s", 16, false, true },
	{ "uint16", FIELD_FIXED, "S", 16, false, false },
	{ "int32", FIELD_FIXED, "i", 32, false, true },
	{ "uint32", FIELD_FIXED, "I", 32, false, false },
	{ "int64", FIELD_FIXED, "l", 64, false, true },
	{ "uint64", FIELD_FIXED, "L", 64, false, false },
	{ "halffloat", FIELD_FIXED, "e", 16, false, false },
	{ "float", FIELD_FIXED, "f", 32, false, false },
	{ "double", FIELD_FIXED, "g", 64, false, false },
	{ "date32:day", FIELD_FIXED, "tdD", 32, false, true },
	{ "date64:ms", FIELD_FIXED, "tdm", 64, false, true },
	{ "time32:s", FIELD_FIXED, "tts", 32, false, true },
	{ "time32:ms", FIELD_FIXED, "ttm", 32, false, true },
	{ "time64:us", FIELD_FIXED, "ttu", 64, false, true },
	{ "time64:ns", FIELD_FIXED, "ttn", 64, false, true },
	{ "duration:s", FIELD_FIXED, "tDs", 64, false, true },
	{ "duration:ms", FIELD_FIXED, "tDm", 64, false, true },
	{ "duration:us", FIELD_FIXED, "tDu", 64, false, true },
	{ "duration:ns", FIELD_FIXED, "tDn", 64, false, true },
	{ "string", FIELD_VARIABLE, "u", 0, false, false },
	{ "large_string", FIELD_VARIABLE, "U", 0, true, false },
	{ "binary", FIELD_VARIABLE, "z", 0, false, false },
	{ "large_binary", FIELD_VARIABLE, "Z", 0, true, false },
	{ "json", FIELD_VARIABLE, "Z", 0, true, false },
	{ "list", FIELD_LIST, "+l", 0, false, false },
	{ "list.struct", FIELD_LIST, "+l", 0, false, false },
	{ "large_list", FIELD_LIST, "+L", 0, true, false },
	{ "large_list.struct", FIELD_LIST, "+L", 0, true, false },
	{ "struct", FIELD_STRUCT, "+s", 0, false, false },
	{ "map", FIELD_MAP, "+m", 0, false, false },
};

LANCET_PRINTF(3, 4)
static int
make_format(struct arena *arena, const char **ret_format, const char *fmt, ...)
{
	char text[FORMAT_MAX];
	va_list args;
	int size;

	va_start(args, fmt);
	size = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	*ret_format = size < 0 || (size_t)size >= sizeof(text)
			      ? NULL
			      : arena_copy(arena, text, (size_t)size + 1);
	return *ret_format == NULL ? LANCET_NO_MEMORY : LANCET_OK;
}

/* What is before the first colon, which the rest loses; the rest is empty without one. */
static struct slice
split_first(struct slice *rest)
{
	const uint8_t *colon = memchr(rest->data, ':', rest->size);
	struct slice head = *rest;

	if (colon == NULL) {
		rest->size = 0;
		return head;
	}
	head.size = (size_t)(colon - rest->data);
	*rest = slice_of(colon + 1, rest->size - head.size - 1);
	return head;
}

/* What is behind the last colon, which the rest loses; all of it without one. */
static struct slice
split_last(struct slice *rest)
{
	const uint8_t *colon = memrchr(rest->data, ':', rest->size);
	struct slice tail = *rest;

	if (colon == NULL) {
		rest->size = 0;
		return tail;
	}
	tail = slice_of(colon + 1, rest->size - (size_t)(colon - rest->data) - 1);
	rest->size = (size_t)(colon - rest->data);
	return tail;
}

static bool
is_text(struct slice text, const char *wanted)
{
	return slice_equal(text, slice_text(wanted));
}

/* decimal:128:PRECISION:SCALE, decimal:256:PRECISION:SCALE */
static int
parse_decimal(struct slice rest, struct arena *arena, struct logical_type *type)
{
	struct slice width = split_first(&rest);
	struct slice precision = split_first(&rest);
	bool negative = rest.size > 0 && rest.data[0] == '-';
	bool is_wide = is_text(width, "256");
	uint64_t digits, scale;

	if (negative)
		rest = slice_of(rest.data + 1, rest.size - 1);
	if ((!is_wide && !is_text(width, "128")) || !text_to_u64(precision, &digits) ||
		!text_to_u64(rest, &scale) || digits < 1 ||
		digits > (is_wide ? PRECISION_256 : PRECISION_128) ||
		scale > (uint64_t)(negative ? -INT8_MIN : INT8_MAX))
		return LANCET_CORRUPT;
	type->bits = is_wide ? 256 : 128;
	type->is_signed = true;
	return make_format(arena, &type->format, "d:%" PRIu64 ",%s%" PRIu64 "%s", digits,
		negative ? "-" : "", scale, is_wide ? ",256" : "");
}

/* timestamp:UNIT:ZONE, where a zone may have colons, and "-" is none. */
static int
parse_timestamp(struct slice rest, struct arena *arena, struct logical_type *type)
{
	struct slice unit = split_first(&rest);
	bool is_plain = is_text(rest, "-");
	char *format;

	if ((!is_text(unit, "s") && !is_text(unit, "ms") && !is_text(unit, "us") &&
		    !is_text(unit, "ns")) ||
		rest.size == 0 || memchr(rest.data, '\0', rest.size) != NULL)
		return LANCET_CORRUPT;
	format = arena_zalloc(arena, rest.size + sizeof("tsu:"), 1);
	if (format == NULL)
		return LANCET_NO_MEMORY;
	memcpy(format, "ts?:", 4);
	format[2] = (char)unit.data[0];
	if (!is_plain)
		memcpy(format + 4, rest.data, rest.size);
	type->format = format;
	type->bits = 64;
	type->is_signed = true;
	return LANCET_OK;
}

/* fixed_size_binary:SIZE */
static int
parse_binary(struct slice rest, struct arena *arena, struct logical_type *type)
{
	uint64_t size;

	if (!text_to_u64(rest, &size))
		return LANCET_CORRUPT;
	if (size == 0 || size > BINARY_MAX)
		return LANCET_UNSUPPORTED;
	type->bits = (uint32_t)(8 * size);
	return make_format(arena, &type->format, "w:%" PRIu64, size);
}

/* fixed_size_list:ITEMS:DIMENSION */
static int
parse_list(struct slice rest, struct arena *arena, struct logical_type *type)
{
	struct slice dimension = split_last(&rest);

	if (rest.size == 0 || !text_to_u64(dimension, &type->dimension) || type->dimension < 1 ||
		type->dimension > COUNT_MAX)
		return LANCET_CORRUPT;
	type->kind = FIELD_FIXED_LIST;
	type->inner = rest;
	return make_format(arena, &type->format, "+w:%" PRIu64, type->dimension);
}

/* dict:VALUES:KEYS:ORDERED; readers of the format take no notice of the order. */
static int
parse_dictionary(struct slice rest, struct arena *arena, struct logical_type *type)
{
	struct slice ordered = split_last(&rest);
	struct slice keys = split_last(&rest);
	struct logical_type key;

	if (rest.size == 0 || (!is_text(ordered, "false") && !is_text(ordered, "true")) ||
		logical_parse(keys, arena, &key, NULL) != LANCET_OK || key.kind != FIELD_FIXED ||
		key.format[1] != '\0' || strchr("cCsSiIlL", key.format[0]) == NULL)
		return LANCET_CORRUPT;
	*type = key;
	type->kind = FIELD_DICTIONARY;
	type->inner = rest;
	return LANCET_OK;
}

/* The items of such a list are named by their extension instead of their storage. */
static int
parse_bfloat16(struct slice rest, struct arena *arena, struct logical_type *type)
{
	(void)arena;
	if (rest.size != 0)
		return LANCET_CORRUPT;
	type->bits = 16;
	type->format = "w:2";
	type->is_bfloat16 = true;
	return LANCET_OK;
}

static const struct {
	const char *name;
	int (*parse)(struct slice rest, struct arena *arena, struct logical_type *type);
} parsers[] = {
	{ "decimal", parse_decimal },
	{ "timestamp", parse_timestamp },
	{ "fixed_size_binary", parse_binary },
	{ "fixed_size_list", parse_list },
	{ "dict", parse_dictionary },
	{ "lance.bfloat16", parse_bfloat16 },
};

static int
parse_parameters(struct slice text, struct arena *arena, struct logical_type *type)
{
	struct slice rest = text;
	struct slice name = split_first(&rest);

	for (size_t i = 0; i < ARRAY_SIZE(parsers); i++) {
		if (is_text(name, parsers[i].name))
			return parsers[i].parse(rest, arena, type);
	}
	return LANCET_UNSUPPORTED;
}

int
logical_parse(struct slice text, struct arena *arena, struct logical_type *ret_type,
	struct lancet_error *err)
{
	struct logical_type type = { .kind = FIELD_FIXED };
	int rc;

	for (size_t i = 0; i < ARRAY_SIZE(fixed_rows); i++) {
		const struct fixed_row *row = &fixed_rows[i];

		if (!is_text(text, row->name))
			continue;
		*ret_type = (struct logical_type){ .kind = row->kind,
			.format = row->format,
			.bits = row->bits,
			.large = row->large,
			.is_signed = row->is_signed };
		return LANCET_OK;
	}
	rc = text.size == 0 ? LANCET_CORRUPT : parse_parameters(text, arena, &type);
	switch (rc) {
	case LANCET_OK:
		*ret_type = type;
		return LANCET_OK;
	case LANCET_NO_MEMORY:
		return lancet_fail(err, rc, "logical type %.*s", FIELD_TEXT(text));
	case LANCET_UNSUPPORTED:
		return lancet_fail(err, rc, "logical type %.*s is not supported", FIELD_TEXT(text));
	default:
		return lancet_fail(err, rc, "logical type \"%.*s\" is malformed", FIELD_TEXT(text));
	}
}
