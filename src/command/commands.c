/* The table of commands. SPEC section 5. */
#include "commands.h"

/* What all have in common comes on a line of its own, below what the command itself takes. */
#define COMMIT_USAGE                                                                               \
	"\nwith [message=TEXT] [read_version=N] [retries=20] "                                     \
	"[require=COLUMNS@FRAG:OFFSETS;FRAG:*] [token=TEXT] [async=true]"
#define LONG_USAGE "\nwith [async=true]"

const struct command commands[] = {
	{ "delete", COMMAND_COMMITS | COMMAND_LONG, "where row_ids row_addrs dry_run",
		"where=CONDITION | row_ids=5,17-20 | row_addrs=FRAG:OFFSETS;...  "
		"[dry_run=true]" COMMIT_USAGE,
		run_delete },
	{ "update", COMMAND_COMMITS | COMMAND_LONG, "set where",
		"set=\"COLUMN = VALUE, ...\" where=CONDITION" COMMIT_USAGE, run_update },
	{ "append", COMMAND_COMMITS | COMMAND_LONG, "file format",
		"file=NAME [format=auto|arrow|csv|json|jsonl|lance]" COMMIT_USAGE, run_append },
	{ "compact", COMMAND_COMMITS | COMMAND_LONG,
		"target_rows max_rows_per_group materialize_deletions "
		"materialize_deletions_threshold fragments max_source_rows max_source_bytes "
		"index_remap binary_copy dry_run",
		"run | [target_rows=1048576] [materialize_deletions=true] "
		"[materialize_deletions_threshold=0.1]\n[fragments=0-9,12] [max_source_rows=N] "
		"[max_source_bytes=N] [index_remap=auto|defer|skip]\n"
		"[binary_copy=auto|never|force] "
		"[max_rows_per_group=N (no effect)] [dry_run=true]" COMMIT_USAGE,
		run_compact },
	{ "partition", COMMAND_COMMITS | COMMAND_LONG,
		"by labels format fragments index_remap dry_run",
		"by=COLUMN | labels=FILE [format=auto|u16|text]  [fragments=0-9,12] "
		"[index_remap=auto|skip]\n[dry_run=true]" COMMIT_USAGE,
		run_partition },
	{ "set", COMMAND_COMMITS | COMMAND_QUICK, "config.* metadata.* schema_metadata.* field.*",
		"config.KEY=VALUE | metadata.KEY=VALUE | schema_metadata.KEY=VALUE | "
		"field.NAME.KEY=VALUE ..." COMMIT_USAGE,
		run_set },
	{ "unset", COMMAND_COMMITS | COMMAND_QUICK | COMMAND_BARE,
		"config.* metadata.* schema_metadata.* field.*",
		"config.KEY | metadata.KEY | schema_metadata.KEY | field.NAME.KEY ..." COMMIT_USAGE,
		run_unset },
	{ "drop_columns", COMMAND_COMMITS, "columns dry_run",
		"columns=A,B.C [dry_run=true]" COMMIT_USAGE, run_drop_columns },
	{ "rename_column", COMMAND_COMMITS, "column to dry_run",
		"column=A to=B [dry_run=true]" COMMIT_USAGE, run_rename_column },
	{ "drop_index", COMMAND_COMMITS, "name dry_run", "name=INDEX [dry_run=true]" COMMIT_USAGE,
		run_drop_index },
	{ "tag", COMMAND_QUICK | COMMAND_VERB, "name version",
		"create name=TAG [version=N] | move name=TAG version=N | delete name=TAG",
		run_tag },
	{ "branch", COMMAND_VERB, "name version message",
		"create name=BRANCH [version=N] [message=TEXT] | delete name=BRANCH", run_branch },
	{ "pin", COMMAND_QUICK | COMMAND_VERB, "name version ttl",
		"create [name=PIN] [version=latest] [ttl=1h] | delete name=PIN", run_pin },
	{ "restore", COMMAND_COMMITS | COMMAND_QUICK, "version dry_run",
		"version=N [dry_run=true]" COMMIT_USAGE, run_restore },
	{ "cleanup", COMMAND_LONG | COMMAND_DRY,
		"older_than keep versions delete_unverified dry_run",
		"run | [older_than=14d] [keep=N] [versions=2,5-7] [delete_unverified=true] "
		"[dry_run=false]" LONG_USAGE,
		run_cleanup },
	{ "commit", COMMAND_COMMITS | COMMAND_LONG, "file dry_run",
		"file=NAME [dry_run=true]" COMMIT_USAGE, run_commit },
	{ "translate", COMMAND_QUICK | COMMAND_BARE, "addrs file version",
		"addrs=FRAG:OFFSET,... | file=NAME  [version=N]", run_translate },
	{ "repair", COMMAND_COMMITS | COMMAND_LONG, "torn_head drop_fragments dry_run",
		"run | torn_head=true | drop_fragments=3,4  [dry_run=true]" COMMIT_USAGE,
		run_repair },
	{ 0 },
};
