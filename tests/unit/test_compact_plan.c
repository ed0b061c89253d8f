/* Which fragments a compaction takes, and into how many it makes them: what the reference planned
 * and made of datasets with these fragments. */
#include "unit.h"

#include "maker.h"

#include <inttypes.h>
#include <string.h>

#include "core/rewrite_plan.h"

#define ANY_OVERLAYS UINT64_MAX
#define FRAGMENTS    16u
#define FILE_SIZE    1000u
#define STABLE       2u

/* A number, and whether there was one. */
static bool
take_number(const char **text, uint64_t *ret_number)
{
	char *end;

	if (**text < '0' || **text > '9')
		return false;
	*ret_number = strtoull(*text, &end, 10);
	*text = end;
	return true;
}

static uint64_t
take_after(const char **text, char mark)
{
	uint64_t number = 0;

	if (**text == mark) {
		++*text;
		ck_assert(take_number(text, &number));
	}
	return number;
}

static void
put_overlays(struct buf *fragment, uint64_t count)
{
	static const uint8_t overlay[] = { 0x0a, 0x05, 0x0a, 0x01, 'o', 0x12, 0x00, 0x18, 0x01 };

	for (uint64_t i = 0; i < count; i++)
		maker_bytes(fragment, 11, overlay, sizeof(overlay));
}

/* "100-20+3": 100 rows, 20 of them deleted, 3 overlays; a '!' behind it: its file is kept for
 * lineage columns alone. */
static void
put_fragment(struct buf *message, uint64_t id, const char **text)
{
	static int32_t live[] = { 0 }, dropped[] = { 7, -3 };
	Lance__Table__DataFile file = LANCE__TABLE__DATA_FILE__INIT;
	struct buf fragment = { 0 }, packed = { 0 };
	uint64_t rows, deleted, overlays;
	bool dead;

	ck_assert(take_number(text, &rows));
	deleted = take_after(text, '-');
	overlays = take_after(text, '+');
	dead = **text == '!';
	*text += dead;
	file.path = maker_text("x.lance");
	file.fields = dead ? dropped : live;
	file.n_fields = dead ? 2 : 1;
	file.file_major_version = 2;
	file.file_minor_version = 2;
	file.file_size_bytes = FILE_SIZE;
	maker_pack(&packed, &file.base);
	maker_number(&fragment, 1, id);
	maker_bytes(&fragment, 2, packed.data, packed.size);
	if (deleted > 0) {
		uint8_t deletion[] = { 0x08, 1, 0x20, (uint8_t)deleted };

		maker_bytes(&fragment, 3, deletion, sizeof(deletion));
	}
	maker_number(&fragment, 4, rows);
	put_overlays(&fragment, overlays);
	maker_bytes(message, 2, fragment.data, fragment.size);
	buf_release(&packed);
	buf_release(&fragment);
}

static void
put_field(struct buf *message)
{
	Lance__File__Field field = LANCE__FILE__FIELD__INIT;
	struct buf packed = { 0 };

	field.name = maker_text("a");
	field.logical_type = maker_text("int64");
	field.parent_id = -1;
	maker_pack(&packed, &field.base);
	maker_bytes(message, 1, packed.data, packed.size);
	buf_release(&packed);
}

static lancet_version *
load(const char *fragments, const char *key, const char *value, struct buf *file)
{
	static const uint8_t format[] = { 0x0a, 5, 'l', 'a', 'n', 'c', 'e', 0x12, 3, '2', '.',
		'2' };
	struct buf message = { 0 }, entry = { 0 };
	lancet_version *version = NULL;
	uint64_t id = 0;

	put_field(&message);
	while (*fragments != '\0') {
		put_fragment(&message, id++, &fragments);
		fragments += *fragments == ' ';
	}
	maker_number(&message, 3, 1);
	maker_writer(&message);
	maker_bytes(&message, 15, format, sizeof(format));
	if (key != NULL) {
		maker_bytes(&entry, 1, key, strlen(key));
		maker_bytes(&entry, 2, value, strlen(value));
		maker_bytes(&message, 16, entry.data, entry.size);
	}
	maker_frame(file, buf_slice(&message));
	ck_assert_int_eq(maker_load(buf_slice(file), 1, &version, NULL), LANCET_OK);
	buf_release(&message);
	buf_release(&entry);
	return version;
}

/* "0 1>30;2 3>20,20": fragments of each task, and rows of what it makes. */
static void
show(const lancet_rewrite *rewrite, struct buf *text)
{
	for (size_t i = 0; i < rewrite->task_count; i++) {
		const struct rewrite_task *task = &rewrite->tasks[i];

		buf_put_text(text, i > 0 ? ";" : "");
		for (size_t k = 0; k < task->source_count; k++)
			buf_printf(text, "%s%" PRIu64, k > 0 ? " " : "", task->sources[k].ordinal);
		for (size_t k = 0; k < task->output_count; k++)
			buf_printf(text, "%s%" PRIu64, k > 0 ? "," : ">", task->outputs[k].rows);
	}
	buf_put_byte(text, '\0');
}

