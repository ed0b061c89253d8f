/* Reuse histories: records become transitions, the order of their lineage, cycles, who makes and
 * who consumes a fragment, and what a history may cost.
 */
#include "unit.h"

#include "histories.h"

#define MANY 100000

START_TEST(records_become_transitions)
{
	struct buf content = { 0 }, version = { 0 }, mapping = { 0 };
	const struct lancet_transition *info;
	const struct lancet_reuse_info *all;
	struct lancet_reuse *reuse;
	char name[64];

	history_partition(&content, "6/5 2/4-1", "8/3 7/0 9/5");
	put_head(&mapping, 1, 32);
	buf_put_text(&mapping, "0123456789abcdefABCDEF0123456789");
	put_number(&mapping, 2, 4096);
	put_number(&mapping, 3, 0);
	history_put(&content, "8/3", "10/3", 4, &mapping);
	history_group(&version, "0/10-3", "2/4 3/3");
	history_group(&version, "1/5", "6/5");
	put_number(&version, 1, 77); /* behind its groups */
	put_message(&content, 1, &version);
	put_number(&version, 1, 78);
	put_message(&content, 1, &version); /* of no groups */
	size_t size = content.size;
	reuse = history_parse(&content, 1);
	all = lancet_reuse_info(reuse);
	ck_assert_int_eq(all->index_version, 1);
	ck_assert_uint_eq(all->details_bytes, size);
	ck_assert_uint_eq(all->legacy_versions, 2);
	ck_assert_uint_eq(all->tagged_transitions, 2);
	ck_assert_uint_eq(all->transition_count, 4);
	ck_assert_uint_eq(all->fault_count, 0);
	ck_assert(all->interpretable && !all->external);
	ck_assert_int_eq(reuse->fault.code, LANCET_OK);

	info = lancet_reuse_transition(reuse, 0);
	ck_assert(info->legacy && info->mapping == LANCET_ORDERED_COMPACTION);
	ck_assert_uint_eq(info->record, 0);
	ck_assert_uint_eq(info->group, 0);
	ck_assert_uint_eq(info->dataset_version, 77);
	ck_assert_uint_eq(info->source_count, 1);
	ck_assert_uint_eq(info->destination_count, 2);
	ck_assert_uint_eq(info->sources[0].physical_rows, 10);
	ck_assert_uint_eq(info->sources[0].deleted_rows, 3);
	ck_assert_uint_eq(info->destinations[1].id, 3);
	ck_assert_uint_eq(info->source_rows, 10);
	ck_assert_uint_eq(info->live_rows, 7);
	ck_assert_ptr_null(info->fault_text);
	ck_assert_uint_eq(reuse->transitions[0].surviving.size, 8 + 4 + 16 + 2 * 7);
	reuse_record_name(info, name);
	ck_assert_str_eq(name, "legacy_versions[0].groups[0]");
	reuse_record_name(lancet_reuse_transition(reuse, 1), name);
	ck_assert_str_eq(name, "legacy_versions[0].groups[1]");

	info = lancet_reuse_transition(reuse, 2);
	ck_assert(!info->legacy && info->mapping == LANCET_STABLE_PARTITION && !info->has_base);
	ck_assert_uint_eq(info->dataset_version, 0);
	ck_assert_uint_eq(info->sources[0].id, 6);
	ck_assert_uint_eq(info->sources[1].id, 2);
	ck_assert_uint_eq(info->source_rows, 9);
	ck_assert_uint_eq(info->live_rows, 8);
	ck_assert_uint_eq(info->map_bytes, 100);
	ck_assert_uint_eq(info->map_id.size, 36);
	ck_assert_mem_eq(info->map_id.data, HISTORY_MAP_ID, 36);
	info = lancet_reuse_transition(reuse, 3);
	ck_assert(info->has_base && info->base_id == 0);
	ck_assert_uint_eq(info->map_bytes, 4096);
	reuse_record_name(info, name);
	ck_assert_str_eq(name, "transitions[1]");
	version_reuse_free(reuse);
}
END_TEST

