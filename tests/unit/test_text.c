/* Numbers, cells, times, names, UTF-8 and hashes. libc's gmtime and printf are the second
 * opinion. */
#include "unit.h"

#include "util/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static const struct {
	const char *text;
	bool good;
	uint64_t value;
} numbers[] = {
	{ "0", true, 0 },
	{ "7", true, 7 },
	{ "18446744073709551615", true, UINT64_MAX },
	{ "18446744073709551616", false, 0 },
	{ "99999999999999999999", false, 0 },
	{ "100000000000000000000", false, 0 },
	{ "", false, 0 },
	{ "00", false, 0 },
	{ "01", false, 0 },
	{ "-1", false, 0 },
	{ "+1", false, 0 },
	{ " 1", false, 0 },
	{ "1 ", false, 0 },
	{ "0x1", false, 0 },
	{ "1/", false, 0 },
	{ "1:", false, 0 },
};

START_TEST(only_plain_decimal_is_a_number)
{
	uint64_t value = 77;

	ck_assert_msg(text_to_u64(slice_text(numbers[_i].text), &value) == numbers[_i].good, "'%s'",
	              numbers[_i].text);
	ck_assert_uint_eq(value, numbers[_i].good ? numbers[_i].value : 77);
}
END_TEST

START_TEST(numbers_are_right_aligned_as_printf_does)
{
	uint64_t values[64];
	size_t count = 0;

	for (uint64_t power = 1; count < 57; power *= 10) {
		values[count++] = power - 1;
		values[count++] = power;
		values[count++] = power + 1;
	}
	values[count++] = UINT64_MAX;
	for (size_t i = 0; i < count; i++) {
		for (unsigned width = 0; width <= 22; width++) {
			struct buf b = { 0 };
			char want[32];
			int size = snprintf(want, sizeof(want), "%*" PRIu64, (int)width, values[i]);
			uint8_t got[32] = "";

			buf_put_u64(&b, width, values[i]);
			ck_assert(slice_equal(buf_slice(&b), slice_text(want)));
			buf_release(&b);
			if ((unsigned)size > width)
				continue;
			text_put_u64(got, width, values[i]);
			ck_assert_str_eq((const char *)got, want);
		}
	}
}
END_TEST

START_TEST(cells_escape_what_would_break_the_table)
{
	struct buf b = { 0 };

	buf_put_cell(&b, 0, slice_text("a\tb\nc\\d"));
	ck_assert(slice_equal(buf_slice(&b), slice_text("a\\tb\\nc\\\\d")));
	ck_assert_uint_eq(text_cell_size(slice_text("a\tb\nc\\d")), 10);
	buf_release(&b);
	buf_put_cell(&b, 5, slice_text("x\ty"));
	buf_put_cell(&b, 3, slice_text("-"));
	buf_put_cell(&b, 2, slice_text("long"));
	buf_put_cell(&b, 1, slice_of("\0", 1));
	ck_assert(slice_equal(buf_slice(&b), slice_of(" x\\ty  -long\0", 12 + 1)));
	buf_release(&b);
}
END_TEST

START_TEST(timestamps_agree_with_gmtime_over_ten_thousand_years)
{
	for (int64_t seconds = -62167219200; seconds <= 253402300799; seconds += 7654321) {
		time_t at = (time_t)seconds;
		int64_t back_seconds = 0;
		int32_t back_nanos = 0;
		char want[64], got[31];
		struct tm tm;

		ck_assert_ptr_nonnull(gmtime_r(&at, &tm));
		snprintf(want, sizeof(want), "%04d-%02d-%02dT%02d:%02d:%02d.000000042Z",
		         tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		         tm.tm_sec);
		ck_assert(text_timestamp(seconds, 42, got));
		ck_assert_str_eq(got, want);
		ck_assert(text_to_timestamp(slice_text(got), &back_seconds, &back_nanos));
		ck_assert_int_eq(back_seconds, seconds);
		ck_assert_int_eq(back_nanos, 42);
	}
}
END_TEST

static const struct {
	int64_t seconds;
	int64_t nanos;
	const char *want; /* NULL: out of range */
} stamps[] = {
	{ 0, 0, "1970-01-01T00:00:00.000000000Z" },
	{ -1, 999999999, "1969-12-31T23:59:59.999999999Z" },
	{ 951782400, 1, "2000-02-29T00:00:00.000000001Z" },
	{ -62167219200, 0, "0000-01-01T00:00:00.000000000Z" },
	{ 253402300799, 999999999, "9999-12-31T23:59:59.999999999Z" },
	{ -62167219201, 0, NULL },
	{ 253402300800, 0, NULL },
	{ INT64_MIN, 0, NULL },
	{ INT64_MAX, 0, NULL },
	{ 0, -1, NULL },
	{ 0, 1000000000, NULL },
	{ 0, INT64_MIN, NULL },
};

