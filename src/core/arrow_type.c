/* Format strings; see arrow_type.h. */
#include "arrow_type.h"

#include <stdlib.h>

#include "util/macros.h"

static const struct {
	char format[4];
	struct arrow_type type;
} plain[] = {
	{ "n", { .kind = ARROW_NULL } },
	{ "b", { .kind = ARROW_BOOL, .bits = 1 } },
	{ "c", { .kind = ARROW_INT, .bits = 8, .is_signed = true } },
	{ "C", { .kind = ARROW_INT, .bits = 8 } },
	{ "s", { .kind = ARROW_INT, .bits = 16, .is_signed = true } },
	{ "S", { .kind = ARROW_INT, .bits = 16 } },
	{ "i", { .kind = ARROW_INT, .bits = 32, .is_signed = true } },
	{ "I", { .kind = ARROW_INT, .bits = 32 } },
	{ "l", { .kind = ARROW_INT, .bits = 64, .is_signed = true } },
	{ "L", { .kind = ARROW_INT, .bits = 64 } },
	{ "e", { .kind = ARROW_FLOAT, .bits = 16 } },
	{ "f", { .kind = ARROW_FLOAT, .bits = 32 } },
	{ "g", { .kind = ARROW_FLOAT, .bits = 64 } },
	{ "u", { .kind = ARROW_TEXT } },
	{ "U", { .kind = ARROW_TEXT, .large = true } },
	{ "z", { .kind = ARROW_BINARY } },
	{ "Z", { .kind = ARROW_BINARY, .large = true } },
	{ "tdD", { .kind = ARROW_DATE, .bits = 32 } },
	{ "tdm", { .kind = ARROW_DATE, .bits = 64 } },
	{ "tts", { .kind = ARROW_TIME, .bits = 32, .unit = ARROW_SECOND } },
	{ "ttm", { .kind = ARROW_TIME, .bits = 32, .unit = ARROW_MILLI } },
	{ "ttu", { .kind = ARROW_TIME, .bits = 64, .unit = ARROW_MICRO } },
	{ "ttn", { .kind = ARROW_TIME, .bits = 64, .unit = ARROW_NANO } },
	{ "tDs", { .kind = ARROW_DURATION, .bits = 64, .unit = ARROW_SECOND } },
	{ "tDm", { .kind = ARROW_DURATION, .bits = 64, .unit = ARROW_MILLI } },
	{ "tDu", { .kind = ARROW_DURATION, .bits = 64, .unit = ARROW_MICRO } },
	{ "tDn", { .kind = ARROW_DURATION, .bits = 64, .unit = ARROW_NANO } },
	{ "+l", { .kind = ARROW_LIST } },
	{ "+L", { .kind = ARROW_LIST, .large = true } },
	{ "+s", { .kind = ARROW_STRUCT } },
	{ "+m", { .kind = ARROW_MAP } },
};

/* A number that ends at `end`; *text moves behind it. */
static bool
take_int(const char **text, char end, int32_t *ret_value)
{
	char *behind;
	long value = strtol(*text, &behind, 10);

	if (behind == *text || *behind != end || value < INT32_MIN || value > INT32_MAX)
		return false;
	*ret_value = (int32_t)value;
	*text = behind + (end != '\0');
	return true;
}

/* "d:PRECISION,SCALE" or "d:PRECISION,SCALE,BITS" */
static bool
parse_decimal(const char *text, struct arrow_type *type)
{
	int32_t bits = 128;

	if (!take_int(&text, ',', &type->precision))
		return false;
	if (strchr(text, ',') == NULL) {
		if (!take_int(&text, '\0', &type->scale))
			return false;
	} else if (!take_int(&text, ',', &type->scale) || !take_int(&text, '\0', &bits)) {
		return false;
	}
	if (type->scale < INT8_MIN || type->scale > INT8_MAX ||
		(bits != 32 && bits != 64 && bits != 128 && bits != 256))
		return false;
	type->kind = ARROW_DECIMAL;
	type->bits = (uint32_t)bits;
	return true;
}

