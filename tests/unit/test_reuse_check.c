/* What makes a transition of a reuse history unfit to be followed, alone or beside others. */
#include "unit.h"

#include "histories.h"

static void
put_partition(struct buf *content, const char *id, uint64_t bytes)
{
	struct buf mapping = { 0 };

	put_head(&mapping, 1, strlen(id));
	buf_put_text(&mapping, id);
	put_number(&mapping, 2, bytes);
	history_put(content, "0/5", "1/5", 4, &mapping);
}

/* Of the first transition; frees the history. */
static void
check_only_fault(
	struct lancet_reuse *reuse, enum lancet_code code, const char *text, const char *label)
{
	const struct lancet_transition *info = lancet_reuse_transition(reuse, 0);

	ck_assert_msg(info->fault == code, "%s: %s", label,
		info->fault_text == NULL ? "sound" : info->fault_text);
	ck_assert_uint_eq(lancet_reuse_info(reuse)->fault_count, code != LANCET_OK);
	ck_assert_int_eq(reuse->fault.code, code == LANCET_CORRUPT ? code : LANCET_OK);
	ck_assert((info->fault_text == NULL) == (code == LANCET_OK));
	if (code != LANCET_OK)
		ck_assert_msg(strstr(info->fault_text, "transitions[0]: ") == info->fault_text &&
				      strstr(info->fault_text, text) != NULL,
			"%s: %s", label, info->fault_text);
	version_reuse_free(reuse);
}

/* Ordered compactions of one record; what survives is made to fit the sources. */
static const struct {
	const char *label;
	const char *sources, *destinations;
	const char *fault; /* NULL = sound */
} lists[] = {
	{ "plain", "0/10-3 1/5", "2/8 3/4", NULL },
	{ "nothing survives, nothing is made", "0/10-10", "", NULL },
	{ "nothing survives, an empty one is made", "0/10-10 1/0", "2/0", NULL },
	{ "the largest id", "4294967294/3", "1/3", NULL },
	{ "no sources", "", "2/0", "no sources" },
	{ "no sources and nothing made", "", "", "no sources" },
	{ "rows are lost", "0/10", "1/9", "10 live rows of its sources became 9" },
	{ "rows are won", "0/10-3", "1/10", "7 live rows of its sources became 10" },
	{ "no destinations for live rows", "0/10-3", "", "7 live rows of its sources became 0" },
	{ "a source of no fragment", "4294967295/3", "1/3", "sources[0]: fragment id 4294967295" },
	{ "a destination of no fragment", "0/3", "1/1 18446744073709551615/2",
		"destinations[1]: fragment id 18446744073709551615" },
	{ "more rows than addresses", "0/4294967296-4294967296", "",
		"sources[0]: fragment 0 of 4294967296 rows" },
	{ "more deleted than there are", "0/3 1/3-4", "2/2",
		"sources[1]: 4 of the 3 rows of fragment 1 deleted" },
	{ "deleted from a new one", "0/3", "1/4-1",
		"destinations[0]: 1 of the 4 rows of fragment 1 deleted" },
	{ "a source twice", "5/3 6/1 5/3", "1/7", "fragment 5 is twice among its sources" },
	{ "a destination twice", "0/4", "7/2 7/2", "fragment 7 is twice among its destinations" },
};

START_TEST(lists_of_fragments_are_checked)
{
	struct buf content = { 0 };

	if (strstr(lists[_i].label, "a source twice") == NULL) {
		history_ordered(&content, lists[_i].sources, lists[_i].destinations);
	} else { /* whose treemap would not ascend */
		history_partition(&content, lists[_i].sources, lists[_i].destinations);
	}
	check_only_fault(history_parse(&content, 1),
		lists[_i].fault == NULL ? LANCET_OK : LANCET_CORRUPT, lists[_i].fault,
		lists[_i].label);
}
END_TEST

/* Legacy groups go by the same rules. */
START_TEST(groups_are_checked_like_transitions)
{
	struct buf content = { 0 }, version = { 0 };
	struct lancet_reuse *reuse;

	history_group(&version, "0/10-3", "2/7");
	history_group(&version, "1/10-3", "3/8");
	put_message(&content, 1, &version);
	reuse = history_parse(&content, 0);
	ck_assert_uint_eq(lancet_reuse_info(reuse)->fault_count, 1);
	ck_assert_str_eq(lancet_reuse_transition(reuse, 1)->fault_text,
		"legacy_versions[0].groups[1]: 7 live rows of its sources became 8");
	version_reuse_free(reuse);
}
END_TEST

