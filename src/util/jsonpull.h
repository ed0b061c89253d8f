/* Reading JSON as it comes, a token at a time, without a tree: for rows of data, where a tree costs
 * several times what the values do, and where digits have to stay the digits they are.
 *
 * The grammar is that of RFC 8259, without extensions. The text must be UTF-8, which the caller
 * sees to, and outlives what is read from it. Errors are INVALID, with the byte (from 1) in the
 * text.
 */
#ifndef UTIL_JSONPULL_H
#define UTIL_JSONPULL_H

#include "buf.h"

struct jsonpull {
	const uint8_t *from, *at, *end;
};

enum jsonpull_kind {
	JSONPULL_END,
	JSONPULL_OBJECT,
	JSONPULL_ARRAY,
	JSONPULL_STRING,
	JSONPULL_NUMBER,
	JSONPULL_TRUE,
	JSONPULL_FALSE,
	JSONPULL_NULL,
	JSONPULL_OTHER, /* what no value begins with */
};

void jsonpull_init(struct jsonpull *p, struct slice text);
/* What comes behind blanks, which are stepped over. */
enum jsonpull_kind jsonpull_peek(struct jsonpull *p);
/* "byte 17: what"; returns INVALID. */
int jsonpull_fail(const struct jsonpull *p, const char *what, struct lancet_error *err);

/* A string: a part of the text, or `scratch` (emptied first) when it has escapes. */
int jsonpull_string(
	struct jsonpull *p, struct buf *scratch, struct slice *ret_text, struct lancet_error *err);
/* The digits as they are written. */
int jsonpull_number(struct jsonpull *p, struct slice *ret_text, struct lancet_error *err);
/* A number, true, false or null. */
int jsonpull_literal(struct jsonpull *p, struct slice *ret_text, struct lancet_error *err);

/* After peek said OBJECT or ARRAY: steps behind the bracket. */
void jsonpull_enter(struct jsonpull *p);
/* To the next item of an array or member of an object, over the comma that belongs there; `first`
 * is true for the first one. *ret_more false: the closing bracket was there, and is behind us. */
int jsonpull_next(
	struct jsonpull *p, char closing, bool first, bool *ret_more, struct lancet_error *err);
/* A member's key and its colon. */
int jsonpull_key(
	struct jsonpull *p, struct buf *scratch, struct slice *ret_key, struct lancet_error *err);
/* INVALID when there is more than blanks. */
int jsonpull_finish(struct jsonpull *p, struct lancet_error *err);

#endif
