/* A mount's control files without a mount: stub commands over the sample dataset, and requests
 * whose answers are noted. */
#ifndef TESTS_CONTROLRIG_H
#define TESTS_CONTROLRIG_H

#include "controlstubs.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

struct request {
	_Atomic bool answered;
	int os_errno;
	size_t taken;
	struct caller *caller; /* once it is parked */
};

static struct {
	lancet_dataset *dataset;
	struct tree *tree;
	struct control *control;
	_Atomic unsigned settled;
	enum control_effect effect;
} rig;

static inline void
rig_park(void *request, struct caller *caller)
{
	((struct request *)request)->caller = caller;
}

static inline void
rig_reply(void *request, int os_errno, size_t taken)
{
	struct request *answer = request;

	ck_assert(!answer->answered);
	answer->os_errno = os_errno;
	answer->taken = taken;
	answer->answered = true;
}

static inline void
rig_settled(void *context, lancet_dataset *dataset, enum control_effect effect)
{
	(void)context;
	ck_assert_ptr_eq(dataset, rig.dataset);
	rig.effect = effect;
	rig.settled++;
}

static const struct control_hooks rig_hooks = {
	.park = rig_park,
	.reply = rig_reply,
	.settled = rig_settled,
};

static inline void
rig_begin(void)
{
	const struct tree_options tree = { 0 };
	struct control_options options = { .commands = stub_commands,
		.jobs = 1,
		.stage_max = 1000,
		.owner = 1234,
		.hooks = &rig_hooks };

	ck_assert_int_eq(
		lancet_dataset_open(UNIT_DATA_DIR "/sample.lance", NULL, &rig.dataset, NULL),
		LANCET_OK);
	ck_assert_int_eq(tree_new(rig.dataset, &tree, &rig.tree, NULL), LANCET_OK);
	options.tree = rig.tree;
	ck_assert_int_eq(control_new(&options, &rig.control, NULL), LANCET_OK);
	tree_set_control(rig.tree, rig.control);
}

static inline void
rig_end(void)
{
	control_stop(rig.control);
	control_free(rig.control, 20);
	tree_free(rig.tree);
	lancet_dataset_unref(rig.dataset);
}

#endif
