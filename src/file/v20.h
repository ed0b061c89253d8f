/* Page encodings of version 2.0: trees of ArrayEncoding messages, read by ranges of items.
 *
 * A page's tree is opened level by level (what it says), then bound to a field and a number of
 * items (what it must be): kinds, widths and sizes are checked there, so that reading only has to
 * check the values themselves. Each encoding is one file and one row of the registry. Format facts:
 * v2.0 page encodings, bounds checks.
 */
#ifndef FILE_V20_H
#define FILE_V20_H

#include "array.h"
#include "datafile.h"
#include "layout.h"
#include "scratch.h"

struct Lance__Encodings__ArrayEncoding;

#define V20_DEPTH_MAX 16u
/* For a node whose number of items nobody says: as many as its buffer holds. */
#define V20_COUNT_UNKNOWN UINT64_MAX

/* Items [first * scale, (first + count) * scale) of each range; ranges ascend. */
struct v20_ask {
	const struct row_range *ranges;
	size_t count;
	uint64_t scale;
	uint64_t total; /* items: sum over the ranges, times scale */
};

/* What a node keeps while its page is open. */
struct v20_work {
	struct v20_work *next;
	struct array_budget budget;
	struct array values; /* on their way to the output */
	struct array items;  /* of a dictionary, once read */
	struct buf inflated; /* a buffer that is stored compressed, once read */
	struct buf ranges;   /* of struct row_range */
	bool has_items, has_inflated;
};

enum v20_scheme { V20_RAW, V20_ZSTD, V20_LZ4 };

struct v20_node {
	const struct v20_encoding *encoding;
	/* as opened */
	struct v20_node *inner, *second; /* values, validity; indices, bytes or items */
	struct v20_node *parts;          /* of a packed struct */
	size_t part_count;
	uint64_t bits;      /* of an item */
	uint64_t packed;    /* bits of it in the buffer */
	uint64_t parameter; /* dimension, number of items, bytes of each, null adjustment */
	uint64_t items;     /* of the lists of a page */
	bool is_signed;
	enum v20_scheme scheme;
	bool has_buffer;
	uint32_t buffer_index;
	int buffer_type;
	struct slice bytes; /* symbol table */
	/* as bound */
	const struct field *field;
	uint64_t count;
	struct page_buffer place;
	const void *state;
	struct v20_work *work;
};

/* One page, opened for one thread. */
struct v20_page {
	struct source *src;    /* borrowed, like the three below */
	struct datafile *file; /* for global buffers; NULL: there are none */
	const struct page *page;
	struct scratch *scratch;
	size_t values_max, inflated_max; /* bytes that one node may keep; may be lowered */
	struct arena arena;
	struct v20_node root;
	struct v20_work *works;
};

/* One row of the registry. */
struct v20_encoding {
	const char *name; /* as columns.tsv says it */
	int pb_case;
	bool whole; /* a column of offsets or a header: inside no other encoding, and has no read */
	/* Fills the node from the message, which stays in the arena. `depth` is the node's. */
	int (*open)(const struct Lance__Encodings__ArrayEncoding *message, struct arena *arena,
		unsigned depth, struct v20_node *node, struct lancet_error *err);
	/* Checks that the node has node->count items of node->field. */
	int (*bind)(struct v20_page *page, struct v20_node *node, struct lancet_error *err);
	/* Appends the items that are asked for to out, an array of node->field. */
	int (*read)(struct v20_page *page, struct v20_node *node, const struct v20_ask *ask,
		struct array *out, struct lancet_error *err);
	/* In words, the name included; NULL: the name and, in brackets, what is inside. */
	void (*describe)(const struct v20_node *node, struct buf *out);
};

extern const struct v20_encoding *const v20_encodings[];
extern const size_t v20_encodings_count;
/* Cases of the message that are known and refused by name. */
struct v20_refused {
	int pb_case;
	const char *name, *why;
};
extern const struct v20_refused v20_refused[];
extern const size_t v20_refused_count;

extern const struct v20_encoding v20_flat, v20_nullable, v20_fixed_list, v20_list, v20_struct,
	v20_binary, v20_dictionary, v20_fsst, v20_packed_struct, v20_bitpacked,
	v20_bitpacked_for_non_neg, v20_fixed_binary;

/* page, field and scratch outlive the page that is opened. CORRUPT: damage; UNSUPPORTED: refused by
 * name. After a failure there is nothing to release. */
int v20_page_open(struct v20_page *opened, struct source *src, struct datafile *file,
	const struct page *page, const struct field *field, struct scratch *scratch,
	struct lancet_error *err);
void v20_page_release(struct v20_page *page);
/* Rows of the page, numbered from its start; ranges ascend and are inside. Not for columns of
 * offsets and headers. */
int v20_page_read(struct v20_page *page, const struct row_range *ranges, size_t count,
	struct array *out, struct lancet_error *err);
/* A page of a list column: appends the lists to out, without their items, and the places of these
 * (numbered from the first item of the page) to ret_items, as struct row_range. */
int v20_page_read_lists(struct v20_page *page, const struct row_range *ranges, size_t count,
	struct array *out, struct buf *ret_items, struct lancet_error *err);
/* The items that the lists of a page have, without reading it. CORRUPT when it has no lists. */
int v20_list_items(const struct page *page, uint64_t *ret_items, struct lancet_error *err);
/* CORRUPT when the page is not one of a struct's header column. */
int v20_check_header(const struct page *page, struct lancet_error *err);
/* The encodings of a page in words: "nullable(flat 64)". */
int v20_describe(const struct page *page, struct buf *out, struct lancet_error *err);
/* Nulls among the values of the page, when its encodings tell; false if not. */
bool v20_null_count(const struct page *page, uint64_t *ret_nulls);

#endif
