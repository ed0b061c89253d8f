/* Values of variable size in 2.0 pages as symbols of a table, which can be read one by one, unlike
 * buffers that are compressed as a whole. Format facts: v2.0 page encodings, Fsst.
 */
#include "encode_message.h"
#include "encode_wish.h"
#include "fsst_build.h"
#include "lance/encodings.pb-c.h"
#include "util/macros.h"
#include "v20_write.h"

#define CASE(name)  ((unsigned)LANCE__ENCODINGS__ARRAY_ENCODING__ARRAY_ENCODING_##name)
#define BYTES_MIN   ((uint64_t)32 << 10) /* the table alone takes 2312 */
#define SAMPLES_MAX 512u
#define TENTHS_MAX  8u /* what is left of the bytes, at most */

static uint64_t
bytes_of(const struct v20_values *values)
{
	return array_offset(values->array, values->first + values->count) -
	       array_offset(values->array, values->first);
}

static int
learn(const struct v20_values *values, struct fsst_symbols **ret_symbols, struct lancet_error *err)
{
	struct slice samples[SAMPLES_MAX];
	uint64_t step = values->count / SAMPLES_MAX + 1;
	size_t count = 0;

	for (uint64_t i = 0; i < values->count; i += step)
		samples[count++] = array_bytes(values->array, values->first + i);
	return fsst_symbols_make(samples, count, ret_symbols, err);
}

/* All values as codes; gives up, with *ret_small false, when a first part stays too large. */
static int
compress(const struct v20_values *values, const struct fsst_symbols *symbols, struct array *into,
	bool *ret_small, struct lancet_error *err)
{
	uint64_t before = 0, after = FSST_TABLE_BYTES;
	struct buf codes = { 0 };
	int rc = LANCET_OK;

	*ret_small = true;
	for (uint64_t i = 0; rc == LANCET_OK && *ret_small && i < values->count; i++) {
		uint64_t index = values->first + i;
		struct slice value = array_bytes(values->array, index);

		codes.size = 0;
		if (!array_is_valid(values->array, index)) {
			rc = array_append_nulls(into, 1, err);
			continue;
		}
		fsst_compress(symbols, value, &codes);
		rc = buf_check(&codes, "symbols", err);
		if (rc == LANCET_OK)
			rc = array_append_bytes(into, buf_slice(&codes), err);
		before += value.size;
		after += codes.size;
		if (before >= BYTES_MIN || i + 1 == values->count)
			*ret_small = after < before / 10 * TENTHS_MAX;
	}
	buf_release(&codes);
	return rc;
}

/* Fsst { binary, symbol_table } */
static int
put_message(struct page_out *page, const struct array *codes, const struct fsst_symbols *symbols,
	struct buf *into, struct lancet_error *err)
{
	struct v20_values all = { codes, 0, codes->length };
	struct buf binary = { 0 }, table = { 0 }, fsst = { 0 };
	bool done;
	int rc = v20_put_binary(page, &all, UINT64_MAX, &binary, &done, err);

	fsst_symbols_put(symbols, &table);
	v20_message(&fsst, 1, &binary);
	v20_message(&fsst, 2, &table);
	v20_message(into, CASE(FSST), &fsst);
	buf_release(&binary);
	buf_release(&table);
	buf_release(&fsst);
	return rc;
}

static int
put_smaller(struct page_out *page, const struct v20_values *values, struct buf *into,
	bool *ret_done, struct lancet_error *err)
{
	struct array_budget budget = { .limit = SIZE_MAX };
	struct fsst_symbols *symbols = NULL;
	struct array codes;
	bool small = false;
	int rc;

	TRY(learn(values, &symbols, err));
	rc = symbols == NULL ? LANCET_OK : array_init(&codes, values->array->field, &budget, err);
	if (rc != LANCET_OK || symbols == NULL) {
		free(symbols);
		return rc;
	}
	rc = compress(values, symbols, &codes, &small, err);
	if (rc == LANCET_OK && small)
		rc = v20_put_binary(
			page, values, codes.data.size + FSST_TABLE_BYTES, into, ret_done, err);
	if (rc == LANCET_OK && small && !*ret_done) {
		rc = put_message(page, &codes, symbols, into, err);
		*ret_done = true;
	}
	array_release(&codes);
	free(symbols);
	return rc;
}

int
v20_put_symbols(struct page_out *page, const struct v20_values *values, struct buf *into,
	bool *ret_done, struct lancet_error *err)
{
	const struct field *field = values->array->field;

	*ret_done = false;
	/* Readers fail on such values with 64-bit offsets. */
	if (field->large || encode_wish_compression(field) == WISH_NONE ||
		bytes_of(values) < BYTES_MIN)
		return LANCET_OK;
	return put_smaller(page, values, into, ret_done, err);
}
