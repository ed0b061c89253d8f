/* Manifests that drafts make: what keeps its bytes, what is new, and how the file gets its name. */
#include "unit.h"

#include "draftmake.h"

#include <inttypes.h>

#include "core/names.h"
#include "util/pbscan.h"

/* All fields of a version's message that no commit sets, and no fragment, one after the other;
 * with fragments when those are asked for. */
static void
collect(const lancet_version *version, bool fragments, struct buf *into)
{
	static const uint32_t set[] = { 3, 6, 7, 8, 9, 10, 11, 12, 13, 14, 21, 23 };
	struct pb_field field;
	struct pbscan scan;
	bool more = true;

	OK(pbscan_init(
		&scan, version->file, version->message_offset, version->message_size, 0, &err));
	for (;;) {
		bool wanted = true;
		struct slice bytes;

		OK(pbscan_next(&scan, &field, &more, &err));
		if (!more)
			break;
		for (size_t i = 0; i < ARRAY_SIZE(set); i++)
			wanted = wanted && field.number != set[i];
		if (!wanted || (field.number == 2) != fragments)
			continue;
		/* of a fragment its content: the head may be written in another way */
		uint64_t from = fragments ? field.offset : field.start;

		OK(pbscan_bytes(&scan, from, field.end - from, &bytes, &err));
		buf_put_slice(into, bytes);
	}
	pbscan_release(&scan);
}

static void
check_same(const lancet_version *before, const lancet_version *after, bool fragments)
{
	struct buf was = { 0 }, is = { 0 };

	collect(before, fragments, &was);
	collect(after, fragments, &is);
	ck_assert_uint_eq(was.size, is.size);
	ck_assert(was.size > 0 && memcmp(was.data, is.data, was.size) == 0);
	buf_release(&was);
	buf_release(&is);
}

static void
check_section(const struct made *before, const struct made *after)
{
	ck_assert(after->version->has_index_section && after->version->index_section == 0);
	ck_assert_mem_eq(after->file.data, before->file.data, 4 + before->section.size);
}

/* Fields and fragments in any order, unknown fields on every level, and one fragment whose length
 * takes more bytes than it has to. */
static void
put_unusual(struct made *made)
{
	struct buf unknown = { 0 };

	put_number(&made->message, 99, 7);
	put_fragment(&made->message, 0, 3, NULL);
	put_number(&unknown, 77, 1);
	put_fragment(&made->message, 1, 3, &unknown);
	put_head(&made->message, 98, 5);
	buf_put_text(&made->message, "hello");
	buf_put(&made->message, "\x12\x90\x00\x08\x02", 5);
	buf_put(&made->message, "\x12\x0a\x0a\x01z\x12\x01\x00\x20\x02\x28\x02\x20\x03", 14);
	put_basics(&made->message, 4);
	put_fragment(&made->message, 7, 3, NULL);
	put_fragment(&made->message, 5, 3, NULL);
	put_number(&made->message, 21, 3);
	put_number(&made->message, 99, 8);
	put_number(&unknown, 55, 1);
	put_index(&made->section, "i", &unknown);
	put_number(&made->section, 9, 4);
	put_index(&made->section, "j", NULL);
}

