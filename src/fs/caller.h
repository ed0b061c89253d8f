/* Those who wait for a command: whether a signal that came for them asks to cancel it.
 *
 * The kernel tells of any signal, once, not which one it is. From then on the caller's pending
 * signals are looked at every CALLER_LOOK_MS: SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGKILL ask for
 * the end, a window that is resized or a child that ends does not. SPEC section 5.
 */
#ifndef FS_CALLER_H
#define FS_CALLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#define CALLER_LOOK_MS 250

struct callers;

/* Part of something counted by `refs`. */
struct caller {
	_Atomic int refs;
	struct callers *callers;
	pid_t pid; /* thread id; 0: not to be told, and then any signal asks for the end */
	/* Called at most once, by the thread that looks; without a lock. */
	void (*wants_end)(struct caller *caller);
	void (*release)(struct caller *caller); /* when refs is 0 */
	bool listed;                            /* of the list that follows; under its lock */
	struct caller *next, *previous;
};

/* Whether one of these signals is pending and not blocked, or the thread is gone. */
bool caller_asks_for_end(pid_t pid);

struct callers *callers_new(void);
void callers_free(struct callers *callers); /* NULL is fine */
/* A signal came; any number of times. */
void caller_interrupted(struct caller *caller);
/* It waits no longer: wants_end is not called any more, or just was. */
void caller_forget(struct caller *caller);

void caller_ref(struct caller *caller);
void caller_unref(struct caller *caller);

#endif
