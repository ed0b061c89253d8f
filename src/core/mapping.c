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
	struct lancet_reuse *keeper;             /* NULL: the row map is closed at the end */
	size_t number;                           /* of the transition */
};

/* A row map that waits for the next mapping of the transition. Whoever takes it out has it alone.
 */
struct reuse_kept {
	size_t transition;
	struct rowmap *map;
};

void
reuse_kept_free(struct reuse_kept *kept)
{
	if (kept == NULL)
		return;
	rowmap_free(kept->map);
	free(kept);
}

static _Atomic(struct reuse_kept *) *
slot_of(const lancet_row_mapping *mapping)
{
	return &mapping->keeper->kept[mapping->number % REUSE_KEPT];
}

static void
take_kept(lancet_row_mapping *mapping)
{
	struct reuse_kept *kept = atomic_exchange(slot_of(mapping), NULL);

	if (kept != NULL && kept->transition == mapping->number) {
		mapping->map = kept->map;
		free(kept);
	} else if (kept != NULL) {
		reuse_kept_free(atomic_exchange(slot_of(mapping), kept));
	}
}

static void
keep(lancet_row_mapping *mapping)
{
	struct reuse_kept *kept = malloc(sizeof(*kept));

	if (kept == NULL)
		return;
	*kept = (struct reuse_kept){ mapping->number, mapping->map };
	mapping->map = NULL;
	reuse_kept_free(atomic_exchange(slot_of(mapping), kept));
}

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
	if (mapping->keeper != NULL)
		take_kept(mapping);
	return mapping->map != NULL ? LANCET_OK : open_map(mapping, err);
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
open_sound(
	lancet_row_mapping *mapping, struct reuse_transition *transition, struct lancet_error *err)
{
	mapping->transition = &transition->info;
	return wrap_record(mapping->transition, open_rows(mapping, transition, err), err);
}

static int
open_mapping(lancet_version *version, struct lancet_reuse *reuse, size_t transition, bool kept,
	lancet_row_mapping **ret_mapping, struct lancet_error *err)
{
	const struct lancet_transition *info = lancet_reuse_transition(reuse, transition);
	lancet_row_mapping *mapping;
	int rc;

	if (info->fault != LANCET_OK)
		return lancet_fail(err, info->fault, "%s", info->fault_text);
	mapping = calloc(1, sizeof(*mapping));
	if (mapping == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "row mapping");
	mapping->version = lancet_version_ref(version);
	mapping->number = transition;
	mapping->keeper = kept ? reuse : NULL;
	rc = open_sound(mapping, &reuse->transitions[transition], err);
	if (rc != LANCET_OK)
		lancet_row_mapping_free(mapping);
	else
		*ret_mapping = mapping;
	return rc;
}

int
mapping_open_kept(lancet_version *version, struct lancet_reuse *reuse, size_t transition,
	lancet_row_mapping **ret_mapping, struct lancet_error *err)
{
	return open_mapping(version, reuse, transition, true, ret_mapping, err);
}

int
lancet_row_mapping_open(lancet_version *version, size_t transition,
	lancet_row_mapping **ret_mapping, struct lancet_error *err)
{
	lancet_reuse *reuse = NULL;

	TRY(lancet_version_reuse(version, &reuse, err));
	if (transition >= lancet_reuse_info(reuse)->transition_count)
		return lancet_fail(err, LANCET_INVALID, "transition %zu of %zu", transition,
			lancet_reuse_info(reuse)->transition_count);
	return open_mapping(version, reuse, transition, false, ret_mapping, err);
}

void
lancet_row_mapping_free(lancet_row_mapping *mapping)
{
	if (mapping == NULL)
		return;
	if (mapping->map != NULL && mapping->keeper != NULL)
		keep(mapping);
	rowmap_free(mapping->map);
	lancet_version_unref(mapping->version);
	free(mapping);
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
	int rc;

	if (mapping->map == NULL) {
		survivors_locate(mapping->survivors, rows, count, row_addrs);
		return LANCET_OK;
	}
	rc = rowmap_locate(mapping->map, rows, count, row_addrs, err);
	if (rc != LANCET_OK)
		mapping->keeper = NULL; /* the next one looks at the file anew */
	return wrap_record(mapping->transition, rc, err);
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
