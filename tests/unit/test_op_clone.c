/* Clone: a version begins elsewhere, with the files of the one it is made from. */
#include "unit.h"

#include "core/draft_index.h"
#include "core/operation.h"
#include "draftmake.h"
#include "fragtext.h"
#include "lance/transaction.pb-c.h"
#include "txnhistory.h"
#include "txntext.h"
#include "util/pbunpack.h"

#define MAP_ID "4d28e28f-116a-52d9-ae5f-7969de3df9a8"
#define NONE   (-1)

struct clone_rig {
	struct made made, next;
	struct draft draft;
};

static void
rig_start(struct clone_rig *rig, const char *bases)
{
	struct buf *message = &rig->made.message;
	char one[PART_SIZE];

	text_schema(message, 1, "0,1,2,3,4");
	frag_put(message, 2, "3 rows=12 files=a:0,1+b:2 gone=2#7 over=o:1@5");
	while (part_next(&bases, " ", one))
		text_base(message, 18, one);
	put_number(message, 3, 8);
	put_number(message, 9, 1024 + (*bases == '\0' ? 0 : 16));
	put_number(message, 10, 1024);
	put_number(message, 11, 20);
	put_writer(message, "lance", "14.0.2");
	part_text(message, 20, "dev");
}

static void
rig_open(struct clone_rig *rig, const char *ref_name, const char *branch, uint64_t version)
{
	struct buf bytes = { 0 }, body = { 0 };

	put_number(&body, 1, 1);
	if (ref_name != NULL)
		part_text(&body, 2, ref_name);
	put_number(&body, 3, version);
	part_text(&body, 4, "/source");
	part_text(&body, 5, branch);
	put_number(&bytes, 1, version);
	put_message(&bytes, 113, &body);
	made_open(&rig->made, 8);
	OK(draft_init(&rig->draft, NULL, rig->made.version, NULL, &err));
	OK(pb_unpack(&lance__table__transaction__descriptor, buf_slice(&bytes), &rig->draft.arena,
		&rig->draft.message, &err));
	buf_release(&bytes);
}

static void
rig_finish(struct clone_rig *rig)
{
	OK(operation_apply(&rig->draft, &err));
	made_next(&rig->draft, &rig->next);
}

static void
rig_close(struct clone_rig *rig)
{
	made_release(&rig->next);
	draft_release(&rig->draft);
	made_release(&rig->made);
}

static void
expect_fragment(const lancet_version *version, uint32_t base)
{
	const struct fragment_span *span = &version->spans[0];
	Lance__Table__DataFragment *fragment;
	struct arena arena = { 0 };
	uint8_t *bytes = NULL;

	OK(source_load(
		version->file, version->message_offset + span->offset, span->size, &bytes, &err));
	OK(pb_unpack(&lance__table__data_fragment__descriptor, slice_of(bytes, span->size), &arena,
		&fragment, &err));
	ck_assert_uint_eq(fragment->n_files, 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_ne(fragment->files[i]->base_id_presence_case, 0);
		ck_assert_uint_eq(fragment->files[i]->base_id, base);
	}
	ck_assert_int_ne(fragment->deletion_file->base_id_presence_case, 0);
	ck_assert_uint_eq(fragment->deletion_file->base_id, base);
	ck_assert_int_ne(fragment->overlays[0]->data_file->base_id_presence_case, 0);
	ck_assert_uint_eq(fragment->overlays[0]->data_file->base_id, base);
	arena_release(&arena);
	free(bytes);
}

START_TEST(files_are_in_the_base_of_the_source)
{
	struct clone_rig rig = { 0 };
	const Lance__Table__Manifest *head;

	rig_start(&rig, "");
	text_entry(&rig.made.section, 1, "i:1:3:0BTree");
	rig_open(&rig, NULL, "fix/one", 8);
	rig_finish(&rig);
	head = rig.next.version->message;
	ck_assert_uint_eq(head->version, 8);
	ck_assert(
		slice_equal(slice_of(head->branch.data, head->branch.len), slice_text("fix/one")));
	ck_assert_uint_eq(head->n_base_paths, 1);
	ck_assert_uint_eq(head->base_paths[0]->id, 0);
	ck_assert(head->base_paths[0]->is_dataset_root);
	ck_assert_int_eq(head->base_paths[0]->name_presence_case, 0);
	ck_assert(
		slice_equal(slice_of(head->base_paths[0]->path.data, head->base_paths[0]->path.len),
			slice_text("/source")));
	ck_assert_uint_eq(head->max_fragment_id, 20);
	ck_assert_uint_eq(head->reader_feature_flags & (1024 | 16), 1024 | 16);
	ck_assert_uint_eq(head->writer_feature_flags & (1024 | 16), 1024 | 16);
	expect_fragment(rig.next.version, 0);
	OK(draft_indices(&rig.draft, &err));
	ck_assert_int_ne(rig.draft.indices[0].message->base_id_presence_case, 0);
	ck_assert_uint_eq(rig.draft.indices[0].message->base_id, 0);
	rig_close(&rig);
}
END_TEST

START_TEST(other_bases_stay)
{
	struct clone_rig rig = { 0 };
	const Lance__Table__Manifest *head;

	rig_start(&rig, "0::/a 1:x:/b 3:y:/source");
	rig_open(&rig, "dev", "fix", 8);
	rig_finish(&rig);
	head = rig.next.version->message;
	ck_assert_uint_eq(head->n_base_paths, 4);
	ck_assert_uint_eq(head->base_paths[3]->id, 2);
	ck_assert(
		slice_equal(slice_of(head->base_paths[3]->name.data, head->base_paths[3]->name.len),
			slice_text("dev")));
	expect_fragment(rig.next.version, 2);
	rig_close(&rig);
}
END_TEST

