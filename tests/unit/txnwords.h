/* The words of txntext.h by operation: what each writes into the message. */
#ifndef TESTS_TXNWORDS_H
#define TESTS_TXNWORDS_H

#include "txntext.h"

enum word_kind {
	WORD_NUMBERS,   /* numbers into the field */
	WORD_FRAGMENTS, /* fragments */
	WORD_FLAG,      /* 1 */
	WORD_SCHEMA,
	WORD_ENTRY,
	WORD_GROUP,
	WORD_SHARD,
	WORD_FILTER,
	WORD_MAP,
	WORD_FIELD_MAP, /* "FIELD:MAP" */
	WORD_STRINGS,   /* string entries: keys with values */
	WORD_TEXTS,
	WORD_REPLACED, /* "FRAGMENT:FIELDS" */
	WORD_OVERLAID, /* "FRAGMENT:FIELDS:OFFSETS" */
	WORD_BASE,
};

struct txn_word {
	const char *operation; /* the words of an operation follow each other */
	uint32_t number;
	const char *word;
	enum word_kind kind;
	uint32_t field;
};

static const struct txn_word txn_words[] = {
	{ "Append", 100, "new", WORD_FRAGMENTS, 1 },
	{ "Delete", 101, "updated", WORD_FRAGMENTS, 1 },
	{ "Delete", 101, "removed", WORD_NUMBERS, 2 },
	{ "Overwrite", 102, "set", WORD_STRINGS, 4 },
	{ "CreateIndex", 103, "new", WORD_ENTRY, 1 },
	{ "CreateIndex", 103, "removed", WORD_ENTRY, 2 },
	{ "Rewrite", 104, "group", WORD_GROUP, 3 },
	{ "Rewrite", 104, "old", WORD_FRAGMENTS, 1 },
	{ "Rewrite", 104, "new", WORD_FRAGMENTS, 2 },
	{ "Merge", 105, "fragments", WORD_FRAGMENTS, 1 },
	{ "Merge", 105, "schema", WORD_SCHEMA, 2 },
	{ "Merge", 105, "keeps", WORD_FLAG, 4 },
	{ "Restore", 106, "version", WORD_NUMBERS, 1 },
	{ "ReserveFragments", 107, "count", WORD_NUMBERS, 1 },
	{ "Update", 108, "removed", WORD_NUMBERS, 1 },
	{ "Update", 108, "updated", WORD_FRAGMENTS, 2 },
	{ "Update", 108, "fields", WORD_NUMBERS, 4 },
	{ "Update", 108, "shard", WORD_SHARD, 5 },
	{ "Update", 108, "columns", WORD_FLAG, 7 },
	{ "Update", 108, "keys", WORD_FILTER, 8 },
	{ "Project", 109, "schema", WORD_SCHEMA, 1 },
	{ "Project", 109, "keeps", WORD_FLAG, 2 },
	{ "UpdateConfig", 110, "oldset", WORD_STRINGS, 1 },
	{ "UpdateConfig", 110, "olddel", WORD_TEXTS, 2 },
	{ "UpdateConfig", 110, "oldschema", WORD_STRINGS, 3 },
	{ "UpdateConfig", 110, "config", WORD_MAP, 6 },
	{ "UpdateConfig", 110, "table", WORD_MAP, 7 },
	{ "UpdateConfig", 110, "schema", WORD_MAP, 8 },
	{ "UpdateConfig", 110, "field", WORD_FIELD_MAP, 9 },
	{ "DataReplacement", 111, "file", WORD_REPLACED, 1 },
	{ "UpdateMemWalState", 112, "shard", WORD_SHARD, 1 },
	{ "Clone", 113, "shallow", WORD_FLAG, 1 },
	{ "UpdateBases", 114, "base", WORD_BASE, 1 },
	{ "DataOverlay", 115, "cells", WORD_OVERLAID, 1 },
	{ "Unknown", 199, "", WORD_FLAG, 1 },
};

static inline void
txn_strings(struct buf *b, uint32_t field, const char *list, bool entries)
{
	char one[PART_SIZE];

	while (part_next(&list, ",", one)) {
		struct buf entry = { 0 };

		if (!entries) {
			part_text(b, field, one);
			continue;
		}
		part_text(&entry, 1, one);
		part_text(&entry, 2, "v");
		part_message(b, field, &entry);
	}
}

/* NUMBER:REST as a message of both. */
static inline void
txn_pair(struct buf *b, const struct txn_word *word, const char *value)
{
	struct buf pair = { 0 };
	const char *rest = strchr(value, ':');

	maker_number(&pair, 1, strtoull(value, NULL, 10));
	rest = rest == NULL ? "" : rest + 1;
	if (word->kind == WORD_REPLACED)
		part_file(&pair, 2, "replaced.lance", rest);
	else if (word->kind == WORD_OVERLAID)
		part_overlay(&pair, 2, rest, 0);
	else
		text_map(&pair, 2, rest);
	part_message(b, word->field, &pair);
}

#endif
