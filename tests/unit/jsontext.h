/* A lancet_output that keeps all it gets, for tests of documents. */
#ifndef TESTS_JSONTEXT_H
#define TESTS_JSONTEXT_H

#include <lancet/bytes.h>
#include "util/buf.h"

struct json_text {
	struct buf buf;
	struct lancet_output out;
	size_t writes;
	size_t writes_max; /* fails the one after them; 0 = never */
};

static inline int
json_text_write(void *context, const void *data, size_t size)
{
	struct json_text *text = context;

	if (text->writes_max != 0 && text->writes == text->writes_max)
		return LANCET_CANCELLED;
	text->writes++;
	buf_put(&text->buf, data, size);
	return text->buf.failed;
}

static inline void
json_text_init(struct json_text *text)
{
	*text = (struct json_text){ .out = { json_text_write, text } };
}

/* What came, NUL-terminated. */
static inline const char *
json_text_end(struct json_text *text)
{
	buf_put_byte(&text->buf, '\0');
	return (const char *)text->buf.data;
}

#endif