static bool
parse_timestamp(const char *text, struct arrow_type *type)
{
	static const char units[] = "smun";
	const char *unit = *text == '\0' ? NULL : strchr(units, *text);

	if (unit == NULL || text[1] != ':')
		return false;
	*type = (struct arrow_type){
		.kind = ARROW_TIMESTAMP,
		.bits = 64,
		.unit = (enum arrow_unit)(unit - units),
		.zone = text + 2,
	};
	return true;
}

static bool
parse(const char *format, struct arrow_type *type)
{
	const char *text = format;

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++) {
		if (strcmp(format, plain[i].format) == 0) {
			*type = plain[i].type;
			return true;
		}
	}
	*type = (struct arrow_type){ .kind = ARROW_FIXED_BINARY };
	if (strncmp(format, "ts", 2) == 0)
		return parse_timestamp(format + 2, type);
	if (strncmp(format, "d:", 2) == 0)
		return parse_decimal(format + 2, type);
	if (strncmp(format, "w:", 2) == 0) {
		text += 2;
		return take_int(&text, '\0', &type->size) && type->size >= 0;
	}
	if (strncmp(format, "+w:", 3) == 0) {
		text += 3;
		type->kind = ARROW_FIXED_LIST;
		return take_int(&text, '\0', &type->size) && type->size >= 0;
	}
	return false;
}

static bool
has_children(const struct ArrowSchema *schema, const struct arrow_type *type)
{
	int64_t count = schema->n_children;

	switch (type->kind) {
	case ARROW_STRUCT:
		return count >= 0;
	case ARROW_LIST:
	case ARROW_FIXED_LIST:
		return count == 1;
	case ARROW_MAP:
		return count == 1 && schema->children[0]->n_children == 2;
	default:
		return count == 0;
	}
}

int
arrow_type_of(
	const struct ArrowSchema *schema, struct arrow_type *ret_type, struct lancet_error *err)
{
	const char *name = schema->name != NULL ? schema->name : "";
	struct arrow_type type = { 0 };

	if (schema->format == NULL)
		return lancet_fail(err, LANCET_INVALID, "column %s: no type", name);
	if (!parse(schema->format, &type))
		return lancet_fail(err, LANCET_UNSUPPORTED, "column %s: Arrow type \"%s\"", name,
			schema->format);
	if (!has_children(schema, &type))
		return lancet_fail(err, LANCET_INVALID, "column %s: \"%s\" with %lld children",
			name, schema->format, (long long)schema->n_children);
	if (schema->dictionary != NULL && type.kind != ARROW_INT)
		return lancet_fail(err, LANCET_INVALID,
			"column %s: keys of a dictionary that are no integers", name);
	*ret_type = type;
	return LANCET_OK;
}

unsigned
arrow_type_buffers(const struct arrow_type *type)
{
	switch (type->kind) {
	case ARROW_NULL:
		return 0;
	case ARROW_STRUCT:
	case ARROW_FIXED_LIST:
		return 1;
	case ARROW_TEXT:
	case ARROW_BINARY:
		return 3;
	default:
		return 2;
	}
}

static int32_t
take_size(const char **at)
{
	int32_t size;

	memcpy(&size, *at, sizeof(size));
	*at += sizeof(size);
	return size < 0 ? 0 : size;
}

struct arrow_metadata
arrow_metadata_begin(const struct ArrowSchema *schema)
{
	struct arrow_metadata metadata = { .at = schema->metadata };

	if (metadata.at != NULL)
		metadata.left = take_size(&metadata.at);
	return metadata;
}

bool
arrow_metadata_next(struct arrow_metadata *metadata, struct slice *ret_key, struct slice *ret_value)
{
	struct slice *const parts[] = { ret_key, ret_value };

	if (metadata->left == 0)
		return false;
	metadata->left--;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t size = (size_t)take_size(&metadata->at);

		*parts[i] = slice_of(metadata->at, size);
		metadata->at += size;
	}
	return true;
}

bool
arrow_has_extension(const struct ArrowSchema *schema, const char *name)
{
	struct arrow_metadata metadata = arrow_metadata_begin(schema);
	struct slice key, value;

	while (arrow_metadata_next(&metadata, &key, &value)) {
		if (slice_equal(key, slice_text("ARROW:extension:name")))
			return slice_equal(value, slice_text(name));
	}
	return false;
}