/* What is wrong with the set itself is the matter of survivors.c. */
START_TEST(what_survives_must_fit_the_sources)
{
	struct buf content = { 0 }, treemap = { 0 }, mapping = { 0 };
	const struct lancet_transition *info;
	struct lancet_reuse *reuse;

	history_treemap(&treemap, "0/10-4");
	put_message(&mapping, 1, &treemap);
	history_put(&content, "0/10-3", "1/7", 3, &mapping);
	history_put(&content, "2/10-3", "3/7", 3, &mapping); /* no set at all */
	history_ordered(&content, "4/10-3", "5/7");
	reuse = history_parse(&content, 1);
	for (size_t i = 0; i < 3; i++) {
		info = lancet_reuse_transition(reuse, i);
		ck_assert_int_eq(info->fault, i == 2 ? LANCET_OK : LANCET_CORRUPT);
	}
	ck_assert(strstr(reuse->fault.text, "transitions[0]: ") == reuse->fault.text);
	version_reuse_free(reuse);
}
END_TEST

static const struct {
	const char *id;
	uint64_t bytes;
	const char *fault;
} maps[] = {
	{ "01234567-89ab-cdef-ABCD-EF0123456789", 1, NULL },
	{ "0123456789abcdefABCDEF0123456789", 1, NULL },
	{ "{01234567-89ab-cdef-ABCD-EF0123456789}", 1, NULL },
	{ "urn:uuid:01234567-89ab-cdef-ABCD-EF0123456789", 1, NULL },
	{ "01234567-89ab-cdef-ABCD-EF0123456789", 0, "a row map of 0 bytes" },
	{ "{0123456789abcdefABCDEF0123456789}", 1, "34 bytes, is no UUID" },
	{ "{01234567-89ab-cdef-ABCD-EF0123456789)", 1, "38 bytes, is no UUID" },
	{ "URN:uuid:01234567-89ab-cdef-ABCD-EF0123456789", 1, "45 bytes, is no UUID" },
	{ "", 1, "0 bytes, is no UUID" },
	{ "01234567-89ab-cdef-ABCD-EF012345678", 1, "35 bytes, is no UUID" },
	{ "01234567-89ab-cdef-ABCD-EF012345678g", 1, "is no UUID" },
	{ "01234567-89ab-cdef-ABCDEF-0123456789", 1, "is no UUID" },
	{ "../../../../../../../../../etc/passwd", 1, "is no UUID" },
	{ "../../../../../../../../etc/passwd_/", 1, "is no UUID" },
};

START_TEST(row_maps_have_an_id_and_a_size)
{
	struct buf content = { 0 };

	put_partition(&content, maps[_i].id, maps[_i].bytes);
	check_only_fault(history_parse(&content, 1),
		maps[_i].fault == NULL ? LANCET_OK : LANCET_CORRUPT, maps[_i].fault, maps[_i].id);
}
END_TEST

START_TEST(labels_have_16_bits)
{
	for (size_t count = 65535; count <= 65536; count++) {
		struct buf content = { 0 }, list = { 0 };
		char source[32];

		for (size_t i = 1; i <= count; i++)
			buf_printf(&list, "%zu/1 ", i);
		buf_put_byte(&list, '\0');
		(void)snprintf(source, sizeof(source), "0/%zu", count);
		history_partition(&content, source, (const char *)list.data);
		buf_release(&list);
		check_only_fault(history_parse(&content, 1),
			count == 65535 ? LANCET_OK : LANCET_CORRUPT,
			"65536 destinations, 65535 at most", source);
	}
}
END_TEST

