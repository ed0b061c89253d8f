/* Cutting row ids into segments; see rowids_blocks.h.
 *
 * A few runs of ids that lie close together, or a long one, are a leaf of a tree that is built from
 * left to right: two neighbours of one height become one segment when that takes no more bytes than
 * their segments do, else these stay. First the leaves of each ascending stretch are put together,
 * then the stretches in the same way. So no cut is dearer than a single segment, at any height.
 */
#include "rowids_blocks.h"

#include <assert.h>
#include <stdlib.h>

#include "sequence_write.h"
#include "util/bits.h"

#define NODES          64u   /* that are not combined yet: two for each height */
#define LONG_RUN       256u  /* ids that are a leaf of their own */
#define LEAF_IDS       128u  /* in short runs */
#define LONG_GAP       1024u /* ids that are missing */
#define SHUFFLED_FALLS 4u    /* ids for each that is not above the one before */
#define NARROW_FEWER   64u   /* cuts that save less than one part in this aren't made */

/* A stretch of ids that may be one segment. */
struct piece {
	uint32_t first, count;
	uint64_t least, most, hole_least, hole_most; /* the last two: with holes */
	bool ascends;
	enum segment_kind kind; /* the smallest */
	uint64_t size;          /* of the segment, bytes */
};

struct node {
	struct piece whole;
	uint64_t size; /* of its pieces */
	size_t pieces; /* the place of its first one */
	unsigned height;
};

struct cutting {
	const uint64_t *ids;
	struct piece *pieces;
	size_t piece_count, piece_capacity;
	struct node nodes[NODES];
	size_t node_count;
	bool failed;
};

static uint64_t
varint_size(uint64_t value)
{
	return value == 0 ? 1 : (63 - (unsigned)__builtin_clzll(value)) / 7 + 1;
}

/* A field of that many bytes; its tag is one byte. */
static uint64_t
field_size(uint64_t size)
{
	return 1 + varint_size(size) + size;
}

static uint64_t
number_size(uint64_t value)
{
	return value == 0 ? 0 : 1 + varint_size(value);
}

static uint64_t
array_size(uint64_t least, uint64_t most, uint64_t count)
{
	uint64_t span = most - least;
	uint64_t width = span <= UINT16_MAX ? 2 : span <= UINT32_MAX ? 4 : 8;

	return field_size((width == 8 ? 0 : number_size(least)) + field_size(count * width));
}

static uint64_t
holes_of(const struct piece *piece)
{
	return piece->most - piece->least + 1 - piece->count;
}

static void
offer(struct piece *piece, enum segment_kind kind, uint64_t body)
{
	uint64_t size = field_size(field_size(body));

	if (piece->kind != SEGMENT_NONE && size >= piece->size)
		return;
	piece->kind = kind;
	piece->size = size;
}

/* Sets the smallest form. */
static void
choose(struct piece *piece)
{
	uint64_t bounds = number_size(piece->least) + number_size(piece->most + 1);
	uint64_t holes = holes_of(piece);

	piece->kind = SEGMENT_NONE;
	if (!piece->ascends) {
		offer(piece, SEGMENT_ARRAY, array_size(piece->least, piece->most, piece->count));
		return;
	}
	if (piece->most == UINT64_MAX) { /* no end can be said */
		offer(piece, SEGMENT_SORTED, array_size(piece->least, piece->most, piece->count));
		return;
	}
	if (holes == 0) {
		offer(piece, SEGMENT_RANGE, bounds);
		return;
	}
	if (holes / 8 <= piece->count)
		offer(piece, SEGMENT_HOLES,
			bounds +
				field_size(array_size(piece->hole_least, piece->hole_most, holes)));
	offer(piece, SEGMENT_BITMAP, bounds + field_size(bits_size(holes + piece->count)));
	offer(piece, SEGMENT_SORTED, array_size(piece->least, piece->most, piece->count));
}

static struct piece
join(const struct cutting *cutting, const struct piece *left, const struct piece *right)
{
	struct piece both = *left;
	uint64_t last = cutting->ids[left->first + left->count - 1];
	uint64_t next = cutting->ids[right->first];

	both.count += right->count;
	both.least = left->least < right->least ? left->least : right->least;
	both.most = left->most > right->most ? left->most : right->most;
	both.ascends = left->ascends && right->ascends && last < next;
	if (both.ascends && holes_of(&both) > 0) {
		bool gap = last + 1 < next;

		both.hole_least = holes_of(left) > 0 ? left->hole_least
				  : gap              ? last + 1
						     : right->hole_least;
		both.hole_most = holes_of(right) > 0 ? right->hole_most
				 : gap               ? next - 1
						     : left->hole_most;
	}
	choose(&both);
	return both;
}

static void
push_piece(struct cutting *cutting, const struct piece *piece)
{
	if (cutting->piece_count == cutting->piece_capacity) {
		size_t capacity = cutting->piece_capacity == 0 ? 64 : 2 * cutting->piece_capacity;
		struct piece *pieces = reallocarray(cutting->pieces, capacity, sizeof(*pieces));

		if (pieces == NULL) {
			cutting->failed = true;
			return;
		}
		cutting->pieces = pieces;
		cutting->piece_capacity = capacity;
	}
	cutting->pieces[cutting->piece_count++] = *piece;
}

/* The two topmost nodes become one. */
static void
combine(struct cutting *cutting)
{
	struct node *left = &cutting->nodes[cutting->node_count - 2];
	const struct node *right = left + 1;

	left->whole = join(cutting, &left->whole, &right->whole);
	left->size += right->size;
	left->height++;
	cutting->node_count--;
	if (left->whole.size > left->size + left->size / NARROW_FEWER)
		return;
	left->size = left->whole.size;
	cutting->piece_count = left->pieces;
	push_piece(cutting, &left->whole);
}