START_TEST(an_empty_history_has_no_transitions)
{
	struct buf content = { 0 };
	struct lancet_reuse *reuse = history_parse(&content, 0);

	ck_assert_uint_eq(lancet_reuse_info(reuse)->transition_count, 0);
	ck_assert_ptr_null(reuse_consumer(reuse, 0));
	version_reuse_free(reuse);
	version_reuse_free(NULL);
}
END_TEST

START_TEST(mappings_have_names)
{
	ck_assert_str_eq(lancet_mapping_name(LANCET_ORDERED_COMPACTION), "ordered_compaction");
	ck_assert_str_eq(lancet_mapping_name(LANCET_STABLE_PARTITION), "stable_partition");
	ck_assert_str_eq(lancet_mapping_name(LANCET_UNKNOWN_MAPPING), "unknown");
}
END_TEST

/* Records as stored, all fragments of one row; "SOURCES>DESTINATIONS". Orders as the rule gives
 * them by hand; the first one is what the Rust reference shows of the fixture legacy_fri. */
static const struct {
	const char *label;
	const char *records[8];
	const char *order;  /* records in lineage order */
	const char *cycles; /* those with a fault */
} orders[] = {
	{ "versions with several groups",
		{ "0 1>6 16", "3 4>7 17", "6 7 16 17>9 19 29 39", "8>11",
			"9 19 29 39>12 13 14 15" },
		"0 1 3 2 4", "" },
	{ "stored backwards", { "3>4", "2>3", "1>2" }, "2 1 0", "" },
	{ "first come, first served", { "5>6", "0>1", "2>5", "3>4" }, "1 2 3 0", "" },
	{ "ready at once: as they are stored", { "0 1>10 11", "11>20", "10>21" }, "0 1 2", "" },
	{ "waits for the last maker", { "5 6>7 8", "1>6", "3>4", "4>5" }, "1 2 3 0", "" },
	{ "makes nothing that is consumed", { "1>2", "0>1" }, "1 0", "" },
	{ "two in a cycle", { "0>1", "1>0", "2>3" }, "2 0 1", "0 1" },
	{ "three in a cycle", { "0>1", "7>8", "2>0", "1>2" }, "1 0 2 3", "0 2 3" },
	{ "consumes what it makes", { "1>2", "0>0" }, "0 1", "1" },
	{ "before a cycle is no cycle", { "1 5>2 6", "2>1", "4>5" }, "2 0 1", "0 1" },
	{ "behind a cycle is no cycle", { "5>6", "1 3>2 5", "2 4>1 3" }, "0 1 2", "1 2" },
	{ "behind two cycles", { "7 8>9 10", "0 1>1 7", "2 3>3 8", "9>11", "20>0", "10>12" },
		"4 0 1 2 3 5", "1 2" },
	{ "between two cycles is no cycle", { "0 1>1 2", "2>3", "3 4>4 5", "5>6" }, "0 1 2 3",
		"0 2" },
	{ "two cycles that share one", { "0 1>2 3", "2>0", "3>1", "9>8" }, "3 0 1 2", "0 1 2" },
};

static void
put_record(struct buf *content, const char *record)
{
	char sides[2][64] = { { 0 }, { 0 } };
	size_t side = 0, at = 0;

	for (const char *c = record;; c++) {
		if (*c >= '0' && *c <= '9') {
			sides[side][at++] = *c;
			continue;
		}
		memcpy(&sides[side][at], "/1 ", 3);
		at += 3;
		if (*c == '>') {
			side = 1;
			at = 0;
		} else if (*c == '\0') {
			break;
		}
	}
	history_partition(content, sides[0], sides[1]);
}

START_TEST(lineage_gives_the_order)
{
	struct buf content = { 0 }, order = { 0 }, cycles = { 0 };
	struct lancet_reuse *reuse;
	size_t count = 0;

	for (; count < 8 && orders[_i].records[count] != NULL; count++)
		put_record(&content, orders[_i].records[count]);
	reuse = history_parse(&content, 1);
	ck_assert_uint_eq(lancet_reuse_info(reuse)->transition_count, count);
	for (size_t i = 0; i < count; i++)
		buf_printf(&order, "%s%zu", i == 0 ? "" : " ",
			lancet_reuse_transition(reuse, i)->record);
	for (size_t record = 0; record < count; record++)
		for (size_t i = 0; i < count; i++) {
			const struct lancet_transition *info = lancet_reuse_transition(reuse, i);

			if (info->record == record && info->fault != LANCET_OK)
				buf_printf(&cycles, "%s%zu", cycles.size == 0 ? "" : " ", record);
		}
	buf_put_byte(&order, '\0');
	buf_put_byte(&cycles, '\0');
	ck_assert_msg(strcmp((char *)order.data, orders[_i].order) == 0, "%s: %s", orders[_i].label,
		(char *)order.data);
	ck_assert_msg(strcmp((char *)cycles.data, orders[_i].cycles) == 0, "%s: %s",
		orders[_i].label, (char *)cycles.data);
	buf_release(&order);
	buf_release(&cycles);
	version_reuse_free(reuse);
}
END_TEST

