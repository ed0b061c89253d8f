/* Errno map, timeouts and failure log of the daemon.
 *
 * A failing file is read again and again by tools that walk a tree: the log takes one line per node
 * and minute, in a small table without locks, where a lost race only costs one more line.
 */
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "reply.h"

#include <errno.h>
#include <float.h>
#include <stdatomic.h>
#include <time.h>

#include "control.h"
#include "mount_state.h"
#include "util/log.h"
#include "util/macros.h"

#define LOG_SLOTS   256
#define LOG_SECONDS 60

static _Atomic uint64_t logged_node[LOG_SLOTS];
static _Atomic int64_t logged_at[LOG_SLOTS];

static bool
is_worth_a_line(uint64_t node)
{
	size_t slot = (node * UINT64_C(0x9e3779b97f4a7c15)) >> 56;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (atomic_load_explicit(&logged_node[slot], memory_order_relaxed) == node &&
		now.tv_sec - atomic_load_explicit(&logged_at[slot], memory_order_relaxed) <
			LOG_SECONDS)
		return false;
	atomic_store_explicit(&logged_node[slot], node, memory_order_relaxed);
	atomic_store_explicit(&logged_at[slot], now.tv_sec, memory_order_relaxed);
	return true;
}

extern void __lsan_ignore_object(const void *object) __attribute__((weak));

uint64_t
reply_handle(const void *object)
{
	if (__lsan_ignore_object != NULL)
		__lsan_ignore_object(object);
	return (uintptr_t)object;
}

void
reply_count(fuse_req_t req, enum stats_request kind)
{
	const struct mount_state *state = fuse_req_userdata(req);
	struct control *control = tree_control(state->tree);

	if (control != NULL)
		stats_count(&control_stats(control)->requests[kind]);
}

/* Not there, or not to be written: that is an answer, and no failure of anything. */
static bool
is_failure(const struct lancet_error *err)
{
	bool refused = err->code == LANCET_IO && (err->os_errno == EROFS ||
							 err->os_errno == EPERM ||
							 err->os_errno == EACCES);

	return !refused && err->code != LANCET_NOT_FOUND && err->code != LANCET_READ_ONLY &&
	       err->code != LANCET_EXISTS;
}

void
reply_failure(fuse_req_t req, struct tree *tree, uint64_t node, const struct lancet_error *err)
{
	const struct fuse_ctx *context = fuse_req_ctx(req);
	struct control *control = tree_control(tree);

	if (is_failure(err) && is_worth_a_line(node)) {
		char path[512];

		tree_path(tree, node, path, sizeof(path));
		log_line(LOG_LEVEL_WARNING, "/%s: %s", path, err->text);
		if (control != NULL)
			report_add(control_report(control), context->uid, context->pid, path,
				lancet_code_name(err->code), err->text);
	}
	fuse_reply_err(req, lancet_error_errno(err));
}

static double
timeout_of(const struct tree_entry *entry, double live_seconds)
{
	if (entry->immutable)
		return DBL_MAX;
	return S_ISDIR(entry->st.st_mode) ? live_seconds : 0;
}

void
entry_to_param(
	const struct tree_entry *entry, double live_seconds, struct fuse_entry_param *ret_param)
{
	double timeout = timeout_of(entry, live_seconds);

	*ret_param = (struct fuse_entry_param){
		.ino = entry->node,
		.generation = entry->generation,
		.attr = entry->st,
		.attr_timeout = timeout,
		.entry_timeout = timeout,
	};
}

void
reply_attr(fuse_req_t req, const struct tree_entry *entry, double live_seconds)
{
	fuse_reply_attr(req, &entry->st, timeout_of(entry, live_seconds));
}
