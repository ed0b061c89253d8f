/* Row mappings: survivors, which are kept with their transition, or a row map, which is opened for
 * each handle.
 *
 * A transition with a fault is never followed. Format facts: fragment reuse index, translation.
 */
#include "mapping.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "deletion.h"
#include "util/macros.h"
#include "version.h"

#define READ_ROWS 4096u /* rows that are numbered at a time */

struct lancet_row_mapping {
	lancet_version *version; /* counted */
	const struct lancet_transition *transition;
	const struct reuse_survivors *survivors; /* ordered compaction: the transition's */
	struct rowmap *map;                      /* stable partition */
};

/* Made once for a transition, whoever asks first; of two at the same time one is thrown away. */
static int
open_survivors(
	lancet_row_mapping *mapping, struct reuse_transition *transition, struct lancet_error *err)
{
	struct reuse_survivors *found = atomic_load(&transition->survivors), *made = NULL;

	if (found == NULL) {
		TRY(survivors_open(transition->surviving, &transition->info, &made, err));
		if (atomic_compare_exchange_strong(&transition->survivors, &found, made))
			found = made;
		else
			survivors_free(made);
	}
	mapping->survivors = found;
	return LANCET_OK;
}

static int
open_map(lancet_row_mapping *mapping, struct lancet_error *err)
{
	const lancet_base *base = NULL;
	lancet_autofree char *path = NULL;
	struct source *file = NULL;
	int rc;

	TRY(lancet_row_map_path(mapping->version, mapping->transition, &base, &path, err));
	TRY(fragment_file_open(base, path, &file, err));
	rc = rowmap_open(file, mapping->transition, &mapping->map, err);
	source_unref(file);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", path);
}

static int
open_rows(
	lancet_row_mapping *mapping, struct reuse_transition *transition, struct lancet_error *err)
{
	if (transition->info.mapping == LANCET_ORDERED_COMPACTION)
		return open_survivors(mapping, transition, err);
	return open_map(mapping, err);
}

/* lancet_wrap with the name of the transition's record. */
static int
wrap_record(const struct lancet_transition *transition, int rc, struct lancet_error *err)
{
	char name[64];

	if (rc == LANCET_OK)
		return rc;
	reuse_record_name(transition, name);
	return lancet_wrap(err, rc, "%s", name);
}

static int
open_sound(lancet_version *version, struct reuse_transition *transition,
	lancet_row_mapping **ret_mapping, struct lancet_error *err)
{
	lancet_row_mapping *mapping = calloc(1, sizeof(*mapping));
	int rc;

	if (mapping == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "row mapping");
	mapping->version = lancet_version_ref(version);
	mapping->transition = &transition->info;
	rc = open_rows(mapping, transition, err);
	if (rc != LANCET_OK) {
		lancet_row_mapping_free(mapping);
		return wrap_record(&transition->info, rc, err);
	}
	*ret_mapping = mapping;
	return LANCET_OK;
}

int
lancet_row_mapping_open(lancet_version *version, size_t transition,
	lancet_row_mapping **ret_mapping, struct lancet_error *err)
{
	const struct lancet_transition *info;
	lancet_reuse *reuse = NULL;

	TRY(lancet_version_reuse(version, &reuse, err));
	if (transition >= lancet_reuse_info(reuse)->transition_count)
		return lancet_fail(err, LANCET_INVALID, "transition %zu of %zu", transition,
			lancet_reuse_info(reuse)->transition_count);
	info = lancet_reuse_transition(reuse, transition);
	if (info->fault != LANCET_OK)
		return lancet_fail(err, info->fault, "%s", info->fault_text);
	if (info->mapping == LANCET_UNKNOWN_MAPPING)
		return lancet_fail(
			err, LANCET_UNSUPPORTED, "transition %zu: unknown mapping", transition);
	return open_sound(version, &reuse->transitions[transition], ret_mapping, err);
}

