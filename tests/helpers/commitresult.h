/* The result of a commit as one line of JSON. */
#ifndef TESTS_COMMITRESULT_H
#define TESTS_COMMITRESULT_H

#include <lancet/commit.h>
#include <stdio.h>

#include "util/buf.h"
#include "util/jsonw.h"

static inline void
print_commit(const struct lancet_commit_result *result, int rc, const struct lancet_error *err)
{
	struct buf out = { 0 };
	struct jsonw w;

	jsonw_init(&w, &out);
	w.compact = true;
	jsonw_object(&w, NULL);
	jsonw_text(&w, "code", lancet_code_name((enum lancet_code)rc));
	jsonw_text(&w, "text", rc == LANCET_OK ? "" : err->text);
	jsonw_u64(&w, "version", result->version);
	jsonw_u64(&w, "read_version", result->read_version);
	jsonw_u64(&w, "rebased_over", result->rebased_over);
	jsonw_u64(&w, "attempts", result->attempts);
	jsonw_bool(&w, "found", result->found);
	jsonw_bool(&w, "durable", result->durable);
	jsonw_text(&w, "uuid", result->uuid);
	jsonw_text(&w, "operation", result->operation);
	jsonw_u64(&w, "conflict_version", result->conflict_version);
	jsonw_text(&w, "conflict_operation", result->conflict_operation);
	jsonw_text(&w, "conflict_rule", result->conflict_rule);
	jsonw_u64(&w, "failed_fragment", result->failed_fragment);
	jsonw_i64(&w, "failed_field", result->failed_field);
	jsonw_u64(&w, "stored_size", result->stored.size);
	jsonw_end(&w);
	jsonw_finish(&w);
	(void)fwrite(out.data, 1, out.size, stdout);
	(void)fflush(stdout);
	buf_release(&out);
}

#endif
