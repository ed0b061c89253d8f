/* Holds a transaction that was never committed against all versions after the one it was built on,
 * and prints the verdict and the work that is left as one line of JSON.
 *
 *     conflict DATASET TRANSACTION READ_VERSION [affected=FILE] [reuse=FILE]
 *
 * affected= has the row addresses that it takes out of their fragments, one a line; reuse= the
 * encoded entry of the reuse history that a Rewrite carries. An error is a verdict, too: "error",
 * with its code and text. The exit status is 1 when the arguments make no sense.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "casefiles.h"
#include "core/conflict.h"
#include "core/names.h"
#include "core/transaction.h"
#include "lance/table.pb-c.h"
#include "util/jsonw.h"
#include "util/macros.h"

struct job {
	const char *dataset, *transaction, *affected, *reuse;
	uint64_t read_version;
	bool finished; /* the verdict is conflict_finish's */
};

static void
put_bitmap(struct jsonw *w, const char *key, const roaring_bitmap_t *bitmap)
{
	roaring_uint32_iterator_t at;

	jsonw_array(w, key);
	if (bitmap != NULL)
		for (roaring_init_iterator(bitmap, &at); at.has_value;
			roaring_advance_uint32_iterator(&at))
			jsonw_u64(w, NULL, at.current_value);
	jsonw_end(w);
}

/* What the index may say that it covers. */
static void
put_index(struct jsonw *w, const struct rebase_index *index)
{
	const Lance__Table__UUID *uuid = index->message->uuid;
	roaring_bitmap_t *left = NULL;
	char text[40] = "";

	if (uuid != NULL && uuid->uuid.len == 16)
		uuid_format(uuid->uuid.data, text);
	jsonw_object(w, NULL);
	jsonw_text(w, "uuid", text);
	if (index->covered != NULL)
		left = roaring_bitmap_copy(index->covered);
	if (left != NULL && index->withdrawn != NULL)
		roaring_bitmap_andnot_inplace(left, index->withdrawn);
	if (left != NULL)
		put_bitmap(w, "fragments", left);
	else
		jsonw_null(w, "fragments");
	jsonw_end(w);
	if (left != NULL)
		roaring_bitmap_free(left);
}

static void
put_work(struct jsonw *w, const struct rebase *rebase)
{
	jsonw_array(w, "deletions");
	for (size_t i = 0; i < rebase->deletion_count; i++) {
		jsonw_object(w, NULL);
		jsonw_u64(w, "fragment", rebase->deletions[i].fragment);
		jsonw_bool(w, "whole", rebase->deletions[i].whole);
		put_bitmap(w, "deleted", rebase->deletions[i].deleted);
		jsonw_end(w);
	}
	jsonw_end(w);
	jsonw_array(w, "indices");
	for (size_t i = 0; i < rebase->index_count; i++)
		put_index(w, &rebase->indices[i]);
	jsonw_end(w);
	jsonw_array(w, "superseded");
	for (size_t i = 0; i < rebase->superseded_count; i++)
		jsonw_text(w, NULL, rebase->superseded[i]->uuid_text);
	jsonw_end(w);
	jsonw_array(w, "progress");
	for (size_t i = 0; i < rebase->progress.count; i++)
		jsonw_u64(w, NULL, rebase->progress.list[i].generation);
	jsonw_end(w);
	jsonw_bool(w, "trims", rebase->trims);
}

static void
print(const struct job *job, const struct rebase *rebase, const struct conflict *conflict, int rc,
	const struct lancet_error *err)
{
	static const char *const verdicts[] = { "ok", "retryable", "incompatible" };
	struct buf out = { 0 };
	struct jsonw w;

	jsonw_init(&w, &out);
	w.compact = true;
	jsonw_object(&w, NULL);
	if (rc != LANCET_OK) {
		jsonw_text(&w, "verdict", "error");
		jsonw_text(&w, "code", lancet_code_name((enum lancet_code)rc));
		jsonw_text(&w, "text", err->text);
	} else {
		jsonw_text(&w, "verdict", verdicts[conflict->verdict]);
		jsonw_text(&w, "operation", conflict->operation);
		jsonw_u64(&w, "version", conflict->version);
		jsonw_text(&w, "rule", conflict->rule);
		jsonw_text(&w, "text", conflict->text);
		jsonw_bool(&w, "finished", job->finished);
		put_work(&w, rebase);
	}
	jsonw_end(&w);
	jsonw_finish(&w);
	(void)fwrite(out.data, 1, out.size, stdout);
	buf_release(&out);
}

