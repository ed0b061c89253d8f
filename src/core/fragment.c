/* One fragment, decoded from its place in the manifest.
 *
 * The inline sequences may be most of the message: the walk notes where they are and steps over
 * them, the rest goes to protobuf-c. Of the two forms of a sequence the last one stored counts,
 * as for any oneof. Format facts: fragments, row ids and versions.
 */
#include "fragment.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "lance/table.pb-c.h"
#include "pbrest.h"
#include "util/macros.h"
#include "version.h"

#define REST_SIZE_MAX (64u << 20)
#define WINDOW_SIZE   (64u * 1024)

/* The field numbers of each lineage column's two forms, by enum lancet_lineage. */
static const struct {
	uint32_t inlined, column;
} forms[FRAGMENT_LINEAGE] = {
	[LANCET_ROW_ID] = { 5, 12 },
	[LANCET_CREATED_AT] = { 9, 14 },
	[LANCET_LAST_UPDATED_AT] = { 7, 13 },
};

const char *
lancet_placement_name(enum lancet_placement placement)
{
	static const char *const names[] = {
		[LANCET_INLINE] = "inline",
		[LANCET_COLUMN] = "column",
		[LANCET_DEFAULT] = "default",
		[LANCET_ADDRESS] = "address",
		[LANCET_NONE] = "-",
	};

	return names[placement];
}

/* Notes the form of a lineage column; *ret_skip says that the field is not to be decoded. */
static int
note_form(struct lancet_fragment *fragment, const struct pb_field *field, bool *ret_skip,
          struct lancet_error *err)
{
	*ret_skip = false;
	for (size_t i = 0; i < FRAGMENT_LINEAGE; i++) {
		struct lancet_sequence *sequence = &fragment->info.lineage[i];

		if (field->number == forms[i].column) {
			sequence->placement = LANCET_COLUMN;
			fragment->lineage[i] = (struct fragment_inline){ 0 };
		} else if (field->number == forms[i].inlined) {
			if (field->wire != PB_BYTES)
				return lancet_fail(err, LANCET_CORRUPT,
				                   "field %" PRIu32 ": wire type %d", field->number,
				                   (int)field->wire);
			sequence->placement = LANCET_INLINE;
			fragment->lineage[i] =
				(struct fragment_inline){ field->offset, field->value, true };
			*ret_skip = true;
		}
	}
	return LANCET_OK;
}

static int
scan_fields(struct lancet_fragment *fragment, struct pbscan *scan, struct buf *rest,
            struct lancet_error *err)
{
	struct pb_field field;
	bool more, skip;

	for (size_t i = 0; i < FRAGMENT_LINEAGE; i++)
		fragment->info.lineage[i].placement = LANCET_NONE;
	for (;;) {
		TRY(pbscan_next(scan, &field, &more, err));
		if (!more)
			return LANCET_OK;
		TRY(note_form(fragment, &field, &skip, err));
		if (!skip)
			TRY(pbrest_add(rest, scan, &field, err));
	}
}

static int
decode(struct lancet_fragment *fragment, struct lancet_error *err)
{
	struct buf rest = { .limit = REST_SIZE_MAX };
	struct pbscan scan;
	int rc;

	TRY(pbscan_init(&scan, fragment->version->file, fragment->message_offset,
	                fragment->message_size, WINDOW_SIZE, err));
	rc = scan_fields(fragment, &scan, &rest, err);
	pbscan_release(&scan);
	if (rc == LANCET_OK)
		rc = pbrest_decode(&rest, &lance__table__data_fragment__descriptor,
		                   &fragment->arena, &fragment->message, err);
	buf_release(&rest);
	return rc;
}

/* Where the lineage columns are, now that all forms were seen. */
static void
fill_lineage(struct lancet_fragment *fragment)
{
	bool stable = fragment->version->info.stable_row_ids;
	struct lancet_sequence *lineage = fragment->info.lineage;

	for (size_t i = 0; i < FRAGMENT_LINEAGE; i++) {
		if (!stable)
			lineage[i].placement = i == LANCET_ROW_ID ? LANCET_ADDRESS : LANCET_NONE;
		else if (lineage[i].placement == LANCET_NONE && i != LANCET_ROW_ID)
			lineage[i].placement = LANCET_DEFAULT;
		if (lineage[i].placement == LANCET_INLINE)
			lineage[i].bytes = fragment->lineage[i].size;
	}
}

