/* Offsets to records and back; see records.h. */
#include "records.h"

#include <assert.h>
#include <inttypes.h>

#include "util/macros.h"

#define STEP           256u        /* records between two entries of an index */
#define INDEX_SIZE_MAX (64u << 20) /* bytes */
#define BLOCK_SIZE_MAX                                                                             \
	(64u << 20)         /* bytes that STEP records may take: a path has at most 4 KiB          \
			     */
#define READ_RECORDS 16384u /* records rendered at a time for a read */

int
records_index(const struct records *records, struct text **ret_index, struct lancet_error *err)
{
	struct buf index = { .limit = INDEX_SIZE_MAX };
	struct buf block = { .limit = BLOCK_SIZE_MAX };
	uint64_t at = records->header.size;
	int rc = LANCET_OK;

	for (uint64_t first = 0; first < records->count && rc == LANCET_OK; first += STEP) {
		uint64_t left = records->count - first;

		buf_put(&index, &at, sizeof(at));
		block.size = 0;
		rc = records->render(
			records, first, left < STEP ? (size_t)left : STEP, &block, err);
		if (rc == LANCET_OK)
			rc = buf_check(&block, "lines", err);
		at += block.size;
	}
	buf_put(&index, &at, sizeof(at));
	if (rc == LANCET_OK)
		rc = buf_check(&index, "index of lines", err);
	if (rc == LANCET_OK) {
		*ret_index = text_new(&index);
		if (*ret_index == NULL)
			rc = lancet_fail(err, LANCET_NO_MEMORY, "index of lines: out of memory");
	}
	buf_release(&index);
	buf_release(&block);
	return rc;
}

static const uint64_t *
index_entries(const struct text *index, size_t *ret_count)
{
	*ret_count = index->size / sizeof(uint64_t);
	return (const uint64_t *)(const void *)index->data;
}

uint64_t
records_index_size(const struct text *index)
{
	size_t count;
	const uint64_t *entries = index_entries(index, &count);

	return entries[count - 1];
}

/* The entry at or before a byte that is behind the header. */
static size_t
find_entry(const struct text *index, uint64_t offset)
{
	size_t low = 0, high;
	const uint64_t *entries = index_entries(index, &high);

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (entries[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Where to begin rendering for `offset` behind the header, and the byte that it begins at. */
static uint64_t
first_record(const struct records *records, const struct text *index, uint64_t offset,
	uint64_t *ret_start)
{
	uint64_t record;
	size_t entry, count;

	if (records->width > 0) {
		record = (offset - records->header.size) / records->width;
		*ret_start = records->header.size + record * records->width;
		return record;
	}
	entry = find_entry(index, offset);
	*ret_start = index_entries(index, &count)[entry];
	return (uint64_t)entry * STEP;
}

/* How many records to render for `size` bytes from `skip` within the first one. */
static size_t
wanted_records(const struct records *records, uint64_t first, uint64_t skip, size_t size)
{
	uint64_t left = records->count - first;
	uint64_t wanted = records->width > 0 ? (skip + size - 1) / records->width + 1 : STEP;

	if (wanted > READ_RECORDS)
		wanted = READ_RECORDS;
	return (size_t)(wanted < left ? wanted : left);
}

static size_t
read_header(const struct records *records, uint64_t offset, size_t size, uint8_t *into)
{
	size_t got = 0;

	if (offset < records->header.size) {
		got = records->header.size - (size_t)offset;
		got = got < size ? got : size;
		memcpy(into, records->header.data + offset, got);
	}
	return got;
}

int
records_read(const struct records *records, const struct text *index, uint64_t offset, size_t size,
	uint8_t *into, struct lancet_error *err)
{
	struct buf block = { .limit = BLOCK_SIZE_MAX };
	size_t got = read_header(records, offset, size, into);
	int rc = LANCET_OK;

	while (got < size && rc == LANCET_OK) {
		uint64_t start, first = first_record(records, index, offset + got, &start);
		uint64_t skip = offset + got - start;

		block.size = 0;
		if (first >= records->count) {
			rc = lancet_fail(
				err, LANCET_INVALID, "offset %" PRIu64 " is past the end", offset);
			break;
		}
		rc = records->render(records, first,
			wanted_records(records, first, skip, size - got), &block, err);
		if (rc == LANCET_OK)
			rc = buf_check(&block, "lines", err);
		if (rc == LANCET_OK && block.size <= skip)
			rc = lancet_fail(err, LANCET_INVALID, "lines end before their size");
		if (rc == LANCET_OK) {
			size_t part = block.size - (size_t)skip;

			part = part < size - got ? part : size - got;
			memcpy(into + got, block.data + skip, part);
			got += part;
		}
	}
	buf_release(&block);
	return rc;
}

void
records_release(struct records *records)
{
	if (records->release != NULL)
		records->release(records);
	buf_release(&records->header);
	*records = (struct records){ 0 };
}
