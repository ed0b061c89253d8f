/* CreateIndex: entries that come and go, the reuse history cut short, and the MemWAL's entry. */
#include "unit.h"

#include "core/draft_mem_wal.h"
#include "opwords.h"

#define F(id)  #id " rows=12 files=f" #id ":0,1,2,4"
#define TAGGED 1024

static const struct op_words made[] = {
	{ { "a new one", .before = { F(0) }, .entries = { "i:1:0" }, .after = { F(0) },
		  .covered = { "i:0", "n:0" } },
		.words = "CreateIndex new=n:2:0:BTree" },
	{ { "over what is gone, and was", .before = { F(0) }, .covered = { "n:0,20" } },
		.words = "CreateIndex new=n:2:0,20:BTree" },
	{ { "over what never was", .before = { F(0) }, .code = LANCET_INVALID,
		  .word = "fragment 21" },
		.words = "CreateIndex new=n:2:0,21:BTree" },
	{ { "one goes", .before = { F(0) }, .entries = { "i:1:0", "j:1:0" }, .covered = { "j:0" } },
		.words = "CreateIndex removed=i" },
	{ { "one that has gone before", .before = { F(0) }, .entries = { "j:1:0" },
		  .covered = { "j:0" } },
		.words = "CreateIndex removed=i" },
	{ { "one in the place of another with its UUID", .before = { F(0), F(1) },
		  .entries = { "i:1:0" }, .covered = { "i:0,1" } },
		.words = "CreateIndex new=i:1:0,1" },
	{ { "a field that there is not", .before = { F(0) }, .code = LANCET_INVALID,
		  .word = "no field 7" },
		.words = "CreateIndex new=n:7:0" },
	{ { "a field twice", .before = { F(0) }, .code = LANCET_INVALID, .word = "field 1 twice" },
		.words = "CreateIndex new=n:1,1:0" },
	{ { "no field", .before = { F(0) }, .code = LANCET_INVALID, .word = "over 0 fields" },
		.words = "CreateIndex new=n" },
	{ { "a reserved name", .before = { F(0) }, .code = LANCET_INVALID, .word = "reserved" },
		.words = "CreateIndex new=__lance_x:1:0" },
	/* pylance: "Index details not found", at each commit from then on */
	{ { "a MemWAL without details", .before = { F(0) }, .code = LANCET_CORRUPT,
		  .word = "has no details" },
		.words = "CreateIndex new=" MEM_WAL_INDEX_NAME ":1:0" },
	{ { "of a version to come", .before = { F(0) }, .code = LANCET_INVALID,
		  .word = "version 9 to come" },
		.words = "CreateIndex new=n:1:0:BTree:9" },
	{ { "one UUID for two", .before = { F(0) }, .code = LANCET_INVALID,
		  .word = "entry 0 has its UUID" },
		.words = "CreateIndex new=n:1:0 new=nn:1:1" },
	{ { "old fragments that a legacy history leads on", .before = { "6 rows=24 files=m:0" },
		  .entries = { "i:1:1,2" },
		  .covered = { "i:6", "n:1,2", "__lance_frag_reuse:1,2,6" } },
		.history = "0 1,2>6", .words = "CreateIndex new=n:1:1,2" },
};

START_TEST(entries_come_and_go)
{
	words_run(&made[_i]);
}
END_TEST

/* A second segment beside one of that index. */
static void
add_segment(const char *stored, const char *added, bool stable, const char *word)
{
	struct op_words row = { { "segments", .stable = stable,
					.before = { stable ? F(0) " ids=0-11" : F(0) },
					.entries = { stored } },
		.words = added };
	struct words_rig w = { 0 };
	struct lancet_error why = { 0 };
	int rc;

	words_open(&w, &row);
	memset(w.rig.draft.message->create_index->new_indices[0]->uuid->uuid.data, 'z', 16);
	rc = words_apply(&w, &why);
	if (word == NULL) {
		ck_assert_msg(rc == LANCET_OK, "%s", why.text);
		ck_assert_uint_eq(w.rig.draft.index_count, 2);
	} else {
		ck_assert_int_eq(rc, LANCET_INVALID);
		ck_assert_msg(strstr(why.text, word) != NULL, "%s", why.text);
	}
	words_close(&w);
}

