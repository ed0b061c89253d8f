/* Lineage order of the transitions of a history, and cycles in it.
 *
 * A transition comes after those that make its sources. All that wait for none go into a queue as
 * they are stored; one that is taken from it is followed by those that waited for nothing else.
 * What stays out is in a cycle or behind one, and comes last, as it is stored; only what is in one
 * is at fault. Fragments that are made and consumed (joints) are nodes of their own here, between
 * those that make them and those that consume them: a hostile fragment of a thousand makers and a
 * thousand users has two thousand edges and not a million. Format facts: translation.
 */
#include "reuse.h"

#include <assert.h>
#include <inttypes.h>

#include "util/macros.h"

/* A fragment that one transition makes and another one consumes. */
struct joint {
	uint32_t fragment;
	size_t made_at, made_count; /* in made_by */
	size_t used_at, used_count; /* in used_by */
	size_t makers;              /* mentions by transitions that are not taken yet */
	uint32_t cycle_user;        /* the first of its cycle that consumes it, or NONE */
};

#define NONE UINT32_MAX

struct order {
	struct lancet_reuse *reuse;
	struct joint *joints; /* by fragment */
	size_t joint_count;
	size_t *waiting; /* by transition: its sources that are not made yet */
	uint32_t *queue; /* transitions in lineage order */
	uint32_t *rank;  /* by transition: its place in the queue, or NONE */
	size_t head, tail;
};

/* Of the search for cycles. Nodes are the transitions, and behind them the joints. */
struct step {
	uint32_t node;
	size_t at; /* what follows it: next_node */
};

struct search {
	uint32_t *seen;  /* by node: its number in the order of the search, 0 = not yet */
	uint32_t *low;   /* by node: the earliest open one that it leads to */
	uint32_t *cycle; /* by node: 0 = open, ALONE, or a number of the cycle above that */
	uint32_t *open;
	struct step *path;
	size_t open_count, depth;
	uint32_t count;
};

#define ALONE 1u

static size_t
run_of(const struct reuse_edge *edges, size_t count, size_t at)
{
	size_t end = at;

	while (end < count && edges[end].fragment == edges[at].fragment)
		end++;
	return end - at;
}

/* Both lists are by fragment. With `joints` NULL they are counted. */
static size_t
list_joints(const struct lancet_reuse *reuse, struct joint *joints)
{
	size_t made = 0, used = 0, count = 0;

	while (made < reuse->made_count && used < reuse->used_count) {
		uint32_t fragment = reuse->made_by[made].fragment;
		size_t makers = run_of(reuse->made_by, reuse->made_count, made);
		size_t users = run_of(reuse->used_by, reuse->used_count, used);

		if (fragment > reuse->used_by[used].fragment) {
			used += users;
			continue;
		}
		if (fragment == reuse->used_by[used].fragment) {
			if (joints != NULL)
				joints[count] = (struct joint){ fragment, made, makers, used, users,
					makers, NONE };
			count++;
			used += users;
		}
		made += makers;
	}
	return count;
}

static struct joint *
find_joint(const struct order *order, uint64_t fragment)
{
	size_t low = 0, high = order->joint_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (order->joints[middle].fragment < fragment)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == order->joint_count || order->joints[low].fragment != fragment)
		return NULL;
	return &order->joints[low];
}

static void
append(struct order *order, uint32_t transition)
{
	order->rank[transition] = (uint32_t)order->tail;
	order->queue[order->tail++] = transition;
}

