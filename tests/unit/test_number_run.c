/* Runs of numbers: each encoding, what composites may hold, counts and sums that don't agree. What
 * is read and what is refused was tried with the reference. */
#include "codecs.h"

#define CONSTANT7  "1a0a 0a08 0700000000000000"
#define CONSTANT_N "1a06 0a04 07000000" /* 32 bits */
#define NOTHING    "1a00"
#define FLAT       "0a020840"
#define FLAT_N     "0a020820"
/* Range { bits #1, start #2, step #3 } */
#define RANGE   "7206 0840 1003 1802"
#define RANGE_N "7206 0820 1003 1802"
#define BITS5   "2208 0840 1a04 0a020805" /* OutOfLineBitpacking */
#define BITS5_N "2208 0820 1a04 0a020805"
#define INLINE  "2a020840"
#define LZ4     "520a 0a020801 1a04 0a020840"
/* Delta { bits #1, base #2, deltas #3 } */
#define DELTA(size, inner, of) "7a" size "0840 1002 1a" inner of
#define DELTA_FLAT             DELTA("0a", "04", FLAT)
#define DELTA_CONSTANT         DELTA("12", "0c", CONSTANT7)
#define DELTA_RANGE            DELTA("0e", "08", RANGE)
#define DELTA_NOTHING          DELTA("08", "02", NOTHING)
/* Rle { values #1, run_lengths #2 } */
#define RLE         "420c 0a04 " FLAT " 1204 " FLAT_N
#define RLE_RANGE   "4210 0a08 " RANGE " 1204 " FLAT_N
#define RLE_LENGTH7 "4210 0a04 " FLAT " 1208 " CONSTANT_N
#define RLE_STEPS   "4210 0a04 " FLAT " 1208 " RANGE_N
#define RLE_BITS    "4212 0a04 " FLAT " 120a " BITS5_N
#define RLE_OF_ALL  "4214 0a08 " RANGE " 1208 " CONSTANT_N
/* Dictionary { indices #1, items #2, num_dictionary_items #3 } */
#define DICTIONARY       "3a0e 0a04 " FLAT_N " 1204 " FLAT " 1803"
#define DICTIONARY_RANGE "3a12 0a04 " FLAT_N " 1208 " RANGE " 1803"
#define DICTIONARY_ALL   "3a16 0a08 " ZERO_ONE " 1208 " RANGE " 1803"
#define ZERO_ONE         "7206 0820 1000 1801"

#define Q(byte) byte "00000000000000"
#define D(byte) byte "000000"

