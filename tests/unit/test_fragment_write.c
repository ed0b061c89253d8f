/* Data files of new fragments: names, messages, hidden columns, several at once, and what is left
 * when they are given up.
 */
#include "commitrows.h"

#include <pthread.h>

#include "core/data_schema.h"
#include "core/fragment_write.h"
#include "lance/transaction.pb-c.h"

#define ROWS    1000u
#define THREADS 4u

struct sheet {
	struct data_schema schema;
	struct array_budget budget;
	struct array columns[3];
};

/* ROWS rows of the sample's three columns; `name` is null in every third. */
static void
sheet_make(struct sheet *sheet, lancet_version *read)
{
	*sheet = (struct sheet){ .budget.limit = 1 << 24 };
	OK(data_schema_init(&sheet->schema, read, NULL, 0, FIELD_BLOB_BYTES, &err));
	ck_assert_uint_eq(sheet->schema.tree.root_count, 3);
	for (size_t i = 0; i < 3; i++)
		OK(array_init(
			&sheet->columns[i], &sheet->schema.tree.roots[i], &sheet->budget, &err));
	for (uint64_t i = 0; i < ROWS; i++) {
		double price = (double)i / 2;

		OK(array_append_fixed(&sheet->columns[0], 64, (const uint8_t *)&i, 1, &err));
		OK(array_append_bytes(&sheet->columns[1], slice_text("some name"), &err));
		OK(array_append_fixed(&sheet->columns[2], 64, (const uint8_t *)&price, 1, &err));
		if (i % 3 == 0)
			OK(array_set_null(&sheet->columns[1], i, &err));
	}
}

static void
sheet_release(struct sheet *sheet)
{
	for (size_t i = 0; i < 3; i++)
		array_release(&sheet->columns[i]);
	data_schema_release(&sheet->schema);
}

struct scenario {
	struct tree tree;
	lancet_dataset *dataset;
	lancet_version *read;
	lancet_change *change;
	struct sheet sheet;
	int files; /* in data/, before */
};

static int
data_files(const struct scenario *s)
{
	struct store *store = open_store(&s->tree);
	int count = names_in(store, "data");

	store_unref(store);
	return count;
}

static struct scenario
begin(void)
{
	struct scenario s = { .tree = sample_new() };

	s.dataset = sample_open(&s.tree);
	OK(lancet_version_open(s.dataset, SAMPLE_NEWEST, &s.read, &err));
	OK(change_new(s.read, &s.change, &err));
	sheet_make(&s.sheet, s.read);
	s.files = data_files(&s);
	return s;
}

static void
finish(struct scenario *s)
{
	sheet_release(&s->sheet);
	lancet_change_free(s->change);
	lancet_version_unref(s->read);
	lancet_dataset_unref(s->dataset);
	tree_remove(&s->tree);
}

START_TEST(names_are_24_bits_and_26_digits)
{
	char key[DATA_KEY_SIZE + 1], other[DATA_KEY_SIZE + 1];

	data_key_make(key);
	data_key_make(other);
	ck_assert_uint_eq(strlen(key), DATA_KEY_SIZE);
	ck_assert_int_eq(strncmp(key, "data/", 5), 0);
	ck_assert_uint_ge(strspn(key + 5, "01"), 24);
	ck_assert_uint_ge(strspn(key + 5 + 24, "0123456789abcdef"), 26);
	ck_assert_str_eq(key + 5 + 24 + 26, ".lance");
	ck_assert_str_ne(key, other);
}
END_TEST

static Lance__Table__DataFragment *
write_one(struct scenario *s, const struct lineage_out *lineage)
{
	struct fragment_writer *writer = NULL;
	Lance__Table__DataFragment *fragment = NULL;
	uint64_t bytes = 0;

	OK(fragment_writer_open(s->change, lineage, 4096, &writer, &err));
	OK(fragment_writer_put(writer, s->sheet.columns, 0, ROWS / 2, &err));
	OK(fragment_writer_put(writer, s->sheet.columns, ROWS / 2, ROWS / 2, &err));
	ck_assert_uint_gt(fragment_writer_bytes(writer), 0);
	OK(fragment_writer_finish(writer, &fragment, &bytes, &err));
	ck_assert_uint_eq(bytes, fragment->files[0]->file_size_bytes);
	return fragment;
}

