/* Row counts from the tails of data files; see rowcount.h.
 *
 *     V2:     … | offsets of the global buffers | footer, 40 bytes: …, u64 their place at 16, u32
 * count at 24 legacy: … | u32 size, metadata message | footer, 16 bytes: i64 place of the metadata
 *     both end in u16 major, u16 minor, "LANC"
 */
#include "rowcount.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/cursor.h"
#include "util/macros.h"
#include "util/pbscan.h"

#define MAGIC           0x434e414cu /* "LANC" */
#define FOOTER_SIZE     40u
#define LEGACY_SIZE     16u
#define VERSION_SIZE    8u
#define GLOBAL_TABLE_AT 16u
#define GLOBAL_COUNT_AT 24u
#define ENTRY_SIZE      16u /* of a global buffer: u64 place, u64 size */
#define HEAD_WINDOW     64u
/* Batch offsets of a legacy file: 16 million batches, more than rows of a fragment need. */
#define OFFSETS_SIZE_MAX (64u << 20)

/* FileDescriptor { Schema schema #1; uint64 length #2 }: the schema is stepped over. */
static int
descriptor_rows(struct source *file, uint64_t offset, uint64_t size, uint64_t *ret_rows,
	struct lancet_error *err)
{
	uint64_t rows = 0;
	struct pbscan scan = { 0 };
	struct pb_field field;
	int rc = pbscan_init(&scan, file, offset, size, HEAD_WINDOW, err);

	while (pbscan_step(&scan, &field, &rc, err)) {
		if (field.number == 2 && field.wire == PB_VARINT)
			rows = field.value;
	}
	pbscan_release(&scan);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "descriptor");
	*ret_rows = rows;
	return LANCET_OK;
}

static int
read_v2(struct source *file, uint64_t *ret_rows, struct lancet_error *err)
{
	uint8_t footer[FOOTER_SIZE];
	uint8_t entry[ENTRY_SIZE];
	uint64_t table, end;

	if (file->size < FOOTER_SIZE)
		return lancet_fail(
			err, LANCET_CORRUPT, "%" PRIu64 " bytes are no data file", file->size);
	end = file->size - FOOTER_SIZE;
	TRY(source_read_at(file, end, FOOTER_SIZE, footer, err));
	table = load_u64(footer + GLOBAL_TABLE_AT);
	if (load_u32(footer + GLOBAL_COUNT_AT) == 0)
		return lancet_fail(err, LANCET_CORRUPT, "footer: no descriptor");
	if (table > end || end - table < ENTRY_SIZE)
		return lancet_fail(
			err, LANCET_CORRUPT, "footer: global buffers at %" PRIu64, table);
	TRY(source_read_at(file, table, ENTRY_SIZE, entry, err));
	return descriptor_rows(file, load_u64(entry), load_u64(entry + 8), ret_rows, err);
}

/* The batch offsets begin at 0 and never fall; the last one is the number of rows. */
struct batches {
	int64_t last; /* -1 = none yet */
};

static int
add_offset(struct batches *b, uint64_t stored, struct lancet_error *err)
{
	int64_t offset = (int64_t)stored;

	if (stored > INT32_MAX || (b->last < 0 ? offset != 0 : offset < b->last))
		return lancet_fail(err, LANCET_CORRUPT, "batch offset %" PRIu64 " behind %" PRId64,
			stored, b->last);
	b->last = offset;
	return LANCET_OK;
}

static int
add_packed(struct batches *b, struct source *file, const struct pb_field *field,
	struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = NULL;
	struct cursor c;

	if (field->value > OFFSETS_SIZE_MAX)
		return lancet_fail(
			err, LANCET_LIMIT, "%" PRIu64 " bytes of batch offsets", field->value);
	TRY(source_load(file, field->offset, (size_t)field->value, &bytes, err));
	c = (struct cursor){ .in = slice_of(bytes, (size_t)field->value) };
	while (cursor_left(&c) > 0) {
		uint64_t stored = cursor_varint(&c);

		if (c.bad)
			return lancet_fail(err, LANCET_CORRUPT, "batch offsets are damaged");
		TRY(add_offset(b, stored, err));
	}
	return LANCET_OK;
}

/* Metadata { …; repeated int32 batch_offsets #2; … }. */
static int
metadata_rows(struct source *file, uint64_t offset, uint64_t size, uint64_t *ret_rows,
	struct lancet_error *err)
{
	struct batches batches = { .last = -1 };
	struct pbscan scan = { 0 };
	struct pb_field field;
	int rc = pbscan_init(&scan, file, offset, size, HEAD_WINDOW, err);

	while (pbscan_step(&scan, &field, &rc, err)) {
		if (field.number == 2 && field.wire == PB_BYTES)
			rc = add_packed(&batches, file, &field, err);
		else if (field.number == 2 && field.wire == PB_VARINT)
			rc = add_offset(&batches, field.value, err);
	}
	pbscan_release(&scan);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "metadata");
	*ret_rows = batches.last < 0 ? 0 : (uint64_t)batches.last;
	return LANCET_OK;
}

static int
read_legacy(struct source *file, uint64_t *ret_rows, struct lancet_error *err)
{
	uint8_t footer[LEGACY_SIZE];
	uint8_t prefix[4];
	uint64_t place, size, end;

	if (file->size < LEGACY_SIZE)
		return lancet_fail(
			err, LANCET_CORRUPT, "%" PRIu64 " bytes are no data file", file->size);
	end = file->size - LEGACY_SIZE;
	TRY(source_read_at(file, end, LEGACY_SIZE, footer, err));
	place = load_u64(footer);
	if (place > end || end - place < sizeof(prefix))
		return lancet_fail(err, LANCET_CORRUPT, "footer: metadata at %" PRIu64, place);
	TRY(source_read_at(file, place, sizeof(prefix), prefix, err));
	size = load_u32(prefix);
	place += sizeof(prefix);
	if (size > end - place)
		return lancet_fail(err, LANCET_CORRUPT,
			"metadata of %" PRIu64 " bytes passes the footer", size);
	return metadata_rows(file, place, size, ret_rows, err);
}

int
rowcount_read(struct source *file, uint64_t *ret_rows, struct lancet_error *err)
{
	uint8_t version[VERSION_SIZE];
	unsigned major, minor;

	if (file->size < VERSION_SIZE)
		return lancet_fail(
			err, LANCET_CORRUPT, "%" PRIu64 " bytes are no data file", file->size);
	TRY(source_read_at(file, file->size - VERSION_SIZE, VERSION_SIZE, version, err));
	if (load_u32(version + 4) != MAGIC)
		return lancet_fail(
			err, LANCET_CORRUPT, "footer: magic is %08" PRIx32, load_u32(version + 4));
	major = load_u16(version);
	minor = load_u16(version + 2);
	if (major == 0 && minor <= 2)
		return read_legacy(file, ret_rows, err);
	if ((major == 0 && minor == 3) || major == 2)
		return read_v2(file, ret_rows, err);
	return lancet_fail(err, LANCET_UNSUPPORTED, "data file of version %u.%u", major, minor);
}
