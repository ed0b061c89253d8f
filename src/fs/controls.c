/* The table of control files, and the commands that only a mount has: use, cancel, wait. */
#include "controls.h"

#include <inttypes.h>
#include <string.h>

#include "select.h"
#include "util/macros.h"
#include "util/text.h"

static const char *
value_of_key(const struct command_words *words, const char *key)
{
	for (size_t i = 0; i < words->count; i++) {
		if (words->words[i].key != NULL && strcmp(words->words[i].key, key) == 0)
			return words->words[i].value;
	}
	return NULL;
}

int
control_job_number(const struct command_words *words, uint64_t *ret_id, struct lancet_error *err)
{
	const char *text = value_of_key(words, "job");

	if (text == NULL)
		return lancet_fail(err, LANCET_INVALID, "which job? write job=N");
	if (!text_to_u64(slice_text(text), ret_id) || *ret_id == 0)
		return lancet_fail(err, LANCET_INVALID, "job=%.40s: not the number of a job", text);
	return LANCET_OK;
}

/* What the line chooses: *ret_number 0 for the newest. */
static int
chosen_version(const struct command_run *run, const struct control_scene *scene,
	uint64_t *ret_number, struct lancet_error *err)
{
	struct selection selection = { .version = value_of_key(run->words, "version"),
		.tag = value_of_key(run->words, "tag") };
	bool latest = false;

	for (size_t i = 0; i < run->words->count; i++) {
		const struct command_word *word = &run->words->words[i];

		if (word->key == NULL && strcmp(word->value, "latest") != 0)
			return lancet_fail(err, LANCET_INVALID,
				"%.60s: write version=N, tag=NAME "
				"or latest",
				word->value);
		latest |= word->key == NULL;
	}
	if (selection.version != NULL && strcmp(selection.version, "latest") == 0) {
		selection.version = NULL;
		latest = true;
	}
	if ((selection.version != NULL) + (selection.tag != NULL) + latest != 1)
		return lancet_fail(
			err, LANCET_INVALID, "write one of version=N, tag=NAME and latest");
	*ret_number = 0;
	return latest ? lancet_dataset_latest(scene->dataset, ret_number, err)
		      : select_version(scene->dataset, &selection, ret_number, err);
}

static int
run_use(struct command_run *run, struct lancet_error *err)
{
	const struct control_scene *scene = run->host->context;
	const char *force = value_of_key(run->words, "force");
	uint64_t number = 0, before = 0;

	if (force != NULL && strcmp(force, "true") != 0 && strcmp(force, "false") != 0)
		return lancet_fail(err, LANCET_INVALID, "force=%.40s: true or false", force);
	TRY(chosen_version(run, scene, &number, err));
	TRY(tree_move(scene->tree, scene->dataset, number,
		force != NULL && strcmp(force, "true") == 0, &before, err));
	jsonw_u64_text(&run->json, "current", number);
	jsonw_u64_text(&run->json, "before", before);
	return LANCET_OK;
}

static int
run_cancel(struct command_run *run, struct lancet_error *err)
{
	const struct control_scene *scene = run->host->context;
	uint64_t id = 0;

	TRY(control_job_number(run->words, &id, err));
	TRY(jobs_cancel(scene->jobs, scene->dataset, id, err));
	jsonw_u64(&run->json, "cancelled_job", id);
	return LANCET_OK;
}

/* Waiting is done where the write is parked; this is for its keys only. */
static int
run_wait(struct command_run *run, struct lancet_error *err)
{
	uint64_t id;

	return control_job_number(run->words, &id, err);
}

static const struct command own_commands[] = {
	{ "use", COMMAND_QUICK | COMMAND_BARE, "version tag force",
		"version=N | tag=NAME | latest  [force=true]", run_use },
	{ "cancel", COMMAND_QUICK, "job", "job=N", run_cancel },
	{ "wait", COMMAND_QUICK, "job", "job=N", run_wait },
};

const struct command *
controls_at(const struct command *table, size_t index)
{
	for (; table->name != NULL; table++) {
		if (index-- == 0)
			return table;
	}
	return index < ARRAY_SIZE(own_commands) ? &own_commands[index] : NULL;
}

bool
controls_find(const struct command *table, const char *name, size_t *ret_index)
{
	const struct command *command;

	for (size_t i = 0; (command = controls_at(table, i)) != NULL; i++) {
		if (strcmp(command->name, name) == 0) {
			*ret_index = i;
			return true;
		}
	}
	return false;
}

enum control_way
control_way(const struct command *command)
{
	return command->run == run_wait     ? CONTROL_WAIT
	       : command->run == run_cancel ? CONTROL_NOW
					    : CONTROL_JOB;
}

enum control_effect
control_effect(const struct command *command)
{
	static const struct {
		const char *name;
		enum control_effect effect;
	} effects[] = {
		{ "translate", CONTROL_READS },
		{ "use", CONTROL_MOVES },
		{ "cleanup", CONTROL_CHANGES | CONTROL_REMOVES },
		{ "branch", CONTROL_CHANGES | CONTROL_REMOVES },
		{ "repair", CONTROL_CHANGES | CONTROL_REMOVES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(effects); i++) {
		if (strcmp(effects[i].name, command->name) == 0)
			return effects[i].effect;
	}
	return CONTROL_CHANGES;
}
