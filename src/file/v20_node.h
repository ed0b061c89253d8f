/* What the encodings of v20.h share: nested nodes, their buffers and working memory. */
#ifndef FILE_V20_NODE_H
#define FILE_V20_NODE_H

#include "v20.h"

#include "lance/encodings.pb-c.h"

typedef Lance__Encodings__ArrayEncoding v20_message;

/* Opens a message; `depth` is that of the node itself. */
int v20_open(struct slice message, struct arena *arena, unsigned depth, struct v20_node *node,
	struct lancet_error *err);
/* The same into a new node, for a node at `depth` that has it inside. */
int v20_open_inner(const ProtobufCBinaryData *message, struct arena *arena, unsigned depth,
	struct v20_node **ret_node, struct lancet_error *err);
int v20_bind(struct v20_page *page, struct v20_node *node, const struct field *field,
	uint64_t count, struct lancet_error *err);
int v20_read(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	struct array *out, struct lancet_error *err);
void v20_describe_node(const struct v20_node *node, struct buf *out);
/* Steps through wrappers that say that nothing is null. */
struct v20_node *v20_plain(struct v20_node *node);

/* An ask with each range `factor` times as long: the items of fixed-size lists, bytes of values. */
struct v20_ask v20_scaled(const struct v20_ask *ask, uint64_t factor);
/* All items of a node. `range` is its memory. */
struct v20_ask v20_everything(const struct v20_node *node, struct row_range *range);

/* Working memory of a bound node. */
int v20_work(struct v20_page *page, struct v20_node *node, struct lancet_error *err);
/* Reads items of `from` into node->work->values, which are emptied before. */
int v20_read_values(struct v20_page *page, struct v20_node *node, struct v20_node *from,
	const struct v20_ask *ask, struct lancet_error *err);
/* Reads all items of `from` into node->work->items, once. */
int v20_read_items(struct v20_page *page, struct v20_node *node, struct v20_node *from,
	struct lancet_error *err);

/* The name of a buffer, taken over from the message. */
void v20_name_buffer(struct v20_node *node, const Lance__Encodings__Buffer *buffer);
/* Finds the node's buffer. CORRUPT: there is no such buffer, or `stored` items of node->packed bits
 * do not fit into it (compressed ones are not compared). */
int v20_bind_buffer(
	struct v20_page *page, struct v20_node *node, uint64_t stored, struct lancet_error *err);
/* Bytes [offset, offset + size) of the node's buffer. */
int v20_fetch(struct v20_page *page, const struct v20_node *node, uint64_t offset, uint64_t size,
	void *into, struct lancet_error *err);
/* The whole buffer of a node with a scheme, decompressed; it is kept. */
int v20_inflate(struct v20_page *page, struct v20_node *node, struct slice *ret_bytes,
	struct lancet_error *err);

/* Gets items of an ask, in order: `count` of them, the first being item `skip` of `bytes`, behind
 * which another 16 bytes may be read. */
typedef int (*v20_span_fn)(
	void *user, const uint8_t *bytes, uint64_t skip, uint64_t count, struct lancet_error *err);
/* Reads what is asked for in pieces that begin at multiples of `align` items; ranges with small
 * gaps between them are read at once. `stored` as for v20_bind_buffer. */
int v20_each_span(struct v20_page *page, const struct v20_node *node, const struct v20_ask *ask,
	uint64_t align, uint64_t stored, v20_span_fn fn, void *user, struct lancet_error *err);
/* How many ranges from `first` on are near enough to be read at once, when an item has `bits`. */
size_t v20_near(const struct v20_ask *ask, size_t first, uint64_t bits);

/* Items of a flat node of whole bytes, compressed or not, one behind the other. */
int v20_flat_copy(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	uint8_t *place, struct lancet_error *err);
/* How many items a flat node has whose count was unknown when it was bound. */
int v20_flat_count(struct v20_page *page, struct v20_node *node, uint64_t *ret_count,
	struct lancet_error *err);
/* End positions that carry nulls, as binary and list pages have them, of the values of an ask: read
 * from node->inner and checked by node->parameter. `limit` is the last position there may be. The
 * buffers are of the caller and empty. */
struct v20_ends {
	struct buf *offsets;  /* u32: ask->total + 1, from 0 */
	struct buf *validity; /* bitmap; stays empty when all are valid */
	struct buf *places;   /* struct row_range: what lies behind each range of the ask */
	uint32_t total;       /* the last offset */
};
int v20_read_ends(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
	uint64_t limit, struct v20_ends *ends, struct lancet_error *err);

#endif
