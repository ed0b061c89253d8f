/* Lineage order of the transitions of a history, and cycles in it.
 *
 * A transition comes after those that make its sources. All that wait for none go into a queue as
 * they are stored; one that is taken from it is followed by those that waited for nothing else.
 * What stays out is in a cycle, behind one, or both. Of these the ones that lead into no cycle are
 * taken away in the same manner, backwards; what is left is at fault and comes next, as it is
 * stored, and the rest follows. Each edge is looked at a constant number of times: fragments that
 * are made and consumed (joints) count how many makers and users are still to come, so that a
 * hostile fragment of a thousand makers and a thousand users costs no million steps. Format facts:
 * translation.
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
	size_t users;               /* of the search for cycles: the same backwards */
	uint32_t cycle_user;        /* a transition of a cycle that consumes it, or NONE */
};

#define NONE UINT32_MAX

struct order {
	struct lancet_reuse *reuse;
	struct joint *joints; /* by fragment */
	size_t joint_count;
	size_t *waiting; /* by transition: its sources that are not made yet */
	size_t *feeding; /* by transition: its destinations that lead on */
	uint32_t *queue; /* transitions in lineage order */
	uint32_t *rank;  /* by transition: its place in the queue, or NONE */
	size_t head, tail;
};

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
					makers, 0, NONE };
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

/* Nobody in or before a cycle consumes the fragment: those that make it lead on by one less. */
static void
unuse(struct order *order, struct joint *joint, uint32_t *stack, size_t *depth)
{
	const struct reuse_edge *makers = &order->reuse->made_by[joint->made_at];

	if (--joint->users != 0)
		return;
	for (size_t i = 0; i < joint->made_count; i++) {
		uint32_t maker = makers[i].transition;

		if (order->rank[maker] == NONE && --order->feeding[maker] == 0)
			stack[(*depth)++] = maker;
	}
}

/* The number of transitions that wait, and how many of their destinations lead on to another. */
static size_t
count_feeding(struct order *order)
{
	const struct lancet_reuse *reuse = order->reuse;
	size_t waiting = 0;

	for (size_t i = 0; i < order->joint_count; i++) {
		struct joint *joint = &order->joints[i];

		for (size_t k = 0; k < joint->used_count; k++)
			joint->users +=
				order->rank[reuse->used_by[joint->used_at + k].transition] == NONE;
		for (size_t k = 0; k < joint->made_count && joint->users != 0; k++)
			order->feeding[reuse->made_by[joint->made_at + k].transition]++;
	}
	for (size_t i = 0; i < reuse->info.transition_count; i++)
		waiting += order->rank[i] == NONE;
	return waiting;
}

/* Leaves those of the waiting transitions with feeding != 0 that lie in a cycle or between two. */
static void
strip(struct order *order, uint32_t *stack)
{
	const struct lancet_reuse *reuse = order->reuse;
	size_t depth = 0;

	for (size_t i = 0; i < reuse->info.transition_count; i++)
		if (order->rank[i] == NONE && order->feeding[i] == 0)
			stack[depth++] = (uint32_t)i;
	while (depth > 0) {
		const struct lancet_transition *info = &reuse->transitions[stack[--depth]].info;

		for (size_t i = 0; i < info->source_count; i++) {
			struct joint *joint = find_joint(order, info->sources[i].id);

			if (joint != NULL)
				unuse(order, joint, stack, &depth);
		}
	}
}

static bool
in_cycle(const struct order *order, size_t transition)
{
	return order->rank[transition] == NONE && order->feeding[transition] != 0;
}

/* Gives each transition of a cycle a fault that names the next one. */
static int
blame(struct order *order, struct reuse_transition *transition, struct lancet_error *err)
{
	struct lancet_reuse *reuse = order->reuse;
	const struct lancet_transition *info = &transition->info;

	for (size_t i = 0; i < info->destination_count; i++) {
		const struct joint *joint = find_joint(order, info->destinations[i].id);
		char name[64];

		if (joint == NULL || joint->cycle_user == NONE)
			continue;
		reuse_record_name(&reuse->transitions[joint->cycle_user].info, name);
		return reuse_fault(reuse, transition, LANCET_CORRUPT, err,
			"a cycle: its fragment %" PRIu32 " leads to %s and back",
			joint->fragment, name);
	}
	return LANCET_OK;
}

static int
blame_cycles(struct order *order, struct lancet_error *err)
{
	struct lancet_reuse *reuse = order->reuse;

	for (size_t i = 0; i < order->joint_count; i++) {
		struct joint *joint = &order->joints[i];

		for (size_t k = 0; k < joint->used_count && joint->cycle_user == NONE; k++) {
			uint32_t user = reuse->used_by[joint->used_at + k].transition;

			if (in_cycle(order, user))
				joint->cycle_user = user;
		}
	}
	for (size_t i = 0; i < reuse->info.transition_count; i++)
		if (in_cycle(order, i))
			TRY(blame(order, &reuse->transitions[i], err));
	return LANCET_OK;
}

static int
break_cycles(struct order *order, struct lancet_error *err)
{
	lancet_autofree uint32_t *stack = NULL;
	size_t waiting = count_feeding(order);

	if (waiting == 0)
		return LANCET_OK;
	stack = malloc(waiting * sizeof(*stack));
	if (stack == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu transitions", waiting);
	strip(order, stack);
	TRY(blame_cycles(order, err));
	for (size_t i = 0; i < order->reuse->info.transition_count; i++)
		if (in_cycle(order, i))
			append(order, (uint32_t)i);
	drain(order);
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
	order->feeding = calloc(count + 1, sizeof(*order->feeding));
	order->queue = calloc(count + 1, sizeof(*order->queue));
	order->rank = calloc(count + 1, sizeof(*order->rank));
	if (order->joints == NULL || order->waiting == NULL || order->feeding == NULL ||
		order->queue == NULL || order->rank == NULL)
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
		note_faults(reuse);
	}
	free(order.joints);
	free(order.waiting);
	free(order.feeding);
	free(order.queue);
	free(order.rank);
	return rc;
}
