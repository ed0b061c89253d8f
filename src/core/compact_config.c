/* What a table's config says of compaction, by the reference's names and readings of values.
 *
 * Keys that change nothing here (how many threads, sizes of reads and of row groups) are checked
 * all the same: the reference refuses to compact with a broken one. Unknown keys are left alone.
 * Format facts: compaction.
 */
#include <lancet/rewrite.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "fragment_write.h"
#include "util/macros.h"
#include "util/slice.h"

#define PREFIX      "lance.compaction."
#define TARGET_ROWS (UINT64_C(1) << 20)
#define OVERLAYS    10u
#define NUMBER_MAX  63u   /* characters of a number */
#define STABLE_WORD "2.2" /* what the reference takes "stable" and "next" for */
#define NEXT_WORD   "2.3"

typedef struct lancet_compact_options Options;

struct setting {
	const char *name;
	/* false: the value can't be read. */
	bool (*read)(struct slice value, Options *options, uint64_t *into);
	const char *wanted;
	size_t offset; /* of the number in Options; SIZE_MAX: it is of no use here */
	bool not_zero;
};

static bool
copy_text(struct slice value, char into[NUMBER_MAX + 1])
{
	if (value.size == 0 || value.size > NUMBER_MAX)
		return false;
	memcpy(into, value.data, value.size);
	into[value.size] = '\0';
	return strlen(into) == value.size;
}

static bool
word_is(struct slice value, const char *word)
{
	if (value.size != strlen(word))
		return false;
	for (size_t i = 0; i < value.size; i++) {
		uint8_t byte = value.data[i];

		if (byte >= 'A' && byte <= 'Z')
			byte = (uint8_t)(byte + ('a' - 'A'));
		if (byte != (uint8_t)word[i])
			return false;
	}
	return true;
}

static bool
parse_number(struct slice value, uint64_t *ret_number)
{
	char text[NUMBER_MAX + 1];
	const char *digits = text;
	uint64_t number;

	if (!copy_text(value, text))
		return false;
	digits += text[0] == '+';
	if (*digits == '\0' || strspn(digits, "0123456789") != strlen(digits))
		return false;
	errno = 0;
	number = strtoull(digits, NULL, 10);
	if (errno != 0)
		return false;
	*ret_number = number;
	return true;
}

static bool
read_number(struct slice value, Options *options, uint64_t *into)
{
	(void)options;
	return parse_number(value, into);
}

static bool
read_overlays(struct slice value, Options *options, uint64_t *into)
{
	(void)options;
	*into = UINT64_MAX;
	return word_is(value, "none") || parse_number(value, into);
}

static bool
read_flag(struct slice value, bool *ret_flag)
{
	*ret_flag = word_is(value, "true");
	return *ret_flag || word_is(value, "false");
}

static bool
read_materialize(struct slice value, Options *options, uint64_t *into)
{
	(void)into;
	return read_flag(value, &options->materialize_deletions);
}

static bool
read_defer(struct slice value, Options *options, uint64_t *into)
{
	bool defer = false;
	bool sound = read_flag(value, &defer);

	(void)into;
	options->index_remap = defer ? LANCET_REMAP_DEFER : LANCET_REMAP_AUTO;
	return sound;
}

/* A number as people write it, infinite or none at all; no hexadecimal one. */
static bool
read_threshold(struct slice value, Options *options, uint64_t *into)
{
	char text[NUMBER_MAX + 1];
	char *end = text;
	float number;

	(void)into;
	if (!copy_text(value, text) || strpbrk(text, " \t\n\v\f\rxX(") != NULL)
		return false;
	number = strtof(text, &end);
	options->materialize_deletions_threshold = (double)number;
	return end != text && *end == '\0';
}

static bool
read_mode(struct slice value, Options *options, uint64_t *into)
{
	(void)into;
	if (word_is(value, "force_binary_copy"))
		options->binary_copy = LANCET_COPY_FORCE;
	else if (word_is(value, "reencode"))
		options->binary_copy = LANCET_COPY_NEVER;
	else
		return word_is(value, "try_binary_copy");
	return true;
}

static bool
read_remap_mode(struct slice value, Options *options, uint64_t *into)
{
	(void)options, (void)into;
	return word_is(value, "direct") || word_is(value, "compact");
}

#define NUMBER   "a number"
#define AT(name) offsetof(Options, name)