/* The counts fit rows of a fragment and each other, recorded or not. */
static int
check_counts(const struct lancet_fragment_info *info, struct lancet_error *err)
{
	if (info->physical_rows > UINT32_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " rows", info->physical_rows);
	if (info->physical_rows != 0 && info->deleted_rows > info->physical_rows)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " of %" PRIu64 " rows deleted",
		                   info->deleted_rows, info->physical_rows);
	return LANCET_OK;
}

/* Counts that were not recorded come from the files; so do all of a manifest without
 * writer_version, whose counts the reference doesn't trust either. */
static int
complete_counts(struct lancet_fragment *fragment, struct lancet_error *err)
{
	struct lancet_fragment_info *info = &fragment->info;
	bool trusted = fragment->version->info.has_writer;

	if ((info->physical_rows == 0 || !trusted) && info->file_count > 0)
		TRY(fragment_physical_rows(fragment, &info->physical_rows, err));
	if ((info->deleted_rows == 0 || !trusted) && info->has_deletion_file)
		TRY(fragment_deleted_rows(fragment, &info->deleted_rows, err));
	return check_counts(info, err);
}

static int
fill(struct lancet_fragment *fragment, struct lancet_error *err)
{
	const Lance__Table__DataFragment *message;

	TRY(decode(fragment, err));
	message = fragment->message;
	fragment->info.id = message->id;
	if (message->id >= UINT32_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "id does not fit a row address");
	fragment->info.retired_external = message->external_row_ids != NULL ||
		message->external_last_updated_at_versions != NULL ||
		message->external_created_at_versions != NULL;
	TRY(fragment_files_fill(fragment, err));
	fill_lineage(fragment);
	fragment->info.physical_rows = message->physical_rows;
	fragment->info.deleted_rows = fragment->info.deletion.deleted_rows;
	return check_counts(&fragment->info, err);
}

static int
fragment_open(lancet_version *version, uint64_t ordinal, bool complete,
              lancet_fragment **ret_fragment, struct lancet_error *err)
{
	struct lancet_fragment *fragment;
	const struct fragment_span *span;
	int rc;

	if (ordinal >= version->info.fragment_count)
		return lancet_fail(err, LANCET_INVALID, "fragment ordinal %" PRIu64 " of %" PRIu64,
		                   ordinal, version->info.fragment_count);
	fragment = calloc(1, sizeof(*fragment));
	if (fragment == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "fragment");
	span = &version->spans[ordinal];
	fragment->refs = 1;
	fragment->version = lancet_version_ref(version);
	fragment->message_offset = version->message_offset + span->offset;
	fragment->message_size = span->size;
	rc = fill(fragment, err);
	if (rc == LANCET_OK && complete)
		rc = complete_counts(fragment, err);
	if (rc != LANCET_OK) {
		lancet_fragment_unref(fragment);
		return lancet_wrap(err, rc, "fragment %" PRIu64, span->id);
	}
	fragment->footprint = sizeof(*fragment) + arena_footprint(&fragment->arena);
	*ret_fragment = fragment;
	return LANCET_OK;
}

int
lancet_fragment_open(lancet_version *version, uint64_t ordinal, lancet_fragment **ret_fragment,
                     struct lancet_error *err)
{
	return fragment_open(version, ordinal, true, ret_fragment, err);
}

int
fragment_open_stored(lancet_version *version, uint64_t ordinal, lancet_fragment **ret_fragment,
                     struct lancet_error *err)
{
	return fragment_open(version, ordinal, false, ret_fragment, err);
}

lancet_fragment *
lancet_fragment_ref(lancet_fragment *fragment)
{
	int before = __atomic_fetch_add(&fragment->refs, 1, __ATOMIC_RELAXED);

	assert(before > 0);
	(void)before;
	return fragment;
}

void
lancet_fragment_unref(lancet_fragment *fragment)
{
	int before;

	if (fragment == NULL)
		return;
	before = __atomic_fetch_sub(&fragment->refs, 1, __ATOMIC_ACQ_REL);
	assert(before > 0);
	if (before > 1)
		return;
	arena_release(&fragment->arena);
	lancet_version_unref(fragment->version);
	free(fragment);
}

const struct lancet_fragment_info *
lancet_fragment_info(const lancet_fragment *fragment)
{
	return &fragment->info;
}
