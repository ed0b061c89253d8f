/* Learning a symbol table for FSST.
 *
 * As published (Boncz, Neumann, Leis: FSST, 2020): some rounds, in each of which the sample is
 * compressed by the table so far. Counted are the symbols that are used, and which follow each
 * other directly; the next table has those symbols and joined pairs that covered, or would have
 * covered, most bytes. Bytes that had to be escaped count as symbols of one byte.
 */
#include "fsst_build.h"

#include <assert.h>
#include <stdlib.h>

#include "util/macros.h"

#define ROUNDS         5u
#define SAMPLE_MAX     ((size_t)16 * 1024) /* bytes */
#define CODES          512u                /* symbols, and from 256 on bytes that have none */
#define BYTE_CODE      256u
#define HEADER         (UINT64_C(0x46535354) << 32 | UINT64_C(1) << 24)
#define ESCAPE         255u
#define TIMES_MIN      2u /* less often is by chance */
#define CANDIDATES_MAX (CODES + SAMPLE_MAX)
#define SINGLE_GAIN    8u /* a symbol of one byte saves its escape, too */

static uint64_t
load_bytes(const uint8_t *at, size_t left)
{
	uint64_t bytes = 0;

	memcpy(&bytes, at, left < sizeof(bytes) ? left : sizeof(bytes));
	return bytes;
}

static uint64_t
mask_of(uint32_t size)
{
	return size >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * size) - 1;
}

/* The longest symbol that the bytes begin with; -1: none. */
static inline __attribute__((always_inline)) int
longest_match(const struct fsst_symbols *symbols, uint64_t bytes, size_t left)
{
	unsigned prefix = bytes & 0xffff, first = symbols->first[prefix];

	for (unsigned i = first; i < first + symbols->longer[prefix]; i++) {
		const struct fsst_symbol *symbol = &symbols->symbols[i];

		if (symbol->size <= left && (bytes & mask_of(symbol->size)) == symbol->bytes)
			return (int)i;
	}
	return symbols->single[bytes & 0xff];
}

void
fsst_compress(const struct fsst_symbols *symbols, struct slice value, struct buf *into)
{
	uint8_t *out;

	if (!buf_reserve(into, 2 * value.size))
		return;
	out = into->data + into->size;
	for (size_t at = 0; at < value.size;) {
		size_t left = value.size - at;
		int code = longest_match(symbols, load_bytes(value.data + at, left), left);

		if (code < 0) {
			*out++ = ESCAPE;
			*out++ = value.data[at++];
		} else {
			*out++ = (uint8_t)code;
			at += symbols->symbols[code].size;
		}
	}
	into->size = (size_t)(out - into->data);
}

void
fsst_symbols_put(const struct fsst_symbols *symbols, struct buf *into)
{
	uint64_t header = HEADER | symbols->count;
	size_t size = into->size;

	buf_put(into, &header, sizeof(header));
	for (unsigned i = 0; i < symbols->count; i++)
		buf_put(into, &symbols->symbols[i].bytes, sizeof(symbols->symbols[i].bytes));
	for (unsigned i = 0; i < symbols->count; i++)
		buf_put_byte(into, (uint8_t)symbols->symbols[i].size);
	if (into->failed == LANCET_OK)
		buf_fill(into, 0, FSST_TABLE_BYTES - (into->size - size));
}

/* A symbol that may come into the next table. */
struct candidate {
	struct fsst_symbol symbol;
	uint64_t gain; /* bytes of the sample that it covers */
};

struct training {
	struct fsst_symbols *symbols;
	uint32_t used[CODES];
	uint16_t pairs[CODES][CODES]; /* a sample has fewer bytes than would overflow this */
	size_t count;
	struct candidate candidates[CANDIDATES_MAX];
};

_Static_assert(SAMPLE_MAX <= UINT16_MAX, "pairs are counted in 16 bits");

static struct fsst_symbol
symbol_of(const struct training *training, unsigned code)
{
	if (code >= BYTE_CODE)
		return (struct fsst_symbol){ code - BYTE_CODE, 1 };
	return training->symbols->symbols[code];
}

/* Compresses one value, counting. */
static void
count_value(struct training *training, struct slice value)
{
	unsigned before = CODES;

	for (size_t at = 0; at < value.size;) {
		size_t left = value.size - at;
		int match =
			longest_match(training->symbols, load_bytes(value.data + at, left), left);
		unsigned code = match < 0 ? BYTE_CODE + value.data[at] : (unsigned)match;

		training->used[code]++;
		if (before < CODES)
			training->pairs[before][code]++;
		before = code;
		at += symbol_of(training, code).size;
	}
}

