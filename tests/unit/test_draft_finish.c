/* What every commit does: flags from what is there, checks of what was changed, and repairs. */
#include "unit.h"

#include "draftmake.h"

#include <inttypes.h>

#define DELETION_FILES (UINT64_C(1) << 0)
#define STABLE         (UINT64_C(1) << 1)
#define CONFIG         (UINT64_C(1) << 3)
#define BASES          (UINT64_C(1) << 4)
#define NO_FILES       (UINT64_C(1) << 5)
#define OVERLAYS       (UINT64_C(1) << 6)
#define COVERING       (UINT64_C(1) << 7)
#define MIXED          (UINT64_C(1) << 8)
#define TAGGED         (UINT64_C(1) << 10)
#define SPILLED        (UINT64_C(1) << 11)
#define MANAGED        (UINT64_C(1) << 14)
#define FIELD_IDS      (UINT64_C(1) << 15)

#define DELETION "\x1a\x08\x08\x01\x10\x01\x18\x05\x20\x01"
/* a data file with the fields 0 and -3, the second of which is a column */
#define CARRIER                                                                                    \
	"\x12\x18\x0a\x01z\x12\x0b\x01\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01\x1a\x02\x00\x01"    \
	"\x20"                                                                                     \
	"\x02\x28\x02\x62\x00"
#define CARRIER_SIZE 28
#define OVERLAY      "\x5a\x0f\x0a\x0d\x0a\x01o\x12\x01\x00\x1a\x01\x00\x20\x02\x28\x02"
#define ROW_IDS      "\x2a\x06\x0a\x04\x0a\x02\x10\x03"
#define FILE_2_1     "\x12\x0d\x0a\x01z\x12\x01\x01\x1a\x01\x00\x20\x02\x28\x01"
#define FILE_0_1     "\x12\x0a\x0a\x01z\x12\x01\x01\x20\x00\x28\x02"
#define ENTRY        "\x0a\x01k\x12\x01v"

/* One fragment has `fragment`, the head has `head`; `stored` are the flags of both words, but for
 * those that are the writer's. The fragment is kept, changed (to what it is) or removed. */
static const struct {
	const char *label, *fragment;
	size_t fragment_size;
	const char *head;
	size_t head_size;
	const char *index;
	size_t index_size;
	uint64_t stored;
	uint64_t kept, changed, removed; /* writer's flags of the next version */
} flags[] = {
	{ "nothing", "", 0, "", 0, NULL, 0, 4 | DELETION_FILES | NO_FILES, 0, 0, 0 },
	{ "deletion file", DELETION, 10, "", 0, NULL, 0, 0, DELETION_FILES, DELETION_FILES, 0 },
	{ "stable row ids", ROW_IDS, 8, "", 0, NULL, 0, STABLE, STABLE, STABLE, STABLE },
	{ "config", "", 0, "\x82\x01\x06" ENTRY, 9, NULL, 0, 0, CONFIG, CONFIG, CONFIG },
	{ "base", "", 0, "\x92\x01\x04\x22\x02/x", 7, NULL, 0, 0, BASES, BASES, BASES },
	{ "overlay", OVERLAY, 17, "", 0, NULL, 0, OVERLAYS, OVERLAYS, OVERLAYS, 0 },
	{ "spilled", CARRIER, CARRIER_SIZE, "", 0, NULL, 0, STABLE | SPILLED, STABLE | SPILLED,
		STABLE | SPILLED, STABLE },
	{ "covering", "", 0, "", 0, "\x12\x01\x01\x5a\x01\x01", 6, 0, COVERING, COVERING,
		COVERING },
	{ "covering no more", "", 0, "", 0, NULL, 0, COVERING, 0, 0, 0 },
	{ "mixed", FILE_2_1, 15, "", 0, NULL, 0, 0, MIXED, MIXED, 0 },
	{ "mixed once", "", 0, "", 0, NULL, 0, MIXED, MIXED, MIXED, MIXED },
	{ "tagged once", "", 0, "", 0, NULL, 0, TAGGED, TAGGED, TAGGED, TAGGED },
	{ "managed blobs", "", 0, "\x2a\x1a\x0a\x12lance.blob.managed\x12\x04true", 28, NULL, 0, 0,
		MANAGED, MANAGED, MANAGED },
	{ "unmanaged blobs", "", 0,
		"\x2a\x1b\x0a\x12lance.blob.managed\x12\x05"
		"false",
		29, NULL, 0, 0, 0, 0, 0 },
	{ "managed once", "", 0, "", 0, NULL, 0, MANAGED, MANAGED, MANAGED, MANAGED },
	{ "field ids", "", 0, "\xc0\x01\x07", 3, NULL, 0, 0, FIELD_IDS, FIELD_IDS, FIELD_IDS },
};

