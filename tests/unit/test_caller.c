/* Signals of those who wait for a command: which ones ask for its end. */
#include "unit.h"

#include "fs/caller.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void
ignore_it(int number)
{
	(void)number;
}

/* A child that has caught none of its signals yet: it is stopped, so that they stay pending. */
static pid_t
stopped_child(int blocked)
{
	int status;
	pid_t child;

	child = fork();
	if (child == 0) {
		sigset_t set;

		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGWINCH, ignore_it);
		signal(SIGCHLD, ignore_it);
		signal(SIGUSR1, ignore_it);
		sigemptyset(&set);
		if (blocked != 0)
			sigaddset(&set, blocked);
		sigprocmask(SIG_SETMASK, &set, NULL);
		raise(SIGSTOP);
		for (;;)
			pause();
	}
	ck_assert_int_gt(child, 0);
	ck_assert_int_eq(waitpid(child, &status, WUNTRACED), child);
	ck_assert(WIFSTOPPED(status));
	return child;
}

static void
end(pid_t child)
{
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static const struct {
	int number, blocked;
	bool asks;
} signals[] = {
	{ SIGINT, 0, true },
	{ SIGTERM, 0, true },
	{ SIGHUP, 0, true },
	{ SIGQUIT, 0, true },
	{ SIGCHLD, 0, false },
	{ SIGWINCH, 0, false },
	{ SIGUSR1, 0, false },
	{ SIGINT, SIGINT, false },
	{ SIGTERM, SIGINT, true },
};

START_TEST(some_signals_ask_for_the_end)
{
	pid_t child = stopped_child(signals[_i].blocked);

	ck_assert(!caller_asks_for_end(child));
	ck_assert_int_eq(kill(child, signals[_i].number), 0);
	ck_assert_int_eq(caller_asks_for_end(child), signals[_i].asks);
	end(child);
	ck_assert(caller_asks_for_end(child)); /* it is gone */
}
END_TEST

START_TEST(one_that_can_not_be_seen_asks_with_any_signal)
{
	ck_assert(caller_asks_for_end(0));
	ck_assert(!caller_asks_for_end(getpid()));
}
END_TEST

struct waiting {
	struct caller caller;
	_Atomic int ends, releases;
};

static void
wants_end(struct caller *caller)
{
	((struct waiting *)caller)->ends++;
}

static void
released(struct caller *caller)
{
	((struct waiting *)caller)->releases++;
}

static struct waiting
waiting_for(struct callers *callers, pid_t pid)
{
	return (struct waiting){ .caller = { .refs = 1,
					 .callers = callers,
					 .pid = pid,
					 .wants_end = wants_end,
					 .release = released } };
}

START_TEST(after_the_first_signal_all_are_looked_at)
{
	struct callers *callers = callers_new();
	pid_t child = stopped_child(0);
	struct waiting waiting = waiting_for(callers, child);

	ck_assert_int_eq(kill(child, SIGWINCH), 0);
	caller_interrupted(&waiting.caller);
	caller_interrupted(&waiting.caller);
	usleep(2 * CALLER_LOOK_MS * 1000);
	ck_assert_int_eq(waiting.ends, 0);
	ck_assert_int_eq(kill(child, SIGINT), 0);
	for (int i = 0; i < 4 * CALLER_LOOK_MS && waiting.ends == 0; i++)
		usleep(1000);
	ck_assert_int_eq(waiting.ends, 1);
	usleep(2 * CALLER_LOOK_MS * 1000);
	ck_assert_int_eq(waiting.ends, 1); /* once */
	caller_forget(&waiting.caller);
	caller_unref(&waiting.caller);
	ck_assert_int_eq(waiting.releases, 1);
	end(child);
	callers_free(callers);
}
END_TEST

START_TEST(one_that_is_forgotten_is_not_looked_at)
{
	struct callers *callers = callers_new();
	pid_t child = stopped_child(0);
	struct waiting waiting = waiting_for(callers, child);

	caller_forget(&waiting.caller); /* never listed */
	caller_interrupted(&waiting.caller);
	caller_forget(&waiting.caller);
	ck_assert_int_eq(kill(child, SIGINT), 0);
	usleep(2 * CALLER_LOOK_MS * 1000);
	ck_assert_int_eq(waiting.ends, 0);
	ck_assert_int_eq(waiting.caller.refs, 1);
	end(child);
	callers_free(callers);
}
END_TEST

UNIT_MAIN("caller", UNIT_LOOP(some_signals_ask_for_the_end, signals),
	UNIT_TEST(one_that_can_not_be_seen_asks_with_any_signal),
	UNIT_TEST(after_the_first_signal_all_are_looked_at),
	UNIT_TEST(one_that_is_forgotten_is_not_looked_at))
