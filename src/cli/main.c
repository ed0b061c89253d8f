/* lancet: what needs no mount. Finds the command, takes its line apart, and says in one line what
 * went wrong.
 *
 * SPEC section 2. Commands that only show something are rows of a table here; those that change
 * something are the ones of a control file: see run.h.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "run.h"
#include "util/macros.h"

static const struct command commands[] = {
	{ "show", "PATH [version=N|tag=NAME|asof=TIME] [branch=NAME]",
		"print a file of the tree, the names in a directory, or where a link leads", 1, 1,
		command_show },
	{ "rows",
		"[version=N|tag=NAME|asof=TIME] [branch=NAME] [columns=A,B]\n"
		"      [where=CONDITION|row_ids=1,2,5-9] [offset=N] [limit=N]\n"
		"      [format=jsonl|csv|arrow] [blobs=descriptions|bytes]",
		"print rows", 0, ROWS_WORDS, command_rows },
	{ "translate",
		"addrs=FRAG:OFFSET,...|file=NAME [version=N|tag=NAME|asof=TIME] [branch=NAME]",
		"follow row addresses to where their rows are now", 0, TRANSLATE_WORDS,
		command_translate },
};

#define USAGE "usage: lancet COMMAND DATASET [ARGUMENT]...\n"

static int
help(void)
{
	fputs(USAGE "       lancet --help | --version\n       lancet COMMAND --help\n\n", stdout);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %s DATASET %s\n      %s\n", commands[i].name, commands[i].usage,
			commands[i].about);
	run_print_usage(stdout);
	return EXIT_SUCCESS;
}

static int
help_with(const struct command *command)
{
	printf("usage: lancet %s DATASET %s\n%s: see lancet(1).\n", command->name, command->usage,
		command->about);
	return EXIT_SUCCESS;
}

static int
misuse(const char *what, const char *word)
{
	fprintf(stderr,
		"lancet: %s%s%s\n" USAGE
		"lancet --help has the commands, lancet COMMAND --help the words of one\n",
		what, word != NULL ? ": " : "", word != NULL ? word : "");
	return EXIT_FAILED;
}

/* *ret_taken says whether the word is one of selection's; INVALID: it is there already. */
static int
take_selection(struct selection *selection, const char *word, bool *ret_taken,
	struct lancet_error *err)
{
	const struct {
		const char *key;
		const char **value;
	} keys[] = {
		{ "version=", &selection->version },
		{ "tag=", &selection->tag },
		{ "asof=", &selection->as_of },
		{ "branch=", &selection->branch },
	};

	*ret_taken = false;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t size = strlen(keys[i].key);

		if (strncmp(word, keys[i].key, size) != 0)
			continue;
		if (*keys[i].value != NULL)
			return lancet_fail(err, LANCET_INVALID, "%s is there twice", keys[i].key);
		*keys[i].value = word + size;
		*ret_taken = true;
	}
	return LANCET_OK;
}

static const struct command *
find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

/* Arguments behind the command's name. The words that remain are moved to the front of argv. */
static int
sort_words(const struct command *command, int argc, char **argv, struct command_line *line,
	struct lancet_error *err)
{
	for (int i = 0; i < argc; i++) {
		bool taken = line->dataset == NULL;

		if (taken)
			line->dataset = argv[i];
		else if (line->word_count >= command->word_min)
			TRY(take_selection(&line->selection, argv[i], &taken, err));
		if (!taken)
			argv[line->word_count++] = argv[i];
	}
	return LANCET_OK;
}

static int
run(const struct command *command, int argc, char **argv)
{
	struct command_line line = { .words = argv };
	struct lancet_error err = { 0 };
	int rc = sort_words(command, argc, argv, &line, &err);

	if (line.dataset == NULL)
		return misuse("which dataset?", NULL);
	if (rc == LANCET_OK && line.word_count < command->word_min)
		return misuse("something is missing behind", line.dataset);
	if (rc == LANCET_OK && line.word_count > command->word_max)
		return misuse("what is this", argv[command->word_max]);
	if (rc == LANCET_OK)
		rc = command->run(&line, &err);
	if (rc == LANCET_OK)
		return EXIT_SUCCESS;
	fprintf(stderr, "lancet: %s: %s\n", strerrorname_np(lancet_error_errno(&err)), err.text);
	return EXIT_FAILED;
}

int
main(int argc, char **argv)
{
	const struct command *command;

	/* who started us may have it ignored; a reader that has seen enough is no error to report
	 */
	(void)signal(SIGPIPE, SIG_DFL);
	/* beyond a limit of file sizes is an error like a full disk: what was written is removed */
	(void)signal(SIGXFSZ, SIG_IGN);
	if (argc < 2)
		return misuse("which command?", NULL);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return help();
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		puts(PACKAGE_NAME " " PACKAGE_VERSION);
		return EXIT_SUCCESS;
	}
	command = find_command(argv[1]);
	if (command == NULL && !run_has_command(argv[1]))
		return misuse("no such command", argv[1]);
	if (command == NULL && argc < 3)
		return misuse("which dataset?", NULL);
	if (command == NULL)
		return run_command(argv[1], argc - 2, argv + 2);
	if (argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0))
		return help_with(command);
	return run(command, argc - 2, argv + 2);
}