START_TEST(a_cycle_names_the_next_one)
{
	struct buf content = { 0 };
	struct lancet_reuse *reuse;

	put_record(&content, "1>0");
	put_record(&content, "0>1");
	reuse = history_parse(&content, 1);
	ck_assert_str_eq(lancet_reuse_transition(reuse, 0)->fault_text,
		"transitions[0]: a cycle: its fragment 0 leads to transitions[1] and back");
	ck_assert_str_eq(lancet_reuse_transition(reuse, 1)->fault_text,
		"transitions[1]: a cycle: its fragment 1 leads to transitions[0] and back");
	ck_assert_int_eq(lancet_reuse_transition(reuse, 0)->fault, LANCET_CORRUPT);
	ck_assert_uint_eq(lancet_reuse_info(reuse)->fault_count, 2);
	ck_assert_int_eq(reuse->fault.code, LANCET_CORRUPT);
	ck_assert_str_eq(reuse->fault.text, lancet_reuse_transition(reuse, 0)->fault_text);
	version_reuse_free(reuse);
}
END_TEST

START_TEST(fragments_lead_to_their_transitions)
{
	static const char *const records[] = { "8>7", "3 5>8", "0 9>2 3", "7>1" };
	struct buf content = { 0 };
	struct lancet_reuse *reuse;

	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		put_record(&content, records[i]);
	/* the second one loses a row: a fault of its own, yet who reaches whom still counts */
	reuse = history_parse(&content, 1);
	ck_assert_uint_eq(reuse_consumer(reuse, 9)->info.record, 2);
	ck_assert_uint_eq(reuse_consumer(reuse, 5)->info.record, 1);
	ck_assert_uint_eq(reuse_consumer(reuse, 3)->info.record, 1);
	ck_assert_uint_eq(reuse_consumer(reuse, 8)->info.record, 0);
	ck_assert_uint_eq(reuse_consumer(reuse, 7)->info.record, 3);
	ck_assert_ptr_null(reuse_consumer(reuse, 1));
	ck_assert_ptr_null(reuse_consumer(reuse, 2));
	ck_assert_ptr_null(reuse_consumer(reuse, (UINT64_C(1) << 32) + 3));
	/* nothing makes 0 and 9; each of the others waits for the one before it */
	for (uint32_t i = 0; i < ARRAY_SIZE(records); i++)
		ck_assert_uint_eq(reuse->transitions[i].fed_end, i);
	version_reuse_free(reuse);
}
END_TEST

/* One record as the history has it: a fragment that many make and consume must not cost the product
 * of both. A quadratic walk would take minutes here. */
START_TEST(a_crowded_fragment_costs_no_square)
{
	struct buf content = { 0 };
	struct lancet_reuse *reuse;

	for (int i = 0; i < MANY; i++)
		history_partition(&content, "1/1", "0/1");
	for (int i = 0; i < MANY; i++)
		history_partition(&content, "0/1", "1/1");
	reuse = history_parse(&content, 1);
	ck_assert_uint_eq(lancet_reuse_info(reuse)->fault_count, 2 * MANY);
	version_reuse_free(reuse);
}
END_TEST