START_TEST(what_nobody_changed_keeps_its_bytes)
{
	struct made made = { 0 }, next = { 0 };
	struct draft draft;

	put_unusual(&made);
	made_open(&made, 4);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	made_next(&draft, &next);
	check_same(made.version, next.version, false);
	check_section(&made, &next);
	ck_assert_uint_eq(next.version->info.fragment_count, 5);
	for (size_t i = 0; i < 5; i++) {
		const struct fragment_span *was = &made.version->spans[i];
		const struct fragment_span *is = &next.version->spans[i];

		ck_assert_uint_eq(is->id, was->id);
		ck_assert_uint_eq(is->size, was->size);
		ck_assert_mem_eq(next.file.data + next.version->message_offset + is->offset,
			made.file.data + made.version->message_offset + was->offset, is->size);
		ck_assert(i == 0 || is[-1].offset < is->offset);
	}
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

START_TEST(a_commit_sets_its_fields_once)
{
	struct made made = { 0 }, next = { 0 };
	const struct lancet_version_info *info;
	Lance__Table__Transaction message = LANCE__TABLE__TRANSACTION__INIT;
	struct draft draft;

	put_unusual(&made);
	put_number(&made.message, 11, 9);
	put_number(&made.message, 14, 50);
	put_number(&made.message, 10, 32);
	made_open(&made, 4);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	message.tag = maker_text("t");
	draft.message = &message;
	made_next(&draft, &next);
	info = lancet_version_info(next.version);
	ck_assert_uint_eq(info->number, 5);
	ck_assert_int_eq(info->timestamp_seconds, MADE_SECONDS);
	ck_assert_int_eq(info->timestamp_nanos, 5);
	ck_assert(slice_equal(slice_of(info->writer_library.data, info->writer_library.size),
		slice_text("lancefs")));
	ck_assert_uint_gt(info->writer_version.size, 0);
	ck_assert(slice_equal(slice_of(info->transaction_file.data, info->transaction_file.size),
		slice_text("1-x.txn")));
	ck_assert_uint_eq(info->tag.size, 1);
	ck_assert_uint_eq(info->max_fragment_id, 9);
	ck_assert_uint_eq(info->next_row_id, 50);
	ck_assert_uint_eq(info->writer_flags, 0);
	ck_assert_int_eq(next.version->message->transaction_section_deprecated_presence_case, 0);
	ck_assert_uint_eq(next.version->transaction_section, 4 + made.section.size);
	ck_assert_mem_eq(next.file.data + 4 + made.section.size, "\2\0\0\0\x08\x01", 6);
	/* "LANC", and the minor version that the reference writes */
	ck_assert_mem_eq(next.file.data + next.file.size - 8, "\0\0\2\0LANC", 8);
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

START_TEST(what_was_changed_is_encoded_and_nothing_else)
{
	struct made made = { 0 }, next = { 0 };
	Lance__Table__DataFragment *fragment, *added;
	Lance__Table__IndexMetadata *entry;
	struct draft draft;
	uint64_t ordinal;

	put_unusual(&made);
	made_open(&made, 4);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	OK(draft_edit(&draft, draft_find(&draft, 1), &fragment, &err));
	fragment->physical_rows = 4;
	draft_remove(&draft, draft_find(&draft, 5));
	fragment->id = 0;
	OK(draft_add(&draft, fragment, &added, &err));
	fragment->id = 1;
	ck_assert_uint_eq(added->id, 8);
	OK(draft_indices(&draft, &err));
	draft_index_remove(&draft, 1);
	OK(draft_index_edit(&draft, 0, &entry, &err));
	entry->dataset_version = 4;
	made_next(&draft, &next);
	check_same(made.version, next.version, false);
	ck_assert_uint_eq(next.version->info.fragment_count, 5);
	OK(lancet_version_find_fragment(next.version, 1, &ordinal, &err));
	ck_assert_uint_eq(next.version->spans[ordinal].physical_rows, 4);
	/* the unknown field of fragment 1 is there, and copied with it */
	ck_assert_uint_eq(next.version->spans[ordinal].size, made.version->spans[1].size);
	ck_assert_uint_eq(next.version->spans[4].size, made.version->spans[1].size);
	ck_assert_uint_eq(next.version->info.max_fragment_id, 8);
	/* so is that of entry i, and that of the section; entry j is gone */
	ck_assert_uint_eq(next.version->transaction_section,
		4 + made.section.size - (2 + made.section.data[1] - 3));
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

START_TEST(a_changed_part_of_the_head_replaces_the_stored_one)
{
	struct made made = { 0 }, next = { 0 };
	Lance__File__StringEntry entry = LANCE__FILE__STRING_ENTRY__INIT;
	Lance__File__StringEntry *entries[] = { &entry };
	const struct lancet_entry *map;
	struct draft draft;
	size_t count;

	put_basics(&made.message, 1);
	for (unsigned field = 16; field <= 20; field += 3) {
		put_head(&made.message, field, 6);
		buf_put(&made.message, "\x0a\x01k\x12\x01v", 6);
	}
	put_head(&made.message, 5, 6);
	buf_put(&made.message, "\x0a\x01k\x12\x01v", 6);
	made_open(&made, 1);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	entry.key = maker_text("new");
	draft.head->n_config = 1;
	draft.head->config = entries;
	draft.head->n_schema_metadata = 0;
	draft.changed = DRAFT_CONFIG | DRAFT_SCHEMA_METADATA;
	made_next(&draft, &next);
	map = lancet_version_map(next.version, LANCET_CONFIG, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_mem_eq(map[0].key.data, "new", 3);
	(void)lancet_version_map(next.version, LANCET_SCHEMA_METADATA, &count);
	ck_assert_uint_eq(count, 0);
	(void)lancet_version_map(next.version, LANCET_TABLE_METADATA, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(next.version->info.writer_flags, 8);
	ck_assert_uint_eq(next.version->info.reader_flags, 0);
	ck_assert(!next.version->has_index_section);
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

START_TEST(without_entries_there_is_no_index_section)
{
	struct made made = { 0 }, next = { 0 };
	struct draft draft;

	put_basics(&made.message, 1);
	put_index(&made.section, "i", NULL);
	made_open(&made, 1);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	OK(draft_indices(&draft, &err));
	draft_index_remove(&draft, 0);
	made_next(&draft, &next);
	ck_assert(!next.version->has_index_section);
	ck_assert(next.version->has_transaction_section);
	ck_assert_uint_eq(next.version->transaction_section, 0);
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

/* Field { id #3, dictionary #8 { length #2 } } */
static void
put_dictionary(struct buf *message, uint64_t id, uint64_t length)
{
	struct buf field = { 0 }, dictionary = { 0 };

	put_number(&field, 3, id);
	put_number(&dictionary, 2, length);
	put_message(&field, 8, &dictionary);
	put_number(&field, 4, UINT64_MAX);
	put_message(message, 1, &field);
}

START_TEST(values_of_dictionaries_stay_where_they_are)
{
	struct made made = { 0 }, next = { 0 };
	Lance__File__Dictionary none = LANCE__FILE__DICTIONARY__INIT;
	Lance__File__Field fields[3], *list[3];
	struct splice file = { 0 };
	struct draft draft;

	put_basics(&made.message, 1);
	put_dictionary(&made.message, 1, 4);
	put_dictionary(&made.message, 2, 0);
	put_index(&made.section, "i", NULL);
	buf_put_text(&made.file, "values");
	made_open(&made, 1);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	/* a schema of a transaction knows nothing of them */
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		list[i] = &fields[i];
		fields[i] = *draft.head->fields[i];
		fields[i].dictionary = &none;
	}
	draft.head->fields = list;
	draft.changed = DRAFT_SCHEMA;
	made_next(&draft, &next);
	ck_assert_mem_eq(next.file.data, "values", 6);
	ck_assert_uint_eq(next.version->index_section, 6);
	ck_assert_uint_eq(next.version->transaction_section, 6 + 4 + made.section.size);
	ck_assert_int_eq(next.version->message->fields[1]->dictionary->length, 4);
	none.length = 1;
	FAILS(manifest_write_prepare(&draft, slice_text(""), "1-x.txn", &file, &err),
		LANCET_UNSUPPORTED, "dictionary column");
	splice_release(&file);
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

START_TEST(a_dataset_can_be_made_of_nothing)
{
	Lance__Table__Manifest__DataStorageFormat format;
	struct made next = { 0 };
	struct draft draft;
	char key[MANIFEST_PATH_MAX];

	OK(draft_init(&draft, NULL, NULL, NULL, &err));
	lance__table__manifest__data_storage_format__init(&format);
	format.file_format = maker_text("lance");
	format.version = maker_text("2.1");
	draft.head->data_format = &format;
	made_next(&draft, &next);
	ck_assert_uint_eq(next.version->info.number, 1);
	ck_assert(!next.version->info.has_max_fragment_id);
	ck_assert_mem_eq(next.version->info.storage_version.data, "2.1", 3);
	manifest_write_key(&draft, key);
	ck_assert_str_eq(key, "_versions/18446744073709551614.manifest");
	draft_release(&draft);
	made_release(&next);
}
END_TEST

static const struct {
	const char *name, *want;
} names[] = {
	{ "4.manifest", "_versions/5.manifest" },
	{ "18446744073709551611.manifest", "_versions/18446744073709551610.manifest" },
};

START_TEST(the_naming_scheme_stays)
{
	struct made made = { 0 };
	char key[MANIFEST_PATH_MAX];
	struct draft draft;

	put_basics(&made.message, 4);
	made_open(&made, 4);
	snprintf(made.version->name, sizeof(made.version->name), "%s", names[_i].name);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	manifest_write_key(&draft, key);
	ck_assert_str_eq(key, names[_i].want);
	draft_release(&draft);
	made_release(&made);
}
END_TEST

START_TEST(a_transaction_that_is_too_long_is_in_its_file_alone)
{
	lancet_autofree uint8_t *bytes = calloc(1, TRANSACTION_INLINE_MAX + 1);
	struct made made = { 0 };
	struct splice file = { 0 };
	struct draft draft;

	put_basics(&made.message, 1);
	made_open(&made, 1);
	for (size_t more = 0; more < 2; more++) {
		struct slice transaction = slice_of(bytes, TRANSACTION_INLINE_MAX + more);

		OK(draft_init(&draft, made.version, made.version, NULL, &err));
		OK(draft_finish(&draft, 0, 0, &err));
		OK(manifest_write_prepare(&draft, transaction, "1-x.txn", &file, &err));
		ck_assert_int_eq(file.size < TRANSACTION_INLINE_MAX, (int)more);
		splice_release(&file);
		draft_release(&draft);
	}
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	OK(draft_finish(&draft, 0, 0, &err));
	FAILS(manifest_write_prepare(
		      &draft, slice_of(bytes, TRANSACTION_INLINE_MAX + 1), "", &file, &err),
		LANCET_LIMIT, "file of its own");
	splice_release(&file);
	draft_release(&draft);
	made_release(&made);
}
END_TEST

START_TEST(a_manifest_never_takes_the_place_of_another)
{
	struct tree tree = tree_new();
	struct store *store = open_store(&tree);
	struct splice file = { 0 };
	struct made made = { 0 };
	struct stat first, second;
	char key[MANIFEST_PATH_MAX];
	struct draft draft;

	put_basics(&made.message, 1);
	made_open(&made, 1);
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	OK(draft_finish(&draft, 0, 0, &err));
	OK(manifest_write_prepare(&draft, slice_text(""), "1-x.txn", &file, &err));
	manifest_write_key(&draft, key);
	OK(manifest_write_publish(&draft, &file, store, true, &err));
	ck_assert(draft.published);
	ck_assert_int_eq(stat(TREE_PATH(&tree, key), &first), 0);
	ck_assert_uint_eq((uint64_t)first.st_size, file.size);
	FAILS(manifest_write_publish(&draft, &file, store, true, &err), LANCET_EXISTS, key);
	ck_assert(!draft.published);
	ck_assert_int_eq(stat(TREE_PATH(&tree, key), &second), 0);
	ck_assert(first.st_ino == second.st_ino);
	ck_assert_int_eq(names_in(store, VERSIONS_DIR), 1);
	manifest_write_hint(store, 2);
	check_text(&tree, "_versions/latest_version_hint.json", "{\"version\":2}");
	manifest_write_hint(store, 3);
	check_text(&tree, "_versions/latest_version_hint.json", "{\"version\":3}");
	ck_assert_int_eq(names_in(store, VERSIONS_DIR), 2);
	splice_release(&file);
	draft_release(&draft);
	made_release(&made);
	end(store, &tree);
}
END_TEST

#define MANY 100000u

/* One of many fragments is changed: the others are never looked at, and come as two ranges. */
START_TEST(unchanged_fragments_are_copied_in_ranges)
{
	struct made made = { 0 }, next = { 0 };
	struct counted_source *source;
	Lance__Table__DataFragment *fragment;
	struct splice file = { 0 };
	uint64_t bytes, reads;
	struct draft draft;

	put_basics(&made.message, 1);
	for (uint64_t i = 0; i < MANY; i++)
		put_fragment(&made.message, i, 3, NULL);
	made_open(&made, 1);
	source = (struct counted_source *)made.version->file;
	bytes = source->bytes;
	reads = source->reads;
	OK(draft_init(&draft, made.version, made.version, NULL, &err));
	OK(draft_edit(&draft, MANY / 2, &fragment, &err));
	fragment->physical_rows = 4;
	OK(draft_finish(&draft, MADE_SECONDS, 5, &err));
	OK(manifest_write_prepare(&draft, slice_text(""), "1-x.txn", &file, &err));
	ck_assert_uint_le(source->reads - reads, 8);
	ck_assert_uint_le(source->bytes - bytes, 1 << 20);
	ck_assert_uint_le(file.count, 16);
	ck_assert_uint_le(arena_footprint(&draft.arena), 64 << 10);
	splice_release(&file);
	made_write(&draft, &next.file);
	OK(maker_load(buf_slice(&next.file), 2, &next.version, &err));
	ck_assert_uint_eq(next.version->info.physical_rows, 3 * MANY + 1);
	draft_release(&draft);
	made_release(&made);
	made_release(&next);
}
END_TEST

UNIT_MAIN("manifest_write", UNIT_TEST(what_nobody_changed_keeps_its_bytes),
	UNIT_TEST(a_commit_sets_its_fields_once),
	UNIT_TEST(what_was_changed_is_encoded_and_nothing_else),
	UNIT_TEST(a_changed_part_of_the_head_replaces_the_stored_one),
	UNIT_TEST(without_entries_there_is_no_index_section),
	UNIT_TEST(values_of_dictionaries_stay_where_they_are),
	UNIT_TEST(a_dataset_can_be_made_of_nothing), UNIT_LOOP(the_naming_scheme_stays, names),
	UNIT_TEST(a_transaction_that_is_too_long_is_in_its_file_alone),
	UNIT_TEST(a_manifest_never_takes_the_place_of_another),
	UNIT_TEST(unchanged_fragments_are_copied_in_ranges))
