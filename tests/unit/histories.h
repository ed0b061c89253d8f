/* Reuse histories made by hand for tests, from texts like "0/10-3 1/5": fragments, with their rows
 * and how many of these are deleted.
 *
 * Written from the format facts, without the code under test. The first rows of a source are the
 * deleted ones, and the rest of fewer than 4096 survive.
 */
#ifndef TESTS_HISTORIES_H
#define TESTS_HISTORIES_H

#include "marks.h"
#include <stdio.h>

#include "core/reuse.h"
#include "encode.h"

#define HISTORY_MAP_ID "3D125FC7-024e-449a-aaf2-c1b769e6a783"

struct history_fragment {
	uint64_t id, rows, deleted;
};

/* The next fragment of a list; false at its end. */
static inline bool
history_next(const char **list, struct history_fragment *ret_fragment)
{
	char *end;

	while (**list == ' ')
		(*list)++;
	if (**list == '\0')
		return false;
	*ret_fragment = (struct history_fragment){ .id = strtoull(*list, &end, 10) };
	ck_assert_int_eq(*end, '/');
	ret_fragment->rows = strtoull(end + 1, &end, 10);
	if (*end == '-')
		ret_fragment->deleted = strtoull(end + 1, &end, 10);
	*list = end;
	return true;
}

static inline void
history_digests(struct buf *record, unsigned field, const char *list)
{
	struct history_fragment fragment;

	while (history_next(&list, &fragment)) {
		struct buf digest = { 0 };

		put_number(&digest, 1, fragment.id);
		put_number(&digest, 2, fragment.rows);
		if (fragment.deleted != 0)
			put_number(&digest, 3, fragment.deleted);
		put_message(record, field, &digest);
	}
}

static inline void
history_word(struct buf *b, unsigned width, uint64_t value)
{
	for (unsigned i = 0; i < width; i++)
		buf_put_byte(b, (uint8_t)(value >> 8 * i));
}

/* The treemap of all rows of the sources that are not deleted; sources ascend. */
static inline void
history_treemap(struct buf *b, const char *sources)
{
	struct history_fragment fragment;
	const char *list = sources;
	uint64_t keys = 0;

	while (history_next(&list, &fragment))
		keys += fragment.rows > fragment.deleted;
	history_word(b, 8, keys);
	while (history_next(&sources, &fragment)) {
		if (fragment.rows <= fragment.deleted)
			continue;
		history_word(b, 4, fragment.id);
		history_word(b, 4, 12346); /* no runs */
		history_word(b, 4, 1);
		history_word(b, 4, (fragment.rows - fragment.deleted - 1) << 16);
		history_word(b, 4, 16);
		for (uint64_t row = fragment.deleted; row < fragment.rows; row++)
			history_word(b, 2, row);
	}
}

static inline void
history_put(struct buf *content, const char *sources, const char *destinations, unsigned arm,
	struct buf *mapping)
{
	struct buf record = { 0 };

	history_digests(&record, 1, sources);
	history_digests(&record, 2, destinations);
	put_message(&record, arm, mapping);
	put_message(content, 2, &record);
}

static inline void
history_ordered(struct buf *content, const char *sources, const char *destinations)
{
	struct buf treemap = { 0 }, mapping = { 0 };

	history_treemap(&treemap, sources);
	put_message(&mapping, 1, &treemap);
	history_put(content, sources, destinations, 3, &mapping);
}

static inline void
history_partition(struct buf *content, const char *sources, const char *destinations)
{
	struct buf mapping = { 0 };

	put_head(&mapping, 1, strlen(HISTORY_MAP_ID));
	buf_put_text(&mapping, HISTORY_MAP_ID);
	put_number(&mapping, 2, 100);
	history_put(content, sources, destinations, 4, &mapping);
}

/* A group of a legacy version, which is put_message(content, 1, &version) with its number. */
static inline void
history_group(struct buf *version, const char *sources, const char *destinations)
{
	struct buf group = { 0 }, treemap = { 0 };

	history_treemap(&treemap, sources);
	put_message(&group, 1, &treemap);
	history_digests(&group, 2, sources);
	history_digests(&group, 3, destinations);
	put_message(version, 3, &group);
}

/* A history that must be decodable; frees the content. */
static inline struct lancet_reuse *
history_parse(struct buf *content, int32_t index_version)
{
	struct lancet_reuse *reuse = NULL;
	struct lancet_error err = { 0 };
	int rc = reuse_parse(buf_slice(content), index_version, &reuse, &err);

	ck_assert_int_eq(content->failed, LANCET_OK);
	ck_assert_msg(rc == LANCET_OK, "%s", err.text);
	buf_release(content);
	return reuse;
}

#endif