static void
add_candidate(struct training *training, struct fsst_symbol symbol, uint64_t times)
{
	uint64_t gain = times * symbol.size * (symbol.size == 1 ? SINGLE_GAIN : 1);

	assert(training->count < CANDIDATES_MAX);
	if (times >= TIMES_MIN)
		training->candidates[training->count++] = (struct candidate){ symbol, gain };
}

static struct fsst_symbol
join(struct fsst_symbol a, struct fsst_symbol b)
{
	uint32_t size = a.size + b.size;
	uint64_t bytes = a.bytes;

	if (size > FSST_SYMBOL_SIZE)
		size = FSST_SYMBOL_SIZE;
	if (a.size < FSST_SYMBOL_SIZE)
		bytes |= b.bytes << 8 * a.size;
	return (struct fsst_symbol){ bytes & mask_of(size), size };
}

static void
find_candidates(struct training *training)
{
	training->count = 0;
	for (unsigned a = 0; a < CODES; a++) {
		if (training->used[a] == 0)
			continue;
		add_candidate(training, symbol_of(training, a), training->used[a]);
		for (unsigned b = 0; b < CODES; b++)
			if (training->pairs[a][b] > 0 &&
				symbol_of(training, a).size < FSST_SYMBOL_SIZE)
				add_candidate(training,
					join(symbol_of(training, a), symbol_of(training, b)),
					training->pairs[a][b]);
	}
}

/* By what they are. */
static int
compare_symbols(const void *left, const void *right)
{
	const struct fsst_symbol *a = &((const struct candidate *)left)->symbol;
	const struct fsst_symbol *b = &((const struct candidate *)right)->symbol;

	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int
compare_gains(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->gain != b->gain)
		return a->gain > b->gain ? -1 : 1;
	return compare_symbols(left, right);
}

/* Longer ones of the same first two bytes first; single bytes at the end. */
static int
compare_places(const void *left, const void *right)
{
	const struct fsst_symbol *a = left, *b = right;
	unsigned prefix_a = a->bytes & 0xffff, prefix_b = b->bytes & 0xffff;

	if ((a->size == 1) != (b->size == 1))
		return a->size == 1 ? 1 : -1;
	if (prefix_a != prefix_b)
		return prefix_a < prefix_b ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* The same symbol can be joined from different pairs: it has all their gains. */
static void
merge_candidates(struct training *training)
{
	struct candidate *all = training->candidates;
	size_t kept = 0;

	qsort(all, training->count, sizeof(*all), compare_symbols);
	for (size_t i = 0; i < training->count; i++) {
		if (kept > 0 && compare_symbols(&all[kept - 1], &all[i]) == 0)
			all[kept - 1].gain += all[i].gain;
		else
			all[kept++] = all[i];
	}
	training->count = kept;
	qsort(all, training->count, sizeof(*all), compare_gains);
}

static void
index_symbols(struct fsst_symbols *symbols)
{
	qsort(symbols->symbols, symbols->count, sizeof(symbols->symbols[0]), compare_places);
	memset(symbols->longer, 0, sizeof(symbols->longer));
	memset(symbols->single, -1, sizeof(symbols->single));
	for (unsigned i = 0; i < symbols->count; i++) {
		unsigned prefix = symbols->symbols[i].bytes & 0xffff;

		if (symbols->symbols[i].size == 1)
			symbols->single[prefix] = (int16_t)i;
		else if (symbols->longer[prefix]++ == 0)
			symbols->first[prefix] = (uint8_t)i;
	}
}

static void
train_round(struct training *training, const struct slice *sample, size_t count)
{
	struct fsst_symbols *symbols = training->symbols;
	size_t left = SAMPLE_MAX;

	memset(training->used, 0, sizeof(training->used));
	memset(training->pairs, 0, sizeof(training->pairs));
	for (size_t i = 0; i < count && left > 0; i++) {
		size_t size = sample[i].size < left ? sample[i].size : left;

		count_value(training, slice_of(sample[i].data, size));
		left -= size;
	}
	find_candidates(training);
	merge_candidates(training);
	symbols->count =
		training->count < FSST_SYMBOLS_MAX ? (unsigned)training->count : FSST_SYMBOLS_MAX;
	for (unsigned i = 0; i < symbols->count; i++)
		symbols->symbols[i] = training->candidates[i].symbol;
	index_symbols(symbols);
}

int
fsst_symbols_make(const struct slice *sample, size_t count, struct fsst_symbols **ret_symbols,
	struct lancet_error *err)
{
	lancet_autofree struct training *training = calloc(1, sizeof(*training));
	lancet_autofree struct fsst_symbols *symbols = calloc(1, sizeof(*symbols));

	if (training == NULL || symbols == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "symbols of a page");
	training->symbols = symbols;
	index_symbols(symbols);
	for (unsigned i = 0; i < ROUNDS; i++)
		train_round(training, sample, count);
	*ret_symbols = lancet_steal(&symbols);
	return LANCET_OK;
}
