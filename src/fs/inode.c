/* Hashing of inode numbers, and the answer to clashes; see inode.h. */
#include "inode.h"

#include <stdlib.h>

#include "util/text.h"

#define INODE_MASK   (UINT64_MAX >> 1)
#define ROOT_SEED    UINT64_C(0x6c616e6365667321)
#define NUMBER_STEP  UINT64_C(0x1e3779b97f4a7c15)
#define MIX          UINT64_C(0x58476d1ce4e5b9bf)
#define RESERVED_END 2 /* 0 is no inode and 1 the root of a mount */

static uint64_t
inode_of(uint64_t hash)
{
	uint64_t inode = hash & INODE_MASK;

	return inode < RESERVED_END ? inode + ROOT_SEED : inode;
}

uint64_t
inode_root(void)
{
	return inode_of(text_hash(ROOT_SEED, slice_text("root")));
}

uint64_t
inode_named(uint64_t parent, struct slice name)
{
	return inode_of(
		text_hash(text_hash(TEXT_HASH_SEED, slice_of(&parent, sizeof(parent))), name));
}

/* Each step is a bijection of 63-bit numbers: adding, multiplying by an odd number, and folding the
 * upper bits onto the lower ones. */
uint64_t
inode_numbered(uint64_t parent, uint64_t number)
{
	uint64_t inode = (parent + number * NUMBER_STEP) & INODE_MASK;

	inode ^= inode >> 31;
	inode = inode * MIX & INODE_MASK;
	inode ^= inode >> 29;
	inode = inode * MIX & INODE_MASK;
	return inode_of(inode ^ inode >> 32);
}

uint64_t
inode_file(const char *base_identity, const char *path)
{
	uint64_t base = text_hash(TEXT_HASH_SEED, slice_text(base_identity));

	return inode_of(text_hash(base, slice_text(path)));
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(((const struct inode_child *)a)->name, ((const struct inode_child *)b)->name);
}

static int
compare_inodes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* All numbers in order; NULL when there is no memory. */
static uint64_t *
sorted_inodes(const struct inode_child *children, size_t count)
{
	uint64_t *inodes = malloc((count + 1) * sizeof(*inodes));

	for (size_t i = 0; inodes != NULL && i < count; i++)
		inodes[i] = children[i].inode;
	if (inodes != NULL)
		qsort(inodes, count, sizeof(*inodes), compare_inodes);
	return inodes;
}

/* Whether a number that is among the sorted ones is there twice. */
static bool
occurs_twice(const uint64_t *inodes, size_t count, uint64_t inode)
{
	const uint64_t *at = bsearch(&inode, inodes, count, sizeof(*inodes), compare_inodes);

	return at != NULL &&
	       ((at > inodes && at[-1] == inode) || (at + 1 < inodes + count && at[1] == inode));
}

static bool
taken(const struct inode_child *children, size_t count, size_t except, uint64_t inode)
{
	for (size_t i = 0; i < count; i++) {
		if (i != except && children[i].inode == inode)
			return true;
	}
	return false;
}

size_t
inode_settle(struct inode_child *children, size_t count)
{
	uint64_t *inodes;
	size_t changed = 0;

	qsort(children, count, sizeof(*children), compare_names);
	inodes = sorted_inodes(children, count);
	if (inodes == NULL)
		return 0;
	for (size_t i = 1; i < count; i++) {
		uint64_t first = children[i].inode;

		if (!occurs_twice(inodes, count, first) || !taken(children, i, i, first))
			continue;
		for (uint64_t n = 1; taken(children, count, i, children[i].inode); n++)
			children[i].inode = inode_numbered(first, n);
		changed++;
	}
	free(inodes);
	return changed;
}
