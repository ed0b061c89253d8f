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
#define CODE_BITS      9u
#define CODE_MASK      (CODES - 1)
#define BYTE_CODE      256u
#define HASH_FACTOR    UINT32_C(0x9e3779b1)
#define HASH_SHIFT     20u /* leaves FSST_BUCKETS */
#define HEADER         (UINT64_C(0x46535354) << 32 | UINT64_C(1) << 24)
#define ESCAPE         255u
#define TIMES_MIN      2u /* less often is by chance */
#define CANDIDATES_MAX (CODES + SAMPLE_MAX)
#define FOUND_SLOTS    32768u /* of a hash table: more than candidates */
#define GAINS          4096u  /* that are told apart when the best are looked for */
#define SINGLE_GAIN    8u     /* a symbol of one byte saves its escape, too */

static uint64_t
load_bytes(const uint8_t *at)
{
	uint64_t bytes;

	memcpy(&bytes, at, sizeof(bytes));
	return bytes;
}

static inline uint64_t
mask_of(uint32_t size)
{
	return UINT64_MAX >> (64 - 8 * size);
}

static inline unsigned
bucket_of(uint64_t bytes)
{
	return (uint32_t)((bytes & 0xffffff) * HASH_FACTOR) >> HASH_SHIFT;
}

static inline uint16_t
match_of(unsigned code, unsigned size)
{
	return (uint16_t)(code | size << CODE_BITS);
}

/* The longest symbol that the bytes begin with, or the first of them. */
static inline __attribute__((always_inline)) unsigned
longest_match(const struct fsst_symbols *symbols, uint64_t bytes, size_t left)
{
	unsigned bucket = bucket_of(bytes), match = symbols->pairs[bytes & 0xffff];
	unsigned first = symbols->buckets[bucket].first;

	for (unsigned i = first; i < first + symbols->buckets[bucket].count; i++) {
		const struct fsst_symbol *symbol = &symbols->symbols[i];

		if (symbol->size <= left && (bytes & mask_of(symbol->size)) == symbol->bytes)
			return match_of(i, symbol->size);
	}
	return match >> CODE_BITS <= left ? match : symbols->singles[bytes & 0xff];
}

static inline __attribute__((always_inline)) uint8_t *
put_match(unsigned match, uint8_t *out)
{
	unsigned code = match & CODE_MASK;

	if (code >= BYTE_CODE)
		*out++ = ESCAPE;
	*out++ = (uint8_t)code; /* without 256: the byte */
	return out;
}

/* The last bytes, up to 8 of them, with zeroes behind. */
static uint64_t
load_last(struct slice value, size_t left)
{
	uint64_t bytes = 0;

	if (value.size >= sizeof(bytes))
		return left == 0 ? 0
				 : load_bytes(value.data + value.size - sizeof(bytes)) >>
					   (64 - 8 * left);
	for (size_t i = value.size; i-- > 0;)
		bytes = bytes << 8 | value.data[i];
	return bytes;
}

void
fsst_compress(const struct fsst_symbols *symbols, struct slice value, struct buf *into)
{
	size_t left = value.size;
	uint64_t bytes;
	uint8_t *out;
	unsigned match;

	if (!buf_reserve(into, 2 * value.size))
		return;
	out = into->data + into->size;
	for (; left >= sizeof(bytes); left -= match >> CODE_BITS) {
		bytes = load_bytes(value.data + (value.size - left));
		match = longest_match(symbols, bytes, sizeof(bytes));
		out = put_match(match, out);
	}
	for (bytes = load_last(value, left); left > 0; left -= match >> CODE_BITS) {
		match = longest_match(symbols, bytes, left);
		out = put_match(match, out);
		bytes = bytes >> 4 * (match >> CODE_BITS) >> 4 * (match >> CODE_BITS);
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
	uint32_t met[SAMPLE_MAX];     /* pairs that came */
	size_t met_count;
	size_t count;
	struct candidate candidates[CANDIDATES_MAX];
	uint16_t found[FOUND_SLOTS]; /* candidates by what they are: 1 + which, 0: free */
};

_Static_assert(SAMPLE_MAX <= UINT16_MAX, "pairs are counted in 16 bits");
_Static_assert(CANDIDATES_MAX < FOUND_SLOTS && FOUND_SLOTS <= UINT16_MAX, "candidates are found");

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

	for (size_t left = value.size; left > 0;) {
		struct slice rest = slice_of(value.data + value.size - left, left);
		uint64_t bytes = left < 8 ? load_last(rest, left) : load_bytes(rest.data);
		unsigned match = longest_match(training->symbols, bytes, left);
		unsigned code = match & CODE_MASK;

		training->used[code]++;
		if (before < CODES && training->pairs[before][code]++ == 0)
			training->met[training->met_count++] = before * CODES + code;
		before = code;
		left -= match >> CODE_BITS;
	}
}

