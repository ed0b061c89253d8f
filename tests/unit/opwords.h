/* Cases of oprig.h whose operation is a line of words (rewritewords.h), with the reuse history of
 * the version and what a rewrite carries. */
#ifndef TESTS_OPWORDS_H
#define TESTS_OPWORDS_H

#include "core/conflict.h"
#include "core/transaction.h"
#include "opindex.h"
#include "rewritewords.h"

struct op_words {
	struct op_case base;
	const char *history; /* of the version (txnhistory.h) */
	const char *words, *carried;
	const char *history_after; /* "0,1>6 2>7", in lineage order; NULL: not looked at */
};

/* The entry of a history, over all fragments that it is about. */
static inline void
words_history(struct buf *entry, const char *text)
{
	char ids[PART_SIZE];

	history_entry(entry, text);
	ck_assert_uint_lt(strlen(text), sizeof(ids));
	memcpy(ids, text + 1, strlen(text));
	for (char *at = ids; *at != '\0'; at++)
		if (*at == '>' || *at == ' ' || *at == '~' || *at == '?')
			*at = ',';
	part_roaring(entry, 5, ids + strspn(ids, ","));
}

struct words_rig {
	struct op_rig rig;
	lancet_transaction *ours;
	struct buf carried;
	struct rebase rebase;
};

static inline void
words_open(struct words_rig *w, const struct op_words *row)
{
	struct conflict conflict = { 0 };
	struct buf entry = { 0 };
	struct lancet_bytes carried;

	if (row->history != NULL) {
		words_history(&entry, row->history);
		part_message(&w->rig.made.section, 1, &entry);
	}
	rig_open(&w->rig, &row->base);
	draft_release(&w->rig.draft);
	if (row->carried != NULL)
		history_entry(&w->carried, row->carried);
	carried = (struct lancet_bytes){ w->carried.data, w->carried.size };
	w->ours = words_transaction(row->words);
	OK(rebase_init(&w->rebase, w->ours, w->rig.made.version, NULL, carried, &err));
	OK(conflict_finish(&w->rebase, &conflict, &err));
	ck_assert_msg(conflict.verdict == CONFLICT_NONE, "%s: %s", row->base.label, conflict.text);
	OK(draft_init(&w->rig.draft, w->rig.made.version, w->rig.made.version, &w->rebase, &err));
}

static inline void
words_close(struct words_rig *w)
{
	draft_release(&w->rig.draft);
	rebase_release(&w->rebase);
	lancet_transaction_free(w->ours);
	buf_release(&w->carried);
	made_release(&w->rig.made);
}

static inline int
words_apply(struct words_rig *w, struct lancet_error *err)
{
	int rc = operation_apply(&w->rig.draft, err);

	return rc == LANCET_OK ? draft_finish(&w->rig.draft, MADE_SECONDS, 0, err) : rc;
}

static inline void
words_show_digests(struct buf *text, const struct lancet_fragment_digest *digests, size_t count,
	const char *end)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(text, "%s%llu", i == 0 ? "" : ",", (unsigned long long)digests[i].id);
	buf_put_text(text, end);
}

/* The next version's history, read back. */
static inline void
words_expect_history(struct words_rig *w, const struct op_words *row)
{
	struct made next = { 0 };
	lancet_reuse *reuse = NULL;
	struct buf text = { 0 };

	if (row->history_after == NULL)
		return;
	made_write(&w->rig.draft, &next.file);
	OK(maker_load(buf_slice(&next.file), 9, &next.version, &err));
	if (*row->history_after != '\0')
		OK(lancet_version_reuse(next.version, &reuse, &err));
	else
		ck_assert(!lancet_version_has_reuse(next.version));
	for (size_t i = 0; reuse != NULL && i < lancet_reuse_info(reuse)->transition_count; i++) {
		const struct lancet_transition *transition = lancet_reuse_transition(reuse, i);

		ck_assert_int_eq(transition->fault, LANCET_OK);
		buf_put_text(&text, i == 0 ? "" : " ");
		words_show_digests(&text, transition->sources, transition->source_count, ">");
		words_show_digests(
			&text, transition->destinations, transition->destination_count, "");
	}
	buf_put_byte(&text, 0);
	ck_assert_msg(strcmp((char *)text.data, row->history_after) == 0, "%s: history %s",
		row->base.label, (char *)text.data);
	buf_release(&text);
	made_release(&next);
}

static inline void
words_run(const struct op_words *row)
{
	struct words_rig w = { 0 };
	struct lancet_error err = { 0 };
	int rc;

	words_open(&w, row);
	rc = words_apply(&w, &err);
	ck_assert_msg(rc == (int)row->base.code, "%s: %d: %s", row->base.label, rc, err.text);
	if (rc != LANCET_OK) {
		ck_assert_msg(strstr(err.text, row->base.word) != NULL, "%s: %s", row->base.label,
			err.text);
	} else {
		if (row->base.after[0] != NULL)
			rig_expect_fragments(&w.rig, &row->base, row->base.after);
		rig_expect_indices(&w.rig, &row->base);
		words_expect_history(&w, row);
	}
	words_close(&w);
}

#endif
