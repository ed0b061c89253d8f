/* Whether the transitions of a history hold together: each for itself, and by the fragments that
 * they make and consume.
 *
 * What is wrong becomes a fault of the transition, or of both when two contradict each other; all
 * others can be followed. Edges are sorted by fragment once, so that a million records cost a sort.
 * Format facts: ledger validity.
 */
#include "reuse.h"

#include <inttypes.h>

#include "survivors.h"
#include "util/macros.h"

#define FRAGMENT_ID_END  UINT64_C(0xffffffff) /* that one and above are no fragment ids */
#define DESTINATIONS_MAX 65535u               /* of a stable partition: labels are 16 bits */

/* A fragment in the list of a transition. */
struct mention {
	uint32_t fragment;
	uint32_t transition; /* in stored order */
	uint32_t rows;       /* physical ones */
	uint64_t first;      /* rows before it in the list */
};

struct mentions {
	struct mention *items; /* by fragment, then as stored */
	size_t count;
};

static int
check_digests(struct lancet_reuse *reuse, struct reuse_transition *transition, bool made,
	struct lancet_error *err)
{
	const struct lancet_transition *info = &transition->info;
	const struct lancet_fragment_digest *list = made ? info->destinations : info->sources;
	size_t count = made ? info->destination_count : info->source_count;
	const char *side = made ? "destinations" : "sources";

	for (size_t i = 0; i < count; i++) {
		const struct lancet_fragment_digest *digest = &list[i];

		if (digest->id >= FRAGMENT_ID_END)
			return reuse_fault(reuse, transition, LANCET_CORRUPT, err,
				"%s[%zu]: fragment id %" PRIu64, side, i, digest->id);
		if (digest->physical_rows > UINT32_MAX)
			return reuse_fault(reuse, transition, LANCET_CORRUPT, err,
				"%s[%zu]: fragment %" PRIu64 " of %" PRIu64 " rows", side, i,
				digest->id, digest->physical_rows);
		if (digest->deleted_rows > (made ? 0 : digest->physical_rows))
			return reuse_fault(reuse, transition, LANCET_CORRUPT, err,
				"%s[%zu]: %" PRIu64 " of the %" PRIu64 " rows of fragment %" PRIu64
				" deleted",
				side, i, digest->deleted_rows, digest->physical_rows, digest->id);
	}
	return LANCET_OK;
}

/* Rows of a list, and how many of these live; digests that make no sense are left out. */
static uint64_t
count_rows(const struct lancet_fragment_digest *list, size_t count, uint64_t *ret_live)
{
	uint64_t rows = 0, live = 0;

	for (size_t i = 0; i < count; i++) {
		if (list[i].physical_rows > UINT32_MAX ||
			list[i].deleted_rows > list[i].physical_rows)
			continue;
		rows += list[i].physical_rows;
		live += list[i].physical_rows - list[i].deleted_rows;
	}
	*ret_live = live;
	return rows;
}

/* Whatever lived in the sources is in the destinations. */
static int
check_rows(
	struct lancet_reuse *reuse, struct reuse_transition *transition, struct lancet_error *err)
{
	struct lancet_transition *info = &transition->info;
	uint64_t made;

	info->source_rows = count_rows(info->sources, info->source_count, &info->live_rows);
	(void)count_rows(info->destinations, info->destination_count, &made);
	if (made == info->live_rows || info->mapping == LANCET_UNKNOWN_MAPPING)
		return LANCET_OK;
	return reuse_fault(reuse, transition, LANCET_CORRUPT, err,
		"%" PRIu64 " live rows of its sources became %" PRIu64, info->live_rows, made);
}

static int
check_partition(
	struct lancet_reuse *reuse, struct reuse_transition *transition, struct lancet_error *err)
{
	const struct lancet_transition *info = &transition->info;

	if (!reuse_map_id_is_valid(info->map_id))
		return reuse_fault(reuse, transition, LANCET_CORRUPT, err,
			"the id of its row map, %zu bytes, is no UUID", info->map_id.size);
	if (info->map_bytes == 0)
		return reuse_fault(reuse, transition, LANCET_CORRUPT, err, "a row map of 0 bytes");
	if (info->destination_count > DESTINATIONS_MAX)
		return reuse_fault(reuse, transition, LANCET_CORRUPT, err,
			"%zu destinations, %u at most", info->destination_count, DESTINATIONS_MAX);
	return LANCET_OK;
}

