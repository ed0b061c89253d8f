/* Fragments as a line of text, to make them and to show them:
 *
 *     3 rows=12 files=a:0,1+b:2,-3 ids=0-9,20,21 made=1*10,4*2 changed=1*12 gone=2#77 over=o:1@5
 *
 * `ids`, `made` and `changed` are row ids and versions: "column" means spilled. `gone` is a
 * deletion file: rows and its id. What is not said is not stored. Written from the format facts.
 */
#ifndef TESTS_FRAGTEXT_H
#define TESTS_FRAGTEXT_H

#include "fraglineage.h"

/* "a:0,1" as a DataFile */
static inline void
frag_put_file(struct buf *into, unsigned field, const char *text)
{
	struct buf file = { 0 }, ids = { 0 }, columns = { 0 }, path = { 0 };
	char one[PART_SIZE];

	ck_assert(part_next(&text, ":", one));
	buf_printf(&path, "%s.lance", one);
	put_message(&file, 1, &path);
	for (unsigned i = 0; part_next(&text, ",", one); i++) {
		put_varint(&ids, (uint64_t)strtoll(one, NULL, 10));
		put_varint(&columns, i);
	}
	put_message(&file, 2, &ids);
	put_message(&file, 3, &columns);
	put_number(&file, 4, 2);
	put_number(&file, 5, 2);
	put_message(into, field, &file);
}

/* "1@5": fields and version, over row 0. */
static inline void
frag_put_overlay(struct buf *into, const char *text)
{
	struct buf overlay = { 0 };
	const char *at = strchr(text, '@');
	char file[PART_SIZE] = "";

	memcpy(file, text, (size_t)(at - text));
	frag_put_file(&overlay, 1, file);
	part_roaring(&overlay, 2, "0");
	put_number(&overlay, 3, strtoull(at + 1, NULL, 10));
	put_message(into, 11, &overlay);
}

static inline void
frag_put_word(struct buf *into, const char *key, const char *value)
{
	struct buf deletion = { 0 };
	char one[PART_SIZE];

	if (strcmp(key, "rows") == 0) {
		put_number(into, 4, strtoull(value, NULL, 10));
	} else if (strcmp(key, "files") == 0) {
		while (part_next(&value, "+", one))
			frag_put_file(into, 2, one);
	} else if (strcmp(key, "over") == 0) {
		while (part_next(&value, "+", one))
			frag_put_overlay(into, one);
	} else if (strcmp(key, "gone") == 0) {
		put_number(&deletion, 1, 1);
		put_number(&deletion, 2, 3);
		put_number(&deletion, 3, strtoull(strchr(value, '#') + 1, NULL, 10));
		put_number(&deletion, 4, strtoull(value, NULL, 10));
		put_message(into, 3, &deletion);
	} else {
		frag_put_lineage(into, key, value);
	}
}

/* A DataFragment of the text, as field `field`. */
static inline void
frag_put(struct buf *into, unsigned field, const char *text)
{
	struct buf fragment = { 0 };
	char word[2 * PART_SIZE];

	put_number(&fragment, 1, strtoull(text, NULL, 10));
	for (const char *at = strchr(text, ' '); at != NULL; at = strchr(at, ' ')) {
		size_t size = strcspn(++at, " ");
		char *value;

		ck_assert_uint_lt(size, sizeof(word));
		memcpy(word, at, size);
		word[size] = '\0';
		value = strchr(word, '=');
		*value = '\0';
		frag_put_word(&fragment, word, value + 1);
	}
	put_message(into, field, &fragment);
}

#endif