static const struct {
	const char *fragments;
	uint64_t target;
	struct lancet_compact_options more; /* threshold 0: 0.1; -2: 0 */
	const char *want;
} plans[] = {
	{ "100 100 50", 1000, { 0 }, "0 1 2>250" },
	{ "10 20 30 40", 25, { 0 }, "0 1>30" },
	{ "30 24", 25, { 0 }, "" },
	{ "1000 1", 1001, { 0 }, "0 1>1001" },
	{ "24 100 24 24", 25, { 0 }, "2 3>48" },
	/* large bins are cut, what is left at their ends goes with the part before */
	{ "5 5 5 5 5 5 5 5 5 5 5", 25, { 0 }, "0 1 2 3 4>25;5 6 7 8 9 10>30" },
	{ "24 24 24 24 24", 25, { 0 }, "0 1>48;2 3 4>36,36" },
	{ "24 24 24", 25, { 0 }, "0 1 2>36,36" },
	{ "3 3 3 3 3", 4, { 0 }, "0 1>6;2 3 4>5,4" },
	{ "24 24 24 60 20", 60, { 0 }, "0 1 2>72" },
	/* deleted rows */
	{ "100 100-80 100", 10, { 0 }, "1>10,10" },
	{ "100 100-80 100", 50, { 0 }, "1>20" },
	{ "100 100-80 100", 120, { 0 }, "0 1 2>220" },
	{ "100 100-10 100", 10, { 0 }, "" },
	{ "10-5 10 10 10 10 10-2", 5, { .materialize_deletions_threshold = -2 }, "0>5;5>8" },
	{ "10-5 10 10 10 10 10-2", 5, { .materialize_deletions_threshold = 0.2 }, "0>5" },
	{ "10-5 10 10 10 10 10-2", 5, { .materialize_deletions_threshold = 0.5 }, "" },
	{ "10-5 10", 5, { .materialize_deletions_threshold = 0.49999999 }, "" },
	{ "10-10", 5, { .materialize_deletions_threshold = 1 }, "" },
	{ "10-10 20", 15, { 0 }, "0" },
	{ "10-5 10", 5, { .materialize_deletions_threshold = -1 }, "0>5;1>5,5" },
	/* overlays, and files that have nothing but lineage left */
	{ "100 100+11 100", 50, { 0 }, "1>50,50" },
	{ "100 100+10 100", 10, { 0 }, "" },
	{ "100 100+3 100", 100, { .max_overlays = 2 }, "1>100" },
	{ "100 100+200 100", 10, { .max_overlays = ANY_OVERLAYS }, "" },
	{ "100 100! 100", 100, { 0 }, "1>100" },
	/* limits */
	{ "10-5 10 10 10 10 10", 15, { .max_source_fragments = 3 }, "0 1>15" },
	{ "10-5 10 10 10 10 10", 15, { .max_source_rows = 20 }, "0 1>15" },
	{ "10-5 10 10 10 10 10", 15, { .max_source_rows = 14 }, "" },
	{ "24 24 24 24 24", 25, { .max_source_bytes = 4999 }, "0 1>48" },
	{ "24 24 24 24 24", 25, { .max_source_bytes = 5000 }, "0 1>48;2 3 4>36,36" },
	{ "24 24 24", 100, { .max_file_bytes = 1500 }, "0 1 2>36,36" },
};

static struct lancet_compact_options
options_of(int row)
{
	struct lancet_compact_options options = plans[row].more;

	options.target_rows = plans[row].target;
	options.materialize_deletions = true;
	if (options.materialize_deletions_threshold == 0)
		options.materialize_deletions_threshold = 0.1;
	else if (options.materialize_deletions_threshold == -2)
		options.materialize_deletions_threshold = 0;
	if (options.max_overlays == 0)
		options.max_overlays = 10;
	return options;
}

START_TEST(plans_are_those_of_the_reference)
{
	const struct lancet_compact_options options = options_of(_i);
	struct buf file = { 0 }, text = { 0 };
	lancet_rewrite *rewrite = NULL;
	struct lancet_error err = { 0 };
	lancet_version *version = load(plans[_i].fragments, NULL, NULL, &file);
	int rc = lancet_compact_plan(version, &options, &rewrite, &err);

	ck_assert_msg(rc == LANCET_OK, "%s: %s", plans[_i].fragments, err.text);
	show(rewrite, &text);
	ck_assert_str_eq((const char *)text.data, plans[_i].want);
	lancet_rewrite_free(rewrite);
	lancet_version_unref(version);
	buf_release(&file);
	buf_release(&text);
}
END_TEST

static const struct {
	uint64_t ids[FRAGMENTS];
	size_t count;
	int rc;
	const char *want; /* tasks, or words of the error */
} choices[] = {
	{ { 0, 1, 3, 4, 5 }, 5, LANCET_OK, "0 1>20;3 4 5>30" },
	{ { 2 }, 1, LANCET_OK, "" },
	{ { 0 }, 0, LANCET_OK, "" },
	{ { 1, 2, 9 }, 3, LANCET_NOT_FOUND, "9" },
	{ { 2, 1 }, 2, LANCET_INVALID, "ascending" },
	{ { 1, 1 }, 2, LANCET_INVALID, "ascending" },
};