/* Nodes from `floor` on are combined as long as the last two have the same height. */
static void
settle(struct cutting *cutting, size_t floor)
{
	while (cutting->node_count > floor + 1 && !cutting->failed) {
		const struct node *top = &cutting->nodes[cutting->node_count - 1];

		if (top[0].height != top[-1].height)
			return;
		combine(cutting);
	}
}

/* A leaf: ascending ids that are one segment unless their neighbours are. */
static void
push_leaf(struct cutting *cutting, struct piece *leaf)
{
	choose(leaf);
	cutting->nodes[cutting->node_count++] =
		(struct node){ *leaf, leaf->size, cutting->piece_count, 0 };
	push_piece(cutting, leaf);
}

/* Runs [first, first + count) of ids behind a leaf; false when it is better off without. */
static bool
extend(const struct cutting *cutting, struct piece *leaf, size_t first, size_t count)
{
	uint64_t gap = cutting->ids[first] - leaf->most - 1;

	if (count >= LONG_RUN || leaf->count >= LEAF_IDS || gap >= LONG_GAP)
		return false;
	if (holes_of(leaf) == 0)
		leaf->hole_least = leaf->most + 1;
	leaf->hole_most = cutting->ids[first] - 1;
	leaf->most = cutting->ids[first + count - 1];
	leaf->count += (uint32_t)count;
	return true;
}

/* Makes one node of the stretch's nodes, those from `floor` on, a leaf among stretches. */
static size_t
end_stretch(struct cutting *cutting, size_t floor)
{
	while (cutting->node_count > floor + 1 && !cutting->failed)
		combine(cutting);
	cutting->nodes[floor].height = 0;
	settle(cutting, 0);
	return cutting->node_count;
}

/* The end of the run that begins at `first`. */
static size_t
run_end(const uint64_t *ids, size_t first, size_t count)
{
	size_t i = first + 1;

	while (i < count && ids[i] == ids[i - 1] + 1 && ids[i] != UINT64_MAX)
		i++;
	return i;
}

static void
cut(struct cutting *cutting, size_t count)
{
	const uint64_t *ids = cutting->ids;
	size_t floor = 0, end;

	for (size_t first = 0; first < count && !cutting->failed; first = end) {
		struct piece leaf = { .first = (uint32_t)first, .ascends = true };

		end = run_end(ids, first, count);
		leaf.count = (uint32_t)(end - first);
		leaf.least = ids[first];
		leaf.most = ids[end - 1];
		while (leaf.count < LONG_RUN && end < count && ids[end] > leaf.most) {
			size_t next = run_end(ids, end, count);

			if (!extend(cutting, &leaf, end, next - end))
				break;
			end = next;
		}
		push_leaf(cutting, &leaf);
		settle(cutting, floor);
		if (end < count && ids[end] <= leaf.most)
			floor = end_stretch(cutting, floor);
	}
	while (cutting->node_count > 1 && !cutting->failed)
		combine(cutting);
}

/* Ids in no order at all have no better form than an array. */
static bool
is_shuffled(const uint64_t *ids, size_t count)
{
	size_t falls = 0;

	for (size_t i = 1; i < count; i++)
		falls += ids[i] <= ids[i - 1];
	return falls >= count / SHUFFLED_FALLS && count > SHUFFLED_FALLS;
}

/* Neighbours of different parents that are smaller together. */
static void
join_neighbours(struct cutting *cutting)
{
	size_t kept = 0;

	for (size_t i = 0; i < cutting->piece_count; i++) {
		cutting->pieces[kept++] = cutting->pieces[i];
		while (kept > 1) {
			struct piece *left = &cutting->pieces[kept - 2];
			struct piece both = join(cutting, left, left + 1);

			if (both.size > left[0].size + left[1].size)
				break;
			*left = both;
			kept--;
		}
	}
	cutting->piece_count = kept;
}

static void
flush(struct rowids_blocks *blocks)
{
	if (blocks->count > 0)
		rowids_put_range(blocks->into, blocks->start, blocks->count);
	blocks->count = 0;
}

static void
put_piece(struct rowids_blocks *blocks, const uint64_t *ids, const struct piece *piece)
{
	if (piece->kind != SEGMENT_RANGE) {
		flush(blocks);
		rowids_put_as(blocks->into, piece->kind, ids + piece->first, piece->count);
		return;
	}
	if (blocks->count > 0 && piece->least == blocks->start + blocks->count) {
		blocks->count += piece->count;
		return;
	}
	flush(blocks);
	blocks->start = piece->least;
	blocks->count = piece->count;
}

void
rowids_blocks_put(struct rowids_blocks *blocks, const uint64_t *ids, size_t count)
{
	struct cutting cutting = { .ids = ids };

	assert(count <= ROWIDS_BLOCK);
	if (count == 0)
		return;
	if (is_shuffled(ids, count)) {
		flush(blocks);
		rowids_put_as(blocks->into, SEGMENT_ARRAY, ids, count);
		return;
	}
	cut(&cutting, count);
	join_neighbours(&cutting);
	for (size_t i = 0; i < cutting.piece_count && !cutting.failed; i++)
		put_piece(blocks, ids, &cutting.pieces[i]);
	if (cutting.failed && blocks->into->failed == LANCET_OK)
		blocks->into->failed = LANCET_NO_MEMORY;
	free(cutting.pieces);
}

void
rowids_blocks_end(struct rowids_blocks *blocks)
{
	flush(blocks);
}
