/* Values of one page on their way into buffers: which encoding is smallest, and the bytes.
 *
 * A plan is made from all slots of a page: candidates are tried on the values themselves (all of
 * them or a sample that is big enough) and the smallest one wins, with a bias towards those that
 * are read fast when sizes are close. Then chunks, or single values, are encoded one after the
 * other. Each encoding is one file and one row of a table. Format facts: compressive encodings,
 * where each codec may occur, writer rules.
 */
#ifndef FILE_ENCODE_H
#define FILE_ENCODE_H

#include "array.h"
#include "file_column.h"

#define ENCODE_BUFFERS_MAX 8u

/* Slots [first, first + count) of a leaf's array, null ones included (their bytes don't count). */
struct encode_values {
	enum file_version version;
	const struct field *leaf; /* its metadata may ask for compression */
	const struct array *array;
	uint64_t first, count;
};

/* Mini-blocks. */
struct mini_plan {
	struct buf message;    /* encoded CompressiveEncoding of the values, or of the indices */
	unsigned buffer_count; /* value buffers of each chunk */
	unsigned chunk_log2;   /* slots of a chunk, at most and preferably */
	struct buf dictionary_message, dictionary; /* empty: no page dictionary */
	uint64_t dictionary_items;
	uint64_t size; /* bytes of all chunks' values, about */
	void *state;   /* of the encoding */
};
/* A value that all valid slots have, when the version can say so (2.2): *ret_constant and `value`
 * as ConstantLayout has it, inline or as a value buffer. */
int encode_constant(const struct encode_values *values, bool *ret_constant, bool *ret_inline,
	struct buf *value, struct lancet_error *err);
/* True when the values belong into a full-zip page: wide ones, for which chunks make no sense. */
bool encode_wants_zip(const struct encode_values *values);
/* Of such: *ret_repeats is true when they are few different ones, which a page dictionary holds;
 * the plan of a mini-block has one then. */
int encode_repeats(const struct encode_values *values, bool *ret_repeats, struct lancet_error *err);
int mini_plan_make(
	const struct encode_values *values, struct mini_plan *ret_plan, struct lancet_error *err);
void mini_plan_release(struct mini_plan *plan);
/* Slots [first, first + count) counted from the plan's first one; count is at most 1 << chunk_log2
 * and a power of two, or reaches to the end. Buffers are appended to; sizes are for the caller to
 * add up: LIMIT when the chunk can't be held (2.1: 32 KiB), then ask for fewer slots. */
int mini_plan_chunk(struct mini_plan *plan, uint64_t first, uint64_t count,
	struct buf into[ENCODE_BUFFERS_MAX], struct lancet_error *err);

/* Full-zip: a byte string for each value. */
struct zip_plan {
	struct buf message;
	bool variable; /* else `bits` for each value */
	uint64_t bits; /* of a value, or of a length (32 or 64) */
	void *state;
};
int zip_plan_make(
	const struct encode_values *values, struct zip_plan *ret_plan, struct lancet_error *err);
void zip_plan_release(struct zip_plan *plan);
/* The bytes of slot `index`, appended. */
int zip_plan_value(
	struct zip_plan *plan, uint64_t index, struct buf *into, struct lancet_error *err);

/* Repetition or definition levels of a page: one encoding for all chunks, one block for each. */
struct level_plan {
	struct buf message; /* empty: there are no levels of this kind */
	int codec;
	unsigned width;
};
/* `maximum` is that of all levels. chunk_levels: how many go into a block, about. */
int level_plan_make(enum file_version version, const uint16_t *levels, uint64_t count,
	uint64_t chunk_levels, struct level_plan *ret_plan, struct lancet_error *err);
void level_plan_release(struct level_plan *plan);
int level_plan_block(const struct level_plan *plan, const uint16_t *levels, uint64_t count,
	struct buf *into, struct lancet_error *err);

#endif
