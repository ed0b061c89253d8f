/* Transactions of words as in txntext.h, but a rewrite is
 *
 *     Rewrite 0,1>6 2>7 remap=i:j
 *
 * of fragments with PART_ROWS rows each, where the last new one of a group has all that is left;
 * and index i has new files as j.
 */
#ifndef TESTS_REWRITEWORDS_H
#define TESTS_REWRITEWORDS_H

#include "core/transaction.h"
#include "fragtext.h"
#include "storecalls.h"
#include "txnhistory.h"
#include "txnmake.h"

/* "6": with that many rows */
static inline void
words_fragments(struct buf *group, unsigned field, const char *list, size_t rows)
{
	char one[PART_SIZE], text[2 * PART_SIZE];

	for (size_t left = history_count(list); part_next(&list, ",", one); left--) {
		size_t own = left == 1 || rows < PART_ROWS ? rows : PART_ROWS;

		snprintf(text, sizeof(text), "%.20s rows=%zu files=f%.20s:0,1,2,4", one, own, one);
		frag_put(group, field, text);
		rows -= own;
	}
}

static inline void
words_rewrite(struct buf *body, const char *text)
{
	char one[PART_SIZE], part[PART_SIZE];

	while (part_next(&text, " ", one)) {
		struct buf group = { 0 };
		const char *at = one;
		size_t rows;

		if (strncmp(one, "remap=", 6) == 0) {
			part_uuid(&group, 1, one[6]);
			part_uuid(&group, 2, one[8]);
			part_message(body, 4, &group);
			continue;
		}
		ck_assert(part_next(&at, ">", part));
		rows = history_count(part) * PART_ROWS;
		words_fragments(&group, 1, part, rows);
		if (part_next(&at, ">", part))
			words_fragments(&group, 2, part, rows);
		part_message(body, 3, &group);
	}
}

static inline lancet_transaction *
words_transaction(const char *words)
{
	lancet_transaction *transaction = NULL;
	struct buf bytes = { 0 }, body = { 0 };

	if (strncmp(words, "Rewrite ", 8) == 0) {
		words_rewrite(&body, words + 8);
		put_number(&bytes, 1, 1);
		part_text(&bytes, 2, "Rewrite");
		put_message(&bytes, 104, &body);
	} else {
		txn_put(&bytes, words);
	}
	OK(transaction_parse(bytes.data, bytes.size, &transaction, &err));
	return transaction;
}

#endif