START_TEST(others_than_the_chosen_separate)
{
	const struct lancet_compact_options options = { .target_rows = 100,
		.fragments = choices[_i].ids,
		.fragment_count = choices[_i].count };
	struct buf file = { 0 }, text = { 0 };
	struct lancet_error err = { 0 };
	lancet_rewrite *rewrite = NULL;
	lancet_version *version = load("10 10 10 10 10 10", NULL, NULL, &file);

	ck_assert_int_eq(lancet_compact_plan(version, &options, &rewrite, &err), choices[_i].rc);
	if (choices[_i].rc == LANCET_OK) {
		show(rewrite, &text);
		ck_assert_str_eq((const char *)text.data, choices[_i].want);
	} else {
		ck_assert_msg(strstr(err.text, choices[_i].want) != NULL, "%s", err.text);
	}
	lancet_rewrite_free(rewrite);
	lancet_version_unref(version);
	buf_release(&file);
	buf_release(&text);
}
END_TEST

#define OF(name) offsetof(struct lancet_compact_options, name)

/* As the reference reads them; `at` is of a number, SIZE_MAX: of none. */
static const struct {
	const char *key, *value;
	int rc;
	size_t at;
	uint64_t number;
} configs[] = {
	{ "target_rows_per_fragment", "25", LANCET_OK, OF(target_rows), 25 },
	{ "target_rows_per_fragment", "+5", LANCET_OK, OF(target_rows), 5 },
	{ "target_rows_per_fragment", "0", LANCET_OK, OF(target_rows), 0 },
	{ "target_rows_per_fragment", " 5", LANCET_INVALID, 0, 0 },
	{ "target_rows_per_fragment", "x", LANCET_INVALID, 0, 0 },
	{ "target_rows_per_fragment", "", LANCET_INVALID, 0, 0 },
	{ "target_rows_per_fragment", "99999999999999999999", LANCET_INVALID, 0, 0 },
	{ "max_source_rows", "7", LANCET_OK, OF(max_source_rows), 7 },
	{ "max_source_rows", "0", LANCET_INVALID, 0, 0 },
	{ "max_overlays_per_fragment", "NONE", LANCET_OK, OF(max_overlays), ANY_OVERLAYS },
	{ "max_overlays_per_fragment", "0", LANCET_OK, OF(max_overlays), 0 },
	{ "materialize_deletions", "maybe", LANCET_INVALID, 0, 0 },
	{ "materialize_deletions", "FALSE", LANCET_OK, SIZE_MAX, 0 },
	{ "materialize_deletions_threshold", "1e-3", LANCET_OK, SIZE_MAX, 0 },
	{ "materialize_deletions_threshold", "-1", LANCET_OK, SIZE_MAX, 0 },
	{ "materialize_deletions_threshold", "nan", LANCET_OK, SIZE_MAX, 0 },
	{ "materialize_deletions_threshold", "0x1", LANCET_INVALID, 0, 0 },
	{ "materialize_deletions_threshold", "1 ", LANCET_INVALID, 0, 0 },
	{ "compaction_mode", "foo", LANCET_INVALID, 0, 0 },
	{ "compaction_mode", "Reencode", LANCET_OK, SIZE_MAX, 0 },
	{ "index_remap_mode", "foo", LANCET_INVALID, 0, 0 },
	{ "batch_size", "many", LANCET_INVALID, 0, 0 },
	{ "nonsense", "1", LANCET_OK, SIZE_MAX, 0 },
	{ "data_storage_version", "2.2", LANCET_OK, SIZE_MAX, 0 },
	{ "data_storage_version", "stable", LANCET_OK, SIZE_MAX, 0 },
	{ "data_storage_version", "2.1", LANCET_UNSUPPORTED, 0, 0 },
	{ "data_storage_version", "next", LANCET_UNSUPPORTED, 0, 0 },
};

START_TEST(config_sets_the_defaults)
{
	struct lancet_compact_options options;
	struct lancet_error err = { 0 };
	struct buf file = { 0 };
	char key[80];
	uint64_t number;
	lancet_version *version;
	int rc;

	(void)snprintf(key, sizeof(key), "lance.compaction.%s", configs[_i].key);
	version = load("10", key, configs[_i].value, &file);
	rc = lancet_compact_defaults(version, &options, &err);
	ck_assert_msg(rc == configs[_i].rc, "%s=%s: %d %s", key, configs[_i].value, rc, err.text);
	if (rc != LANCET_OK) {
		ck_assert_msg(strstr(err.text, key) != NULL, "%s", err.text);
	} else if (configs[_i].at != SIZE_MAX) {
		memcpy(&number, (const char *)&options + configs[_i].at, sizeof(number));
		ck_assert_uint_eq(number, configs[_i].number);
	}
	lancet_version_unref(version);
	buf_release(&file);
}
END_TEST

UNIT_MAIN("compact_plan", UNIT_LOOP(plans_are_those_of_the_reference, plans),
	UNIT_LOOP(others_than_the_chosen_separate, choices),
	UNIT_LOOP(config_sets_the_defaults, configs))
