/* Results; see result.h.
 *
 * Keys come in a fixed order. Numbers of versions and fragments are text, as in the documents of
 * the tree; counts are numbers.
 */
#include "result.h"

#include <string.h>

#define FORMAT_VERSION 1

/* SPEC section 5: what a script can rely on. */
static const char *
code_word(const struct result *result)
{
	if (result->code == LANCET_CONFLICT)
		return "incompatible";
	if (result->code == LANCET_BUSY && result->facts->committed)
		return "retryable";
	return lancet_code_name((enum lancet_code)result->code);
}

static void
put_version(struct jsonw *w, const char *key, uint64_t version)
{
	if (version != 0)
		jsonw_u64_text(w, key, version);
}

static void
put_conflict(struct jsonw *w, const struct command_facts *facts)
{
	if (facts->conflict_version == 0 && !facts->has_cell)
		return;
	jsonw_object(w, "conflicts_with");
	put_version(w, "version", facts->conflict_version);
	if (facts->conflict_operation != NULL)
		jsonw_text(w, "operation", facts->conflict_operation);
	if (facts->conflict_rule != NULL)
		jsonw_text(w, "rule", facts->conflict_rule);
	if (facts->has_cell) {
		jsonw_i64(w, "field", facts->failed_field);
		if (facts->failed_fragment != UINT64_MAX)
			jsonw_u64_text(w, "fragment", facts->failed_fragment);
	}
	jsonw_end(w);
}

static void
put_failure(struct jsonw *w, const struct result *result)
{
	const char *name = strerrorname_np(lancet_error_errno(result->err));

	jsonw_text(w, "errno", name != NULL ? name : "EIO");
	jsonw_text(w, "code", code_word(result));
	jsonw_text(w, "error", result->err->text);
	put_conflict(w, result->facts);
}

void
result_put(const struct result *result, struct buf *into)
{
	const struct command_facts *facts = result->facts;
	struct jsonw w;

	jsonw_init(&w, into);
	jsonw_object(&w, NULL);
	jsonw_u64(&w, "format", FORMAT_VERSION);
	jsonw_bool(&w, "ok", result->code == LANCET_OK);
	if (result->command != NULL)
		jsonw_text(&w, "command", result->command);
	if (result->job != 0)
		jsonw_u64(&w, "job", result->job);
	if (facts->operation[0] != '\0')
		jsonw_text(&w, "operation", facts->operation);
	put_version(&w, "read_version", facts->read_version);
	put_version(&w, "version", facts->version);
	if (facts->attempts != 0)
		jsonw_u64(&w, "attempts", facts->attempts);
	jsonw_double(&w, "seconds", result->seconds);
	if (result->members != NULL)
		jsonw_members(&w, result->members);
	if (result->code != LANCET_OK)
		put_failure(&w, result);
	jsonw_end(&w);
	jsonw_finish(&w);
}
