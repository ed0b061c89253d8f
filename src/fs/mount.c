/* Mounting and serving.
 *
 * The work is done in the process that will serve: it opens the dataset, mounts, starts the loop,
 * and a child asks the new mount for its statistics. Only when that answers does the parent,
 * waiting at a pipe, exit with 0 (fuse_daemonize would report success before that). Signals are
 * taken by one thread. SPEC sections 2 and 8.
 */
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <lancet/version.h>
#include "changes.h"
#include "mount_state.h"
#include "mountpoint.h"
#include "notify.h"
#include "pins.h"
#include "sd.h"
#include "session.h"
#include "settings.h"
#include "tree.h"
#include "util/log.h"
#include "util/macros.h"

#define RETRY_MS     250
#define LIVE_SECONDS 1.0

struct serving {
	struct mount_config *config;
	struct fuse_session *session;
	struct tree *tree;
	struct control *control; /* NULL: there is no ctl/ */
	struct notify *notify;
	struct pins *pins; /* NULL: nothing is pinned */
	sigset_t signals;
	int report_fd;        /* to the waiting parent; -1 in the foreground */
	_Atomic int finished; /* the loop returned */
};

/* One byte of status, then the line that explains it. False when the parent that waits for it is
 * gone. */
static bool
report(struct serving *serving, int status, const char *text)
{
	bool heard = true;

	unsigned char byte = (unsigned char)status;
	struct {
		const void *data;
		size_t size;
	} parts[] = { { &byte, 1 }, { text, strlen(text) } };

	if (serving->report_fd < 0) {
		if (status != MOUNT_OK)
			fprintf(stderr, "lancefs: %s\n", text);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].size > 0 &&
			write(serving->report_fd, parts[i].data, parts[i].size) < 0)
			heard = false;
	close(serving->report_fd);
	serving->report_fd = -1;
	return heard;
}

static int
fail_mount(struct serving *serving, int status, const struct lancet_error *err)
{
	report(serving, status, err->text);
	return status;
}

/* 0, or the errno. A process of its own asks, without our descriptors: a thread of ours that waits
 * for an answer of ours can't be killed, and then the connection would stay open for ever. */