static const struct {
	const char *label, *message;
	unsigned bits;
	uint64_t count;
	const char *in; /* NULL: it takes no buffer */
	enum lancet_code want;
	const char *out; /* numbers, or a part of the error */
} runs[] = {
	{ "a constant", CONSTANT7, 64, 3, NULL, LANCET_OK, "7 7 7 " },
	{ "a narrow one", CONSTANT_N, 32, 2, NULL, LANCET_OK, "7 7 " },
	{ "nothing", NOTHING, 64, 0, NULL, LANCET_OK, "" },
	{ "a range", RANGE, 64, 4, NULL, LANCET_OK, "3 5 7 9 " },
	{ "a narrow one", RANGE_N, 32, 2, NULL, LANCET_OK, "3 5 " },
	{ "flat", FLAT, 64, 2, Q("01") Q("02"), LANCET_OK, "1 2 " },
	{ "flat and narrow", FLAT_N, 32, 2, D("01") "ffffffff", LANCET_OK, "1 4294967295 " },
	{ "bits, the tail raw", BITS5, 64, 2, Q("01") Q("02"), LANCET_OK, "1 2 " },
	{ "lz4", LZ4, 64, 1, "08000000 80" Q("05"), LANCET_OK, "5 " },
	{ "a delta", DELTA_FLAT, 64, 3, Q("01") Q("05"), LANCET_OK, "2 3 8 " },
	{ "a delta of a constant", DELTA_CONSTANT, 64, 3, NULL, LANCET_OK, "2 9 16 " },
	{ "a delta of a range", DELTA_RANGE, 64, 4, NULL, LANCET_OK, "2 5 10 17 " },
	{ "a delta of nothing", DELTA_NOTHING, 64, 1, NULL, LANCET_OK, "2 " },
	{ "runs", RLE, 64, 5, Q("10") Q("09") Q("08") D("02") D("03"), LANCET_OK, "9 9 8 8 8 " },
	{ "runs with lengths in bits", RLE_BITS, 64, 5, Q("10") Q("09") Q("08") D("02") D("03"),
		LANCET_OK, "9 9 8 8 8 " },
	{ "runs of a range", RLE_RANGE, 64, 5, Q("00") D("02") D("03"), LANCET_OK, "3 3 5 5 5 " },
	{ "runs of one length", RLE_LENGTH7, 64, 14, Q("10") Q("01") Q("02"), LANCET_OK,
		"1 1 1 1 1 1 1 2 2 2 2 2 2 2 " },
	{ "runs of growing length", RLE_STEPS, 64, 8, Q("10") Q("01") Q("02"), LANCET_OK,
		"1 1 1 2 2 2 2 2 " },
	{ "runs without a buffer", RLE_OF_ALL, 64, 14, NULL, LANCET_OK,
		"3 3 3 3 3 3 3 5 5 5 5 5 5 5 " },
	{ "a dictionary", DICTIONARY, 64, 4,
		Q("10") Q("18") D("02") D("00") D("01") D("02") Q("09") Q("0a") Q("0b"), LANCET_OK,
		"11 9 10 11 " },
	{ "a dictionary of a range", DICTIONARY_RANGE, 64, 2, Q("08") Q("00") D("02") D("00"),
		LANCET_OK, "7 3 " },
	{ "a dictionary without a buffer", DICTIONARY_ALL, 64, 3, NULL, LANCET_OK, "3 5 7 " },

	{ "something for nothing", CONSTANT7, 64, 0, NULL, LANCET_CORRUPT,
		"constant for a run of 0 numbers" },
	{ "a range for nothing", RANGE, 64, 0, NULL, LANCET_CORRUPT, "range for a run of 0" },
	{ "bytes for nothing", FLAT, 64, 0, "", LANCET_CORRUPT, "flat for a run of 0" },
	{ "nothing for something", NOTHING, 64, 1, NULL, LANCET_CORRUPT, "nothing for a run of 1" },
	{ "a byte short", FLAT, 64, 2, Q("01") "02000000000000", LANCET_CORRUPT,
		"flat: 15 bytes for 2 numbers of 64 bits" },
	{ "a number too many", FLAT, 64, 1, Q("01") Q("02"), LANCET_CORRUPT, "flat: 16 bytes" },
	{ "2^61 numbers", FLAT, 64, UINT64_C(1) << 61, "", LANCET_CORRUPT, "flat: 0 bytes" },
	{ "2^60 constants", CONSTANT7, 64, UINT64_C(1) << 60, NULL, LANCET_LIMIT, "fewer rows" },
	{ "2^60 in a range", RANGE, 64, UINT64_C(1) << 60, NULL, LANCET_LIMIT, "fewer rows" },
	{ "a range that wraps", RANGE, 64, UINT64_C(1) << 63, NULL, LANCET_CORRUPT,
		"range: 9223372036854775808 numbers from 3 by 2 pass 64 bits" },
	{ "a narrow range that wraps", RANGE_N, 32, UINT64_C(1) << 31, NULL, LANCET_CORRUPT,
		"pass 32 bits" },
	{ "a range on the spot", "7204 0840 1003", 64, 2, NULL, LANCET_CORRUPT,
		"range: a step of 0" },
	{ "a wide constant", CONSTANT7, 32, 1, NULL, LANCET_CORRUPT,
		"constant: numbers of 64 bits, 32 expected" },
	{ "a narrow constant", CONSTANT_N, 64, 1, NULL, LANCET_CORRUPT,
		"constant: numbers of 32 bits, 64 expected" },
	{ "an empty constant", "1a02 0a00", 64, 1, NULL, LANCET_CORRUPT,
		"constant: numbers of 0 bits" },
	{ "narrow flat", FLAT_N, 64, 1, D("01"), LANCET_CORRUPT,
		"flat: numbers of 32 bits, 64 expected" },
	{ "a narrow range", RANGE_N, 64, 1, NULL, LANCET_CORRUPT, "range: numbers of 32 bits" },
	{ "narrow bits", BITS5_N, 64, 1, "", LANCET_CORRUPT, "numbers of 32 bits" },
	{ "all bits", "2208 0840 1a04 0a020840", 64, 1, Q("01"), LANCET_CORRUPT,
		"numbers of 64 bits packed into 64" },
	{ "bits of another length", BITS5, 64, 2, Q("01"), LANCET_CORRUPT,
		"out_of_line_bitpacking" },
	{ "a delta that wraps", DELTA_FLAT, 64, 3, "ffffffffffffffff" Q("05"), LANCET_CORRUPT,
		"delta: the sum passes 64 bits" },
	{ "a narrow delta that wraps", "7a0a 0820 1002 1a04 " FLAT_N, 32, 3, "feffffff" D("00"),
		LANCET_CORRUPT, "delta: the sum passes 32 bits" },
	{ "a delta of one too many", DELTA_FLAT, 64, 1, "", LANCET_CORRUPT,
		"flat for a run of 0 numbers" },
	{ "a delta without one", DELTA_NOTHING, 64, 2, NULL, LANCET_CORRUPT,
		"nothing for a run of 1 numbers" },
	{ "runs too long", RLE, 64, 4, Q("10") Q("09") Q("08") D("02") D("03"), LANCET_CORRUPT,
		"rle: runs of 5 numbers, 4 expected" },
	{ "runs too short", RLE, 64, 6, Q("10") Q("09") Q("08") D("02") D("03"), LANCET_CORRUPT,
		"rle: runs of 5 numbers, 6 expected" },
	{ "a run of nothing", RLE, 64, 2, Q("10") Q("09") Q("08") D("02") D("00"), LANCET_CORRUPT,
		"rle: a run of length 0" },
	{ "a value too few", RLE, 64, 5, Q("08") Q("09") D("02") D("03"), LANCET_CORRUPT,
		"flat: 8 bytes for 2 numbers" },
	{ "runs cut", RLE, 64, 5, Q("20") Q("09") Q("08") D("02") D("03"), LANCET_CORRUPT,
		"rle: 32 bytes of values in a buffer of 32" },
	{ "runs without a head", RLE, 64, 5, "01020304", LANCET_CORRUPT, "in a buffer of 4" },
	{ "one length that does not fit", RLE_LENGTH7, 64, 13, Q("10") Q("01") Q("02"),
		LANCET_CORRUPT, "rle: runs of 14 numbers, 13 expected" },
	{ "runs of no length", "4210 0a04 " FLAT " 1208 1a06 0a04 00000000", 64, 1, Q("08") Q("01"),
		LANCET_CORRUPT, "rle: runs of length 0" },
	{ "runs of nothing", "420a 0a02 " NOTHING " 1204 " FLAT_N, 64, 1, Q("00") D("01"),
		LANCET_CORRUPT, "rle: no runs" },
	{ "nothing that tells the runs", "4216 0a08 " RANGE " 120a " BITS5_N, 64, 1,
		Q("00") D("01"), LANCET_CORRUPT, "rle: nothing tells the number of the runs" },
	{ "an index out of range", DICTIONARY, 64, 1,
		Q("04") Q("18") D("03") Q("09") Q("0a") Q("0b"), LANCET_CORRUPT,
		"dictionary: an index beyond 3 numbers" },
	{ "an item too few", DICTIONARY, 64, 1, Q("04") Q("10") D("00") Q("09") Q("0a"),
		LANCET_CORRUPT, "flat: 16 bytes for 3 numbers" },
	{ "a dictionary cut", DICTIONARY, 64, 1, Q("04") Q("18") D("00") Q("09") Q("0a"),
		LANCET_CORRUPT, "dictionary: 4 and 24 bytes in a buffer of 36" },
	{ "a dictionary whose sizes wrap", DICTIONARY, 64, 1, "ffffffffffffffff" Q("05") D("00"),
		LANCET_CORRUPT, "in a buffer of 20" },
	{ "bytes behind a dictionary", DICTIONARY, 64, 1,
		Q("04") Q("18") D("00") Q("09") Q("0a") Q("0b") "00", LANCET_CORRUPT,
		"dictionary: 4 and 24 bytes in a buffer of 45" },
	{ "an empty dictionary", "3a0c 0a04 " FLAT_N " 1204 " FLAT, 64, 1, "", LANCET_CORRUPT,
		"dictionary: 0 numbers" },
	{ "a dictionary of 4097", "3a0f 0a04 " FLAT_N " 1204 " FLAT " 188120", 64, 1, "",
		LANCET_CORRUPT, "dictionary: 4097 numbers" },
	{ "wide indices", "3a0e 0a04 " FLAT " 1204 " FLAT " 1803", 64, 1, "", LANCET_CORRUPT,
		"flat: numbers of 64 bits, 32 expected" },
	{ "a delta of a delta", DELTA("12", "0c", DELTA_FLAT), 64, 1, "", LANCET_CORRUPT,
		"delta as a part of a run of numbers" },
	{ "a delta of runs", DELTA("14", "0e", RLE), 64, 1, "", LANCET_CORRUPT, "rle as a part" },
	{ "a delta with lz4", DELTA("12", "0c", LZ4), 64, 1, "", LANCET_CORRUPT,
		"general as a part" },
	{ "bits with lz4", "5210 0a020801 1a0a " BITS5, 64, 1, "", LANCET_CORRUPT,
		"numbers packed as out_of_line_bitpacking" },
	{ "runs with lz4", "5214 0a020801 1a0e " RLE, 64, 1, "", LANCET_CORRUPT,
		"numbers packed as rle" },
	{ "planes", "4a06 0a04 " FLAT, 64, 1, "", LANCET_CORRUPT,
		"byte_stream_split as a run of numbers" },
	{ "no encoding", "", 64, 1, "", LANCET_CORRUPT, "unknown kind" },
};

