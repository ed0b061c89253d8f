/* set, unset: config, table metadata, schema metadata and metadata of fields. */
#include "commands.h"

#include <string.h>

#include <lancet/version.h>
#include "commit_common.h"
#include "util/macros.h"

struct settings {
	const struct command_words *words;
	bool unset;
	struct lancet_set list[COMMAND_WORDS_MAX];
	size_t count;
	struct buf names; /* of fields, each with a NUL behind it */
};

static const struct {
	const char *prefix;
	enum lancet_setting where;
} places[] = {
	{ "config.", LANCET_SET_CONFIG },
	{ "metadata.", LANCET_SET_TABLE_METADATA },
	{ "schema_metadata.", LANCET_SET_SCHEMA_METADATA },
	{ "field.", LANCET_SET_FIELD_METADATA },
};

/* The word of a setting: what it sets, and to what; NULL takes it away. */
static int
parse_word(struct settings *settings, const struct command_word *word, struct lancet_error *err)
{
	const char *name = word->key != NULL ? word->key : word->value;

	if (!settings->unset && word->key == NULL)
		return lancet_fail(
			err, LANCET_INVALID, "%.60s: give a value: %.60s=VALUE", name, name);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		size_t size = strlen(places[i].prefix);

		if (strncmp(name, places[i].prefix, size) != 0 || name[size] == '\0')
			continue;
		if (settings->unset && word->key != NULL && *word->value != '\0')
			return lancet_fail(err, LANCET_INVALID,
				"%.60s=%.20s: unset takes names alone; set gives values", name,
				word->value);
		settings->list[settings->count++] = (struct lancet_set){
			.where = places[i].where,
			.key = name + size,
			.value = settings->unset ? NULL : word->value,
		};
		return LANCET_OK;
	}
	/* what else has a key is one of those that all commits know */
	return word->key != NULL ? LANCET_OK
				 : lancet_fail(err, LANCET_INVALID,
					   "%.60s: names begin with config. metadata. "
					   "schema_metadata. or field.",
					   name);
}

/* Fields whose paths a name begins with, parents first. */
struct matches {
	struct {
		int32_t id;
		size_t size; /* of the path */
	} list[64];
	size_t count;
	size_t longest;
};

/* The size of the parent's path and a dot, or -1 when the name does not begin so. */
static ptrdiff_t
start_of(const struct matches *matches, const struct lancet_field *field)
{
	if (field->parent_id < 0)
		return 0;
	for (size_t i = 0; i < matches->count; i++) {
		if (matches->list[i].id == field->parent_id)
			return (ptrdiff_t)matches->list[i].size + 1;
	}
	return -1;
}

/* Notes the field if `name` is its path, a dot and more. */
static void
match_field(struct matches *matches, const struct lancet_field *field, const char *name)
{
	ptrdiff_t start = start_of(matches, field);
	size_t size = field->name.size;

	if (start < 0 || size == 0 || strnlen(name + start, size) < size ||
		memcmp(name + start, field->name.data, size) != 0)
		return;
	size += (size_t)start;
	if (name[size] != '.' || name[size + 1] == '\0' ||
		matches->count == ARRAY_SIZE(matches->list))
		return;
	matches->list[matches->count].id = field->id;
	matches->list[matches->count++].size = size;
	matches->longest = size > matches->longest ? size : matches->longest;
}

/* "PATH.KEY": dots are in both, so the longest path that is a field's counts. */
static int
split_field(struct settings *settings, struct lancet_set *set, lancet_version *read,
	struct lancet_error *err)
{
	const struct lancet_field *fields;
	struct matches matches = { .count = 0 };
	size_t count;
	const char *name = set->key;

	TRY(lancet_version_fields(read, &fields, &count, err));
	for (size_t i = 0; i < count; i++)
		match_field(&matches, &fields[i], name);
	if (matches.longest == 0)
		return lancet_fail(err, LANCET_NOT_FOUND,
			"field.%.100s: no such field: write field.NAME.KEY", name);
	set->field = (const char *)settings->names.data + settings->names.size;
	buf_put(&settings->names, name, matches.longest);
	buf_put_byte(&settings->names, '\0');
	set->key = name + matches.longest + 1;
	return LANCET_OK;
}

/* All names together are no longer than the words, so that room for them is made once. */
static int
reserve_names(struct settings *settings, struct lancet_error *err)
{
	size_t size = 0;

	settings->names.size = 0;
	for (size_t i = 0; i < settings->count; i++)
		size += strlen(settings->list[i].key) + 1;
	(void)buf_reserve(&settings->names, size);
	return buf_check(&settings->names, "names of fields", err);
}

static int
build(void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	struct settings *settings = context;

	settings->count = 0;
	for (size_t i = 0; i < settings->words->count; i++)
		TRY(parse_word(settings, &settings->words->words[i], err));
	TRY(reserve_names(settings, err));
	for (size_t i = 0; i < settings->count; i++) {
		if (settings->list[i].where == LANCET_SET_FIELD_METADATA)
			TRY(split_field(settings, &settings->list[i], read, err));
	}
	if (settings->count == 0)
		return lancet_fail(err, LANCET_INVALID,
			"give config.KEY, metadata.KEY, schema_metadata.KEY or field.NAME.KEY");
	return lancet_change_settings(read, settings->list, settings->count, ret_change, err);
}

static int
change_settings(struct command_run *run, bool unset, struct lancet_error *err)
{
	struct settings settings = { .words = run->words, .unset = unset };
	const struct commit_plan plan = { .build = build, .context = &settings };
	bool found = false;
	int rc = commit_run(run, &plan, &found, err);

	buf_release(&settings.names);
	if (rc == LANCET_OK && !found)
		jsonw_u64(&run->json, unset ? "unset_keys" : "set_keys", settings.count);
	return rc;
}

int
run_set(struct command_run *run, struct lancet_error *err)
{
	return change_settings(run, false, err);
}

int
run_unset(struct command_run *run, struct lancet_error *err)
{
	return change_settings(run, true, err);
}
