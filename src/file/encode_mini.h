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

/* One encoding tried on the values of a page. */
struct mini_attempt {
	struct mini_plan plan; /* message, buffer_count and chunk_log2; size when it is known */
	void *own;             /* what the encoder keeps for itself, also on failure */
	bool fits;             /* false while it has no use for the values */
	uint64_t worth;        /* given: a size that is no better than what was found already */
};

struct mini_encoder {
	const char *name;
	/* What a byte counts for in comparisons, in hundredths: more than 100 when reading is slow,
	 * so that a little gain is none. */
	unsigned weight;
	bool is_general; /* general compression, which fields can wish for */
	int (*open)(const struct encode_column *column, struct mini_attempt *attempt,
		struct lancet_error *err);
	void (*release)(void *own); /* NULL: nothing is kept */
	int (*chunk)(const struct encode_column *column, void *own, uint64_t first, uint64_t count,
		struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err);
};

/* What all share that were tried: the values, and at last the one that was chosen. */
struct mini_state {
	struct encode_column column;
	bool is_plain; /* gets no dictionary */
	const struct mini_encoder *encoder;
	void *own;
};

/* Encodes chunks of a sample for the plan's size, the message included; plan.state is set. A bad
 * plan is given up early, and then looks bad enough. LIMIT: not even two values fit a chunk. */
int mini_measure(struct mini_attempt *attempt, struct lancet_error *err);
/* Bytes of a chunk of such buffers, as the layout has it without levels, and of its word. */
uint64_t mini_chunk_size(enum file_version version, const size_t *sizes, unsigned count);
/* Bits of a symbol, about, when each comes so many times. */
double encode_entropy(const uint32_t *times, size_t count);
/* Bytes of a slot, on average and without offsets. */
uint64_t mini_slot_size(const struct encode_column *column);

extern const struct mini_encoder mini_flat, mini_variable, mini_bitpack, mini_rle,
	mini_dictionary_texts, mini_dictionary_numbers, mini_fsst, mini_lz4, mini_zstd_quick,
	mini_zstd, mini_split_symbols, mini_split_matches;

/* The largest power of two of values of `size` bytes, at least 2, that make about `goal` bytes. */
unsigned mini_chunk_log2(uint64_t size, uint64_t goal);
/* Values of a chunk for encodings that gain by larger ones. */
unsigned mini_values_log2(const struct encode_column *column);
/* LIMIT when a buffer passes what a chunk of the version may have. */
int mini_check_size(
	const struct encode_column *column, const struct buf *buffer, struct lancet_error *err);
/* As mini_plan_make, of an array that has no dictionary and gets none. */
int mini_plan_plain(
	const struct encode_values *values, struct mini_plan *ret_plan, struct lancet_error *err);

#endif
