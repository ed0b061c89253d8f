/* A JSON document on its way to a lancet_output.
 *
 * What is written gathers in `buf` and is handed over whenever it passes 64 KiB, so that a document
 * costs no more memory than its longest value. A document that fails half-way ends there: whoever
 * takes the output throws away what came.
 */
#ifndef CORE_JSONDOC_H
#define CORE_JSONDOC_H

#include <lancet/bytes.h>
#include <lancet/error.h>
#include "util/jsonw.h"

struct jsondoc {
	struct jsonw w; /* writes into buf: a jsondoc is never copied */
	struct buf buf;
	const struct lancet_output *out;
};

/* Opens the outermost object; its first key is `format`, a number that grows when any document's
 * keys change their meaning. */
void jsondoc_begin(struct jsondoc *doc, const struct lancet_output *out);
/* Hands over what has gathered when it is much; to be called between values. Fails with the sticky
 * failure of buf or with what the output said. */
int jsondoc_flush(struct jsondoc *doc, struct lancet_error *err);
/* Ends the document if rc is LANCET_OK, and releases it in any case. Returns rc when that is a
 * failure, which err tells of already. */
int jsondoc_end(struct jsondoc *doc, int rc, struct lancet_error *err);

#endif
