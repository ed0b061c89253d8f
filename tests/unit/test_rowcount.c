/* Row counts of data files that the manifest did not record. */
#include "encode.h"
#include "file/rowcount.h"
#include "sources.h"
#include "unit.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

static void
put_le(struct buf *b, uint64_t value, unsigned width)
{
	for (unsigned i = 0; i < width; i++)
		buf_put_byte(b, (uint8_t)(value >> 8 * i));
}

/* The file described by the format facts: a page, the descriptor, its table entry, the footer. */
static struct buf
make_v2(uint64_t rows, unsigned major, unsigned minor)
{
	struct buf file = { 0 };
	struct buf descriptor = { 0 };
	uint64_t at;

	put_head(&descriptor, 1, 5000); /* the schema */
	buf_fill(&descriptor, 0x0a, 5000);
	put_number(&descriptor, 2, rows);
	buf_fill(&file, 0x48, 640);
	at = file.size;
	buf_put(&file, descriptor.data, descriptor.size);
	put_le(&file, at, 8);
	put_le(&file, descriptor.size, 8);
	put_le(&file, at + descriptor.size, 8); /* column metadata: none */
	put_le(&file, at + descriptor.size, 8);
	put_le(&file, at + descriptor.size, 8); /* global buffers */
	put_le(&file, 1, 4);
	put_le(&file, 0, 4);
	put_le(&file, major, 2);
	put_le(&file, minor, 2);
	buf_put_text(&file, "LANC");
	buf_release(&descriptor);
	return file;
}

static struct buf
make_legacy(const int32_t *offsets, size_t count)
{
	struct buf file = { 0 };
	struct buf packed = { 0 };
	struct buf metadata = { 0 };

	for (size_t i = 0; i < count; i++)
		put_varint(&packed, (uint64_t)(int64_t)offsets[i]);
	put_number(&metadata, 1, 17);
	put_message(&metadata, 2, &packed);
	put_number(&metadata, 3, 0);
	buf_fill(&file, 0, 100);
	put_le(&file, metadata.size, 4);
	buf_put(&file, metadata.data, metadata.size);
	buf_release(&metadata);
	put_le(&file, 100, 8);
	put_le(&file, 0, 2);
	put_le(&file, 2, 2);
	buf_put_text(&file, "LANC");
	return file;
}

static int
count_rows(struct slice bytes, uint64_t *ret_rows, struct lancet_error *err)
{
	struct test_source *src = test_source_new(bytes, 0, NULL);
	int rc = rowcount_read(&src->base, ret_rows, err);

	if (rc == LANCET_OK)
		ck_assert_uint_le(src->read_bytes, 1024); /* the schema was stepped over */
	source_unref(&src->base);
	return rc;
}

static const struct {
	unsigned major, minor;
	int want;
} versions[] = {
	{ 0, 3, LANCET_OK },
	{ 2, 0, LANCET_OK },
	{ 2, 1, LANCET_OK },
	{ 2, 2, LANCET_OK },
	{ 2, 3, LANCET_OK },
	{ 3, 0, LANCET_UNSUPPORTED },
	{ 1, 0, LANCET_UNSUPPORTED },
	{ 0, 4, LANCET_UNSUPPORTED },
};

START_TEST(v2_files_say_their_rows_in_the_descriptor)
{
	struct buf file = make_v2(123456789012, versions[_i].major, versions[_i].minor);
	uint64_t rows = 0;

	ck_assert_int_eq(count_rows(buf_slice(&file), &rows, NULL), versions[_i].want);
	ck_assert_uint_eq(rows, versions[_i].want == LANCET_OK ? 123456789012 : 0);
	buf_release(&file);
}
END_TEST

static const struct {
	size_t count;
	int32_t offsets[4];
	int want;
	uint64_t rows;
} batches[] = {
	{ 0, { 0 }, LANCET_OK, 0 },
	{ 1, { 0 }, LANCET_OK, 0 },
	{ 4, { 0, 1024, 2048, 2500 }, LANCET_OK, 2500 },
	{ 2, { 5, 10 }, LANCET_CORRUPT, 0 },
	{ 3, { 0, 10, 9 }, LANCET_CORRUPT, 0 },
	{ 2, { 0, -1 }, LANCET_CORRUPT, 0 },
};

START_TEST(legacy_files_end_at_their_last_batch_offset)
{
	struct buf file = make_legacy(batches[_i].offsets, batches[_i].count);
	uint64_t rows = 0;

	ck_assert_int_eq(count_rows(buf_slice(&file), &rows, NULL), batches[_i].want);
	ck_assert_uint_eq(rows, batches[_i].rows);
	buf_release(&file);
}
END_TEST

/* Cut at the front the offsets are wrong, cut at the end the magic is: nothing may be believed or
 * overrun. */
START_TEST(damaged_files_are_refused)
{
	struct buf file =
		_i == 0 ? make_v2(1000, 2, 1) : make_legacy((const int32_t[]){ 0, 1000 }, 2);

	for (size_t size = 0; size < file.size; size++) {
		uint64_t rows = 0;
		struct lancet_error err = { 0 };

		ck_assert_int_eq(
			count_rows(slice_of(file.data, size), &rows, NULL), LANCET_CORRUPT);
		if (size < file.size - 40)
			continue;
		(void)count_rows(slice_of(file.data + file.size - size, size), &rows, &err);
	}
	for (size_t i = file.size - 120; i < file.size; i++) {
		uint64_t rows = 0;

		file.data[i] ^= 0xff;
		(void)count_rows(buf_slice(&file), &rows, NULL);
		file.data[i] ^= 0xff;
	}
	buf_release(&file);
}
END_TEST

/* The rows of the sample's four data files, as the reference counts them. */
START_TEST(files_of_the_reference_have_the_rows_it_says)
{
	static const size_t want_of[] = { 48, 32, 8, 16 };
	size_t found[ARRAY_SIZE(want_of)] = { 0 };
	glob_t files;

	ck_assert_int_eq(glob(UNIT_DATA_DIR "/sample.lance/data/*.lance", 0, NULL, &files), 0);
	ck_assert_uint_eq(files.gl_pathc, ARRAY_SIZE(want_of));
	for (size_t i = 0; i < files.gl_pathc; i++) {
		int fd = open(files.gl_pathv[i], O_RDONLY | O_CLOEXEC);
		struct stat st;
		struct source *src;
		uint64_t rows;

		ck_assert(fd >= 0 && fstat(fd, &st) == 0);
		src = source_fd_new(fd, (uint64_t)st.st_size);
		ck_assert_int_eq(rowcount_read(src, &rows, NULL), LANCET_OK);
		for (size_t j = 0; j < ARRAY_SIZE(want_of); j++)
			found[j] += rows == want_of[j];
		source_unref(src);
	}
	for (size_t j = 0; j < ARRAY_SIZE(want_of); j++)
		ck_assert_uint_eq(found[j], 1);
	globfree(&files);
}
END_TEST

static const int both[] = { 0, 1 };

UNIT_MAIN("rowcount", UNIT_LOOP(v2_files_say_their_rows_in_the_descriptor, versions),
	UNIT_LOOP(legacy_files_end_at_their_last_batch_offset, batches),
	UNIT_LOOP(damaged_files_are_refused, both),
	UNIT_TEST(files_of_the_reference_have_the_rows_it_says))
