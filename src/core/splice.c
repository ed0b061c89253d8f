/* Pieces of a made file. */
#include "splice.h"

#include <assert.h>
#include <stdlib.h>

#include "util/macros.h"

void
splice_init(struct splice *splice, struct source *source)
{
	*splice = (struct splice){ .source = source_ref(source) };
}

void
splice_release(struct splice *splice)
{
	source_unref(splice->source);
	buf_release(&splice->literals);
	free(splice->pieces);
	*splice = (struct splice){ 0 };
}

static struct splice_piece *
add_piece(struct splice *splice)
{
	if (splice->count == splice->capacity) {
		size_t capacity = splice->capacity == 0 ? 64 : splice->capacity * 2;
		struct splice_piece *pieces = realloc(splice->pieces, capacity * sizeof(*pieces));

		if (pieces == NULL) {
			splice->failed = true;
			return NULL;
		}
		splice->pieces = pieces;
		splice->capacity = capacity;
	}
	splice->pieces[splice->count] = (struct splice_piece){ 0 };
	return &splice->pieces[splice->count++];
}

void
splice_copy(struct splice *splice, uint64_t from, uint64_t size)
{
	struct splice_piece *last = splice->count == 0 ? NULL : &splice->pieces[splice->count - 1];

	if (size == 0 || splice->failed)
		return;
	if (last == NULL || last->literal || last->from + last->size != from) {
		last = add_piece(splice);
		if (last == NULL)
			return;
		last->from = from;
	}
	last->size += size;
	splice->size += size;
}

size_t
splice_reserve(struct splice *splice)
{
	struct splice_piece *piece = add_piece(splice);

	if (piece != NULL)
		piece->literal = true;
	return splice->count - 1;
}

void
splice_set(struct splice *splice, size_t index, const void *data, size_t size)
{
	if (splice->failed)
		return;
	assert(index < splice->count && splice->pieces[index].literal);
	splice->pieces[index].from = splice->literals.size;
	splice->pieces[index].size = size;
	buf_put(&splice->literals, data, size);
	splice->failed = splice->literals.failed != LANCET_OK;
	splice->size += size;
}

void
splice_literal(struct splice *splice, const void *data, size_t size)
{
	splice_set(splice, splice_reserve(splice), data, size);
}

void
splice_borrow(struct splice *splice, const void *data, size_t size)
{
	struct splice_piece *piece = add_piece(splice);

	if (piece == NULL)
		return;
	*piece = (struct splice_piece){ .size = size, .borrowed = data, .literal = true };
	splice->size += size;
}

void
splice_rewind(struct splice *splice, size_t count, uint64_t size)
{
	assert(count <= splice->count && size <= splice->size);
	splice->count = count;
	splice->size = size;
}

int
splice_finish(struct splice *splice, struct lancet_error *err)
{
	uint64_t at = 0;

	if (splice->failed)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu pieces", splice->count);
	for (size_t i = 0; i < splice->count; i++) {
		splice->pieces[i].at = at;
		at += splice->pieces[i].size;
	}
	assert(at == splice->size);
	return LANCET_OK;
}

/* The last piece that starts at or before `offset`; of empty ones the last. */
static size_t
find_piece(const struct splice *splice, uint64_t offset)
{
	size_t low = 0, high = splice->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (splice->pieces[middle].at <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int
splice_read(const struct splice *splice, uint64_t offset, size_t size, void *into,
	struct lancet_error *err)
{
	uint8_t *to = into;

	assert(offset <= splice->size && size <= splice->size - offset);
	for (size_t i = size == 0 ? 0 : find_piece(splice, offset); size > 0; i++) {
		const struct splice_piece *piece = &splice->pieces[i];
		uint64_t skip = offset - piece->at;
		size_t here = piece->size - skip < size ? (size_t)(piece->size - skip) : size;

		if (piece->borrowed != NULL)
			memcpy(to, piece->borrowed + skip, here);
		else if (piece->literal)
			memcpy(to, splice->literals.data + piece->from + skip, here);
		else
			TRY(source_read_at(splice->source, piece->from + skip, here, to, err));
		to += here;
		offset += here;
		size -= here;
	}
	return LANCET_OK;
}
