/* Streaming JSON writer into a buf: UTF-8, two-space indent, keys in the order they are written.
 *
 * Empty objects and arrays are `{}` and `[]`. Text that is valid UTF-8 is written with the shortest
 * escapes (control characters, quote, backslash; NUL as \u0000); text that is not becomes an object
 * {"base64": "…"}, a key that is not becomes "base64:…". Misuse (a value without a key inside an
 * object, unbalanced ends) is an assertion; nesting deeper than JSONW_DEPTH_MAX fails the buf with
 * LANCET_LIMIT, because hostile data may cause it.
 */
#ifndef UTIL_JSONW_H
#define UTIL_JSONW_H

#include "buf.h"

#define JSONW_DEPTH_MAX 64

struct jsonw {
	struct buf *out;
	int depth;
	bool key_pending;
	bool compact;                  /* one line, no spaces: for JSON lines */
	bool in_object[JSONW_DEPTH_MAX];
	bool has_items[JSONW_DEPTH_MAX];
};

void jsonw_init(struct jsonw *w, struct buf *out);
void jsonw_finish(struct jsonw *w); /* checks balance, ends with a newline */
/* For members of an outermost object that is begun later than they are: written without it, and
 * then put where they belong. */
void jsonw_init_members(struct jsonw *w, struct buf *out);
void jsonw_members(struct jsonw *w, const struct buf *members);
/* key is NULL inside arrays and at the top. */
void jsonw_object(struct jsonw *w, const char *key);
void jsonw_array(struct jsonw *w, const char *key);
void jsonw_end(struct jsonw *w);
/* A key from data; then comes a value with key NULL. */
void jsonw_key_slice(struct jsonw *w, struct slice key);
void jsonw_text(struct jsonw *w, const char *key, const char *value); /* NULL value: null */
void jsonw_slice(struct jsonw *w, const char *key, struct slice value);
/* A text that was put together; its failure becomes that of the document. Releases it. */
void jsonw_buf(struct jsonw *w, const char *key, struct buf *value);
void jsonw_u64(struct jsonw *w, const char *key, uint64_t value);        /* a number */
void jsonw_i64(struct jsonw *w, const char *key, int64_t value);         /* a number */
/* The shortest that reads back the same; null if not finite. */
void jsonw_double(struct jsonw *w, const char *key, double value);
void jsonw_u64_text(struct jsonw *w, const char *key, uint64_t value);   /* "decimal" */
void jsonw_i64_text(struct jsonw *w, const char *key, int64_t value);
void jsonw_bool(struct jsonw *w, const char *key, bool value);
void jsonw_null(struct jsonw *w, const char *key);
void jsonw_base64(struct jsonw *w, const char *key, struct slice value);
void jsonw_json(struct jsonw *w, const char *key, struct slice value); /* JSON already */

/* For those who write JSON without a jsonw: parts of a string, without its quotes. Text must be
 * UTF-8 as a whole; base64 may be written in pieces of a multiple of 3 bytes. */
void jsonw_put_escaped(struct buf *out, struct slice text);
void jsonw_put_base64(struct buf *out, struct slice bytes);

#endif