static void
put_more(struct buf *into, const char *bytes, size_t size)
{
	buf_put(into, bytes, size);
}

static uint64_t
flags_after(size_t row, void (*change)(struct draft *draft), uint64_t *ret_reader)
{
	struct made made = { 0 }, next = { 0 };
	struct buf more = { 0 };
	struct draft draft;
	uint64_t writer;

	put_more(&more, flags[row].fragment, flags[row].fragment_size);
	put_basics(&made.message, 1);
	put_fragment(&made.message, 3, 3, &more);
	buf_put(&made.message, flags[row].head, flags[row].head_size);
	put_number(&made.message, 9, flags[row].stored);
	put_number(&made.message, 10, flags[row].stored);
	if (flags[row].index != NULL) {
		put_more(&more, flags[row].index, flags[row].index_size);
		put_index(&made.section, "i", &more);
	}
	made_open(&made, 1);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	change(&draft);
	made_next(&draft, &next);
	writer = next.version->info.writer_flags;
	*ret_reader = next.version->info.reader_flags;
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
	return writer;
}

static void
keep(struct draft *draft)
{
	(void)draft;
}

static void
change(struct draft *draft)
{
	Lance__Table__DataFragment *message;

	OK(draft_edit(draft, 0, &message, &err));
}

static void
take_out(struct draft *draft)
{
	draft_remove(draft, 0);
}

START_TEST(flags_say_what_is_there)
{
	static void (*const changes[])(struct draft * draft) = { keep, change, take_out };
	const uint64_t want[] = { flags[_i].kept, flags[_i].changed, flags[_i].removed };

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		uint64_t reader, writer = flags_after((size_t)_i, changes[i], &reader);

		ck_assert_msg(
			writer == want[i], "%s %zu: writer %" PRIu64, flags[_i].label, i, writer);
		ck_assert_msg(reader == (want[i] & ~(CONFIG | FIELD_IDS)),
			"%s %zu: reader %" PRIu64, flags[_i].label, i, reader);
	}
}
END_TEST

/* Fragments that nobody may write: each changed to this, `more` being behind what put_fragment
 * puts. */
static const struct {
	const char *more;
	size_t size;
	uint64_t stored; /* flags */
	int want;
	const char *word;
} fragments[] = {
	{ "", 0, 0, LANCET_OK, "" },
	{ "\x20\x00", 2, 0, LANCET_INVALID, "0 physical rows" },
	{ "\x20\x80\x80\x80\x80\x10", 6, 0, LANCET_INVALID, "4294967296 physical rows" },
	{ "\x1a\x06\x08\x01\x10\x01\x18\x05", 8, 0, LANCET_INVALID, "deletion file of 0 of 3" },
	{ "\x1a\x08\x08\x01\x10\x01\x18\x05\x20\x04", 10, 0, LANCET_INVALID, "of 4 of 3" },
	{ "", 0, STABLE, LANCET_INVALID, "no row ids" },
	{ ROW_IDS, 8, STABLE, LANCET_OK, "" },
	{ "\x62\x00", 2, STABLE, LANCET_INVALID, "-3 is in 0 data files" },
	{ CARRIER, CARRIER_SIZE, STABLE, LANCET_OK, "" },
	{ "\x12\x0d\x0a\x01z\x12\x01\x00\x1a\x01\x00\x20\x02\x28\x02", 15, 0, LANCET_INVALID,
		"field 0 is in two" },
	{ "\x12\x07\x0a\x01z\x20\x02\x28\x02", 9, 0, LANCET_INVALID, "no fields" },
	{ "\x12\x0e\x0a\x01z\x12\x02\x01\x02\x1a\x01\x00\x20\x02\x28\x02", 16, 0, LANCET_INVALID,
		"2 fields, 1 column" },
	{ "\x12\x0d\x0a\x01z\x12\x01\x01\x1a\x01\x00\x20\x02\x28\x09", 15, 0, LANCET_UNSUPPORTED,
		"version 2.9" },
	{ FILE_0_1, 12, 0, LANCET_INVALID, "0.1 can't be mixed" },
	{ "\x5a\x02\x18\x01", 4, 0, LANCET_INVALID, "overlay 0: no data file" },
	{ "\x5a\x11\x0a\x0d\x0a\x01o\x12\x01\x00\x1a\x01\x00\x20\x02\x28\x02\x18\x05" OVERLAY, 36,
		0, LANCET_INVALID, "overlay 1" },
};

