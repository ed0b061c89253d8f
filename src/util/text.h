/* Numbers, times, names and hashes as text. */
#ifndef UTIL_TEXT_H
#define UTIL_TEXT_H

#include "buf.h"

/* Decimal digits only, no sign, no leading zeros beyond "0", no overflow. */
bool text_to_u64(struct slice text, uint64_t *ret_value);
/* Right-aligned in `width` characters padded with spaces; the value must fit (20 always do). */
void text_put_u64(uint8_t *into, unsigned width, uint64_t value);
/* The same, but a value that needs more than `width` characters takes them. */
void buf_put_u64(struct buf *b, unsigned width, uint64_t value);
/* As many characters as it takes. */
void buf_put_i64(struct buf *b, int64_t value);
/* A text cell of a .tsv: tab, newline, backslash as \t \n \\; padded on the left to width (0 =
 * none). */
void buf_put_cell(struct buf *b, unsigned width, struct slice text);
/* The number of bytes buf_put_cell would write with width 0. */
size_t text_cell_size(struct slice text);

/* RFC 3339 UTC with nanoseconds: 2026-11-30T01:42:39.728033999Z. Seconds outside years 0000-9999 or
 * nanos outside [0, 1e9) give false and nothing is written. `into` has 31 bytes. */
bool text_timestamp(int64_t seconds, int64_t nanos, char into[31]);
/* The proleptic Gregorian date of a day, counted from 1970-01-01; |days| < 2^60. */
void text_date(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day);
/* The other way round; |year| < 2^50. False: there is no such date. */
bool text_to_day(int64_t year, int month, int day, int64_t *ret_days);
/* RFC 3339 or a date; zone optional (UTC when absent), up to 9 digits of fraction. */
bool text_to_timestamp(struct slice text, int64_t *ret_seconds, int32_t *ret_nanos);

bool text_is_utf8(struct slice text);

/* File names (SPEC section 3): '/', NUL, '%' and a leading dot are percent-encoded (upper-case
 * hex), the empty name is "%", and an encoded name longer than 255 bytes is its first 200 bytes
 * (never cutting an escape), "%~" and 16 lower-case hex digits of text_hash of the whole encoded
 * name. Result: NUL-terminated, <= 255. */
#define TEXT_NAME_MAX 255
size_t text_name_encode(struct slice name, char into[TEXT_NAME_MAX + 1]);
/* Undoes the encoding; false for a hashed (%~) or malformed name, and for any spelling that
 * encoding would not give, so that each thing has one name. The result is appended to `into`;
 * nothing is when false. */
bool text_name_decode(struct slice name, struct buf *into);

/* A stable 64-bit hash of bytes (FNV-1a with a final mix), the same on every machine and run. */
uint64_t text_hash(uint64_t seed, struct slice bytes);
#define TEXT_HASH_SEED 0xcbf29ce484222325u

#endif