START_TEST(segments_of_one_index_fit_together)
{
	add_segment("i:1:0:0BTree", "CreateIndex new=i:1:1:0BTree", false, NULL);
	add_segment("i:1:0:0BTree", "CreateIndex new=i:1:0,1:0BTree", false, "same fragments");
	add_segment("i:1:0:0BTree", "CreateIndex new=i:2:1:0BTree", false, "other fields");
	add_segment("i:1:0:0BTree", "CreateIndex new=i:1:1:0Bitmap", false, "another type");
	add_segment("i:1:0:0BTree", "CreateIndex new=i:1:1:1BTree", true, "row addresses");
	add_segment("i:1:0:0BTree", "CreateIndex new=i:1:1:1BTree", false, NULL);
	add_segment("i:1:0:1BTree", "CreateIndex new=i:1:1:1BTree", true, NULL);
}
END_TEST

/* What the conflict check withdrew is not in the bitmaps, nor may it be in an unknown one. */
START_TEST(what_was_withdrawn_is_not_covered)
{
	static const struct op_words row = { { "withdrawn", .before = { F(0), F(1) },
						     .covered = { "n:1", "m:", "k:0,1" } },
		.words = "CreateIndex new=n:1:0,1 new=m:1 new=k:1:0,1" };
	struct words_rig w = { 0 };

	words_open(&w, &row);
	for (size_t i = 0; i < 2; i++)
		w.rebase.indices[i].withdrawn = roaring_bitmap_of(1, 0);
	w.rebase.indices[2].withdrawn = roaring_bitmap_of(1, 7);
	OK(words_apply(&w, &err));
	rig_expect_indices(&w.rig, &row.base);
	words_close(&w);
}
END_TEST

/* The new reuse entry of the message is made of this history. */
static void
put_history(struct words_rig *w, const char *text)
{
	struct draft *draft = &w->rig.draft;
	Lance__Table__Transaction__CreateIndex *message = draft->message->create_index;
	struct buf entry = { 0 };

	history_entry(&entry, text);
	message->new_indices = draft_alloc(draft, sizeof(*message->new_indices));
	OK(pb_unpack(&lance__table__index_metadata__descriptor, buf_slice(&entry), &draft->arena,
		&message->new_indices[0], &err));
	memset(message->new_indices[0]->uuid->uuid.data, 'z', 16);
	message->n_new_indices = 1;
	buf_release(&entry);
}

static const struct cut {
	struct op_words row;
	const char *left; /* NULL: no entry */
} cuts[] = {
	{ { { "nothing needs it", .before = { "6 rows=24 files=m:0" } }, .history = "0 1,2>6",
		  .words = "CreateIndex removed=__lance_frag_reuse", .history_after = "" },
		NULL },
	{ { { "nothing needs the first", .before = { F(6), F(7) },
		    .entries = { "i:1:2:0BTree:1" } },
		  .history = "0 1>6 2>7", .words = "CreateIndex removed=__lance_frag_reuse",
		  .history_after = "2>7" },
		"0 2>7" },
	{ { { "an index names what it led to", .before = { F(6), F(7) },
		    .entries = { "i:1:6:0BTree:1" }, .code = LANCET_INVALID, .word = "record 0" },
		  .history = "0 1>6 2>7", .words = "CreateIndex removed=__lance_frag_reuse" },
		"0 2>7" },
	{ { { "all of it, which an index needs", .before = { F(6) },
		    .entries = { "i:1:1:0BTree:1" }, .code = LANCET_INVALID, .word = "record 0" },
		  .history = "0 1>6", .words = "CreateIndex removed=__lance_frag_reuse" },
		NULL },
	{ { { "a record that there was not", .before = { F(6) }, .code = LANCET_INVALID,
		    .word = "only a rewrite adds" },
		  .history = "0 1>6", .words = "CreateIndex removed=__lance_frag_reuse" },
		"0 1>6 2>7" },
	{ { { "another order", .before = { F(6), F(7) }, .code = LANCET_INVALID,
		    .word = "only a rewrite adds" },
		  .history = "0 1>6 2>7", .words = "CreateIndex removed=__lance_frag_reuse" },
		"0 2>7 1>6" },
	{ { { "it becomes a tagged one", .before = { F(6) }, .code = LANCET_INVALID,
		    .word = "only begun by a rewrite" },
		  .history = "0 1>6", .words = "CreateIndex removed=__lance_frag_reuse" },
		"1 1>6" },
	{ { { "there was none", .before = { F(6) }, .code = LANCET_INVALID,
		    .word = "only a rewrite begins one" },
		  .words = "CreateIndex removed=x" },
		"0 1>6" },
};