void
lancet_row_mapping_free(lancet_row_mapping *mapping)
{
	if (mapping == NULL)
		return;
	rowmap_free(mapping->map);
	lancet_version_unref(mapping->version);
	free(mapping);
}

const struct lancet_transition *
mapping_transition(const lancet_row_mapping *mapping)
{
	return mapping->transition;
}

uint64_t
mapping_labels_decoded(const lancet_row_mapping *mapping)
{
	return mapping->map == NULL ? 0 : rowmap_decoded(mapping->map);
}

int
mapping_locate(lancet_row_mapping *mapping, const uint64_t *rows, size_t count, uint64_t *row_addrs,
	struct lancet_error *err)
{
	if (mapping->map != NULL)
		return wrap_record(mapping->transition,
			rowmap_locate(mapping->map, rows, count, row_addrs, err), err);
	survivors_locate(mapping->survivors, rows, count, row_addrs);
	return LANCET_OK;
}

/* INVALID unless items [first, first + count) are some of `total`. */
static int
check_range(
	uint64_t first, uint64_t count, uint64_t total, const char *what, struct lancet_error *err)
{
	if (first <= total && count <= total - first)
		return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID, "%s %" PRIu64 " + %" PRIu64 " of %" PRIu64, what,
		first, count, total);
}

/* INVALID unless the mapping is of this kind. */
static int
check_kind(const lancet_row_mapping *mapping, enum lancet_mapping kind, struct lancet_error *err)
{
	enum lancet_mapping mine = mapping->transition->mapping;

	if (mine == kind)
		return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID, "%s, not %s", lancet_mapping_name(mine),
		lancet_mapping_name(kind));
}

int
lancet_row_mapping_read(lancet_row_mapping *mapping, uint64_t first, size_t count,
	uint64_t *row_addrs, struct lancet_error *err)
{
	uint64_t rows[READ_ROWS];

	TRY(check_range(first, count, mapping->transition->source_rows, "rows", err));
	for (size_t done = 0; done < count;) {
		size_t some = count - done < READ_ROWS ? count - done : READ_ROWS;

		for (size_t i = 0; i < some; i++)
			rows[i] = first + done + i;
		TRY(mapping_locate(mapping, rows, some, row_addrs + done, err));
		done += some;
	}
	return LANCET_OK;
}

int
lancet_row_mapping_survivors(lancet_row_mapping *mapping, uint64_t first, size_t count,
	uint64_t *row_addrs, struct lancet_error *err)
{
	TRY(check_kind(mapping, LANCET_ORDERED_COMPACTION, err));
	TRY(check_range(first, count, mapping->transition->live_rows, "surviving rows", err));
	survivors_select(mapping->survivors, first, count, row_addrs);
	return LANCET_OK;
}

int
lancet_row_mapping_labels(lancet_row_mapping *mapping, uint64_t first, size_t count,
	uint16_t *labels, struct lancet_error *err)
{
	TRY(check_kind(mapping, LANCET_STABLE_PARTITION, err));
	TRY(check_range(first, count, mapping->transition->source_rows, "rows", err));
	return wrap_record(
		mapping->transition, rowmap_labels(mapping->map, first, count, labels, err), err);
}

int
lancet_row_mapping_blocks(lancet_row_mapping *mapping, uint32_t *ret_block_rows,
	uint64_t *ret_block_count, struct lancet_error *err)
{
	TRY(check_kind(mapping, LANCET_STABLE_PARTITION, err));
	*ret_block_rows = rowmap_block_rows(mapping->map);
	*ret_block_count = rowmap_block_count(mapping->map);
	return LANCET_OK;
}

int
lancet_row_mapping_counts(lancet_row_mapping *mapping, uint64_t first_block, size_t block_count,
	uint32_t *counts, struct lancet_error *err)
{
	TRY(check_kind(mapping, LANCET_STABLE_PARTITION, err));
	TRY(check_range(first_block, block_count, rowmap_block_count(mapping->map), "blocks", err));
	return wrap_record(mapping->transition,
		rowmap_counts(mapping->map, first_block, block_count, counts, err), err);
}