static int
ask_mount(const char *mountpoint)
{
	struct statfs answer;
	int status = 0;
	pid_t child;

	(void)signal(SIGCHLD, SIG_DFL); /* whoever started us may have had it ignored */
	child = fork();
	if (child == 0) {
		(void)close_range(STDERR_FILENO + 1, ~0u, 0);
		_exit(statfs(mountpoint, &answer) == 0 ? 0 : errno);
	}
	if (child < 0)
		return errno;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return errno;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

static void *
probe_mount(void *argument)
{
	struct serving *serving = argument;
	int rc = ask_mount(serving->config->mountpoint);

	if (rc == 0) {
		if (!report(serving, MOUNT_OK, "")) {
			kill(getpid(), SIGTERM); /* whoever asked for the mount was interrupted */
			return NULL;
		}
		sd_notify_ready();
		log_line(LOG_LEVEL_INFO, "serving %s on %s, current is version %llu",
			serving->config->dataset, serving->config->mountpoint,
			(unsigned long long)tree_current(serving->tree));
	} else {
		char text[256];

		snprintf(text, sizeof(text), "the mount does not answer: %s", strerror(rc));
		report(serving, MOUNT_FAILED, text);
		fuse_session_exit(serving->session);
	}
	return NULL;
}

/* Plain unmount now and every quarter second, lazy after stop_timeout or at a second signal. */
static void
stop_serving(struct serving *serving)
{
	unsigned waited_ms = 0;
	bool lazy = false;
	struct lancet_error err = { 0 };
	const struct timespec step = { .tv_nsec = RETRY_MS * 1000000L };

	if (serving->control != NULL)
		control_stop(serving->control);
	while (!atomic_load(&serving->finished)) {
		int rc = mountpoint_unmount(serving->config->mountpoint, lazy, &err);

		if (rc == LANCET_OK || rc != LANCET_BUSY)
			break;
		if (waited_ms == 0)
			log_line(LOG_LEVEL_NOTICE,
				"%s is in use: serving on until it is idle, or for %u s",
				serving->config->mountpoint, serving->config->stop_timeout);
		int signal_number = sigtimedwait(&serving->signals, NULL, &step);

		waited_ms += RETRY_MS;
		lazy = signal_number == SIGTERM || signal_number == SIGINT ||
		       waited_ms >= serving->config->stop_timeout * 1000u;
	}
	if (err.code != LANCET_OK && err.code != LANCET_BUSY) {
		log_line(LOG_LEVEL_ERROR, "%s", err.text);
		fuse_session_exit(serving->session);
	}
}

static void
move_current(struct serving *serving)
{
	const struct mount_config *config = serving->config;
	struct lancet_error err = { 0 };
	uint64_t number = 0;

	if (config->version != NULL || config->tag != NULL || config->as_of != NULL)
		log_line(LOG_LEVEL_NOTICE, "SIGHUP: current stays where the mount options put it");
	else if (tree_use(serving->tree, 0, &number, &err) != LANCET_OK)
		log_line(LOG_LEVEL_ERROR, "SIGHUP: current stays: %s", err.text);
	else {
		tree_tell_moved(
			serving->tree, tree_dataset(serving->tree), notify_tell, serving->notify);
		notify_flush(serving->notify);
		pins_move(serving->pins, number);
		log_line(LOG_LEVEL_NOTICE, "SIGHUP: current is version %llu",
			(unsigned long long)number);
	}
}

static void *
take_signals(void *argument)
{
	struct serving *serving = argument;

	for (;;) {
		int number = sigwaitinfo(&serving->signals, NULL);

		if (number == SIGUSR1 && atomic_load(&serving->finished))
			return NULL; /* serve() says that the loop ended */
		if (number == SIGHUP) {
			move_current(serving);
		} else if (number == SIGTERM || number == SIGINT) {
			stop_serving(serving);
			return NULL;
		}
	}
}

static int
run_loop(struct serving *serving)
{
	if (serving->config->single_threaded)
		return fuse_session_loop(serving->session);

	struct fuse_loop_config *loop = fuse_loop_cfg_create();
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned threads = serving->config->max_threads;

	if (loop == NULL)
		return -ENOMEM;
	if (threads == 0)
		threads = cores > 0 && cores < 16 ? 2 * (unsigned)cores : 32;
	fuse_loop_cfg_set_max_threads(loop, threads);
	fuse_loop_cfg_set_clone_fd(loop, 1);
	int rc = fuse_session_loop_mt(serving->session, loop);
	fuse_loop_cfg_destroy(loop);
	return rc;
}

/* Threads and loop of a mounted session; returns when it is unmounted. */
static int
serve(struct serving *serving)
{
	pthread_t signals, probe;
	int rc;

	if (pthread_create(&signals, NULL, take_signals, serving) != 0)
		return MOUNT_SYSTEM;
	if (pthread_create(&probe, NULL, probe_mount, serving) != 0) {
		pthread_kill(signals, SIGUSR1);
		pthread_join(signals, NULL);
		return MOUNT_SYSTEM;
	}
	rc = run_loop(serving);
	atomic_store(&serving->finished, 1);
	/* After a loop that failed nobody would answer the probe: this ends the connection. */
	fuse_session_unmount(serving->session);
	pthread_join(probe, NULL);
	pthread_kill(signals, SIGUSR1);
	pthread_join(signals, NULL);
	/* The kernel ended the connection while a request was on its way: unmounted, too. */
	return rc < 0 && rc != -ECONNABORTED ? MOUNT_INTERNAL : MOUNT_OK;
}

/* Before a command is answered the kernel has forgotten what is not true any more. */
static void
command_settled(void *context, lancet_dataset *dataset, enum control_effect effect)
{
	struct serving *serving = context;

	if ((effect & CONTROL_MOVES) != 0) {
		tree_tell_moved(serving->tree, dataset, notify_tell, serving->notify);
		if (dataset == tree_dataset(serving->tree))
			pins_move(serving->pins, tree_current(serving->tree));
	}
	if ((effect & CONTROL_CHANGES) != 0)
		tree_tell_changed(serving->tree, dataset, notify_tell, serving->notify);
	if ((effect & CONTROL_REMOVES) != 0)
		tree_tell_removed(serving->tree, notify_tell, serving->notify);
	notify_flush(serving->notify);
}

static void
wake_poll(void *context, void *poll)
{
	struct serving *serving = context;

	notify_poll(serving->notify, poll);
}

static const struct control_hooks hooks = {
	.park = change_park,
	.reply = change_reply,
	.settled = command_settled,
	.wake = wake_poll,
	.forget = change_forget_poll,
};

/* ctl/, what tells the kernel, and the pin of the version that is shown. */
static int
prepare(struct serving *serving, struct lancet_error *err)
{
	struct mount_config *config = serving->config;

	serving->notify = notify_new();
	if (serving->notify == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "notifier: out of memory");
	TRY(settings_open_control(
		config, serving->tree, &hooks, serving, &serving->control, err));
	if (serving->control != NULL)
		tree_set_control(serving->tree, serving->control);
	if (config->read_only || config->view != NULL)
		return LANCET_OK;
	pins_expire(tree_dataset(serving->tree));
	return config->snapshot ? pins_new(tree_dataset(serving->tree), tree_current(serving->tree),
					  &serving->pins, err)
				: LANCET_OK;
}

static int
status_of(const struct lancet_error *err)
{
	return err->code == LANCET_INVALID || err->code == LANCET_DENIED ? MOUNT_USAGE
	       : err->code == LANCET_NO_MEMORY                          ? MOUNT_SYSTEM
									: MOUNT_FAILED;
}

/* Everything of the process that serves. Returns its exit status. */
static int
run_daemon(struct serving *serving)
{
	struct mount_config *config = serving->config;
	struct mount_state state = { .live_seconds = config->view != NULL ? 0 : LIVE_SECONDS };
	struct lancet_error err = { 0 };
	int status = MOUNT_FAILED;

	if (settings_open_tree(config, &serving->tree, &err) != LANCET_OK ||
		prepare(serving, &err) != LANCET_OK) {
		status = fail_mount(serving, status_of(&err), &err);
		goto out;
	}
	state.tree = serving->tree;
	if (session_start(config, &state, &serving->session, &err) != LANCET_OK ||
		notify_start(serving->notify, serving->session, &err) != LANCET_OK) {
		status = fail_mount(
			serving, err.code == LANCET_DENIED ? MOUNT_FAILED : MOUNT_SYSTEM, &err);
	} else {
		status = serve(serving);
		log_line(LOG_LEVEL_INFO, "%s is unmounted", config->mountpoint);
	}
out:
	/* replies and notices of commands that still run need the session */
	control_free(serving->control, config->stop_timeout);
	notify_free(serving->notify);
	pins_free(serving->pins);
	if (serving->session != NULL)
		fuse_session_destroy(serving->session);
	tree_free(serving->tree);
	return status;
}

/* Signals are blocked before any thread starts, so that only take_signals sees them. */
static void
block_signals(struct serving *serving)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGUSR1 };

	sigemptyset(&serving->signals);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaddset(&serving->signals, numbers[i]);
	pthread_sigmask(SIG_BLOCK, &serving->signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* one who writes beyond a limit is told by errno */
}