START_TEST(a_changed_fragment_is_checked)
{
	struct made made = { 0 };
	struct buf more = { 0 };
	struct draft draft;

	buf_put(&more, fragments[_i].more, fragments[_i].size);
	put_basics(&made.message, 1);
	put_fragment(&made.message, 3, 3, &more);
	put_number(&made.message, 9, fragments[_i].stored);
	put_number(&made.message, 10, fragments[_i].stored);
	made_open(&made, 1);
	made.version->counts_missing = false;
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	change(&draft);
	if (fragments[_i].want == LANCET_OK)
		OK(draft_finish(&draft, 0, 0, &err));
	else
		FAILS(draft_finish(&draft, 0, 0, &err), fragments[_i].want, fragments[_i].word);
	draft_release(&draft);
	made_release(&made);
}
END_TEST

START_TEST(dead_files_and_dead_fragments_go)
{
	/* all -2; one -2 and one that is not known, which stays */
	static const int8_t dead[] = { -2, -2 }, half[] = { -2, -7 };
	struct made made = { 0 }, next = { 0 };
	Lance__Table__DataFragment *message;
	Lance__Table__DataFile **files;
	struct buf more = { 0 };
	struct draft draft;

	put_basics(&made.message, 1);
	put_file(&more, 2, dead, 2, 2);
	put_file(&more, 2, half, 2, 2);
	put_fragment(&made.message, 3, 3, &more);
	put_fragment(&made.message, 4, 3, NULL);
	made_open(&made, 1);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	OK(draft_edit(&draft, 0, &message, &err));
	files = message->files;
	ck_assert_uint_eq(message->n_files, 3);
	OK(draft_edit(&draft, 1, &message, &err));
	message->deletion_file = draft_alloc(&draft, sizeof(*message->deletion_file));
	lance__table__deletion_file__init(message->deletion_file);
	message->deletion_file->num_deleted_rows = 3;
	made_next(&draft, &next);
	ck_assert_uint_eq(next.version->info.fragment_count, 1);
	ck_assert_uint_eq(next.version->info.data_files, 2);
	ck_assert_uint_eq(next.version->info.max_fragment_id, 4);
	ck_assert_uint_eq(next.version->info.writer_flags, 0);
	/* the list that was given may belong to the transaction: it is as it was */
	ck_assert_int_eq(files[1]->fields[0], -2);
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

/* The format of a dataset: declared, inferred, or forgotten by an old writer. */
static const struct {
	const char *declared; /* NULL: no format */
	const char *more;
	size_t size;
	const char *want; /* NULL: refused */
	uint64_t writer;
} formats[] = {
	{ "2.2", "", 0, "2.2", 0 },
	{ NULL, "", 0, "2.2", 0 },
	{ NULL, FILE_2_1, 15, "2.2", MIXED },
	{ "0.1", "", 0, "2.2", 0 },
	{ "0.1", FILE_2_1, 15, "2.1", MIXED },
	{ "2.1", "", 0, "2.1", MIXED },
	{ "2.2", FILE_0_1, 12, NULL, 0 },
	{ "0.1", FILE_0_1, 12, NULL, 0 },
	{ "2.9", "", 0, NULL, 0 },
};

START_TEST(the_format_is_declared)
{
	struct made made = { 0 }, next = { 0 };
	struct buf more = { 0 }, format = { 0 };
	struct lancet_bytes is;
	struct draft draft;

	buf_put(&more, formats[_i].more, formats[_i].size);
	put_number(&made.message, 3, 1);
	put_writer(&made.message, "lance", "14.0.2");
	put_fragment(&made.message, 3, 3, &more);
	if (formats[_i].declared != NULL) {
		put_head(&format, 2, 3);
		buf_put_text(&format, formats[_i].declared);
		put_message(&made.message, 15, &format);
	}
	made_open(&made, 1);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	if (formats[_i].want != NULL) {
		made_next(&draft, &next);
		ck_assert_ptr_nonnull(next.version->message->data_format);
		is = next.version->info.storage_version;
		ck_assert(slice_equal(slice_of(is.data, is.size), slice_text(formats[_i].want)));
		ck_assert_uint_eq(next.version->info.writer_flags, formats[_i].writer);
	} else {
		struct lancet_error err = { 0 };

		ck_assert_int_ne(draft_finish(&draft, 0, 0, &err), LANCET_OK);
		ck_assert_msg(strstr(err.text, "0.1") != NULL || strstr(err.text, "2.9") != NULL,
			"%s", err.text);
	}
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

/* Whose word on what an index covers is taken. */
static const struct {
	const char *library, *version;
	bool kept;
} writers[] = {
	{ "lance", "14.0.2", true },
	{ "lance", "0.8.15", true },
	{ "lance", "0.9", true },
	{ "lance", "1", true },
	{ "lance", "0.8.14", false },
	{ "lance", "0.8", false },
	{ "lance", "0.8.15.1", true },
	{ "lance", "", false },
	{ "lance", "x", false },
	{ "lance", "1.x", false },
	{ "other", "0.1", true },
	{ NULL, NULL, false },
};

START_TEST(coverage_by_old_writers_is_forgotten)
{
	const struct lancet_index *indices;
	struct made made = { 0 }, next = { 0 };
	struct buf format = { 0 };
	struct draft draft;
	size_t count;

	put_number(&made.message, 3, 1);
	buf_put(&format,
		"\x12\x03"
		"2.2",
		5);
	put_message(&made.message, 15, &format);
	if (writers[_i].library != NULL)
		put_writer(&made.message, writers[_i].library, writers[_i].version);
	put_index(&made.section, "i", NULL);
	put_index(&made.section, "__lance_mem_wal", NULL);
	made_open(&made, 1);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	made_next(&draft, &next);
	OK(lancet_version_indices(next.version, &indices, &count, &err));
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(indices[0].segments[0]->bitmap.size, 18);
	ck_assert_uint_eq(indices[1].segments[0]->bitmap.size, writers[_i].kept ? 18 : 8);
	ck_assert_uint_eq(indices[1].segments[0]->uuid[15], 'i');
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

START_TEST(a_reuse_history_has_its_flag_and_no_stable_row_ids)
{
	struct made made = { 0 }, next = { 0 };
	struct buf more = { 0 };
	struct draft draft;

	put_basics(&made.message, 1);
	buf_put(&more, "\x38\x01", 2);
	put_index(&made.section, "__lance_frag_reuse", &more);
	made_open(&made, 1);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	made_next(&draft, &next);
	ck_assert_uint_eq(next.version->info.writer_flags, TAGGED);
	ck_assert_uint_eq(next.version->info.reader_flags, TAGGED);
	draft_release(&draft);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	draft.stable_row_ids = true;
	FAILS(draft_finish(&draft, 0, 0, &err), LANCET_UNSUPPORTED, "stable row ids");
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

START_TEST(the_mark_of_field_ids_follows_the_schema)
{
	struct made made = { 0 }, next = { 0 };
	struct draft draft;

	put_basics(&made.message, 1);
	put_number(&made.message, 24, 2);
	put_number(&made.message, 10, FIELD_IDS);
	made_open(&made, 1);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	draft.head->fields[0]->id = 5;
	draft.changed = DRAFT_SCHEMA;
	made_next(&draft, &next);
	ck_assert_int_eq(next.version->message->max_allocated_field_id, 5);
	ck_assert_uint_eq(next.version->info.writer_flags, FIELD_IDS);
	ck_assert_uint_eq(next.version->info.reader_flags, 0);
	draft_release(&draft);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	draft.head->max_allocated_field_id_presence_case = 0;
	FAILS(draft_finish(&draft, 0, 0, &err), LANCET_CORRUPT, "field ids are not reusable");
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

UNIT_MAIN("draft_finish", UNIT_LOOP(flags_say_what_is_there, flags),
	UNIT_LOOP(a_changed_fragment_is_checked, fragments),
	UNIT_TEST(dead_files_and_dead_fragments_go), UNIT_LOOP(the_format_is_declared, formats),
	UNIT_LOOP(coverage_by_old_writers_is_forgotten, writers),
	UNIT_TEST(a_reuse_history_has_its_flag_and_no_stable_row_ids),
	UNIT_TEST(the_mark_of_field_ids_follows_the_schema))