START_TEST(timestamps_out_of_range_write_nothing)
{
	char got[31] = "untouched";
	bool good = text_timestamp(stamps[_i].seconds, stamps[_i].nanos, got);

	ck_assert(good == (stamps[_i].want != NULL));
	ck_assert_str_eq(got, good ? stamps[_i].want : "untouched");
}
END_TEST

static const struct {
	const char *text;
	bool good;
	int64_t seconds;
	int32_t nanos;
} times[] = {
	{ "1970-01-01", true, 0, 0 },
	{ "2000-02-29", true, 951782400, 0 },
	{ "1970-01-01T00:00:01Z", true, 1, 0 },
	{ "1970-01-01t00:00:01z", true, 1, 0 },
	{ "1970-01-01 00:00:01", true, 1, 0 },
	{ "1970-01-01T00:00:00.5Z", true, 0, 500000000 },
	{ "1970-01-01T00:00:00.123456789", true, 0, 123456789 },
	{ "1970-01-01T02:00:00+02:00", true, 0, 0 },
	{ "1969-12-31T18:30:00-05:30", true, 0, 0 },
	{ "1970-01-01T00:00:00.1234567891Z", false, 0, 0 },
	{ "1970-01-01T00:00:00.Z", false, 0, 0 },
	{ "1900-02-29", false, 0, 0 },
	{ "2026-02-30", false, 0, 0 },
	{ "2026-00-10", false, 0, 0 },
	{ "2026-13-10", false, 0, 0 },
	{ "2026-01-00", false, 0, 0 },
	{ "2026-1-1", false, 0, 0 },
	{ "2026-01-01T", false, 0, 0 },
	{ "2026-01-01T10:00", false, 0, 0 },
	{ "2026-01-01T24:00:00Z", false, 0, 0 },
	{ "2026-01-01T10:60:00Z", false, 0, 0 },
	{ "2026-01-01T10:00:00ZZ", false, 0, 0 },
	{ "2026-01-01T10:00:00+1", false, 0, 0 },
	{ "2026-01-01T10:00:00+25:00", false, 0, 0 },
	{ "2026-01-01T10:00:00+01:00Z", false, 0, 0 },
	{ "+026-01-01", false, 0, 0 },
	{ "yesterday", false, 0, 0 },
	{ "", false, 0, 0 },
};

START_TEST(times_are_rfc_3339_or_a_date)
{
	int64_t seconds = 7;
	int32_t nanos = 7;

	ck_assert_msg(text_to_timestamp(slice_text(times[_i].text), &seconds, &nanos) ==
	                      times[_i].good, "'%s'", times[_i].text);
	ck_assert_int_eq(seconds, times[_i].good ? times[_i].seconds : 7);
	ck_assert_int_eq(nanos, times[_i].good ? times[_i].nanos : 7);
}
END_TEST

static const struct {
	const char *text;
	bool good;
} utf8s[] = {
	{ "", true },
	{ "plain ascii of some length", true },
	{ "\xc2\x80 \xdf\xbf", true },
	{ "\xe0\xa0\x80 \xef\xbf\xbf \xed\x9f\xbf \xee\x80\x80", true },
	{ "\xf0\x90\x80\x80 \xf4\x8f\xbf\xbf", true },
	{ "\x80", false },
	{ "12345678\xbf", false },
	{ "\xc0\x80", false },
	{ "\xc1\xbf", false },
	{ "\xe0\x9f\xbf", false },
	{ "\xed\xa0\x80", false },
	{ "\xf0\x8f\xbf\xbf", false },
	{ "\xf4\x90\x80\x80", false },
	{ "\xf5\x80\x80\x80", false },
	{ "\xc3", false },
	{ "\xe2\x82", false },
	{ "\xf0\x9f\x98", false },
	{ "\xe2\x82g", false },
	{ "\xf0\x9f\x98g", false },
	{ "\xff", false },
};

START_TEST(utf8_has_no_overlong_forms_surrogates_or_cuts)
{
	ck_assert_msg(text_is_utf8(slice_text(utf8s[_i].text)) == utf8s[_i].good, "row %d", _i);
}
END_TEST

#define BYTES(literal) literal, sizeof(literal) - 1
static const struct {
	const char *plain;
	size_t size;
	const char *encoded;
} names[] = {
	{ BYTES("plain"), "plain" },
	{ BYTES(""), "%" },
	{ BYTES("a/b"), "a%2Fb" },
	{ BYTES("."), "%2E" },
	{ BYTES(".."), "%2E." },
	{ BYTES(".hidden.x"), "%2Ehidden.x" },
	{ BYTES("100%"), "100%25" },
	{ BYTES("%"), "%25" },
	{ BYTES("a\0b"), "a%00b" },
	{ BYTES("gr\xc3\xbc\xc3\x9f\xff\n"), "gr\xc3\xbc\xc3\x9f\xff\n" },
};