/* One transition of a row map, in the base given. */
static void
put_partition_entry(struct buf *section, int base)
{
	struct buf partition = { 0 }, transition = { 0 }, content = { 0 };
	struct buf details = { 0 }, any = { 0 }, entry = { 0 };

	history_digests(&transition, 1, "1", 12);
	history_digests(&transition, 2, "3", 12);
	part_text(&partition, 1, MAP_ID);
	put_number(&partition, 2, 475);
	if (base != NONE)
		put_number(&partition, 3, (uint64_t)base);
	part_message(&transition, 4, &partition);
	part_message(&content, 2, &transition);
	part_message(&details, 1, &content);
	part_text(&any, 1, "/lance.table.FragmentReuseIndexDetails");
	part_message(&any, 2, &details);
	part_uuid(&entry, 1, '_');
	part_text(&entry, 3, REUSE_INDEX_NAME);
	put_number(&entry, 4, 5);
	part_roaring(&entry, 5, "1,3");
	part_message(&entry, 6, &any);
	put_number(&entry, 7, 1);
	put_number(&entry, 8, 77);
	part_message(section, 1, &entry);
}

START_TEST(row_maps_are_told_where_they_are)
{
	static const struct {
		int base;
		uint32_t due;
	} rows[] = { { NONE, 2 }, { 0, 0 }, { 1, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct clone_rig rig = { 0 };
		const struct lancet_transition *transition;
		const struct lancet_index_segment *entry;
		lancet_reuse *reuse;

		rig_start(&rig, "0::/a 1:x:/b");
		put_partition_entry(&rig.made.section, rows[i].base);
		rig_open(&rig, NULL, "fix", 8);
		rig_finish(&rig);
		OK(lancet_version_reuse(rig.next.version, &reuse, &err));
		ck_assert_uint_eq(lancet_reuse_info(reuse)->transition_count, 1);
		transition = lancet_reuse_transition(reuse, 0);
		ck_assert(transition->has_base);
		ck_assert_uint_eq(transition->base_id, rows[i].due);
		entry = lancet_reuse_info(reuse)->entry;
		ck_assert(!entry->has_base);
		ck_assert_int_ne(entry->uuid[0], '_');
		ck_assert_uint_eq(entry->dataset_version, 5);
		ck_assert_uint_eq(entry->created_at, 77);
		rig_close(&rig);
	}
}
END_TEST

START_TEST(a_legacy_history_stays_where_it_is)
{
	struct clone_rig rig = { 0 };
	struct buf entry = { 0 };
	lancet_reuse *reuse;

	rig_start(&rig, "");
	history_entry(&entry, "0 1>3");
	part_message(&rig.made.section, 1, &entry);
	rig_open(&rig, NULL, "fix", 8);
	rig_finish(&rig);
	OK(lancet_version_reuse(rig.next.version, &reuse, &err));
	ck_assert(lancet_reuse_info(reuse)->entry->has_base);
	ck_assert_uint_eq(lancet_reuse_info(reuse)->entry->base_id, 0);
	ck_assert_int_eq(lancet_reuse_info(reuse)->entry->uuid[0], '_');
	rig_close(&rig);
}
END_TEST

static void
expect_refusal(struct clone_rig *rig, int code, const char *word)
{
	struct lancet_error why = { 0 };

	ck_assert_int_eq(operation_apply(&rig->draft, &why), code);
	ck_assert_msg(strstr(why.text, word) != NULL, "%s", why.text);
	rig_close(rig);
}

START_TEST(what_can_not_be_cloned_is_refused)
{
	struct clone_rig rig = { 0 };
	struct buf entry = { 0 };

	rig_start(&rig, "");
	rig_open(&rig, NULL, "fix", 7);
	expect_refusal(&rig, LANCET_INVALID, "version 7 is named");
	rig = (struct clone_rig){ 0 };
	rig_start(&rig, "");
	rig_open(&rig, NULL, "a//b", 8);
	expect_refusal(&rig, LANCET_INVALID, "name of the branch");
	rig = (struct clone_rig){ 0 };
	rig_start(&rig, "");
	rig_open(&rig, NULL, "fix", 8);
	rig.draft.message->clone->is_shallow = false;
	expect_refusal(&rig, LANCET_UNSUPPORTED, "deep");
	rig = (struct clone_rig){ 0 };
	rig_start(&rig, "");
	history_entry(&entry, "1 ?1>3");
	part_message(&rig.made.section, 1, &entry);
	rig_open(&rig, NULL, "fix", 8);
	expect_refusal(&rig, LANCET_UNSUPPORTED, "transitions[0]");
	rig = (struct clone_rig){ 0 };
	rig_start(&rig, "");
	rig_open(&rig, NULL, "fix", 8);
	rig.draft.newest = lancet_version_ref(rig.made.version);
	expect_refusal(&rig, LANCET_UNSUPPORTED, "can't be committed to one");
}
END_TEST

UNIT_MAIN("op_clone", UNIT_TEST(files_are_in_the_base_of_the_source), UNIT_TEST(other_bases_stay),
	UNIT_TEST(row_maps_are_told_where_they_are), UNIT_TEST(a_legacy_history_stays_where_it_is),
	UNIT_TEST(what_can_not_be_cloned_is_refused))
