/* graph.dot: fragments and the transitions between them, for Graphviz. SPEC section 3.
 *
 * Each fragment that the history mentions is an ellipse, filled when it is live; each transition is
 * a box, red when it can't be followed.
 */
#include "render.h"

#include <inttypes.h>
#include <stdlib.h>

#include "reusefile.h"
#include "util/macros.h"
#include "util/text.h"

#define EDGE_SIZE_MIN (sizeof("\tf0 -> t0\n") - 1)

/* A fragment as one transition has it. */
struct mention {
	const struct lancet_fragment_digest *digest;
	bool consumed;
};

struct mentions {
	struct mention *items;
	size_t count, room;
};

static size_t
edge_count(const lancet_reuse *reuse)
{
	size_t count = 0;

	for (size_t i = 0; i < lancet_reuse_info(reuse)->transition_count; i++) {
		const struct lancet_transition *transition = lancet_reuse_transition(reuse, i);

		count += transition->source_count + transition->destination_count;
	}
	return count;
}

static void
mention_all(struct mentions *mentions, const struct lancet_fragment_digest *digests, size_t count,
	bool consumed)
{
	for (size_t i = 0; i < count; i++)
		mentions->items[mentions->count++] = (struct mention){ &digests[i], consumed };
}

static int
compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By fragment; what was known last comes first: when it was consumed, with the most rows deleted.
 */
static int
compare_mentions(const void *left, const void *right)
{
	const struct mention *a = left, *b = right;
	int order = compare_numbers(a->digest->id, b->digest->id);

	if (order == 0)
		order = b->consumed - a->consumed;
	if (order == 0)
		order = compare_numbers(b->digest->deleted_rows, a->digest->deleted_rows);
	return order != 0 ? order
			  : compare_numbers(b->digest->physical_rows, a->digest->physical_rows);
}

static int
gather(const lancet_reuse *reuse, struct mentions *mentions, struct lancet_error *err)
{
	mentions->items = calloc(mentions->room + 1, sizeof(*mentions->items));
	if (mentions->items == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "graph.dot: out of memory");
	for (size_t i = 0; i < lancet_reuse_info(reuse)->transition_count; i++) {
		const struct lancet_transition *transition = lancet_reuse_transition(reuse, i);

		mention_all(mentions, transition->sources, transition->source_count, true);
		mention_all(
			mentions, transition->destinations, transition->destination_count, false);
	}
	qsort(mentions->items, mentions->count, sizeof(*mentions->items), compare_mentions);
	return LANCET_OK;
}

/* Text inside of quotes. The format wants UTF-8; what is none would be refused. */
static void
put_quoted(struct buf *out, const char *text)
{
	bool utf8 = text_is_utf8(slice_text(text));

	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			buf_put_byte(out, '\\');
		buf_put_byte(out, utf8 || (*text & 0x80) == 0 ? (uint8_t)*text : '?');
	}
}

static void
put_fragment(struct buf *out, lancet_version *version, const struct lancet_fragment_digest *digest)
{
	uint64_t physical = digest->physical_rows, deleted = digest->deleted_rows, ordinal;
	struct lancet_fragment_span span;
	bool live = lancet_version_find_fragment(version, digest->id, &ordinal, NULL) == LANCET_OK;

	if (live) {
		lancet_version_span(version, ordinal, &span);
		physical = span.physical_rows;
		deleted = span.deleted_rows;
	}
	buf_printf(out, "\tf%" PRIu64 " [label=\"%" PRIu64 "\\n%" PRIu64 " rows", digest->id,
		digest->id, physical);
	if (deleted > 0)
		buf_printf(out, ", %" PRIu64 " deleted", deleted);
	buf_put_text(out, live ? "\", style=filled, fillcolor=palegreen]\n" : "\"]\n");
}

static void
put_edges(struct buf *out, size_t number, const struct lancet_transition *transition)
{
	for (size_t i = 0; i < transition->source_count; i++)
		buf_printf(out, "\tf%" PRIu64 " -> t%zu\n", transition->sources[i].id, number);
	for (size_t i = 0; i < transition->destination_count; i++)
		buf_printf(out, "\tt%zu -> f%" PRIu64 "\n", number, transition->destinations[i].id);
}

static void
put_transition(struct buf *out, size_t number, const struct lancet_transition *transition)
{
	buf_printf(out, "\tt%zu [shape=box, label=\"%zu\\n%s%s\\n", number, number,
		lancet_mapping_name(transition->mapping), transition->legacy ? " legacy" : "");
	if (transition->fault == LANCET_OK) {
		buf_printf(out, "%" PRIu64 " rows kept, %" PRIu64 " deleted\"]\n",
			transition->live_rows, transition->source_rows - transition->live_rows);
	} else {
		buf_printf(out, "%s\", color=red, fontcolor=red, tooltip=\"",
			lancet_code_name(transition->fault));
		put_quoted(out, transition->fault_text);
		buf_put_text(out, "\"]\n");
	}
	put_edges(out, number, transition);
}

int
render_reuse_graph(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	lancet_reuse *reuse = NULL;
	struct mentions mentions = { 0 };

	TRY(lancet_version_reuse(ref->version, &reuse, err));
	mentions.room = edge_count(reuse);
	if (out->limit > 0 && mentions.room > out->limit / EDGE_SIZE_MIN)
		return lancet_fail(err, LANCET_LIMIT,
			"graph.dot: %zu edges take more than %zu bytes", mentions.room, out->limit);
	TRY(gather(reuse, &mentions, err));
	buf_put_text(out, "digraph reuse {\n\trankdir=LR\n");
	for (size_t i = 0; i < mentions.count && out->failed == LANCET_OK; i++) {
		const struct lancet_fragment_digest *digest = mentions.items[i].digest;

		if (i == 0 || mentions.items[i - 1].digest->id != digest->id)
			put_fragment(out, ref->version, digest);
	}
	free(mentions.items);
	for (size_t i = 0; i < lancet_reuse_info(reuse)->transition_count; i++) {
		if (out->failed != LANCET_OK)
			break;
		put_transition(out, i, lancet_reuse_transition(reuse, i));
	}
	buf_put_text(out, "}\n");
	return LANCET_OK;
}
