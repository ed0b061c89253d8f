/* Which values a field has. */
#include "predicate_parts.h"

#include <stdio.h>
#include <strings.h>

#include "util/macros.h"
#include "util/text.h"

static int64_t
unit_of(char letter)
{
	switch (letter) {
	case 's':
		return UNIT_SECOND;
	case 'm':
		return UNIT_SECOND / 1000;
	case 'u':
		return UNIT_SECOND / 1000000;
	default:
		return 1;
	}
}

static struct value_type
temporal_type(const char *format)
{
	struct value_type type = { .zone = "" };

	switch (format[1]) {
	case 'd':
		type.class = VALUE_INSTANT;
		type.unit = format[2] == 'D' ? UNIT_DAY : unit_of('m');
		break;
	case 't':
		type.class = VALUE_TIME;
		type.unit = unit_of(format[2]);
		break;
	case 's':
		type.class = VALUE_INSTANT;
		type.unit = unit_of(format[2]);
		type.zone = format + 4;
		break;
	default:
		type.class = VALUE_DURATION;
		type.unit = unit_of(format[2]);
		break;
	}
	return type;
}

static struct value_type
fixed_type(const struct field *field)
{
	struct value_type type = { .class = VALUE_OTHER };

	switch (field->format[0]) {
	case 'b':
		type.class = VALUE_BOOL;
		break;
	case 'L':
		type.class = VALUE_UINT;
		break;
	case 'e':
	case 'f':
	case 'g':
		type.class = VALUE_FLOAT;
		type.bits = field->bits;
		break;
	case 'd':
		type.class = VALUE_DECIMAL;
		if (sscanf(field->format, "d:%u,%d", &type.precision, &type.scale) != 2)
			type.class = VALUE_OTHER;
		break;
	case 'w':
		type.class = VALUE_BINARY;
		break;
	case 't':
		return temporal_type(field->format);
	default:
		type.class = strchr("cCsSiIl", field->format[0]) != NULL ? VALUE_INT : VALUE_OTHER;
	}
	return type;
}

/* Types that are named by their extension are more than their storage. */
static bool
is_extension(const struct field *field)
{
	return slice_equal(field->logical_type, slice_text("json")) ||
	       slice_equal(field->logical_type, slice_text("lance.bfloat16"));
}

struct value_type
type_of_field(const struct field *field)
{
	if (field->blob != FIELD_NO_BLOB || is_extension(field))
		return (struct value_type){ .class = VALUE_OTHER };
	switch (field->kind) {
	case FIELD_NULL:
		return (struct value_type){ .class = VALUE_NULL };
	case FIELD_FIXED:
		return fixed_type(field);
	case FIELD_VARIABLE:
		return (struct value_type){
			.class = strchr("uU", field->format[0]) != NULL ? VALUE_TEXT : VALUE_BINARY
		};
	case FIELD_DICTIONARY:
		if (field->children[0].kind == FIELD_DICTIONARY)
			break;
		return type_of_field(&field->children[0]);
	default:
		break;
	}
	return (struct value_type){ .class = VALUE_OTHER };
}

const char *
type_name(const struct value_type *type)
{
	static const char *const names[] = {
		[VALUE_NULL] = "null",
		[VALUE_BOOL] = "true or false",
		[VALUE_INT] = "a whole number",
		[VALUE_UINT] = "a whole number",
		[VALUE_FLOAT] = "a floating-point number",
		[VALUE_DECIMAL] = "a decimal",
		[VALUE_TEXT] = "text",
		[VALUE_BINARY] = "binary",
		[VALUE_INSTANT] = "a date or timestamp",
		[VALUE_TIME] = "a time",
		[VALUE_DURATION] = "a duration",
		[VALUE_OTHER] = "a type that can only be null or not",
	};

	return names[type->class];
}

bool
type_is_number(const struct value_type *type)
{
	return type->class == VALUE_INT || type->class == VALUE_UINT ||
	       type->class == VALUE_FLOAT || type->class == VALUE_DECIMAL;
}

/* Two digits, below `limit`. */
static bool
take_two(const char **text, int64_t limit, int64_t *ret_value)
{
	const char *at = *text;

	if (at[0] < '0' || at[0] > '9' || at[1] < '0' || at[1] > '9')
		return false;
	*ret_value = (at[0] - '0') * 10 + (at[1] - '0');
	*text = at + 2;
	return *ret_value < limit;
}

bool
zone_offset(const char *zone, int64_t *ret_seconds)
{
	static const char *const utc[] = { "", "utc", "z", "etc/utc", "gmt" };
	int64_t hours, minutes = 0;
	const char *at = zone + 1;

	*ret_seconds = 0;
	for (size_t i = 0; i < ARRAY_SIZE(utc); i++) {
		if (strcasecmp(zone, utc[i]) == 0)
			return true;
	}
	if ((zone[0] != '+' && zone[0] != '-') || !take_two(&at, 24, &hours))
		return false;
	at += *at == ':';
	if (*at != '\0' && (!take_two(&at, 60, &minutes) || *at != '\0'))
		return false;
	*ret_seconds = (zone[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return true;
}

/* Times without a zone are UTC; what they are elsewhere is in no file of the dataset. */
bool
type_zones_agree(const struct value_type *a, const struct value_type *b)
{
	bool a_plain = a->zone[0] == '\0', b_plain = b->zone[0] == '\0';
	int64_t offset;

	if (a_plain == b_plain)
		return true;
	return zone_offset(a_plain ? b->zone : a->zone, &offset) && offset == 0;
}
