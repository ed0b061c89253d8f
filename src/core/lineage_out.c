/* Row ids and versions of a new fragment; see lineage_out.h. */
#include "lineage_out.h"

#include <inttypes.h>

#include "change_build.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "version.h"

/* The arms of a fragment's oneofs. */
#define IDS(arm)     LANCE__TABLE__DATA_FRAGMENT__ROW_ID_SEQUENCE_##arm
#define MADE(arm)    LANCE__TABLE__DATA_FRAGMENT__CREATED_AT_VERSION_SEQUENCE_##arm
#define CHANGED(arm) LANCE__TABLE__DATA_FRAGMENT__LAST_UPDATED_AT_VERSION_SEQUENCE_##arm

typedef Lance__Table__DataFragment Fragment;

unsigned
lineage_kinds(const lancet_version *version)
{
	return version->info.stable_row_ids ? (1u << LINEAGE_KINDS) - 1 : 0;
}

int
lineage_out_init(struct lineage_out *out, unsigned kinds, struct lancet_error *err)
{
	*out = (struct lineage_out){ 0 };
	if (kinds >> LINEAGE_KINDS != 0)
		return lancet_fail(err, LANCET_INVALID, "kinds of lineage: %#x", kinds);
	for (unsigned i = 0; i < LINEAGE_KINDS; i++)
		out->sequences[i].present = kinds >> i & 1;
	return LANCET_OK;
}

void
lineage_out_release(struct lineage_out *out)
{
	for (unsigned i = 0; i < LINEAGE_KINDS; i++) {
		lineage_pack_release(&out->sequences[i].pack);
		buf_release(&out->sequences[i].encoded);
	}
}

int
lineage_out_put(struct lineage_out *out, enum lancet_lineage which, const uint64_t *values,
	uint64_t count, struct lancet_error *err)
{
	if ((unsigned)which >= LINEAGE_KINDS || !out->sequences[which].present)
		return lancet_fail(err, LANCET_INVALID, "lineage column %d", (int)which);
	return lineage_pack_put(&out->sequences[which].pack, values, count, err);
}

int
lineage_out_end(struct lineage_out *out, struct lancet_error *err)
{
	const struct lineage_sequence *known = NULL;

	for (unsigned i = 0; i < LINEAGE_KINDS; i++) {
		const struct lineage_sequence *sequence = &out->sequences[i];

		if (!sequence->present)
			continue;
		if (known != NULL && sequence->pack.count != known->pack.count)
			return lancet_fail(err, LANCET_INVALID,
				"lineage of %" PRIu64 " rows, and of %" PRIu64, known->pack.count,
				sequence->pack.count);
		known = sequence;
	}
	out->rows = known == NULL ? 0 : known->pack.count;
	return LANCET_OK;
}

int
lineage_out_read(const struct lineage_out *out, enum lancet_lineage which, uint64_t first,
	size_t count, uint64_t *values, struct lancet_error *err)
{
	const struct lineage_pack *pack;

	if ((unsigned)which >= LINEAGE_KINDS || !out->sequences[which].present)
		return lancet_fail(err, LANCET_INVALID, "lineage column %d", (int)which);
	pack = &out->sequences[which].pack;
	if (first > pack->count || count > pack->count - first)
		return lancet_fail(err, LANCET_INVALID,
			"lineage of rows %" PRIu64 " to %" PRIu64 " of %" PRIu64, first,
			first + count, pack->count);
	lineage_pack_read(pack, first, count, values);
	return LANCET_OK;
}

static void
set_inline(Fragment *fragment, unsigned which, ProtobufCBinaryData bytes)
{
	if (which == LANCET_ROW_ID) {
		fragment->row_id_sequence_case = IDS(INLINE_ROW_IDS);
		fragment->inline_row_ids = bytes;
	} else if (which == LANCET_CREATED_AT) {
		fragment->created_at_version_sequence_case = MADE(INLINE_CREATED_AT_VERSIONS);
		fragment->inline_created_at_versions = bytes;
	} else {
		fragment->last_updated_at_version_sequence_case =
			CHANGED(INLINE_LAST_UPDATED_AT_VERSIONS);
		fragment->inline_last_updated_at_versions = bytes;
	}
}

static void
set_column(Fragment *fragment, unsigned which, Lance__Table__RowLineageColumn *column)
{
	if (which == LANCET_ROW_ID) {
		fragment->row_id_sequence_case = IDS(COLUMN_ROW_IDS);
		fragment->column_row_ids = column;
	} else if (which == LANCET_CREATED_AT) {
		fragment->created_at_version_sequence_case = MADE(COLUMN_CREATED_AT_VERSIONS);
		fragment->column_created_at_versions = column;
	} else {
		fragment->last_updated_at_version_sequence_case =
			CHANGED(COLUMN_LAST_UPDATED_AT_VERSIONS);
		fragment->column_last_updated_at_versions = column;
	}
}

int
lineage_out_store(const struct lineage_out *out, lancet_change *change, Fragment *fragment,
	struct lancet_error *err)
{
	for (unsigned i = 0; i < LINEAGE_KINDS; i++) {
		const struct lineage_sequence *sequence = &out->sequences[i];

		if (!sequence->present)
			continue;
		if (sequence->spilled) {
			Lance__Table__RowLineageColumn *column =
				change_alloc(change, 1, sizeof(*column), err);

			if (column == NULL)
				return LANCET_NO_MEMORY;
			lance__table__row_lineage_column__init(column);
			set_column(fragment, i, column);
		} else {
			uint8_t *bytes = change_alloc(change, sequence->encoded.size + 1, 1, err);

			if (bytes == NULL)
				return LANCET_NO_MEMORY;
			if (sequence->encoded.size > 0)
				memcpy(bytes, sequence->encoded.data, sequence->encoded.size);
			set_inline(fragment, i,
				(ProtobufCBinaryData){ sequence->encoded.size, bytes });
		}
	}
	return LANCET_OK;
}
