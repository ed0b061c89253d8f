/* The two complete tiny files of the format facts, which the reference reads: a column "id" of
 * uint64, not null, with the rows 1000, 1001 and 1005. */
#ifndef TESTS_TINYFILES_H
#define TESTS_TINYFILES_H

#include "encode.h"

#include "marks.h"

#define TINY_DESCRIPTOR "0a190a171202696420ffffffffffffffffff012a0675696e7436341003"
#define TINY_VALUES     "e803000000000000e903000000000000ed03000000000000"
#define TINY_COLUMN                                                                                \
	"0a2912270a250a1f2f6c616e63652e656e636f64696e67732e436f6c756d6e456e636f64696e67"           \
	"12020a00"

static inline void
tiny_put(struct buf *file, const char *hex, size_t padded)
{
	struct buf part = from_hex(hex);

	buf_put(file, part.data, part.size);
	buf_release(&part);
	if (file->size < padded)
		buf_fill(file, 0, padded - file->size);
}

static inline struct buf
tiny_file_20(void)
{
	struct buf file = { 0 };

	tiny_put(&file, TINY_VALUES, 0x40);
	tiny_put(&file, TINY_DESCRIPTOR, 0x5d);
	tiny_put(&file, TINY_COLUMN, 0);
	tiny_put(&file,
		"123c0a01001201181803223212300a2e"
		"0a1e2f6c616e63652e656e636f64696e67732e4172726179456e636f64696e67"
		"120c120a0a080a060a0408401200",
		0xc6);
	tiny_put(&file, "5d000000000000006900000000000000", 0);
	tiny_put(&file, "40000000000000001d00000000000000", 0xe6);
	tiny_put(&file,
		"5d00000000000000c600000000000000d600000000000000"
		"0100000001000000000003004c414e43",
		0);
	ck_assert_uint_eq(file.size, 270);
	return file;
}

static inline struct buf
tiny_file_22(void)
{
	struct buf file = { 0 };

	tiny_put(&file, "30000000", 0x40);
	tiny_put(&file, "000018000000fefe" TINY_VALUES, 0x80);
	tiny_put(&file, TINY_DESCRIPTOR, 0x9d);
	tiny_put(&file, TINY_COLUMN, 0);
	tiny_put(&file,
		"12420a0200401202042018032236"
		"12340a320a1d2f6c616e63652e656e636f64696e677332312e506167654c61796f7574"
		"12110a0f1a040a02084032010138014803"
		"5001",
		0x10c);
	tiny_put(&file, "9d000000000000006f00000000000000", 0);
	tiny_put(&file, "80000000000000001d00000000000000", 0x12c);
	tiny_put(&file,
		"9d000000000000000c010000000000001c01000000000000"
		"0100000001000000020002004c414e43",
		0);
	ck_assert_uint_eq(file.size, 340);
	return file;
}

#endif
