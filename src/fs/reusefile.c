/* Lines for the fragments of a transition; see reusefile.h. */
#include "reusefile.h"

#include <stdlib.h>

#include "kinds.h"
#include "lines.h"
#include "util/macros.h"

static const struct column_spec digest_columns[] = {
	{ "fragment", 10 },
	{ "physical_rows", 10 },
	{ "deleted_rows", 10 },
};

struct reuse_state {
	lancet_version *version; /* counted: the transition belongs to it */
	const struct lancet_transition *transition;
	const struct lancet_fragment_digest *digests; /* of *.tsv with a line for each fragment */
};

static void
state_free(struct reuse_state *state)
{
	if (state == NULL)
		return;
	lancet_version_unref(state->version);
	free(state);
}

static void
release_state(struct records *records)
{
	state_free(records->state);
}

int
transition_of(const struct node_ref *ref, const struct lancet_transition **ret_transition,
	struct lancet_error *err)
{
	lancet_reuse *reuse = NULL;

	TRY(lancet_version_reuse(ref->version, &reuse, err));
	if (ref->item >= lancet_reuse_info(reuse)->transition_count)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such transition");
	*ret_transition = lancet_reuse_transition(reuse, (size_t)ref->item);
	return LANCET_OK;
}

static int
state_new(const struct node_ref *ref, struct reuse_state **ret_state, struct lancet_error *err)
{
	const struct lancet_transition *transition = NULL;
	struct reuse_state *state;

	TRY(transition_of(ref, &transition, err));
	state = calloc(1, sizeof(*state));
	if (state == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "transition: out of memory");
	state->version = lancet_version_ref(ref->version);
	state->transition = transition;
	*ret_state = state;
	return LANCET_OK;
}

static int
render_digests(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	const struct reuse_state *state = records->state;
	const struct lancet_fragment_digest *digest = state->digests + first;

	(void)err;
	for (size_t i = 0; i < count; i++, digest++) {
		const uint64_t cells[] = { digest->id, digest->physical_rows,
			digest->deleted_rows };

		for (size_t at = 0; at < ARRAY_SIZE(cells); at++)
			line_put_number(
				out, digest_columns, ARRAY_SIZE(digest_columns), at, cells[at]);
	}
	return LANCET_OK;
}

static size_t
digest_count(const struct node_ref *ref, const struct lancet_transition *transition)
{
	return ref->kind->id == NODE_SOURCES ? transition->source_count
					     : transition->destination_count;
}

int
records_digests(const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	struct records records = { .render = render_digests, .release = release_state };
	struct reuse_state *state = NULL;

	TRY(state_new(ref, &state, err));
	state->digests = ref->kind->id == NODE_SOURCES ? state->transition->sources
						       : state->transition->destinations;
	records.count = digest_count(ref, state->transition);
	records.width = line_size(digest_columns, ARRAY_SIZE(digest_columns));
	records.state = state;
	line_put_header(&records.header, digest_columns, ARRAY_SIZE(digest_columns));
	*ret_records = records;
	return LANCET_OK;
}

int
measure_digests(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	const struct lancet_transition *transition = NULL;

	TRY(transition_of(ref, &transition, err));
	*ret_size = (digest_count(ref, transition) + UINT64_C(1)) *
		    line_size(digest_columns, ARRAY_SIZE(digest_columns));
	return LANCET_OK;
}
