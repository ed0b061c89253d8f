/* A file that is made of ranges of another file and of new bytes, without building it in memory.
 *
 * Manifests may be hundreds of megabytes; a standalone copy changes a few bytes of each fragment.
 * So the result is a list of pieces: its size is known when the list is, and any range of it can be
 * read.
 */
#ifndef CORE_SPLICE_H
#define CORE_SPLICE_H

#include "util/buf.h"
#include "util/source.h"

struct splice_piece {
	uint64_t at;             /* offset in the result; set by splice_finish */
	uint64_t from;           /* offset in source, or in literals */
	uint64_t size;           /* bytes */
	const uint8_t *borrowed; /* NULL, or a literal that is not in literals */
	bool literal;
};

struct splice {
	struct source *source; /* counted */
	struct buf literals;
	struct splice_piece *pieces;
	size_t count, capacity;
	uint64_t size; /* bytes of the result so far */
	bool failed;   /* out of memory; sticky */
};

void splice_init(struct splice *splice, struct source *source);
void splice_release(struct splice *splice);
/* Appends source[from, from + size), which the caller has checked; neighbours become one piece. */
void splice_copy(struct splice *splice, uint64_t from, uint64_t size);
void splice_literal(struct splice *splice, const void *data, size_t size);
/* The same without a copy: the data outlives the splice. */
void splice_borrow(struct splice *splice, const void *data, size_t size);
/* A place whose bytes are set later (a length that is not known yet); its index. */
size_t splice_reserve(struct splice *splice);
void splice_set(struct splice *splice, size_t index, const void *data, size_t size);
/* Takes back everything since `count` pieces and `size` bytes. */
void splice_rewind(struct splice *splice, size_t count, uint64_t size);
int splice_finish(struct splice *splice, struct lancet_error *err);
/* After splice_finish; offset + size <= splice->size. */
int splice_read(const struct splice *splice, uint64_t offset, size_t size, void *into,
	struct lancet_error *err);

#endif
