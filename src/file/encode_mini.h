/* Inside of encode: one row for each encoding of mini-blocks.
 *
 * A row looks at the values of a page and says whether it can take them; what it would need is then
 * measured by encoding chunks, as all others are.
 */
#ifndef FILE_ENCODE_MINI_H
#define FILE_ENCODE_MINI_H

#include "encode_column.h"

/* Of chunk sizes. 2.1 tells sizes in 16 bits and units of 8 bytes: 32 KiB with the levels. */
#define MINI_CHUNK_21_MAX ((size_t)32 * 1024)
/* All readers take up to 32,768 values; fewer make single rows cheaper to read. */
#define MINI_VALUES_LOG2         12u
#define MINI_VALUES_LINEAGE_LOG2 15u

struct mini_encoder {
	const char *name;
	/* What a byte counts for in comparisons, in hundredths: more than 100 when reading is slow,
	 * so that a little gain is none. */
	unsigned weight;
	bool is_general; /* general compression, which fields can wish for */
	/* Encoding is slow: chunks of a sample are measured, not all. */
	bool slow;
	/* Fills message, buffer_count and chunk_log2 of the plan, its size when that is known
	 * without measuring, and what the encoder keeps for itself (*ret_own, also on failure).
	 * *ret_fits stays false when it has no use for the values. */
	int (*open)(const struct encode_column *column, struct mini_plan *plan, void **ret_own,
		bool *ret_fits, struct lancet_error *err);
	void (*release)(void *own); /* NULL: nothing is kept */
	int (*chunk)(const struct encode_column *column, void *own, uint64_t first, uint64_t count,
		struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err);
};

extern const struct mini_encoder mini_flat, mini_variable, mini_bitpack, mini_rle, mini_dictionary,
	mini_fsst, mini_lz4, mini_zstd, mini_split_symbols, mini_split_matches;

/* The largest power of two of values of `size` bytes, at least 2, that make about `goal` bytes. */
unsigned mini_chunk_log2(uint64_t size, uint64_t goal);
/* Values of a chunk for encodings that gain by larger ones. */
unsigned mini_values_log2(const struct encode_column *column);
/* LIMIT when a buffer passes what a chunk of the version may have. */
int mini_check_size(
	const struct encode_column *column, const struct buf *buffer, struct lancet_error *err);
/* Values as they are, without the validity of items. */
void flat_put(const struct encode_column *column, uint64_t first, uint64_t count, struct buf *into);
/* As mini_plan_make, of an array that has no dictionary and gets none. */
int mini_plan_plain(
	const struct encode_values *values, struct mini_plan *ret_plan, struct lancet_error *err);

#endif