/* The set of survivors is decoded and dropped: it may be larger than the history, and is made again
 * when rows are followed. */
static int
check_surviving(
	struct lancet_reuse *reuse, struct reuse_transition *transition, struct lancet_error *err)
{
	struct reuse_survivors *survivors = NULL;
	struct lancet_error why = { 0 };
	int rc = survivors_open(transition->surviving, &transition->info, &survivors, &why);

	survivors_free(survivors);
	if (rc == LANCET_CORRUPT)
		return reuse_fault(reuse, transition, LANCET_CORRUPT, err, "%s", why.text);
	return rc == LANCET_OK ? rc : lancet_fail(err, rc, "%s", why.text);
}

static int
check_record(
	struct lancet_reuse *reuse, struct reuse_transition *transition, struct lancet_error *err)
{
	struct lancet_transition *info = &transition->info;

	if (info->source_count == 0)
		TRY(reuse_fault(reuse, transition, LANCET_CORRUPT, err, "no sources"));
	TRY(check_digests(reuse, transition, false, err));
	TRY(check_digests(reuse, transition, true, err));
	TRY(check_rows(reuse, transition, err));
	if (info->fault != LANCET_OK)
		return LANCET_OK;
	return info->mapping == LANCET_STABLE_PARTITION ? check_partition(reuse, transition, err)
							: check_surviving(reuse, transition, err);
}

static int
compare_mentions(const void *left, const void *right)
{
	const struct mention *a = left;
	const struct mention *b = right;

	if (a->fragment != b->fragment)
		return a->fragment < b->fragment ? -1 : 1;
	return (a->transition > b->transition) - (a->transition < b->transition);
}

static void
add_mentions(struct mentions *mentions, const struct lancet_fragment_digest *list, size_t count,
	size_t transition)
{
	uint64_t first = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t rows = list[i].physical_rows > UINT32_MAX
					? UINT32_MAX
					: (uint32_t)list[i].physical_rows;

		if (list[i].id < FRAGMENT_ID_END)
			mentions->items[mentions->count++] = (struct mention){
				.fragment = (uint32_t)list[i].id,
				.transition = (uint32_t)transition,
				.rows = rows,
				.first = first,
			};
		first += rows;
	}
}

/* All sources, or all destinations. */
static int
list_mentions(const struct lancet_reuse *reuse, bool made, struct mentions *ret_mentions,
	struct lancet_error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < reuse->info.transition_count; i++)
		count += made ? reuse->transitions[i].info.destination_count
			      : reuse->transitions[i].info.source_count;
	ret_mentions->items = malloc((count + 1) * sizeof(ret_mentions->items[0]));
	if (ret_mentions->items == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu fragments", count);
	for (size_t i = 0; i < reuse->info.transition_count; i++) {
		const struct lancet_transition *info = &reuse->transitions[i].info;

		if (made)
			add_mentions(ret_mentions, info->destinations, info->destination_count, i);
		else
			add_mentions(ret_mentions, info->sources, info->source_count, i);
	}
	qsort(ret_mentions->items, ret_mentions->count, sizeof(ret_mentions->items[0]),
		compare_mentions);
	return LANCET_OK;
}

/* A fault of both, each naming the other. */
static int
contradict(struct lancet_reuse *reuse, const struct mention *first, const struct mention *second,
	const char *what, struct lancet_error *err)
{
	struct reuse_transition *a = &reuse->transitions[first->transition];
	struct reuse_transition *b = &reuse->transitions[second->transition];
	char a_name[64], b_name[64];

	reuse_record_name(&a->info, a_name);
	reuse_record_name(&b->info, b_name);
	TRY(reuse_fault(reuse, a, LANCET_CORRUPT, err, "fragment %" PRIu32 " %s %s",
		first->fragment, what, b_name));
	return reuse_fault(reuse, b, LANCET_CORRUPT, err, "fragment %" PRIu32 " %s %s",
		second->fragment, what, a_name);
}

