/* Whether a version and everything that it names are whole. */
#ifndef TESTS_COMMITWHOLE_H
#define TESTS_COMMITWHOLE_H

#include <lancet/column.h>
#include <lancet/fragment.h>
#include <lancet/scan.h>
#include <lancet/transaction.h>

#include "commitcases.h"

/* The first bytes of a file; -1 when it is not there. */
static inline ssize_t
state_read(const char *path, char into[8192])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, into, 8192);

	if (fd >= 0)
		(void)close(fd);
	return size;
}

/* An old data file, or the appended one, which is a copy of one of them. */
static inline bool
state_data_is_whole(const char *root, struct lancet_bytes name)
{
	static char found[8192], want[8192];
	char path[PATH_MAX];
	ssize_t size, due;

	(void)snprintf(
		path, sizeof(path), SAMPLE "/data/%.*s", (int)name.size, (const char *)name.data);
	due = state_read(access(path, F_OK) == 0 ? path : SAMPLE "/" SAMPLE_FILE, want);
	(void)snprintf(
		path, sizeof(path), "%s/data/%.*s", root, (int)name.size, (const char *)name.data);
	size = state_read(path, found);
	return size >= 0 && size == due && memcmp(found, want, (size_t)size) == 0;
}

static inline int
state_count(void *user, const struct ArrowArray *batch, struct lancet_error *err)
{
	(void)err;
	*(uint64_t *)user += (uint64_t)batch->length;
	return LANCET_OK;
}

/* A file of rows that were written: all of them can be read, and are what they should be. */
static inline bool
state_rows_are_whole(
	lancet_version *version, uint64_t ordinal, uint64_t rows, const struct commit_case *one)
{
	const struct lancet_scan_options options = { .fragments = &ordinal,
		.fragment_count = 1,
		.where = one == NULL ? NULL : one->written,
		.limit = UINT64_MAX };
	lancet_scan *scan = NULL;
	uint64_t found = 0;
	bool whole = options.where != NULL &&
		     lancet_scan_open(version, &options, &scan, NULL) == LANCET_OK &&
		     lancet_scan_each(scan, state_count, &found, NULL) == LANCET_OK;

	lancet_scan_free(scan);
	return whole && found == rows;
}

static inline bool
state_fragment_is_whole(
	const char *root, lancet_version *version, uint64_t ordinal, const struct commit_case *one)
{
	lancet_fragment *fragment = NULL;
	lancet_deletion *deletion = NULL;
	const struct lancet_fragment_info *info;
	bool whole = lancet_fragment_open(version, ordinal, &fragment, NULL) == LANCET_OK;

	if (!whole)
		return false;
	info = lancet_fragment_info(fragment);
	for (size_t i = 0; whole && i < info->file_count; i++)
		whole = state_data_is_whole(root, info->files[i].path) ||
			state_rows_are_whole(version, ordinal, info->physical_rows, one);
	if (whole && info->has_deletion_file)
		whole = lancet_deletion_open(fragment, &deletion, NULL) == LANCET_OK;
	lancet_deletion_unref(deletion);
	lancet_fragment_unref(fragment);
	return whole;
}

/* The transaction file says what the manifest says. */
static inline bool
state_transaction_is_whole(const char *root, lancet_version *version)
{
	struct lancet_bytes name = lancet_version_info(version)->transaction_file, bytes;
	lancet_transaction *transaction;
	char path[PATH_MAX], found[8192];
	ssize_t size;
	bool whole;

	if (lancet_transaction_open(version, &transaction, NULL) != LANCET_OK)
		return false;
	bytes = lancet_transaction_bytes(transaction);
	(void)snprintf(path, sizeof(path), "%s/_transactions/%.*s", root, (int)name.size,
		(const char *)name.data);
	size = state_read(path, found);
	whole = size == (ssize_t)bytes.size && memcmp(found, bytes.data, bytes.size) == 0;
	lancet_transaction_free(transaction);
	return whole;
}

/* Version `number`, and that it is what the row makes. */
static inline bool
state_version_is_whole(
	const char *root, lancet_dataset *dataset, uint64_t number, const struct commit_case *one)
{
	lancet_version *version;
	uint64_t count;
	bool whole;

	if (lancet_version_open(dataset, number, &version, NULL) != LANCET_OK)
		return false;
	count = lancet_version_info(version)->fragment_count;
	whole = state_transaction_is_whole(root, version) && (one == NULL || one->holds(version));
	for (uint64_t i = 0; whole && i < count; i++)
		whole = state_fragment_is_whole(root, version, i, one);
	lancet_version_unref(version);
	return whole;
}

#endif