/* Bytes behind the lists of a record, 5 rows from fragment 0 to 1. */
static const struct {
	const char *label;
	const char *arms;
	size_t size;
	int32_t index_version;
	enum lancet_mapping mapping;
	enum lancet_code fault;
	const char *text;
} arms[] = {
	{ "none", "", 0, 1, LANCET_UNKNOWN_MAPPING, LANCET_CORRUPT, "no mapping" },
	{ "both", "\x1a\x00\x22\x00", 4, 1, LANCET_UNKNOWN_MAPPING, LANCET_CORRUPT, "2 mappings" },
	{ "one twice", "\x1a\x00\x1a\x00", 4, 1, LANCET_UNKNOWN_MAPPING, LANCET_CORRUPT,
		"2 mappings" },
	{ "the other twice", "\x22\x00\x22\x00", 4, 1, LANCET_UNKNOWN_MAPPING, LANCET_CORRUPT,
		"2 mappings" },
	{ "another one", "\x2a\x00", 2, 1, LANCET_UNKNOWN_MAPPING, LANCET_UNSUPPORTED,
		"field 5 is unknown" },
	{ "a number beside one", "\x22\x00\x38\x07", 4, 1, LANCET_UNKNOWN_MAPPING,
		LANCET_UNSUPPORTED, "field 7 is unknown" },
	{ "another one and both", "\x2a\x00\x1a\x00\x22\x00", 6, 1, LANCET_UNKNOWN_MAPPING,
		LANCET_CORRUPT, "2 mappings" },
	{ "of no bytes", "\x22\x00", 2, 1, LANCET_STABLE_PARTITION, LANCET_CORRUPT, "UUID" },
	{ "none, in a legacy history", "", 0, 0, LANCET_UNKNOWN_MAPPING, LANCET_CORRUPT,
		"index version 0" },
	{ "another one, in a legacy history", "\x2a\x00", 2, 0, LANCET_UNKNOWN_MAPPING,
		LANCET_CORRUPT, "index version 0" },
};

START_TEST(a_transition_has_one_known_mapping)
{
	struct buf content = { 0 }, record = { 0 };
	const struct lancet_transition *info;
	struct lancet_reuse *reuse;

	history_digests(&record, 1, "0/5");
	history_digests(&record, 2, "1/5");
	buf_put(&record, arms[_i].arms, arms[_i].size);
	put_message(&content, 2, &record);
	reuse = history_parse(&content, arms[_i].index_version);
	info = lancet_reuse_transition(reuse, 0);
	ck_assert_int_eq(info->mapping, arms[_i].mapping);
	ck_assert(lancet_reuse_info(reuse)->interpretable ==
		  (arms[_i].mapping != LANCET_UNKNOWN_MAPPING));
	ck_assert_uint_eq(reuse_consumer(reuse, 0)->info.source_rows, 5); /* whatever it is */
	check_only_fault(reuse, arms[_i].fault, arms[_i].text, arms[_i].label);
}
END_TEST

/* Nobody knows what happens to the rows in it, but the numbers must be ones. */
START_TEST(unknown_mappings_may_lose_rows)
{
	static const char *const sources[] = { "0/5", "0/5-6", "" };

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		struct buf content = { 0 }, mapping = { 0 };

		history_put(&content, sources[i], "1/3", 9, &mapping);
		check_only_fault(history_parse(&content, 1),
			i == 0 ? LANCET_UNSUPPORTED : LANCET_CORRUPT,
			i == 0   ? "field 9 is unknown"
			: i == 1 ? "6 of the 5 rows"
				 : "no sources",
			sources[i]);
	}
}
END_TEST

START_TEST(a_sound_transition_in_a_legacy_history_is_a_fault)
{
	struct buf content = { 0 };

	history_ordered(&content, "0/5", "1/5");
	check_only_fault(history_parse(&content, 0), LANCET_CORRUPT,
		"a transition in a history of index version 0", "ordered");
}
END_TEST

/* A record of another kind may say anything of the fragments; those that we know stay sound. */
START_TEST(unknown_records_are_no_fault_of_the_others)
{
	struct buf content = { 0 }, record = { 0 };
	struct lancet_reuse *reuse;

	history_ordered(&content, "0/5", "1/5");
	buf_put_text(&record, "anything");
	put_message(&content, 3, &record);
	reuse = history_parse(&content, 1);
	ck_assert(!lancet_reuse_info(reuse)->interpretable);
	ck_assert_uint_eq(lancet_reuse_info(reuse)->transition_count, 1);
	ck_assert_uint_eq(lancet_reuse_info(reuse)->fault_count, 0);
	version_reuse_free(reuse);
}
END_TEST

