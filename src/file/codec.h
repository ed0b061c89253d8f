/* Compressive encodings of 2.1 and later: how a run of values is packed into buffers.
 *
 * A codec is an opened CompressiveEncoding message: a small tree in an arena, immutable, shared by
 * threads. Each encoding is one file and one row of the registry (`struct encoding`); nesting is
 * opened one level at a time. Where an encoding may occur is part of its row: an encoding in
 * another place is CORRUPT ("rle as a per-value encoding"). Format facts: compressive encodings.
 */
#ifndef FILE_CODEC_H
#define FILE_CODEC_H

#include "array.h"
#include "datafile.h"
#include "scratch.h"

struct Lance__Encodings21__CompressiveEncoding;

#define CODEC_DEPTH_MAX 8u

enum codec_place {
	CODEC_MINI = 1,     /* value buffers of a mini-block chunk */
	CODEC_BLOCK = 2,    /* one buffer: levels, dictionary items, constant levels */
	CODEC_FIXED = 4,    /* one byte string of a fixed size for each value (full-zip) */
	CODEC_VARIABLE = 8, /* one byte string of any size for each value (full-zip) */
};

struct codec {
	const struct encoding *encoding;
	unsigned place; /* the one it was opened for */
	enum file_version version;
	uint64_t bits;      /* of a value once decoded, when it is of a fixed width; else 0 */
	unsigned buffers;   /* MINI: how many buffers it takes, children included */
	uint64_t parameter; /* of the encoding: packed width, dimension, … */
	struct slice bytes; /* of the encoding: constant value, symbol table, … */
	const char *words;  /* what codec_describe says of all that, or NULL */
	const struct codec *inner, *second; /* nested codecs, or NULL */
	const void *state;                  /* of the encoding, in the arena */
};

/* Mini-block value buffers, taken front to back. */
struct codec_buffers {
	const struct slice *buffers;
	size_t count, taken;
};

/* One row of the registry. A decode function that an encoding's places don't need is NULL. Each
 * appends exactly `count` values to `out`, all of them valid unless the encoding itself stores
 * nulls (FixedSizeList items). */
struct encoding {
	const char *name; /* as columns.tsv says it: "flat", "inline_bitpacking" … */
	int pb_case;
	unsigned places; /* 0: in runs of numbers only */
	/* Fills codec (place and version are set) from the message, which dies with the arena.
	 * depth is that of this codec; nested ones are opened with codec_open at depth + 1. */
	int (*open)(const struct Lance__Encodings21__CompressiveEncoding *message, unsigned depth,
		struct arena *arena, struct codec *codec, struct lancet_error *err);
	int (*decode_mini)(const struct codec *codec, struct codec_buffers *in, uint64_t count,
		struct scratch *scratch, struct array *out, struct lancet_error *err);
	int (*decode_block)(const struct codec *codec, struct slice in, uint64_t count,
		struct scratch *scratch, struct array *out, struct lancet_error *err);
	int (*decode_values)(const struct codec *codec, const struct slice *values, size_t count,
		struct scratch *scratch, struct array *out, struct lancet_error *err);
	/* Of a mini-block, values [first, first + part) alone, where that is cheaper than all; else
	 * NULL. */
	int (*decode_part)(const struct codec *codec, struct codec_buffers *in, uint64_t count,
		uint64_t first, uint64_t part, struct scratch *scratch, struct array *out,
		struct lancet_error *err);
};

/* Decodes one level of a message into the arena. CORRUPT: not decodable, or no case that is known.
 */
int codec_unpack(struct slice message, struct arena *arena,
	const struct Lance__Encodings21__CompressiveEncoding **ret_message,
	struct lancet_error *err);
/* The row of the message's case; never NULL for what codec_unpack returned. */
const struct encoding *codec_encoding(
	const struct Lance__Encodings21__CompressiveEncoding *message);
/* Opens one message for one place. CORRUPT: not decodable, no case set, not allowed in this place
 * or in this version, parameters out of range; UNSUPPORTED: refused by name. The arena keeps it. */
int codec_open(struct slice message, enum codec_place place, enum file_version version,
	unsigned depth, struct arena *arena, const struct codec **ret_codec,
	struct lancet_error *err);
int codec_decode_mini(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err);
/* Whether the codec and those inside can decode a part of a mini-block. */
bool codec_has_parts(const struct codec *codec);
/* Values [first, first + part) of those `count`; the codec has parts. */
int codec_decode_part(const struct codec *codec, struct codec_buffers *in, uint64_t count,
	uint64_t first, uint64_t part, struct scratch *scratch, struct array *out,
	struct lancet_error *err);
int codec_decode_block(const struct codec *codec, struct slice in, uint64_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err);
int codec_decode_values(const struct codec *codec, const struct slice *values, size_t count,
	struct scratch *scratch, struct array *out, struct lancet_error *err);
/* In words, outermost first: "general(zstd, flat 64)". */
void codec_describe(const struct codec *codec, struct buf *out);

/* All encodings, and the cases of the message that are known and refused by name. */
extern const struct encoding *const encodings[];
extern const size_t encodings_count;
struct encoding_refused {
	int pb_case;
	const char *name, *why;
};
extern const struct encoding_refused encodings_refused[];
extern const size_t encodings_refused_count;

/* A run of u64 elements of 2.3 (positions, counts, offsets, u32 indices): in their own grammar,
 * which is not that of the places above. `bits` is 32 or 64; out is an array of
 * field_unsigned(64). Opening says whether it needs a buffer; without one `in` is empty. */
struct number_run;
int number_run_open(struct slice message, unsigned bits, struct arena *arena,
	const struct number_run **ret_run, bool *ret_has_buffer, struct lancet_error *err);
int number_run_decode(const struct number_run *run, uint64_t count, struct slice in,
	struct scratch *scratch, struct array *out, struct lancet_error *err);
/* True when the elements are start + i * step, whatever their number: they need not be decoded. */
bool number_run_progression(const struct number_run *run, uint64_t *ret_start, uint64_t *ret_step);

#endif
