/* Scans of datasets that are made by hand: their first version, and all rows of a scan. */
#ifndef TESTS_SCANROWS_H
#define TESTS_SCANROWS_H

#include "scandata.h"
#include "unit.h"

#include <lancet/scan.h>

#define ROWS_MAX 64u
#define NULL_A   UINT64_MAX

/* Rows as they came, over all batches. */
struct got {
	uint64_t values[3][ROWS_MAX];
	size_t rows, batches;
};

static inline lancet_version *
open_version(const struct tree *tree, lancet_dataset **ret_dataset)
{
	lancet_version *version = NULL;
	struct lancet_error err = { 0 };

	*ret_dataset = open_dataset(tree);
	ck_assert_msg(
		lancet_version_open(*ret_dataset, 1, &version, &err) == LANCET_OK, "%s", err.text);
	return version;
}

static inline void
take_batch(struct got *got, struct ArrowArray *batch)
{
	ck_assert_int_ge(batch->length, 1);
	for (int64_t c = 0; c < batch->n_children; c++) {
		const struct ArrowArray *column = batch->children[c];
		const uint8_t *valid = column->buffers[0];
		const uint64_t *values = column->buffers[1];

		ck_assert_int_eq(column->length, batch->length);
		for (int64_t i = 0; i < batch->length; i++) {
			bool is_valid = valid == NULL || valid[i / 8] >> (i % 8) & 1;

			ck_assert_uint_lt(got->rows + (size_t)i, ROWS_MAX);
			got->values[c][got->rows + (size_t)i] = is_valid ? values[i] : NULL_A;
		}
	}
	got->rows += (size_t)batch->length;
	got->batches++;
	batch->release(batch);
}

static inline int
scan_all(lancet_version *version, const struct lancet_scan_options *options, struct got *got,
	struct lancet_error *err)
{
	lancet_scan *scan = NULL;
	bool more = true;
	int rc = lancet_scan_open(version, options, &scan, err);

	*got = (struct got){ .rows = 0 };
	while (rc == LANCET_OK && more) {
		struct ArrowArray batch;

		rc = lancet_scan_next(scan, &batch, &more, err);
		if (rc == LANCET_OK && more)
			take_batch(got, &batch);
	}
	lancet_scan_free(scan);
	return rc;
}

static inline struct got
must_scan(lancet_version *version, const struct lancet_scan_options *options)
{
	struct got got;
	struct lancet_error err = { 0 };

	ck_assert_msg(scan_all(version, options, &got, &err) == LANCET_OK, "%s", err.text);
	return got;
}

/* Deleted rows at the ends and in the middle, a fragment without live rows, and a gap of ids. */
static const struct dataset_spec plain = { .count = 3,
	.fragments = {
		{ .id = 0,
			.rows = 10,
			.base_a = 100,
			.base_b = 500,
			.minor = 2,
			.deleted = { 4, { 0, 4, 5, 9 } } },
		{ .id = 3, .rows = 2, .base_a = 200, .minor = 2, .deleted = { 2, { 0, 1 } } },
		{ .id = 7, .rows = 6, .base_a = 300, .minor = 0 },
	} };

#endif