START_TEST(long_chains_are_put_in_order)
{
	struct buf content = { 0 };
	struct lancet_reuse *reuse;

	for (int i = MANY; i-- > 0;) {
		char source[32], destination[32];

		(void)snprintf(source, sizeof(source), "%d/1", i);
		(void)snprintf(destination, sizeof(destination), "%d/1", i + 1);
		history_partition(&content, source, destination);
	}
	reuse = history_parse(&content, 1);
	ck_assert_uint_eq(lancet_reuse_info(reuse)->fault_count, 0);
	for (size_t i = 0; i < MANY; i++)
		ck_assert_uint_eq(lancet_reuse_transition(reuse, i)->sources[0].id, i);
	version_reuse_free(reuse);
}
END_TEST

/* Records of two bytes become structures of more than a hundred. */
START_TEST(a_bomb_of_empty_records_is_refused)
{
	struct buf content = { 0 };
	struct lancet_reuse *reuse = NULL;
	struct lancet_error err = { 0 };

	for (int i = 0; i < MANY; i++)
		buf_put(&content, _i == 0 ? "\x12\x00" : "\x0a\x02\x1a\x00", _i == 0 ? 2 : 4);
	ck_assert_int_eq(reuse_parse(buf_slice(&content), 1, &reuse, &err), LANCET_LIMIT);
	ck_assert_ptr_null(reuse);
	buf_release(&content);
}
END_TEST

static const struct {
	const char *label;
	const char *bytes;
	size_t size;
	const char *text;
} garbage[] = {
	{ "cut", "\x12\x05\x0a", 3, "5 bytes, 1 left" },
	{ "a record that is a number", "\x10\x05", 2, "field 2: wire type 0" },
	{ "a legacy version that is one", "\x08\x05", 2, "field 1: wire type 0" },
	{ "a group that is a number", "\x0a\x02\x18\x01", 4, "field 3: wire type 0" },
	{ "a source that is a number", "\x12\x02\x08\x01", 4, "transitions[0]" },
	{ "a mapping that is a number", "\x12\x02\x18\x01", 4, "transitions[0]" },
	{ "an id that is text", "\x12\x04\x0a\x02\x0a\x00", 6, "transitions[0]" },
	{ "a size that is text", "\x12\x04\x22\x02\x12\x00", 6, "transitions[0]" },
	{ "rows that are a number", "\x0a\x04\x1a\x02\x08\x01", 6,
		"legacy_versions[0]: groups[0]: field 1" },
	{ "a digest that is cut", "\x0a\x06\x1a\x04\x12\x02\x08\x80", 8, "legacy_versions[0]" },
	{ "a group's end", "\x0c", 1, "" },
};

START_TEST(what_is_no_message_spoils_the_history)
{
	struct slice content = slice_of(garbage[_i].bytes, garbage[_i].size);
	struct lancet_reuse *reuse = NULL;
	struct lancet_error err = { 0 };

	ck_assert_msg(reuse_parse(content, 1, &reuse, &err) == LANCET_CORRUPT, "%s: %s",
		garbage[_i].label, err.text);
	ck_assert_ptr_null(reuse);
	ck_assert_msg(strstr(err.text, garbage[_i].text) != NULL, "%s", err.text);
	ck_assert_msg(strstr(err.text, "fragment reuse history") == err.text, "%s", err.text);
}
END_TEST

START_TEST(index_versions_from_the_future_are_refused)
{
	static const int32_t versions[] = { 2, 60, -1, INT32_MIN, INT32_MAX };
	struct lancet_reuse *reuse = NULL;
	struct lancet_error err = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		ck_assert_int_eq(reuse_parse(slice_of("", 0), versions[i], &reuse, &err),
			LANCET_UNSUPPORTED);
	ck_assert_ptr_null(reuse);
	ck_assert(strstr(err.text, "2147483647") != NULL);
}
END_TEST

UNIT_MAIN("reuse", UNIT_TEST(records_become_transitions),
	UNIT_TEST(an_empty_history_has_no_transitions), UNIT_TEST(mappings_have_names),
	UNIT_LOOP(lineage_gives_the_order, orders), UNIT_TEST(a_cycle_names_the_next_one),
	UNIT_TEST(fragments_lead_to_their_transitions),
	UNIT_TEST(a_crowded_fragment_costs_no_square), UNIT_TEST(long_chains_are_put_in_order),
	{ a_bomb_of_empty_records_is_refused, 2 },
	UNIT_LOOP(what_is_no_message_spoils_the_history, garbage),
	UNIT_TEST(index_versions_from_the_future_are_refused))
