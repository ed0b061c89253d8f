/* The arena: blocks of malloc that double in size, bumped through, freed together.
 *
 * `used` counts what is handed out, rounded to 16 bytes, and each block's head. It is what the
 * limit is compared with before memory is taken; the last block is made no larger than the limit
 * still allows. Large items get a block of their own, so less than a third of what is held is ever
 * waste.
 */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT      16u
#define BLOCK_SIZE_MIN 4096u
#define BLOCK_SIZE_MAX (256u * 1024)

struct arena_block {
	struct arena_block *next;
	size_t size; /* bytes of data */
	size_t at;   /* first free byte of data */
	_Alignas(16) uint8_t data[];
};

/* A block for `needed` bytes to be bumped through from now on, or, when it would waste too much of
 * the current one, a block of just that size behind it. */
static struct arena_block *
add_block(struct arena *a, size_t needed)
{
	size_t head = sizeof(struct arena_block);
	size_t left = a->limit == 0 ? SIZE_MAX - a->used : a->limit - a->used;
	size_t size = a->blocks == NULL ? BLOCK_SIZE_MIN : a->blocks->size * 2;
	struct arena_block *block;
	bool alone;

	if (left < head || needed > left - head)
		return NULL;
	if (size < BLOCK_SIZE_MIN)
		size = BLOCK_SIZE_MIN;
	if (size > BLOCK_SIZE_MAX)
		size = BLOCK_SIZE_MAX;
	alone = needed > size / 4;
	if (alone)
		size = needed;
	else if (size > left - head)
		size = left - head;
	block = malloc(head + size);
	if (block == NULL)
		return NULL;
	block->size = size;
	block->at = 0;
	if (alone && a->blocks != NULL) {
		block->next = a->blocks->next;
		a->blocks->next = block;
	} else {
		block->next = a->blocks;
		a->blocks = block;
	}
	a->used += head;
	return block;
}

void *
arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *block = a->blocks;
	size_t rounded;
	void *taken;

	if (size > SIZE_MAX - ALIGNMENT)
		goto full;
	rounded = size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	if (a->limit != 0 && (a->used > a->limit || rounded > a->limit - a->used))
		goto full;
	if (block == NULL || rounded > block->size - block->at)
		block = add_block(a, rounded);
	if (block == NULL)
		goto full;
	taken = block->data + block->at;
	block->at += rounded;
	a->used += rounded;
	return taken;
full:
	a->full = true;
	return NULL;
}

void *
arena_zalloc(struct arena *a, size_t count, size_t size)
{
	void *taken;

	if (size != 0 && count > SIZE_MAX / size) {
		a->full = true;
		return NULL;
	}
	taken = arena_alloc(a, count * size);
	if (taken != NULL)
		memset(taken, 0, count * size);
	return taken;
}

void *
arena_copy(struct arena *a, const void *data, size_t size)
{
	void *taken = arena_alloc(a, size);

	if (taken != NULL && size != 0)
		memcpy(taken, data, size);
	return taken;
}

size_t
arena_footprint(const struct arena *a)
{
	size_t total = 0;

	for (const struct arena_block *block = a->blocks; block != NULL; block = block->next)
		total += sizeof(*block) + block->size;
	return total;
}

void
arena_release(struct arena *a)
{
	struct arena_block *next;

	if (a == NULL)
		return;
	for (struct arena_block *block = a->blocks; block != NULL; block = next) {
		next = block->next;
		free(block);
	}
	*a = (struct arena){ .limit = a->limit };
}
