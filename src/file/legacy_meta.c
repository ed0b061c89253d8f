/* Metadata of legacy files, walked without decoding: only the batches are kept.
 *
 *     u32 size, metadata message | … | footer: i64 place of the metadata, u16 0, u16 2, "LANC"
 */
#include "legacy_meta.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/buf.h"
#include "util/cursor.h"
#include "util/macros.h"
#include "util/pbscan.h"

#define HEAD_WINDOW 64u
/* Bytes stored in one run and kept: 16 million batches, more than a fragment needs. */
#define OFFSETS_SIZE_MAX (16u << 20)
#define OFFSETS_KEPT_MAX (64u << 20)

struct reader {
	struct source *src;
	struct legacy_meta meta;
	struct buf offsets;
};

static int
add_offset(struct reader *r, uint64_t stored, struct lancet_error *err)
{
	uint32_t offset = (uint32_t)stored;
	bool is_first = r->offsets.size == 0;

	if (stored > INT32_MAX || (is_first ? offset != 0 : offset < r->meta.rows))
		return lancet_fail(err, LANCET_CORRUPT, "batch offset %" PRIu64 " behind %" PRIu64,
			stored, r->meta.rows);
	r->meta.rows = offset;
	buf_put(&r->offsets, &offset, sizeof(offset));
	return LANCET_OK;
}

static int
add_packed(struct reader *r, const struct pb_field *field, struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = NULL;
	struct cursor c;

	if (field->value > OFFSETS_SIZE_MAX)
		return lancet_fail(
			err, LANCET_LIMIT, "%" PRIu64 " bytes of batch offsets", field->value);
	TRY(source_load(r->src, field->offset, (size_t)field->value, &bytes, err));
	c = (struct cursor){ .in = slice_of(bytes, (size_t)field->value) };
	while (cursor_left(&c) > 0) {
		uint64_t stored = cursor_varint(&c);

		if (c.bad)
			return lancet_fail(err, LANCET_CORRUPT, "batch offsets are damaged");
		TRY(add_offset(r, stored, err));
	}
	return LANCET_OK;
}

/* Metadata { uint64 manifest_position #1; repeated int32 batch_offsets #2; uint64
 * page_table_position #3; … }. */
static int
add_field(struct reader *r, const struct pb_field *field, struct lancet_error *err)
{
	if (field->number == 2 && field->wire == PB_BYTES)
		return add_packed(r, field, err);
	if (field->wire != PB_VARINT)
		return LANCET_OK;
	if (field->number == 1)
		r->meta.manifest = field->value;
	else if (field->number == 2)
		return add_offset(r, field->value, err);
	else if (field->number == 3)
		r->meta.page_table = field->value;
	return LANCET_OK;
}

static int
read_metadata(struct reader *r, uint64_t offset, uint64_t size, struct lancet_error *err)
{
	struct pbscan scan = { 0 };
	struct pb_field field;
	int rc = pbscan_init(&scan, r->src, offset, size, HEAD_WINDOW, err);

	while (pbscan_step(&scan, &field, &rc, err))
		rc = add_field(r, &field, err);
	pbscan_release(&scan);
	return rc == LANCET_OK ? buf_check(&r->offsets, "batch offsets", err) : rc;
}

int
legacy_message(struct source *src, uint64_t place, uint64_t *ret_offset, uint32_t *ret_size,
	struct lancet_error *err)
{
	uint64_t end = src->size - LEGACY_FOOTER_SIZE;
	uint8_t prefix[4];
	uint32_t size;

	if (place > end || end - place < sizeof(prefix))
		return lancet_fail(
			err, LANCET_CORRUPT, "a message at %" PRIu64 " passes the footer", place);
	TRY(source_read_at(src, place, sizeof(prefix), prefix, err));
	size = load_u32(prefix);
	place += sizeof(prefix);
	if (size > end - place)
		return lancet_fail(err, LANCET_CORRUPT,
			"%" PRIu32 " bytes at %" PRIu64 " pass the footer", size, place);
	*ret_offset = place;
	*ret_size = size;
	return LANCET_OK;
}

int
legacy_meta_init(struct legacy_meta *meta, struct source *src, struct lancet_error *err)
{
	struct reader r = { .src = src, .offsets = { .limit = OFFSETS_KEPT_MAX } };
	uint8_t footer[LEGACY_FOOTER_SIZE];
	uint64_t offset;
	uint32_t size;
	int rc;

	if (src->size < LEGACY_FOOTER_SIZE)
		return lancet_fail(
			err, LANCET_CORRUPT, "%" PRIu64 " bytes are no data file", src->size);
	TRY(source_read_at(src, src->size - LEGACY_FOOTER_SIZE, sizeof(footer), footer, err));
	rc = legacy_message(src, load_u64(footer), &offset, &size, err);
	if (rc == LANCET_OK)
		rc = read_metadata(&r, offset, size, err);
	if (rc != LANCET_OK) {
		buf_release(&r.offsets);
		return lancet_wrap(err, rc, "metadata");
	}
	r.meta.batch_count = r.offsets.size / sizeof(uint32_t);
	if (r.meta.batch_count > 0)
		r.meta.batch_count--;
	r.meta.offsets = (uint32_t *)r.offsets.data;
	*meta = r.meta;
	return LANCET_OK;
}

void
legacy_meta_release(struct legacy_meta *meta)
{
	if (meta == NULL)
		return;
	free(meta->offsets);
	*meta = (struct legacy_meta){ 0 };
}