START_TEST(names_encode_and_decode)
{
	struct slice plain = slice_of(names[_i].plain, names[_i].size);
	char encoded[TEXT_NAME_MAX + 1];
	struct buf decoded = { 0 };

	ck_assert_uint_eq(text_name_encode(plain, encoded), strlen(names[_i].encoded));
	ck_assert_str_eq(encoded, names[_i].encoded);
	ck_assert(text_name_decode(slice_text(encoded), &decoded));
	ck_assert(slice_equal(buf_slice(&decoded), plain));
	buf_release(&decoded);
}
END_TEST

static const struct {
	const char *text;
	size_t size;
} foreign_names[] = {
	{ BYTES("") },      { BYTES(".") },     { BYTES(".a") },   { BYTES("a/b") },
	{ BYTES("a\0b") },  { BYTES("%2") },    { BYTES("%2f") },  { BYTES("a%2E") },
	{ BYTES("%41") },   { BYTES("%%") },    { BYTES("a%") },   { BYTES("%GG") },
	{ BYTES("abc%~0123456789abcdef") },
};

START_TEST(each_thing_has_one_name)
{
	struct buf decoded = { 0 };

	ck_assert(!text_name_decode(slice_of(foreign_names[_i].text, foreign_names[_i].size),
	                            &decoded));
	ck_assert_uint_eq(decoded.size, 0);
	buf_release(&decoded);
}
END_TEST

START_TEST(long_names_are_cut_and_hashed)
{
	uint8_t plain[400];
	char encoded[TEXT_NAME_MAX + 1], want[TEXT_NAME_MAX + 1];
	struct buf decoded = { 0 };

	memset(plain, 'n', sizeof(plain));
	ck_assert_uint_eq(text_name_encode(slice_of(plain, 255), encoded), 255);
	ck_assert_uint_eq(text_name_encode(slice_of(plain, 256), encoded), 218);
	snprintf(want, sizeof(want), "%.200s%%~%016" PRIx64, (const char *)plain,
	         text_hash(TEXT_HASH_SEED, slice_of(plain, 256)));
	ck_assert_str_eq(encoded, want);
	ck_assert(!text_name_decode(slice_text(encoded), &decoded));
	plain[199] = '/'; /* its escape would end at byte 202 */
	ck_assert_uint_eq(text_name_encode(slice_of(plain, 256), encoded), 217);
	ck_assert_int_eq(strncmp(encoded + 198, "n%~", 3), 0);
	memset(plain, '/', sizeof(plain));
	ck_assert_uint_eq(text_name_encode(slice_of(plain, 85), encoded), 255);
	ck_assert_uint_eq(text_name_encode(slice_of(plain, 86), encoded), 198 + 18);
	buf_release(&decoded);
}
END_TEST

START_TEST(the_hash_is_fnv_1a_with_splitmix_finish)
{
	struct slice none = { 0 };

	/* first output of splitmix64 from state 0, and FNV-1a test vectors of "a" and "foobar" */
	ck_assert_uint_eq(text_hash(0x9e3779b97f4a7c15, none), 0xe220a8397b1dcdaf);
	ck_assert_uint_eq(text_hash(TEXT_HASH_SEED, slice_text("a")),
	                  text_hash(0xaf63dc4c8601ec8c, none));
	ck_assert_uint_eq(text_hash(TEXT_HASH_SEED, slice_text("foobar")),
	                  text_hash(0x85944171f73967e8, none));
}
END_TEST

UNIT_MAIN("text", UNIT_LOOP(only_plain_decimal_is_a_number, numbers),
          UNIT_TEST(numbers_are_right_aligned_as_printf_does),
          UNIT_TEST(cells_escape_what_would_break_the_table),
          UNIT_TEST(timestamps_agree_with_gmtime_over_ten_thousand_years),
          UNIT_LOOP(timestamps_out_of_range_write_nothing, stamps),
          UNIT_LOOP(times_are_rfc_3339_or_a_date, times),
          UNIT_LOOP(utf8_has_no_overlong_forms_surrogates_or_cuts, utf8s),
          UNIT_LOOP(names_encode_and_decode, names),
          UNIT_LOOP(each_thing_has_one_name, foreign_names),
          UNIT_TEST(long_names_are_cut_and_hashed),
          UNIT_TEST(the_hash_is_fnv_1a_with_splitmix_finish))