/* Three records of one row each way; texts by record, NULL = sound. */
static const struct {
	const char *label;
	const char *records[3][2];
	const char *faults[3];
} pairs[] = {
	{ "made twice", { { "0/1", "5/1" }, { "1/1", "6/1" }, { "2/1", "5/1" } },
		{ "transitions[0]: fragment 5 is also made by transitions[2]", NULL,
			"transitions[2]: fragment 5 is also made by transitions[0]" } },
	{ "consumed twice", { { "0/1", "5/1" }, { "1/1", "6/1" }, { "1/1", "7/1" } },
		{ NULL, "transitions[1]: fragment 1 is also consumed by transitions[2]",
			"transitions[2]: fragment 1 is also consumed by transitions[1]" } },
	{ "consumed three times", { { "1/1", "5/1" }, { "1/1", "6/1" }, { "1/1", "7/1" } },
		{ "transitions[0]: fragment 1 is also consumed by transitions[1]",
			"transitions[1]: fragment 1 is also consumed by transitions[0]",
			"transitions[2]: fragment 1 is also consumed by transitions[0]" } },
	{ "consumed with other rows", { { "0/4", "5/4" }, { "5/3", "6/3" }, { "6/3", "7/3" } },
		{ "transitions[0]: fragment 5 has another number of rows in transitions[1]",
			"transitions[1]: fragment 5 has another number of rows in transitions[0]",
			NULL } },
	{ "made twice, with other rows by one",
		{ { "0/4", "5/4" }, { "1/3", "5/3" }, { "5/4", "6/4" } },
		{ "transitions[0]: fragment 5 is also made by transitions[1]",
			"transitions[1]: fragment 5 is also made by transitions[0]",
			"transitions[2]: fragment 5 has another number of rows in "
			"transitions[1]" } },
	{ "rows deleted meanwhile", { { "0/4", "5/4" }, { "5/4-2", "6/2" }, { "6/2-2", "" } },
		{ NULL, NULL, NULL } },
	{ "its own fault comes first", { { "0/4", "5/3" }, { "1/1", "6/1" }, { "0/4", "7/4" } },
		{ "transitions[0]: 4 live rows of its sources became 3", NULL,
			"transitions[2]: fragment 0 is also consumed by transitions[0]" } },
};

START_TEST(contradictions_are_faults_of_both)
{
	struct buf content = { 0 };
	struct lancet_reuse *reuse;

	for (size_t i = 0; i < 3; i++)
		history_partition(&content, pairs[_i].records[i][0], pairs[_i].records[i][1]);
	reuse = history_parse(&content, 1);
	for (size_t i = 0; i < 3; i++) {
		const struct lancet_transition *info = lancet_reuse_transition(reuse, i);
		const char *want = pairs[_i].faults[info->record];

		ck_assert_msg((want == NULL) == (info->fault == LANCET_OK), "%s: %zu",
			pairs[_i].label, info->record);
		if (want != NULL)
			ck_assert_str_eq(info->fault_text, want);
	}
	version_reuse_free(reuse);
}
END_TEST

/* A contradiction is worse than not to be understood, and the other one must not look sound. */
START_TEST(unknown_mappings_can_contradict)
{
	struct buf content = { 0 }, mapping = { 0 };
	struct lancet_reuse *reuse;

	history_put(&content, "0/1", "1/1", 9, &mapping);
	history_partition(&content, "0/1", "2/1");
	reuse = history_parse(&content, 1);
	ck_assert_str_eq(lancet_reuse_transition(reuse, 0)->fault_text,
		"transitions[0]: fragment 0 is also consumed by transitions[1]");
	ck_assert_int_eq(lancet_reuse_transition(reuse, 0)->fault, LANCET_CORRUPT);
	ck_assert_int_eq(lancet_reuse_transition(reuse, 1)->fault, LANCET_CORRUPT);
	ck_assert(!lancet_reuse_info(reuse)->interpretable);
	ck_assert_uint_eq(reuse_consumer(reuse, 0)->info.record, 0);
	version_reuse_free(reuse);
}
END_TEST

UNIT_MAIN("reuse_check", UNIT_LOOP(lists_of_fragments_are_checked, lists),
	UNIT_TEST(groups_are_checked_like_transitions),
	UNIT_TEST(what_survives_must_fit_the_sources),
	UNIT_LOOP(row_maps_have_an_id_and_a_size, maps), UNIT_TEST(labels_have_16_bits),
	UNIT_LOOP(a_transition_has_one_known_mapping, arms),
	UNIT_TEST(unknown_mappings_may_lose_rows),
	UNIT_TEST(a_sound_transition_in_a_legacy_history_is_a_fault),
	UNIT_TEST(unknown_records_are_no_fault_of_the_others),
	UNIT_LOOP(contradictions_are_faults_of_both, pairs),
	UNIT_TEST(unknown_mappings_can_contradict))