/* The same symbol can be joined from different pairs: it has all their gains. */
static void
add_candidate(struct training *training, struct fsst_symbol symbol, uint64_t times)
{
	uint64_t gain = times * symbol.size * (symbol.size == 1 ? SINGLE_GAIN : 1);
	uint64_t hash = (symbol.bytes + symbol.size) * UINT64_C(0x9e3779b97f4a7c15);
	unsigned at = (unsigned)(hash >> 49); /* FOUND_SLOTS */

	if (times < TIMES_MIN)
		return;
	for (; training->found[at] != 0; at = (at + 1) % FOUND_SLOTS) {
		struct candidate *other = &training->candidates[training->found[at] - 1];

		if (other->symbol.bytes == symbol.bytes && other->symbol.size == symbol.size) {
			other->gain += gain;
			return;
		}
	}
	assert(training->count < CANDIDATES_MAX);
	training->candidates[training->count++] = (struct candidate){ symbol, gain };
	training->found[at] = (uint16_t)training->count;
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

/* Leaves no pair counted. */
static void
find_candidates(struct training *training)
{
	training->count = 0;
	memset(training->found, 0, sizeof(training->found));
	for (unsigned code = 0; code < CODES; code++)
		if (training->used[code] > 0)
			add_candidate(training, symbol_of(training, code), training->used[code]);
	for (size_t i = 0; i < training->met_count; i++) {
		unsigned a = training->met[i] / CODES, b = training->met[i] % CODES;

		if (symbol_of(training, a).size < FSST_SYMBOL_SIZE)
			add_candidate(training,
				join(symbol_of(training, a), symbol_of(training, b)),
				training->pairs[a][b]);
		training->pairs[a][b] = 0;
	}
	training->met_count = 0;
}

/* The best first; of equals the shorter ones. */
static int
compare_gains(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->gain != b->gain)
		return a->gain > b->gain ? -1 : 1;
	if (a->symbol.size != b->symbol.size)
		return a->symbol.size < b->symbol.size ? -1 : 1;
	return (a->symbol.bytes > b->symbol.bytes) - (a->symbol.bytes < b->symbol.bytes);
}

static unsigned
gain_of(const struct candidate *candidate)
{
	return candidate->gain < GAINS ? (unsigned)candidate->gain : GAINS - 1;
}

/* Sorts them, but none that can't be among the best. */
static void
sort_candidates(struct training *training)
{
	struct candidate *all = training->candidates;
	unsigned times[GAINS] = { 0 }, least = GAINS, better = 0;
	size_t kept = 0;

	for (size_t i = 0; i < training->count; i++)
		times[gain_of(&all[i])]++;
	while (least > 0 && better < FSST_SYMBOLS_MAX)
		better += times[--least];
	for (size_t i = 0; i < training->count; i++)
		if (gain_of(&all[i]) >= least)
			all[kept++] = all[i];
	training->count = kept;
	qsort(all, kept, sizeof(*all), compare_gains);
}

static unsigned
place_of(const struct fsst_symbol *symbol)
{
	return symbol->size > 2 ? bucket_of(symbol->bytes) : FSST_BUCKETS;
}

/* See fsst_symbols. */
static int
compare_places(const void *left, const void *right)
{
	const struct fsst_symbol *a = left, *b = right;
	unsigned place_a = place_of(a), place_b = place_of(b);

	if (place_a != place_b)
		return place_a < place_b ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

/* Those of two bytes stand before those of one, which are put first. */
static void
index_symbols(struct fsst_symbols *symbols)
{
	unsigned short_ones = symbols->count;

	qsort(symbols->symbols, symbols->count, sizeof(symbols->symbols[0]), compare_places);
	memset(symbols->buckets, 0, sizeof(symbols->buckets));
	for (unsigned i = 0; i < ARRAY_SIZE(symbols->singles); i++)
		symbols->singles[i] = match_of(BYTE_CODE + i, 1);
	for (; short_ones > 0 && symbols->symbols[short_ones - 1].size == 1; short_ones--)
		symbols->singles[symbols->symbols[short_ones - 1].bytes] =
			match_of(short_ones - 1, 1);
	for (unsigned i = 0; i < ARRAY_SIZE(symbols->pairs); i += ARRAY_SIZE(symbols->singles))
		memcpy(&symbols->pairs[i], symbols->singles, sizeof(symbols->singles));
	for (unsigned i = 0; i < short_ones; i++) {
		unsigned bucket = place_of(&symbols->symbols[i]);

		if (bucket == FSST_BUCKETS)
			symbols->pairs[symbols->symbols[i].bytes] = match_of(i, 2);
		else if (symbols->buckets[bucket].count++ == 0)
			symbols->buckets[bucket].first = (uint8_t)i;
	}
}

static void
train_round(struct training *training, const struct slice *sample, size_t count)
{
	struct fsst_symbols *symbols = training->symbols;
	size_t left = SAMPLE_MAX;

	memset(training->used, 0, sizeof(training->used));
	for (size_t i = 0; i < count && left > 0; i++) {
		size_t size = sample[i].size < left ? sample[i].size : left;

		count_value(training, slice_of(sample[i].data, size));
		left -= size;
	}
	find_candidates(training);
	sort_candidates(training);
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
