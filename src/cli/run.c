/* Commands without a mount; see run.h.
 *
 * The result goes to standard output, whatever it is; a failure is told once more on standard
 * error, for people. The first signal that asks for an end cancels the command before its commit
 * point, the second one ends the program.
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command/command.h"
#include "fs/select.h"
#include "output.h"
#include "util/macros.h"

#define STATUS_FAILED   1
#define PROGRESS_MILLIS 100 /* between two lines of progress */

static volatile sig_atomic_t interrupted;

static void
note_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static void
catch_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction action = { .sa_handler = note_signal, .sa_flags = SA_RESETHAND };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct sigaction before;

		/* what nohup(1) has ignored stays ignored */
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			(void)sigaction(numbers[i], &action, NULL);
	}
}

/* Standard error while it is a terminal. */
struct terminal {
	bool there;
	bool dirty;       /* the line holds progress */
	int64_t shown_at; /* milliseconds */
};

static int64_t
now_millis(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void
show_progress(void *context, uint64_t done, uint64_t total, const char *unit)
{
	struct terminal *terminal = context;
	int64_t now = now_millis();

	if (!terminal->there || (terminal->dirty && now - terminal->shown_at < PROGRESS_MILLIS))
		return;
	fprintf(stderr, "\r\033[K%llu of %llu %s", (unsigned long long)done,
		(unsigned long long)total, unit);
	terminal->dirty = true;
	terminal->shown_at = now;
}

static void
clear_progress(struct terminal *terminal)
{
	if (terminal->dirty)
		fputs("\r\033[K", stderr);
	terminal->dirty = false;
}

static bool
is_cancelled(void *context)
{
	(void)context;
	return interrupted != 0;
}

static int
open_file(void *context, const char *name, int *ret_fd, struct lancet_error *err)
{
	int fd;

	(void)context;
	if (strcmp(name, "-") == 0)
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	else
		fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && interrupted != 0) /* while a pipe had no writer */
		return lancet_fail(err, LANCET_CANCELLED, "%.200s: cancelled", name);
	if (fd < 0)
		return lancet_fail_errno(err, "%.200s", name);
	*ret_fd = fd;
	return LANCET_OK;
}

/* Takes branch=NAME out of the words; it is there for every command, and no key of any. */
static int
take_branch(char **words, size_t *count, struct selection *selection, struct lancet_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		if (strncmp(words[i], "branch=", 7) != 0) {
			words[kept++] = words[i];
			continue;
		}
		if (selection->branch != NULL)
			return lancet_fail(err, LANCET_INVALID, "branch= is there twice");
		selection->branch = words[i] + 7;
	}
	*count = kept;
	return LANCET_OK;
}

static int
parse_words(const struct command *command, char **arguments, size_t count,
	struct command_words *words, struct lancet_error *err)
{
	static char run[] = "run";
	char *const defaults[] = { run };
	bool quick, async;

	if (count == 0)
		TRY(command_words_of(defaults, 1, words, err));
	else
		TRY(command_words_of(arguments, count, words, err));
	TRY(command_check(command, words, &quick, &async, err));
	if (async)
		return lancet_fail(err, LANCET_INVALID,
			"async=true: only a mount has somebody who goes on with it");
	return LANCET_OK;
}

static int
execute(const struct command *command, char *path, char **arguments, size_t count,
	struct buf *result, struct lancet_error *err)
{
	struct terminal terminal = { .there = isatty(STDERR_FILENO) == 1 };
	struct command_host host = { .context = &terminal,
		.cancelled = is_cancelled,
		.progress = show_progress,
		.open_payload = open_file };
	struct selection selection = { 0 };
	struct command_words words = { 0 };
	int rc = take_branch(arguments, &count, &selection, err);

	if (rc == LANCET_OK)
		rc = parse_words(command, arguments, count, &words, err);
	if (rc == LANCET_OK)
		rc = select_dataset(path, &selection, NULL, &host.dataset, err);
	if (rc == LANCET_OK) {
		rc = command_execute(command, &words, &host, result, err);
	} else {
		(void)lancet_wrap(err, rc, "%s", command->name);
		command_refused(command->name, 0, err, result);
	}
	clear_progress(&terminal);
	lancet_dataset_unref(host.dataset);
	command_words_release(&words);
	return rc;
}

bool
run_has_command(const char *name)
{
	return command_find(name) != NULL;
}

void
run_print_usage(FILE *to)
{
	fputs("\nThese change the dataset, and print what they did as JSON; branch=NAME is for "
	      "all:\n\n",
		to);
	for (const struct command *command = commands; command->name != NULL; command++) {
		if (strcmp(command->name, "translate") != 0)
			fprintf(to, "  %s DATASET %.*s\n", command->name,
				(int)strcspn(command->usage, "\n"), command->usage);
	}
	fputs("\nlancet COMMAND --help has all words of one. Manuals: lancet(1), "
	      "lancefs-control(5).\n",
		to);
}

static int
print_help(const struct command *command)
{
	printf("usage: lancet %s DATASET %s\nSee lancefs-control(5).\n", command->name,
		command->usage);
	return EXIT_SUCCESS;
}

int
run_command(const char *name, int argc, char **argv)
{
	const struct command *command = command_find(name);
	struct lancet_error err = { 0 };
	struct buf result = { 0 };
	int rc, failed;

	/* Behind the dataset, too: nothing is to run for somebody who asks what it would be. */
	if (strcmp(argv[argc - 1], "--help") == 0 || (argc == 1 && strcmp(argv[0], "-h") == 0))
		return print_help(command);
	catch_signals();
	rc = execute(command, argv[0], argv + 1, (size_t)argc - 1, &result, &err);
	if (rc != LANCET_OK)
		fprintf(stderr, "lancet: %s: %s\n", strerrorname_np(lancet_error_errno(&err)),
			err.text);
	failed = buf_check(&result, "the result", &err);
	if (failed == LANCET_OK)
		failed = output_put(result.data, result.size, &err);
	if (failed != LANCET_OK)
		fprintf(stderr, "lancet: %s\n", err.text);
	buf_release(&result);
	return rc == LANCET_OK && failed == LANCET_OK ? EXIT_SUCCESS : STATUS_FAILED;
}