static int
run_decode(struct codec_rig *rig, int row)
{
	struct slice message = exact_hex(runs[row].message);
	struct slice in = exact_hex(runs[row].in == NULL ? "" : runs[row].in);
	const struct number_run *run;
	bool has_buffer = false;
	int rc;

	rig->budget.limit = (size_t)16 << 20;
	ck_assert_int_eq(array_init(&rig->out, &codec_u64, &rig->budget, NULL), LANCET_OK);
	rc = number_run_open(message, runs[row].bits, &rig->arena, &run, &has_buffer, &rig->err);
	free((void *)(uintptr_t)message.data);
	if (rc == LANCET_OK) {
		ck_assert_msg(has_buffer == (runs[row].in != NULL), "%s", runs[row].label);
		rc = number_run_decode(
			run, runs[row].count, in, &rig->scratch, &rig->out, &rig->err);
	}
	free((void *)(uintptr_t)in.data);
	return rc;
}

START_TEST(runs_are_read_or_refused)
{
	struct codec_rig rig = { 0 };
	struct buf text = { 0 };
	int rc = run_decode(&rig, _i);

	ck_assert_msg(rc == (int)runs[_i].want, "%s: %s", runs[_i].label, rig.err.text);
	if (rc == LANCET_OK) {
		ck_assert_uint_eq(rig.out.length, runs[_i].count);
		for (uint64_t i = 0; i < rig.out.length; i++)
			buf_printf(&text, "%llu ", (unsigned long long)array_unsigned(&rig.out, i));
		buf_put_byte(&text, '\0');
		ck_assert_msg(strcmp((const char *)text.data, runs[_i].out) == 0, "%s: %s",
			runs[_i].label, (const char *)text.data);
	} else {
		ck_assert_msg(strstr(rig.err.text, runs[_i].out) != NULL, "%s: %s", runs[_i].label,
			rig.err.text);
	}
	ck_assert_uint_eq(rig.scratch.used, 0);
	buf_release(&text);
	rig_release(&rig);
}
END_TEST