START_TEST(a_legacy_history_is_cut)
{
	const struct cut *cut = &cuts[_i];
	const struct op_words *row = &cut->row;
	struct words_rig w = { 0 };
	struct lancet_error why = { 0 };
	int rc;

	words_open(&w, row);
	if (cut->left != NULL)
		put_history(&w, cut->left);
	rc = words_apply(&w, &why);
	ck_assert_msg(rc == (int)row->base.code, "%s: %s", row->base.label, why.text);
	if (rc == LANCET_OK)
		words_expect_history(&w, row);
	else
		ck_assert_msg(strstr(why.text, row->base.word) != NULL, "%s: %s", row->base.label,
			why.text);
	words_close(&w);
}
END_TEST

/* Of a tagged history goes what no index needs, whatever the message asks for; and it says so. */
START_TEST(a_tagged_history_is_cut_by_need)
{
	static const struct op_words rows[] = {
		{ { "some of it", .flags = TAGGED, .before = { F(6), F(7) },
			  .entries = { "i:1:2" } },
			.history = "1 1>6 2>7", .words = "CreateIndex removed=__lance_frag_reuse",
			.history_after = "2>7" },
		{ { "all of it", .flags = TAGGED, .before = { F(6), F(7) },
			  .entries = { "i:1:6,7" } },
			.history = "1 1>6 2>7", .words = "CreateIndex removed=__lance_frag_reuse",
			.history_after = "" },
		{ { "what needed ones lead to stays", .flags = TAGGED, .before = { F(7) },
			  .entries = { "i:1:2" } },
			.history = "1 1>5 2>6 6>7",
			.words = "CreateIndex removed=__lance_frag_reuse",
			.history_after = "2>6 6>7" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct words_rig w = { 0 };
		const Lance__Table__Transaction__CreateIndex *message;

		words_open(&w, &rows[i]);
		OK(words_apply(&w, &err));
		words_expect_history(&w, &rows[i]);
		message = w.rig.draft.message->create_index;
		ck_assert_uint_eq(message->n_removed_indices, 1);
		ck_assert_int_eq(message->removed_indices[0]->uuid->uuid.data[0], '_');
		ck_assert_uint_eq(message->n_new_indices, *rows[i].history_after != '\0');
		ck_assert_uint_ne(w.rig.draft.writer_flags & TAGGED, 0);
		words_close(&w);
	}
}
END_TEST

/* "s=5 t=6 | i:s=5": shards, and what indices have of them. */
static void
show_mem_wal(const struct draft *draft, char into[256])
{
	size_t place = draft_index_named(draft, MEM_WAL_INDEX_NAME), at = 0;
	const Lance__Table__IndexMetadata *entry = draft->indices[place].message;
	Lance__Table__MemWalIndexDetails *details;
	struct arena arena = { 0 };

	OK(pb_unpack(&lance__table__mem_wal_index_details__descriptor,
		slice_of(entry->index_details->value.data, entry->index_details->value.len), &arena,
		&details, &err));
	for (size_t i = 0; i < details->n_compacted_sstables; i++)
		at += (size_t)snprintf(into + at, 256 - at, "%c=%d ",
			details->compacted_sstables[i]->shard_id->uuid.data[0],
			(int)details->compacted_sstables[i]->generation);
	for (size_t i = 0; i < details->n_index_catchup; i++)
		at += (size_t)snprintf(into + at, 256 - at, "| %c:%zu",
			details->index_catchup[i]->index_name.data[0],
			details->index_catchup[i]->n_caught_up_generations);
	arena_release(&arena);
}

static const struct mem_wal {
	const char *label, *shards; /* "s:5 t:6": what the entry has */
	const char *words, *shown;
	uint64_t dataset_version;
	enum lancet_code code;
	const char *word;
} mem_wals[] = {
	{ "a shard goes on", "s:5", "UpdateMemWalState shard=s:6", "s=6 ", 9, 0, NULL },
	{ "another one begins", "s:5", "UpdateMemWalState shard=t:1", "s=5 t=1 ", 9, 0, NULL },
	{ "the same generation", "s:5", "UpdateMemWalState shard=s:5", NULL, 0, LANCET_INVALID,
		"generation 5 is not above" },
	{ "nothing", "s:5", "UpdateMemWalState", NULL, 0, LANCET_INVALID, "no shard" },
	{ "no MemWAL", NULL, "UpdateMemWalState shard=s:6", NULL, 0, LANCET_INVALID,
		"no MemWAL index" },
	{ "an index has all there is", "s:5", "CreateIndex new=n:1:0", "s=5 | n:1", 9, 0, NULL },
	{ "one without shards", "", "CreateIndex new=n:1:0", "", 3, 0, NULL },
	{ "one that is gone has nothing", "s:5 n", "CreateIndex removed=n", "s=5 ", 9, 0, NULL },
};

static void
put_mem_wal(struct buf *section, const char *shards)
{
	struct buf entry = { 0 }, any = { 0 }, details = { 0 }, catchup = { 0 };
	char one[PART_SIZE];

	for (const char *at = shards; part_next(&at, " ", one);)
		if (one[1] == ':')
			text_shard(&details, 9, one);
		else
			part_text(&catchup, 1, one);
	if (catchup.size > 0) {
		text_shard(&catchup, 2, "s:5");
		part_message(&details, 10, &catchup);
	}
	maker_number(&details, 12, 0);
	maker_number(&details, 77, 5); /* not known: it stays */
	part_text(&any, 1, "/lance.table.MemWalIndexDetails");
	part_message(&any, 2, &details);
	part_uuid(&entry, 1, 'w');
	part_text(&entry, 3, MEM_WAL_INDEX_NAME);
	maker_number(&entry, 4, 3);
	part_message(&entry, 6, &any);
	part_message(section, 1, &entry);
}

START_TEST(the_progress_of_shards_is_kept)
{
	const struct mem_wal *row = &mem_wals[_i];
	const struct op_words words = { { row->label, .before = { F(0) } }, .words = row->words };
	struct words_rig w = { 0 };
	struct lancet_error why = { 0 };
	char shown[256] = "";
	int rc;

	if (row->shards != NULL)
		put_mem_wal(&w.rig.made.section, row->shards);
	words_open(&w, &words);
	rc = words_apply(&w, &why);
	ck_assert_msg(rc == (int)row->code, "%s: %s", row->label, why.text);
	if (rc == LANCET_OK) {
		size_t place = draft_index_named(&w.rig.draft, MEM_WAL_INDEX_NAME);
		const Lance__Table__IndexMetadata *entry = w.rig.draft.indices[place].message;

		show_mem_wal(&w.rig.draft, shown);
		ck_assert_str_eq(shown, row->shown);
		ck_assert_uint_eq(entry->dataset_version, row->dataset_version);
		ck_assert_int_eq(entry->uuid->uuid.data[0] == 'w', row->dataset_version == 3);
		ck_assert_ptr_nonnull(memmem(entry->index_details->value.data,
			entry->index_details->value.len, "\xe8\x04\x05", 3));
	} else {
		ck_assert_msg(strstr(why.text, row->word) != NULL, "%s: %s", row->label, why.text);
	}
	words_close(&w);
}
END_TEST

/* Others went on while our entry was made: it starts with what they have. */
START_TEST(a_new_mem_wal_entry_starts_with_what_was_merged)
{
	static const struct op_words row = { { "new", .before = { F(0) } },
		.words = "CreateIndex removed=x" };
	struct shard shards[] = { { .generation = 7 } };
	struct shards progress = { shards, 1 };
	struct words_rig w = { 0 };
	Lance__Table__IndexMetadata *entry;
	char shown[256] = "";

	memset(shards[0].id, 's', sizeof(shards[0].id));
	put_mem_wal(&w.rig.made.section, "s:6 t:2");
	words_open(&w, &row);
	OK(draft_indices(&w.rig.draft, &err));
	OK(draft_index_edit(&w.rig.draft, 0, &entry, &err));
	OK(mem_wal_merge(&w.rig.draft, entry, &progress, &err));
	show_mem_wal(&w.rig.draft, shown);
	ck_assert_str_eq(shown, "s=7 t=2 ");
	ck_assert_uint_eq(entry->dataset_version, 8);
	OK(mem_wal_merge(&w.rig.draft, entry, &progress, &err));
	words_close(&w);
}
END_TEST

UNIT_MAIN("op_create_index", UNIT_LOOP(entries_come_and_go, made),
	UNIT_TEST(segments_of_one_index_fit_together), UNIT_TEST(what_was_withdrawn_is_not_covered),
	UNIT_LOOP(a_legacy_history_is_cut, cuts), UNIT_TEST(a_tagged_history_is_cut_by_need),
	UNIT_LOOP(the_progress_of_shards_is_kept, mem_wals),
	UNIT_TEST(a_new_mem_wal_entry_starts_with_what_was_merged))
