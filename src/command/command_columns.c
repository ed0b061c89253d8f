/* drop_columns, rename_column, drop_index: what changes the schema or the index entries alone. */
#include "commands.h"

#include <stdlib.h>

#include "commit_common.h"
#include "util/macros.h"
#include "values.h"

#define COLUMNS_MAX 4096u

/* The arguments of these, whichever it is. */
struct columns {
	const char **list; /* NULL-ended */
	size_t count;
	const char *column, *to, *index;
};

/* Names between commas; a backslash takes what follows it as it is. `text` is changed into the
 * names, each with a NUL behind it. */
static int
split_names(char *text, struct columns *columns, struct lancet_error *err)
{
	char *out = text, *name = text;

	for (const char *at = text;; at++) {
		char next = *at;

		if (next != '\0' && next != ',') {
			at += next == '\\' && at[1] != '\0';
			*out++ = *at;
			continue;
		}
		if (out == name)
			return lancet_fail(err, LANCET_INVALID, "columns=: a name is empty");
		if (columns->count == COLUMNS_MAX)
			return lancet_fail(
				err, LANCET_LIMIT, "columns=: more than %u names", COLUMNS_MAX);
		*out++ = '\0';
		columns->list[columns->count++] = name;
		name = out;
		if (next == '\0')
			return LANCET_OK;
	}
}

static int
build_drop(
	void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const struct columns *columns = context;

	return lancet_change_drop_columns(read, columns->list, ret_change, err);
}

static int
drop(struct command_run *run, struct columns *columns, char *text, struct lancet_error *err)
{
	const struct commit_plan plan = { .build = build_drop, .context = columns };
	bool found = false;

	TRY(split_names(text, columns, err));
	TRY(commit_run(run, &plan, &found, err));
	if (!found)
		jsonw_u64(&run->json, "dropped_columns", columns->count);
	return LANCET_OK;
}

int
run_drop_columns(struct command_run *run, struct lancet_error *err)
{
	struct columns columns = { 0 };
	const char *value;

	TRY(value_needed(run->words, "columns", &value, err));
	lancet_autofree char *text = strdup(value);
	lancet_autofree const char **list = calloc(COLUMNS_MAX + 1, sizeof(*list));

	if (text == NULL || list == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "columns=");
	columns.list = list;
	return drop(run, &columns, text, err);
}

static int
build_rename(
	void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const struct columns *columns = context;

	return lancet_change_rename_column(read, columns->column, columns->to, ret_change, err);
}

int
run_rename_column(struct command_run *run, struct lancet_error *err)
{
	struct columns columns = { 0 };
	const struct commit_plan plan = { .build = build_rename, .context = &columns };

	TRY(value_needed(run->words, "column", &columns.column, err));
	TRY(value_needed(run->words, "to", &columns.to, err));
	return commit_run(run, &plan, NULL, err);
}

static int
build_drop_index(
	void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const struct columns *columns = context;

	return lancet_change_drop_index(read, columns->index, ret_change, err);
}

int
run_drop_index(struct command_run *run, struct lancet_error *err)
{
	struct columns columns = { 0 };
	const struct commit_plan plan = { .build = build_drop_index, .context = &columns };

	TRY(value_needed(run->words, "name", &columns.index, err));
	return commit_run(run, &plan, NULL, err);
}