START_TEST(the_message_names_the_columns)
{
	struct scenario s = begin();
	const Lance__Table__DataFragment *fragment = write_one(&s, NULL);
	const Lance__Table__DataFile *file = fragment->files[0];
	char path[PATH_MAX];
	struct stat st;

	ck_assert_uint_eq(fragment->physical_rows, ROWS);
	ck_assert_uint_eq(fragment->id, 0);
	ck_assert_uint_eq(file->n_fields, 3);
	ck_assert_uint_eq(file->n_column_indices, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(file->fields[i], i);
		ck_assert_int_eq(file->column_indices[i], i);
	}
	ck_assert_uint_eq(file->file_major_version, 2);
	ck_assert_uint_eq(file->file_minor_version, 2);
	(void)snprintf(path, sizeof(path), "%s/data/%.*s", s.tree.root, (int)file->path.len,
		(const char *)file->path.data);
	ck_assert_int_ne(stat(path, &st), 0); /* it has no name before all have one */
	OK(fragment_writers_name(s.change, &err));
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(file->file_size_bytes, (uint64_t)st.st_size);
	finish(&s);
}
END_TEST

static void
make_lineage(struct lineage_out *lineage, uint64_t rows)
{
	OK(lineage_out_init(lineage, 7, &err));
	for (uint64_t i = 0; i < rows; i++) {
		uint64_t id = 5000 + (i * 7919) % rows, version = 1 + i % 6;

		OK(lineage_out_put(lineage, LANCET_ROW_ID, &id, 1, &err));
		OK(lineage_out_put(lineage, LANCET_CREATED_AT, &version, 1, &err));
		OK(lineage_out_put(lineage, LANCET_LAST_UPDATED_AT, &version, 1, &err));
	}
	OK(lineage_out_end(lineage, &err));
}

START_TEST(spilled_sequences_are_columns_behind_the_others)
{
	struct scenario s = begin();
	struct lineage_out lineage;
	const Lance__Table__DataFragment *fragment;
	const Lance__Table__DataFile *file;
	static const int32_t fields[] = { 0, 1, 2, -3, -5 };

	make_lineage(&lineage, ROWS);
	lineage.sequences[LANCET_ROW_ID].spilled = true;
	lineage.sequences[LANCET_LAST_UPDATED_AT].spilled = true;
	fragment = write_one(&s, &lineage);
	file = fragment->files[0];
	ck_assert_uint_eq(file->n_fields, ARRAY_SIZE(fields));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		ck_assert_int_eq(file->fields[i], fields[i]);
		ck_assert_int_eq(file->column_indices[i], (int32_t)i);
	}
	ck_assert_int_eq(fragment->row_id_sequence_case,
		LANCE__TABLE__DATA_FRAGMENT__ROW_ID_SEQUENCE_COLUMN_ROW_IDS);
	lineage_out_release(&lineage);
	finish(&s);
}
END_TEST

START_TEST(rows_and_sequences_agree)
{
	struct scenario s = begin();
	struct fragment_writer *writer = NULL;
	Lance__Table__DataFragment *fragment = NULL;
	struct lineage_out lineage;
	uint64_t bytes;

	make_lineage(&lineage, ROWS - 1);
	OK(fragment_writer_open(s.change, &lineage, 0, &writer, &err));
	OK(fragment_writer_put(writer, s.sheet.columns, 0, ROWS, &err));
	FAILS(fragment_writer_finish(writer, &fragment, &bytes, &err), LANCET_INVALID,
		"row ids and versions of 999");
	lineage_out_release(&lineage);
	OK(fragment_writer_open(s.change, NULL, 0, &writer, &err));
	FAILS(fragment_writer_finish(writer, &fragment, &bytes, &err), LANCET_INVALID,
		"a fragment of 0 rows");
	ck_assert_int_eq(data_files(&s), s.files);
	finish(&s);
}
END_TEST