static int
compare_transitions(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left;
	uint32_t b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

/* Those that the fragment kept waiting wait for one less. */
static void
make(struct order *order, struct joint *joint)
{
	const struct reuse_edge *users = &order->reuse->used_by[joint->used_at];

	if (--joint->makers != 0)
		return;
	for (size_t i = 0; i < joint->used_count; i++) {
		uint32_t user = users[i].transition;

		if (--order->waiting[user] == 0 && order->rank[user] == NONE)
			append(order, user);
	}
}

/* Takes what is in the queue, and whatever gets in by that. */
static void
drain(struct order *order)
{
	while (order->head < order->tail) {
		uint32_t taken = order->queue[order->head++];
		const struct lancet_transition *info = &order->reuse->transitions[taken].info;
		size_t first = order->tail;

		for (size_t i = 0; i < info->destination_count; i++) {
			struct joint *joint = find_joint(order, info->destinations[i].id);

			if (joint != NULL)
				make(order, joint);
		}
		qsort(&order->queue[first], order->tail - first, sizeof(order->queue[0]),
			compare_transitions);
	}
}

/* The users of a joint follow it, and the joints that a transition makes follow that: *at is the
 * next one to be looked at. Transitions that have their place are in no cycle. */
static bool
next_node(const struct order *order, uint32_t node, size_t *at, uint32_t *ret_node)
{
	const struct lancet_reuse *reuse = order->reuse;
	size_t transitions = reuse->info.transition_count;

	if (node >= transitions) {
		const struct joint *joint = &order->joints[node - transitions];

		while (*at < joint->used_count) {
			*ret_node = reuse->used_by[joint->used_at + (*at)++].transition;
			if (order->rank[*ret_node] == NONE)
				return true;
		}
		return false;
	}
	const struct lancet_transition *info = &reuse->transitions[node].info;

	while (*at < info->destination_count) {
		const struct joint *joint = find_joint(order, info->destinations[(*at)++].id);

		if (joint != NULL) {
			*ret_node = (uint32_t)(transitions + (size_t)(joint - order->joints));
			return true;
		}
	}
	return false;
}

static void
enter(struct search *search, uint32_t node)
{
	search->seen[node] = search->low[node] = ++search->count;
	search->open[search->open_count++] = node;
	search->path[search->depth++] = (struct step){ node, 0 };
}

/* All nodes that lead to each other, the last ones that were opened. One alone is no cycle, as a
 * transition and a joint never follow themselves. */
static void
close_component(struct search *search, uint32_t node)
{
	size_t first = search->open_count;

	do {
		first--;
	} while (search->open[first] != node);
	for (size_t i = first; i < search->open_count; i++)
		search->cycle[search->open[i]] =
			search->open_count - first == 1 ? ALONE : search->seen[node];
	search->open_count = first;
}

/* Tarjan's search for strongly connected components, without recursion. */
static void
find_cycles(const struct order *order, struct search *search, uint32_t start)
{
	enter(search, start);
	while (search->depth > 0) {
		struct step *here = &search->path[search->depth - 1];
		uint32_t node = here->node, next;

		if (next_node(order, node, &here->at, &next)) {
			if (search->seen[next] == 0)
				enter(search, next);
			else if (search->cycle[next] == 0 && search->seen[next] < search->low[node])
				search->low[node] = search->seen[next];
			continue;
		}
		if (search->low[node] == search->seen[node])
			close_component(search, node);
		if (--search->depth > 0 && search->low[node] < search->low[here[-1].node])
			search->low[here[-1].node] = search->low[node];
	}
}

/* Names a transition that follows in the same cycle. */
static int
blame(struct order *order, const struct search *search, uint32_t transition,
	struct lancet_error *err)
{
	struct lancet_reuse *reuse = order->reuse;
	const struct lancet_transition *info = &reuse->transitions[transition].info;

	for (size_t i = 0; i < info->destination_count; i++) {
		const struct joint *joint = find_joint(order, info->destinations[i].id);
		char name[64];

		if (joint == NULL || joint->cycle_user == NONE ||
			search->cycle[joint->cycle_user] != search->cycle[transition])
			continue;
		reuse_record_name(&reuse->transitions[joint->cycle_user].info, name);
		return reuse_fault(reuse, &reuse->transitions[transition], LANCET_CORRUPT, err,
			"a cycle: its fragment %" PRIu32 " leads to %s and back", joint->fragment,
			name);
	}
	return LANCET_OK;
}

static int
blame_cycles(struct order *order, const struct search *search, struct lancet_error *err)
{
	struct lancet_reuse *reuse = order->reuse;
	size_t count = reuse->info.transition_count;

	for (size_t i = 0; i < order->joint_count; i++) {
		struct joint *joint = &order->joints[i];
		uint32_t cycle = search->cycle[count + i];

		for (size_t k = 0; k < joint->used_count && joint->cycle_user == NONE; k++) {
			uint32_t user = reuse->used_by[joint->used_at + k].transition;

			if (cycle > ALONE && search->cycle[user] == cycle)
				joint->cycle_user = user;
		}
	}
	for (size_t i = 0; i < count; i++)
		if (search->cycle[i] > ALONE)
			TRY(blame(order, search, (uint32_t)i, err));
	return LANCET_OK;
}

/* Transitions that are left over wait for a cycle. */
static int
search_cycles(struct order *order, struct lancet_error *err)
{
	size_t count = order->reuse->info.transition_count;
	size_t nodes = count + order->joint_count;
	struct search search = {
		.seen = calloc(nodes, sizeof(*search.seen)),
		.low = calloc(nodes, sizeof(*search.low)),
		.cycle = calloc(nodes, sizeof(*search.cycle)),
		.open = calloc(nodes, sizeof(*search.open)),
		.path = calloc(nodes, sizeof(*search.path)),
		.count = ALONE,
	};
	int rc = LANCET_OK;

	if (search.seen == NULL || search.low == NULL || search.cycle == NULL ||
		search.open == NULL || search.path == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "%zu transitions", count);
	for (size_t i = 0; rc == LANCET_OK && i < count; i++)
		if (order->rank[i] == NONE && search.seen[i] == 0)
			find_cycles(order, &search, (uint32_t)i);
	if (rc == LANCET_OK)
		rc = blame_cycles(order, &search, err);
	free(search.seen);
	free(search.low);
	free(search.cycle);
	free(search.open);
	free(search.path);
	return rc;
}

static int
break_cycles(struct order *order, struct lancet_error *err)
{
	size_t count = order->reuse->info.transition_count;

	if (order->tail == count)
		return LANCET_OK;
	TRY(search_cycles(order, err));
	for (size_t i = 0; i < count; i++)
		if (order->rank[i] == NONE)
			append(order, (uint32_t)i);
	return LANCET_OK;
}

static int
prepare(struct order *order, struct lancet_error *err)
{
	const struct lancet_reuse *reuse = order->reuse;
	size_t count = reuse->info.transition_count;

	order->joint_count = list_joints(reuse, NULL);
	order->joints = calloc(order->joint_count + 1, sizeof(*order->joints));
	order->waiting = calloc(count + 1, sizeof(*order->waiting));
	order->queue = calloc(count + 1, sizeof(*order->queue));
	order->rank = calloc(count + 1, sizeof(*order->rank));
	if (order->joints == NULL || order->waiting == NULL || order->queue == NULL ||
		order->rank == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu transitions", count);
	(void)list_joints(reuse, order->joints);
	for (size_t i = 0; i < order->joint_count; i++)
		for (size_t k = 0; k < order->joints[i].used_count; k++)
			order->waiting[reuse->used_by[order->joints[i].used_at + k].transition]++;
	for (size_t i = 0; i < count; i++) {
		order->rank[i] = NONE;
		if (order->waiting[i] == 0)
			append(order, (uint32_t)i);
	}
	return LANCET_OK;
}

static int
compare_edges(const void *left, const void *right)
{
	const struct reuse_edge *a = left;
	const struct reuse_edge *b = right;

	if (a->fragment != b->fragment)
		return a->fragment < b->fragment ? -1 : 1;
	return (a->transition > b->transition) - (a->transition < b->transition);
}

static void
renumber(const struct order *order, struct reuse_edge *edges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		edges[i].transition = order->rank[edges[i].transition];
	qsort(edges, count, sizeof(*edges), compare_edges);
}

/* Puts each transition at its rank, in place: ranks are a permutation. */
static void
apply(struct order *order)
{
	struct lancet_reuse *reuse = order->reuse;
	uint32_t *rank = order->rank;

	for (size_t i = 0; i < order->tail; i++)
		rank[order->queue[i]] = (uint32_t)i;
	renumber(order, reuse->made_by, reuse->made_count);
	renumber(order, reuse->used_by, reuse->used_count);
	for (size_t i = 0; i < order->tail; i++)
		while (rank[i] != i) {
			struct reuse_transition moved;
			uint32_t to = rank[i];

			memcpy(&moved, &reuse->transitions[to], sizeof(moved));
			memcpy(&reuse->transitions[to], &reuse->transitions[i], sizeof(moved));
			memcpy(&reuse->transitions[i], &moved, sizeof(moved));
			rank[i] = rank[to];
			rank[to] = to;
		}
}

/* Each transition learns the last maker of its sources. The edges of a joint are where they were,
 * and its last maker is the last of them. */
static void
note_makers(const struct order *order)
{
	struct lancet_reuse *reuse = order->reuse;

	for (size_t i = 0; i < order->joint_count; i++) {
		const struct joint *joint = &order->joints[i];
		uint32_t end =
			reuse->made_by[joint->made_at + joint->made_count - 1].transition + 1;

		for (size_t k = 0; k < joint->used_count; k++) {
			uint32_t user = reuse->used_by[joint->used_at + k].transition;

			if (reuse->transitions[user].fed_end < end)
				reuse->transitions[user].fed_end = end;
		}
	}
}

static void
note_faults(struct lancet_reuse *reuse)
{
	for (size_t i = 0; i < reuse->info.transition_count; i++) {
		const struct lancet_transition *info = &reuse->transitions[i].info;

		reuse->info.fault_count += info->fault != LANCET_OK;
		if (info->fault == LANCET_CORRUPT && reuse->fault.code == LANCET_OK)
			(void)lancet_fail(&reuse->fault, info->fault, "%s", info->fault_text);
	}
}

int
reuse_order(struct lancet_reuse *reuse, struct lancet_error *err)
{
	struct order order = { .reuse = reuse };
	int rc = prepare(&order, err);

	if (rc == LANCET_OK) {
		drain(&order);
		rc = break_cycles(&order, err);
	}
	if (rc == LANCET_OK) {
		assert(order.tail == reuse->info.transition_count);
		apply(&order);
		note_makers(&order);
		note_faults(reuse);
	}
	free(order.joints);
	free(order.waiting);
	free(order.queue);
	free(order.rank);
	return rc;
}