static int
decide(struct job *job, const lancet_transaction *ours, const struct affected_rows *affected,
	struct lancet_bytes reuse, lancet_version *read, lancet_version *newest)
{
	struct conflict conflict = { .operation = "", .rule = "" };
	struct lancet_error err = { 0 };
	struct rebase rebase;
	int rc = rebase_init(&rebase, ours, read, affected, reuse, &err);

	if (rc == LANCET_OK)
		rc = conflict_check_since(&rebase, newest, &conflict, &err);
	if (rc == LANCET_OK && conflict.verdict == CONFLICT_NONE) {
		job->finished = true;
		rc = conflict_finish(&rebase, &conflict, &err);
	}
	print(job, &rebase, &conflict, rc, &err);
	rebase_release(&rebase);
	return LANCET_OK;
}

static int
run(struct job *job, struct lancet_error *err)
{
	lancet_autofree uint8_t *reuse = NULL;
	struct lancet_bytes entry = { 0 };
	struct affected_rows *affected = NULL;
	lancet_transaction *ours = NULL;
	lancet_dataset *dataset = NULL;
	lancet_version *read = NULL, *newest = NULL;
	uint64_t number;
	size_t size;
	uint8_t *bytes = case_load(job->transaction, &size);
	int rc = transaction_parse(bytes, size, &ours, err);

	if (job->reuse != NULL) {
		reuse = case_load(job->reuse, &size);
		entry = (struct lancet_bytes){ reuse, size };
	}
	if (rc == LANCET_OK && job->affected != NULL)
		rc = case_load_affected(job->affected, &affected, err);
	if (rc == LANCET_OK)
		rc = lancet_dataset_open(job->dataset, NULL, &dataset, err);
	if (rc == LANCET_OK)
		rc = lancet_dataset_latest(dataset, &number, err);
	if (rc == LANCET_OK)
		rc = lancet_version_open(dataset, number, &newest, err);
	if (rc == LANCET_OK)
		rc = lancet_version_open(dataset, job->read_version, &read, err);
	if (rc == LANCET_OK)
		rc = decide(job, ours, affected, entry, read, newest);
	lancet_version_unref(newest);
	lancet_version_unref(read);
	lancet_dataset_unref(dataset);
	affected_rows_free(affected);
	lancet_transaction_free(ours);
	return rc;
}

static bool
parse(int argc, char **argv, struct job *job)
{
	char *end;

	if (argc < 4)
		return false;
	job->dataset = argv[1];
	job->transaction = argv[2];
	job->read_version = strtoull(argv[3], &end, 10);
	for (int i = 4; i < argc; i++)
		if (strncmp(argv[i], "affected=", 9) == 0)
			job->affected = argv[i] + 9;
		else if (strncmp(argv[i], "reuse=", 6) == 0)
			job->reuse = argv[i] + 6;
		else
			return false;
	return *end == '\0';
}

int
main(int argc, char **argv)
{
	struct lancet_error err = { 0 };
	struct job job = { 0 };
	int rc;

	if (!parse(argc, argv, &job)) {
		(void)fprintf(stderr, "usage: conflict DATASET TRANSACTION READ_VERSION "
				      "[affected=FILE] [reuse=FILE]\n");
		return EXIT_FAILURE;
	}
	rc = run(&job, &err);
	if (rc != LANCET_OK)
		print(&job, NULL, NULL, rc, &err);
	return EXIT_SUCCESS;
}
