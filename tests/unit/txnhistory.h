/* Reuse histories of a few words: "0 0,1>6 2>7" is a legacy one (1: a tagged one) of two records,
 * in which no row was deleted. In a tagged one "~0,1>6" is a legacy record, and "?0,1>6" one
 * that is not understood.
 */
#ifndef TESTS_TXNHISTORY_H
#define TESTS_TXNHISTORY_H

#include "core/reuse.h"
#include "txnparts.h"

#define HISTORY_ROWS "0,1,2,3,4,5,6,7,8,9,10,11" /* PART_ROWS of them */

static inline size_t
history_count(const char *list)
{
	char one[PART_SIZE];
	size_t count = 0;

	while (part_next(&list, ",", one))
		count++;
	return count;
}

/* The last one of a list has all the rows that are left. */
static inline void
history_digests(struct buf *b, uint32_t field, const char *list, size_t rows)
{
	char one[PART_SIZE];

	for (size_t left = history_count(list); part_next(&list, ",", one); left--) {
		struct buf digest = { 0 };
		size_t own = left == 1 || rows < PART_ROWS ? rows : PART_ROWS;

		maker_number(&digest, 1, strtoull(one, NULL, 10));
		maker_number(&digest, 2, own);
		part_message(b, field, &digest);
		rows -= own;
	}
}

static inline void
history_treemap(struct buf *b, uint32_t field, const char *sources)
{
	struct buf map = { 0 };
	char one[PART_SIZE];

	maker_u32(&map, (uint32_t)history_count(sources));
	maker_u32(&map, 0);
	while (part_next(&sources, ",", one)) {
		maker_u32(&map, (uint32_t)strtoul(one, NULL, 10));
		part_set(&map, HISTORY_ROWS);
	}
	part_message(b, field, &map);
}

static inline void
history_legacy(struct buf *content, const char *from, const char *to)
{
	struct buf version = { 0 }, group = { 0 };
	size_t rows = history_count(from) * PART_ROWS;

	history_treemap(&group, 1, from);
	history_digests(&group, 2, from, rows);
	history_digests(&group, 3, to, rows);
	maker_number(&version, 1, 1);
	part_message(&version, 3, &group);
	part_message(content, 1, &version);
}

static inline void
history_tagged(struct buf *content, const char *from, const char *to, uint32_t mapping_field)
{
	struct buf transition = { 0 }, mapping = { 0 };
	size_t rows = history_count(from) * PART_ROWS;

	history_digests(&transition, 1, from, rows);
	history_digests(&transition, 2, to, rows);
	history_treemap(&mapping, 1, from);
	part_message(&transition, mapping_field, &mapping);
	part_message(content, 2, &transition);
}

/* IndexMetadata; its UUID is that of CreateIndex removed=_…: the first letter of the name. */
static inline void
history_entry(struct buf *b, const char *text)
{
	struct buf content = { 0 }, details = { 0 }, any = { 0 };
	char group[PART_SIZE], from[PART_SIZE], to[PART_SIZE];
	bool tagged = *text == '1';

	for (text++; part_next(&text, " ", group);) {
		const char *at = group + (*group == '~' || *group == '?');

		ck_assert(part_next(&at, ">", from) && part_next(&at, ">", to));
		if (tagged && *group != '~')
			history_tagged(&content, from, to, *group == '?' ? 9 : 3);
		else
			history_legacy(&content, from, to);
	}
	part_message(&details, 1, &content);
	part_text(&any, 1, "/lance.table.FragmentReuseIndexDetails");
	part_message(&any, 2, &details);
	part_uuid(b, 1, '_');
	part_text(b, 3, REUSE_INDEX_NAME);
	part_message(b, 6, &any);
	maker_number(b, 7, tagged);
}

#endif
