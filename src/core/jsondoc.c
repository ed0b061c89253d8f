/* Documents of SPEC section 4 in pieces: see jsondoc.h. */
#include "jsondoc.h"

#define FLUSH_SIZE     ((size_t)64 * 1024)
#define FORMAT_VERSION 1

void
jsondoc_begin(struct jsondoc *doc, const struct lancet_output *out)
{
	doc->buf = (struct buf){ 0 };
	doc->out = out;
	jsonw_init(&doc->w, &doc->buf);
	jsonw_object(&doc->w, NULL);
	jsonw_u64(&doc->w, "format", FORMAT_VERSION);
}

static int
hand_over(struct jsondoc *doc, struct lancet_error *err)
{
	int rc = buf_check(&doc->buf, "JSON document", err);

	if (rc != LANCET_OK || doc->buf.size == 0)
		return rc;
	rc = doc->out->write(doc->out->context, doc->buf.data, doc->buf.size);
	doc->buf.size = 0;
	if (rc != LANCET_OK)
		return lancet_fail(err, rc, "JSON document: its output fails");
	return LANCET_OK;
}

int
jsondoc_flush(struct jsondoc *doc, struct lancet_error *err)
{
	if (doc->buf.size < FLUSH_SIZE && doc->buf.failed == LANCET_OK)
		return LANCET_OK;
	return hand_over(doc, err);
}

int
jsondoc_end(struct jsondoc *doc, int rc, struct lancet_error *err)
{
	if (rc == LANCET_OK) {
		jsonw_end(&doc->w);
		jsonw_finish(&doc->w);
		rc = hand_over(doc, err);
	}
	buf_release(&doc->buf);
	return rc;
}
