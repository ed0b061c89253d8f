/* One operation on one version: fragments and index entries before and after it, as text. The
 * version is number 8 and has the fields 0 to 4 (4 is below 3); the next one is 9. Ids up to 20
 * were given to fragments, and row ids below 100 where they are stable.
 */
#ifndef TESTS_OPRIG_H
#define TESTS_OPRIG_H

#include "core/draft_index.h"
#include "core/flags.h"
#include "core/operation.h"
#include "draftmake.h"
#include "fragshow.h"
#include "txnwords.h"
#include "util/pbunpack.h"

#define RIG_PARTS 6

enum part_kind {
	PART_NONE,
	PART_FRAGMENT,
	PART_NUMBERS,
	PART_SCHEMA,
	PART_OFFSETS,
	PART_LISTED,
	PART_MAP,
};

struct op_case {
	const char *label;
	bool stable;
	uint64_t flags; /* more of them */
	int field_mark; /* max_allocated_field_id; 0: none */
	const char *before[RIG_PARTS], *entries[RIG_PARTS];
	/* What the operation's message has: fragments, numbers, schemas, rows, map entries. */
	struct {
		enum part_kind kind;
		unsigned field;
		const char *text;
	} parts[RIG_PARTS];
	/* NULL-ended; without any, it is as it was */
	const char *after[RIG_PARTS];
	const char *covered[RIG_PARTS]; /* "name:0,1" */
	uint64_t next_row_id;           /* 0: as it was */
	enum lancet_code code;
	const char *word; /* of the refusal */
};

struct op_rig {
	struct made made;
	struct draft draft;
};

static inline void
rig_open(struct op_rig *rig, const struct op_case *row)
{
	struct buf *message = &rig->made.message;
	struct buf format = { 0 };

	text_schema(message, 1, "0,1,2,3,4");
	for (size_t i = 0; i < RIG_PARTS && row->before[i] != NULL; i++)
		frag_put(message, 2, row->before[i]);
	for (size_t i = 0; i < RIG_PARTS && row->entries[i] != NULL; i++)
		text_entry(&rig->made.section, 1, row->entries[i]);
	put_number(message, 3, 8);
	put_number(message, 9, (row->flags & ~FLAG_NON_REUSABLE_FIELD_IDS) | (row->stable ? 2 : 0));
	put_number(message, 10, row->flags | (row->stable ? 2 : 0));
	put_number(message, 11, 20);
	put_writer(message, "lance", "14.0.2");
	put_number(message, 14, row->stable ? 100 : 0);
	part_text(&format, 1, "lance");
	part_text(&format, 2, "2.2");
	put_message(message, 15, &format);
	if (row->field_mark != 0)
		put_number(message, 24, (uint64_t)row->field_mark);
	made_open(&rig->made, 8);
	OK(draft_init(&rig->draft, rig->made.version, rig->made.version, NULL, &err));
}

static inline void
rig_put_offsets(struct buf *into, unsigned field, const char *text, bool listed)
{
	struct buf entry = { 0 }, list = { 0 };

	put_number(&entry, 1, strtoull(text, NULL, 10));
	if (listed) {
		part_numbers(&list, 1, strchr(text, ':') + 1);
		put_message(&entry, 2, &list);
	} else {
		part_roaring(&entry, 2, strchr(text, ':') + 1);
	}
	put_message(into, field, &entry);
}

static inline void
rig_put_part(struct buf *into, const struct op_case *row, size_t i)
{
	unsigned field = row->parts[i].field;
	const char *text = row->parts[i].text;

	switch (row->parts[i].kind) {
	case PART_FRAGMENT:
		frag_put(into, field, text);
		break;
	case PART_NUMBERS:
		part_numbers(into, field, text);
		break;
	case PART_SCHEMA:
		text_schema(into, field, text);
		break;
	case PART_OFFSETS:
	case PART_LISTED:
		rig_put_offsets(into, field, text, row->parts[i].kind == PART_LISTED);
		break;
	case PART_MAP:
		txn_strings(into, field, text, true);
		break;
	case PART_NONE:
		break;
	}
}

/* The transaction of the case, as the draft's message. */
static inline void
rig_message(struct op_rig *rig, uint32_t operation, const struct op_case *row)
{
	struct buf bytes = { 0 }, body = { 0 };

	for (size_t i = 0; i < RIG_PARTS; i++)
		rig_put_part(&body, row, i);
	put_number(&bytes, 1, 8);
	put_message(&bytes, operation, &body);
	OK(pb_unpack(&lance__table__transaction__descriptor, buf_slice(&bytes), &rig->draft.arena,
		&rig->draft.message, &err));
	buf_release(&bytes);
}

#endif