struct worker {
	struct scenario *s;
	pthread_t thread;
	Lance__Table__DataFragment *fragment;
};

static void *
work(void *context)
{
	struct worker *worker = context;

	for (int i = 0; i < 3; i++)
		worker->fragment = write_one(worker->s, NULL);
	return NULL;
}

/* Each thread writes three files; the last of each become an append. */
START_TEST(threads_write_files_of_one_change)
{
	struct scenario s = begin();
	struct worker workers[THREADS];
	Lance__Table__DataFragment *fragments[THREADS];
	Lance__Table__Transaction__Append append;
	struct lancet_commit_result result;
	lancet_version *made = NULL;

	for (size_t i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ .s = &s };
		ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
		fragments[i] = workers[i].fragment;
	}
	OK(fragment_writers_name(s.change, &err));
	ck_assert_int_eq(data_files(&s), s.files + 3 * (int)THREADS);
	lance__table__transaction__append__init(&append);
	append.fragments = fragments;
	append.n_fragments = THREADS;
	s.change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_APPEND;
	s.change->message->append = &append;
	OK(lancet_commit(s.change, NULL, &result, &err));
	OK(lancet_version_open(s.dataset, result.version, &made, &err));
	ck_assert_uint_eq(lancet_version_info(made)->physical_rows,
		lancet_version_info(s.read)->physical_rows + THREADS * (uint64_t)ROWS);
	lancet_version_unref(made);
	finish(&s);
}
END_TEST

START_TEST(what_is_given_up_leaves_nothing)
{
	struct scenario s = begin();
	struct fragment_writer *writer = NULL;
	int fds = tree_open_fds();

	OK(fragment_writer_open(s.change, NULL, 4096, &writer, &err));
	OK(fragment_writer_put(writer, s.sheet.columns, 0, ROWS, &err));
	ck_assert_int_eq(data_files(&s), s.files + 1);
	fragment_writer_free(writer);
	ck_assert_int_eq(data_files(&s), s.files);
	(void)write_one(&s, NULL); /* finished, but never named */
	ck_assert_int_eq(data_files(&s), s.files + 1);
	(void)write_one(&s, NULL);
	lancet_change_free(s.change);
	ck_assert_int_eq(data_files(&s), s.files);
	OK(change_new(s.read, &s.change, &err));
	(void)write_one(&s, NULL);
	OK(fragment_writers_name(s.change, &err));
	lancet_change_free(s.change); /* named, but never committed */
	s.change = NULL;
	ck_assert_int_eq(data_files(&s), s.files);
	ck_assert_int_eq(tree_open_fds(), fds);
	finish(&s);
}
END_TEST

static int asked;

static bool
cancel_soon(void *context)
{
	(void)context;
	return ++asked > 2;
}

START_TEST(a_cancelled_append_leaves_nothing)
{
	struct scenario s = begin();
	const struct lancet_change_run run = { .cancelled = cancel_soon };
	struct lancet_appended appended;
	lancet_change *change = NULL;
	char text[200000] = "id\n";
	size_t size = 3;
	int file;

	for (int i = 0; size < sizeof(text) - 16; i++)
		size += (size_t)snprintf(text + size, 16, "%d\n", i);
	file = rows_file(text);
	FAILS(lancet_change_append_rows(
		      s.read, file, LANCET_ROWS_CSV, &run, &change, &appended, &err),
		LANCET_CANCELLED, "cancelled");
	ck_assert_ptr_null(change);
	ck_assert_int_eq(data_files(&s), s.files);
	(void)close(file);
	finish(&s);
}
END_TEST

UNIT_MAIN("fragment_write", UNIT_TEST(names_are_24_bits_and_26_digits),
	UNIT_TEST(the_message_names_the_columns),
	UNIT_TEST(spilled_sequences_are_columns_behind_the_others),
	UNIT_TEST(rows_and_sequences_agree), UNIT_TEST(threads_write_files_of_one_change),
	UNIT_TEST(what_is_given_up_leaves_nothing), UNIT_TEST(a_cancelled_append_leaves_nothing))