/* The daemon notices that its report is not wanted any more, and unmounts. */
static void
leave_interrupted(int number)
{
	(void)number;
	_exit(MOUNT_INTERRUPTED);
}

static int
wait_for_report(int fd)
{
	char text[1024];
	size_t size = 0;
	ssize_t got;

	while (size < sizeof(text) - 1 &&
		((got = read(fd, text + size, sizeof(text) - 1 - size)) > 0 ||
			(got < 0 && errno == EINTR)))
		size += got > 0 ? (size_t)got : 0;
	if (size == 0) {
		fputs("lancefs: the daemon ended before it served; see the system log\n", stderr);
		return MOUNT_INTERNAL;
	}
	text[size] = '\0';
	if (text[0] != MOUNT_OK)
		fprintf(stderr, "lancefs: %s\n", text + 1);
	return (unsigned char)text[0];
}

static int
run_in_background(struct serving *serving)
{
	int ends[2];
	pid_t child;

	/* before there is a child: whoever sees one gets the right status; the child blocks both */
	signal(SIGINT, leave_interrupted);
	signal(SIGTERM, leave_interrupted);
	if (pipe2(ends, O_CLOEXEC) != 0 || (child = fork()) < 0) {
		perror("lancefs");
		return MOUNT_SYSTEM;
	}
	if (child > 0) {
		close(ends[1]);
		return wait_for_report(ends[0]);
	}
	close(ends[0]);
	serving->report_fd = ends[1];
	setsid();
	if (chdir("/") != 0)
		return MOUNT_SYSTEM;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
	log_setup(LOG_LEVEL_INFO, true, "lancefs");
	block_signals(serving);
	return run_daemon(serving);
}

/* Programs that map or poll descriptors want few; this one may have what the system allows. */
static void
raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

int
mount_run(struct mount_config *config)
{
	struct serving serving = { .config = config, .report_fd = -1 };
	struct lancet_error err = { 0 };
	int status = settings_resolve_paths(config, &err);

	if (status != MOUNT_OK)
		return fail_mount(&serving, status, &err);
	raise_descriptor_limit();
	if (!config->foreground && !config->debug)
		return run_in_background(&serving);
	log_setup(config->debug ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO, false, "lancefs");
	block_signals(&serving);
	return run_daemon(&serving);
}
