/* A transaction of the text of txntext.h. */
#ifndef TESTS_TXNMAKE_H
#define TESTS_TXNMAKE_H

#include "txnwords.h"

static inline void
txn_put_word(struct buf *b, const struct txn_word *word, const char *value)
{
	switch (word->kind) {
	case WORD_NUMBERS:
		part_numbers(b, word->field, value);
		break;
	case WORD_FRAGMENTS:
		part_fragments(b, word->field, value);
		break;
	case WORD_FLAG:
		maker_number(b, word->field, 1);
		break;
	case WORD_SCHEMA:
		text_schema(b, word->field, value);
		break;
	case WORD_ENTRY:
		text_entry(b, word->field, value);
		break;
	case WORD_GROUP:
		text_group(b, value);
		break;
	case WORD_SHARD:
		text_shard(b, word->field, value);
		break;
	case WORD_FILTER:
		text_filter(b, value);
		break;
	case WORD_MAP:
		text_map(b, word->field, value);
		break;
	case WORD_STRINGS:
	case WORD_TEXTS:
		txn_strings(b, word->field, value, word->kind == WORD_STRINGS);
		break;
	case WORD_BASE:
		text_base(b, word->field, value);
		break;
	case WORD_FIELD_MAP:
	case WORD_REPLACED:
	case WORD_OVERLAID:
		txn_pair(b, word, value);
		break;
	}
}

/* The row of the word, or of any word of the operation when it is NULL. */
static inline const struct txn_word *
txn_word_find(const char *operation, const char *word)
{
	for (size_t i = 0; i < sizeof(txn_words) / sizeof(txn_words[0]); i++)
		if (strcmp(txn_words[i].operation, operation) == 0 &&
			(word == NULL || strcmp(txn_words[i].word, word) == 0))
			return &txn_words[i];
	ck_abort_msg("%s %s", operation, word == NULL ? "" : word);
	return NULL;
}

/* The encoded Transaction. */
static inline void
txn_put(struct buf *b, const char *text)
{
	char operation[PART_SIZE], key[PART_SIZE];
	struct buf body = { 0 };

	ck_assert(part_next(&text, " ", operation));
	for (char all[PART_SIZE]; part_next(&text, " ", all);) {
		const char *value = all;

		(void)part_next(&value, "=", key);
		txn_put_word(&body, txn_word_find(operation, key), value);
	}
	maker_number(b, 1, 1); /* read_version */
	part_text(b, 2, operation);
	part_message(b, txn_word_find(operation, NULL)->number, &body);
	ck_assert_int_eq(b->failed, LANCET_OK);
}

#endif
