/* Setting aside a newest manifest that a loss of power has torn. Format facts: torn head.
 *
 * Only what can't be framed as a manifest is torn, or has sectors of zeros: any other file may be
 * one of a later release, or damaged in its body, and then its bytes are worth more than its name.
 */
#include <lancet/cleanup.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dataset.h"
#include "manifest.h"
#include "store_write.h"
#include "util/cursor.h"
#include "util/macros.h"
#include "util/source.h"

#define NAMES_MAX   1000 /* manifests of one version that were set aside */
#define SECTOR_SIZE 512u /* what a disk writes at once */

/* CORRUPT: a sector of the file was never written, though those around it were. */
static int
check_sectors(struct source *file, struct lancet_error *err)
{
	static const uint8_t zeros[SECTOR_SIZE];
	uint8_t sector[SECTOR_SIZE];

	for (uint64_t at = 0; at + SECTOR_SIZE <= file->size; at += SECTOR_SIZE) {
		TRY(source_read_at(file, at, sizeof(sector), sector, err));
		if (memcmp(sector, zeros, sizeof(zeros)) == 0)
			return lancet_fail(err, LANCET_CORRUPT,
				"%u zero bytes from byte %" PRIu64 " on", SECTOR_SIZE, at);
	}
	return LANCET_OK;
}

/* LANCET_OK: it is framed. CORRUPT: it is torn. */
static int
check_frame(struct source *file, struct lancet_error *err)
{
	uint8_t footer[MANIFEST_FOOTER_SIZE], prefix[MANIFEST_PREFIX_SIZE];
	size_t have = file->size < sizeof(footer) ? (size_t)file->size : sizeof(footer);
	uint64_t prefix_at;
	uint32_t size;

	TRY(source_read_at(file, file->size - have, have, footer, err));
	TRY(manifest_footer_parse(slice_of(footer, have), file->size, &prefix_at, &size, err));
	TRY(source_read_at(file, prefix_at, sizeof(prefix), prefix, err));
	if (load_u32(prefix) != size)
		return lancet_fail(err, LANCET_CORRUPT,
			"length prefix is %" PRIu32 ", footer leaves %" PRIu32 " bytes",
			load_u32(prefix), size);
	return check_sectors(file, err);
}

/* LANCET_OK: it is torn, and lies at the path. NOT_FOUND: the version opens. INVALID: something
 * else is the matter with it. */
static int
check_torn(lancet_dataset *dataset, uint64_t number, char ret_path[MANIFEST_PATH_MAX],
	struct lancet_error *err)
{
	struct lancet_error why = { 0 };
	lancet_version *version = NULL;
	struct source *file;
	struct stat st;
	bool clash = false;
	int rc = lancet_version_open(dataset, number, &version, &why);

	lancet_version_unref(version);
	if (rc == LANCET_OK)
		return lancet_fail(err, LANCET_NOT_FOUND,
			"version %" PRIu64 " is fine: there is no torn manifest", number);
	if (rc == LANCET_CORRUPT)
		TRY(dataset_find_manifest(dataset, number, ret_path, &st, &clash, err));
	if (rc != LANCET_CORRUPT || clash) {
		if (err != NULL)
			*err = why;
		return rc;
	}
	TRY(store_open_source(dataset_base(dataset)->store, ret_path, &file, &st, err));
	rc = check_frame(file, err);
	source_unref(file);
	if (rc == LANCET_OK)
		return lancet_fail(err, LANCET_INVALID,
			"%s: the file is complete, so this is no torn write; it stays", why.text);
	if (rc == LANCET_CORRUPT && err != NULL)
		*err = (struct lancet_error){ 0 };
	return rc == LANCET_CORRUPT ? LANCET_OK : rc;
}

/* A name that is free is taken, and none is ever replaced. */
static int
set_aside(struct store *store, const char *path, char into[STORE_KEY_MAX + 1],
	struct lancet_error *err)
{
	for (unsigned i = 0; i < NAMES_MAX; i++) {
		int rc;

		if (i == 0)
			(void)snprintf(into, STORE_KEY_MAX + 1, "%s.torn", path);
		else
			(void)snprintf(into, STORE_KEY_MAX + 1, "%s.torn.%u", path, i);
		rc = store_link(store, path, into, err);
		if (rc != LANCET_EXISTS)
			return rc;
	}
	return lancet_fail(
		err, LANCET_EXISTS, "%s.torn and %u more names are taken", path, NAMES_MAX - 1);
}

static int
newest_number(lancet_dataset *dataset, uint64_t *ret_number, struct lancet_error *err)
{
	struct lancet_version_list list;

	TRY(lancet_dataset_versions(dataset, &list, err));
	if (list.count == 0) {
		lancet_version_list_release(&list);
		return lancet_fail(err, LANCET_NOT_FOUND, "no version");
	}
	*ret_number = list.entries[list.count - 1].number;
	lancet_version_list_release(&list);
	return LANCET_OK;
}

int
lancet_repair_torn_head(
	lancet_dataset *dataset, uint64_t *ret_version, char **ret_name, struct lancet_error *err)
{
	struct store *store = dataset_base(dataset)->store;
	char path[MANIFEST_PATH_MAX], aside[STORE_KEY_MAX + 1];
	uint64_t number = 0;
	char *name;
	int rc;

	TRY(newest_number(dataset, &number, err));
	TRY(check_torn(dataset, number, path, err));
	TRY(set_aside(store, path, aside, err));
	name = strdup(aside + sizeof(VERSIONS_DIR));
	if (name == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s", aside);
	rc = store_sync_dir(store, VERSIONS_DIR, err);
	if (rc != LANCET_OK) {
		free(name);
		return lancet_wrap(err, rc, "%s: is there, but not durably", aside);
	}
	*ret_version = number;
	*ret_name = name;
	return LANCET_OK;
}