static const struct setting settings[] = {
	{ "target_rows_per_fragment", read_number, NUMBER, AT(target_rows), false },
	{ "max_rows_per_group", read_number, NUMBER, SIZE_MAX, false },
	{ "max_bytes_per_file", read_number, NUMBER, AT(max_file_bytes), true },
	{ "materialize_deletions", read_materialize, "true or false", SIZE_MAX, false },
	{ "materialize_deletions_threshold", read_threshold, NUMBER, SIZE_MAX, false },
	{ "defer_index_remap", read_defer, "true or false", SIZE_MAX, false },
	{ "index_remap_mode", read_remap_mode, "direct or compact", SIZE_MAX, false },
	{ "batch_size", read_number, NUMBER, SIZE_MAX, false },
	{ "io_buffer_size", read_number, NUMBER, SIZE_MAX, false },
	{ "compaction_mode", read_mode, "reencode, try_binary_copy or force_binary_copy", SIZE_MAX,
		false },
	{ "binary_copy_read_batch_bytes", read_number, NUMBER, SIZE_MAX, false },
	{ "max_source_fragments", read_number, NUMBER, AT(max_source_fragments), true },
	{ "max_source_rows", read_number, NUMBER, AT(max_source_rows), true },
	{ "max_source_bytes", read_number, NUMBER, AT(max_source_bytes), true },
	{ "max_overlays_per_fragment", read_overlays, "a number or none", AT(max_overlays), false },
};

static int
apply(const struct setting *setting, struct slice value, Options *options, struct lancet_error *err)
{
	uint64_t number = 0;

	if (!setting->read(value, options, &number) || (setting->not_zero && number == 0))
		return lancet_fail(err, LANCET_INVALID,
			"config " PREFIX "%s is \"%.*s\", it should be %s%s", setting->name,
			value.size < NUMBER_MAX ? (int)value.size : (int)NUMBER_MAX,
			(const char *)value.data, setting->wanted,
			setting->not_zero ? " above 0" : "");
	if (setting->offset != SIZE_MAX)
		memcpy((char *)options + setting->offset, &number, sizeof(number));
	return LANCET_OK;
}

/* New files are of the version that the dataset has. */
static int
check_version(lancet_version *read, struct slice value, struct lancet_error *err)
{
	enum file_version due;
	const char *name;

	TRY(fragment_write_version(read, &due, err));
	name = file_version_name(due);
	if (slice_equal(value, slice_text(name)) ||
		(word_is(value, "stable") && strcmp(name, STABLE_WORD) == 0) ||
		(word_is(value, "next") && strcmp(name, NEXT_WORD) == 0))
		return LANCET_OK;
	return lancet_fail(err, LANCET_UNSUPPORTED,
		"config " PREFIX "data_storage_version is \"%.*s\": this build writes files of the "
		"version that the dataset has, %s",
		value.size < NUMBER_MAX ? (int)value.size : (int)NUMBER_MAX,
		(const char *)value.data, name);
}

static int
apply_entry(lancet_version *read, const struct lancet_entry *entry, Options *options,
	struct lancet_error *err)
{
	struct slice key = slice_of(entry->key.data, entry->key.size);
	struct slice value = slice_of(entry->value.data, entry->value.size);
	const size_t prefix = sizeof(PREFIX) - 1;

	if (key.size <= prefix || memcmp(key.data, PREFIX, prefix) != 0)
		return LANCET_OK;
	key = slice_of(key.data + prefix, key.size - prefix);
	if (slice_equal(key, slice_text("data_storage_version")))
		return check_version(read, value, err);
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		if (slice_equal(key, slice_text(settings[i].name)))
			return apply(&settings[i], value, options, err);
	}
	return LANCET_OK;
}

int
lancet_compact_defaults(
	lancet_version *read, struct lancet_compact_options *ret_options, struct lancet_error *err)
{
	Options options = {
		.target_rows = TARGET_ROWS,
		.materialize_deletions = true,
		.materialize_deletions_threshold = 0.1,
		.max_overlays = OVERLAYS,
	};
	size_t count;
	const struct lancet_entry *entries = lancet_version_map(read, LANCET_CONFIG, &count);

	for (size_t i = 0; i < count; i++)
		TRY(apply_entry(read, &entries[i], &options, err));
	*ret_options = options;
	return LANCET_OK;
}
