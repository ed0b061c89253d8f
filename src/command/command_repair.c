/* repair: sets a torn newest manifest aside; takes fragments out whose files are gone.
 *
 * Only what is broken is taken out: fragments are looked at before, whatever the line says.
 */
#include "commands.h"

#include <inttypes.h>
#include <stdlib.h>

#include <lancet/cleanup.h>
#include "commit_common.h"
#include "util/macros.h"
#include "values.h"

struct broken {
	uint64_t *ids; /* of all fragments that are broken, ascending */
	size_t count;
	const uint64_t *dropped; /* of those to take out */
	size_t dropped_count;
	uint64_t rows;
};

static int
set_aside(struct command_run *run, struct lancet_error *err)
{
	lancet_autofree char *name = NULL;
	uint64_t version;

	TRY(lancet_repair_torn_head(run->host->dataset, &version, &name, err));
	jsonw_u64_text(&run->json, "torn_version", version);
	jsonw_text(&run->json, "set_aside_as", name);
	return LANCET_OK;
}

static bool
is_broken(const struct broken *broken, uint64_t id)
{
	for (size_t i = 0; i < broken->count; i++) {
		if (broken->ids[i] == id)
			return true;
	}
	return false;
}

static int
check_dropped(const struct broken *broken, struct lancet_error *err)
{
	for (size_t i = 0; i < broken->dropped_count; i++) {
		if (!is_broken(broken, broken->dropped[i]))
			return lancet_fail(err, LANCET_INVALID,
				"drop_fragments=: nothing is wrong with the files of fragment "
				"%" PRIu64 " of the newest version, or there is none: it stays",
				broken->dropped[i]);
	}
	return LANCET_OK;
}

static int
build(void *context, lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	struct broken *broken = context;

	return lancet_change_drop_fragments(
		read, broken->dropped, broken->dropped_count, ret_change, &broken->rows, err);
}

static void
put_ids(struct command_run *run, const char *key, const uint64_t *ids, size_t count)
{
	jsonw_array(&run->json, key);
	for (size_t i = 0; i < count; i++)
		jsonw_u64_text(&run->json, NULL, ids[i]);
	jsonw_end(&run->json);
}

static int
drop_fragments(struct command_run *run, struct broken *broken, struct lancet_error *err)
{
	const struct commit_plan plan = { .build = build, .context = broken };
	bool found = false;

	TRY(check_dropped(broken, err));
	TRY(commit_run(run, &plan, &found, err));
	if (found)
		return LANCET_OK;
	jsonw_u64(&run->json, "lost_rows", broken->rows);
	put_ids(run, "dropped_fragments", broken->dropped, broken->dropped_count);
	return LANCET_OK;
}

/* The newest version has a name, and the newest that can be read another one. */
static int
find_unreadable_head(struct command_run *run, struct lancet_error *err)
{
	struct lancet_version_list list = { 0 };
	uint64_t latest;

	TRY(lancet_dataset_latest(run->host->dataset, &latest, err));
	TRY(lancet_dataset_versions(run->host->dataset, &list, err));
	if (list.count > 0 && list.entries[list.count - 1].number != latest)
		jsonw_u64_text(&run->json, "unreadable_head", list.entries[list.count - 1].number);
	lancet_version_list_release(&list);
	return LANCET_OK;
}

/* What there is to repair; nothing is changed. */
static int
look(struct command_run *run, struct lancet_error *err)
{
	struct broken broken = { 0 };

	TRY(find_unreadable_head(run, err));
	TRY(lancet_repair_find_broken(run->host->dataset, &broken.ids, &broken.count, err));
	put_ids(run, "broken_fragments", broken.ids, broken.count);
	free(broken.ids);
	return LANCET_OK;
}

static int
drop_listed(struct command_run *run, struct lancet_error *err)
{
	struct broken broken = { 0 };
	lancet_autofree uint64_t *dropped = NULL;
	int rc;

	TRY(value_list(run->words, "drop_fragments", &dropped, &broken.dropped_count, err));
	broken.dropped = dropped;
	rc = lancet_repair_find_broken(run->host->dataset, &broken.ids, &broken.count, err);
	if (rc == LANCET_OK)
		rc = drop_fragments(run, &broken, err);
	free(broken.ids);
	return rc;
}

int
run_repair(struct command_run *run, struct lancet_error *err)
{
	bool torn_head = false, dry = false;
	bool drops = value_of(run->words, "drop_fragments") != NULL;

	TRY(value_bool(run->words, "torn_head", &torn_head, err));
	TRY(value_bool(run->words, "dry_run", &dry, err));
	if (torn_head && drops)
		return lancet_fail(err, LANCET_INVALID,
			"torn_head= and drop_fragments=: one after the other, the head first");
	if (drops)
		return drop_listed(run, err);
	if (torn_head && !dry)
		return set_aside(run, err);
	jsonw_bool(&run->json, "dry_run", true);
	return look(run, err);
}