/* Each fragment is made at most once, and consumed at most once. */
static int
check_unique(struct lancet_reuse *reuse, const struct mentions *mentions, bool made,
	struct lancet_error *err)
{
	const struct mention *first = mentions->items;

	for (size_t i = 1; i < mentions->count; i++) {
		const struct mention *here = &mentions->items[i];

		if (here->fragment != first->fragment) {
			first = here;
			continue;
		}
		if (here->transition == here[-1].transition)
			TRY(reuse_fault(reuse, &reuse->transitions[here->transition],
				LANCET_CORRUPT, err, "fragment %" PRIu32 " is twice among its %s",
				here->fragment, made ? "destinations" : "sources"));
		else
			TRY(contradict(reuse, first, here,
				made ? "is also made by" : "is also consumed by", err));
	}
	return LANCET_OK;
}

/* The first of the fragment's mentions, from `at` on, with other rows; NULL when there is none. */
static const struct mention *
find_unlike(const struct mentions *mentions, size_t at, uint32_t rows)
{
	uint32_t fragment = mentions->items[at].fragment;

	for (; at < mentions->count && mentions->items[at].fragment == fragment; at++)
		if (mentions->items[at].rows != rows)
			return &mentions->items[at];
	return NULL;
}

/* Whoever consumes a fragment must find the rows that it was made with, by each that made it. A
 * transition that consumes what it makes is a matter of cycles. */
static int
check_joints(struct lancet_reuse *reuse, const struct mentions *made, const struct mentions *used,
	struct lancet_error *err)
{
	const struct mention *first = NULL, *unlike = NULL; /* makers of the fragment at hand */
	size_t at = 0;

	for (size_t i = 0; i < used->count; i++) {
		const struct mention *user = &used->items[i];

		while (at < made->count && made->items[at].fragment < user->fragment)
			at++;
		if (at == made->count)
			break;
		if (made->items[at].fragment != user->fragment)
			continue;
		if (first != &made->items[at]) {
			first = &made->items[at];
			unlike = find_unlike(made, at, first->rows);
		}
		const struct mention *maker = first->rows != user->rows ? first : unlike;

		if (maker != NULL && maker->transition != user->transition)
			TRY(contradict(reuse, maker, user, "has another number of rows in", err));
	}
	return LANCET_OK;
}

static int
keep_edges(struct lancet_reuse *reuse, const struct mentions *mentions,
	struct reuse_edge **ret_edges, size_t *ret_count, struct lancet_error *err)
{
	struct reuse_edge *edges = arena_zalloc(&reuse->arena, mentions->count, sizeof(*edges));

	if (edges == NULL)
		return lancet_fail(err, LANCET_LIMIT, "%zu fragments", mentions->count);
	for (size_t i = 0; i < mentions->count; i++)
		edges[i] = (struct reuse_edge){ mentions->items[i].fragment,
			mentions->items[i].transition, mentions->items[i].first,
			mentions->items[i].rows };
	*ret_edges = edges;
	*ret_count = mentions->count;
	return LANCET_OK;
}

static int
check_lineage(struct lancet_reuse *reuse, struct mentions *made, struct mentions *used,
	struct lancet_error *err)
{
	TRY(list_mentions(reuse, true, made, err));
	TRY(list_mentions(reuse, false, used, err));
	TRY(check_unique(reuse, made, true, err));
	TRY(check_unique(reuse, used, false, err));
	TRY(check_joints(reuse, made, used, err));
	TRY(keep_edges(reuse, made, &reuse->made_by, &reuse->made_count, err));
	return keep_edges(reuse, used, &reuse->used_by, &reuse->used_count, err);
}

int
reuse_check(struct lancet_reuse *reuse, struct lancet_error *err)
{
	struct mentions made = { 0 }, used = { 0 };
	int rc = LANCET_OK;

	for (size_t i = 0; rc == LANCET_OK && i < reuse->info.transition_count; i++)
		rc = check_record(reuse, &reuse->transitions[i], err);
	if (rc == LANCET_OK)
		rc = check_lineage(reuse, &made, &used, err);
	free(made.items);
	free(used.items);
	return rc;
}