static const struct {
	const char *message;
	bool progression;
	uint64_t start, step;
} told[] = {
	{ CONSTANT7, true, 7, 0 },
	{ RANGE, true, 3, 2 },
	{ NOTHING, false, 0, 0 },
	{ FLAT, false, 0, 0 },
	{ DELTA_CONSTANT, false, 0, 0 },
};

START_TEST(progressions_are_told)
{
	struct slice message = exact_hex(told[_i].message);
	const struct number_run *run;
	struct arena arena = { 0 };
	uint64_t start = 0, step = 0;
	bool has_buffer;

	ck_assert_int_eq(number_run_open(message, 64, &arena, &run, &has_buffer, NULL), LANCET_OK);
	ck_assert_int_eq(number_run_progression(run, &start, &step), told[_i].progression);
	ck_assert_uint_eq(start, told[_i].start);
	ck_assert_uint_eq(step, told[_i].step);
	free((void *)(uintptr_t)message.data);
	arena_release(&arena);
}
END_TEST

/* Lengths that grow beyond all numbers are refused at once, not added up. */
START_TEST(enormous_steps_cost_nothing)
{
	struct slice message = exact_hex("4214 0a04 " FLAT " 120c 720a 0820 1001 18ffffffff0f");
	const struct number_run *run;
	struct codec_rig rig = { 0 };
	bool has_buffer;

	rig.budget.limit = (size_t)16 << 20;
	ck_assert_int_eq(array_init(&rig.out, &codec_u64, &rig.budget, NULL), LANCET_OK);
	ck_assert_int_eq(
		number_run_open(message, 64, &rig.arena, &run, &has_buffer, &rig.err), LANCET_OK);
	ck_assert_int_eq(number_run_decode(run, 1000000, slice_of("\0\0\0\0\0\0\0\0", 8),
				 &rig.scratch, &rig.out, &rig.err),
		LANCET_CORRUPT);
	free((void *)(uintptr_t)message.data);
	rig_release(&rig);
}
END_TEST

UNIT_MAIN("number_run", UNIT_LOOP(runs_are_read_or_refused, runs),
	UNIT_LOOP(progressions_are_told, told), UNIT_TEST(enormous_steps_cost_nothing))
