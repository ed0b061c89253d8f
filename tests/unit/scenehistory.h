/* Reuse histories told in short texts, as their encoded records.
 *
 * "0 1 > 4; 4 2 > 5" is two rewrites, the first of fragments 0 and 1 into 4. A fragment has 60 rows
 * unless it says so ("4:30"), and the first rows of the sources are deleted so that the
 * destinations take the rest. Legacy versions are "5 = 0 1 > 4; 2 > 3 | 8 = 4 > 6": dataset version
 * and groups.
 */
#ifndef TESTS_SCENEHISTORY_H
#define TESTS_SCENEHISTORY_H

#include "encode.h"
#include "unit.h"

#include <ctype.h>
#include <string.h>

#include "util/roaringx.h"

#define SCENE_ROWS    60u
#define SCENE_NUMBERS 16u

struct scene_side {
	size_t count;
	uint32_t ids[SCENE_NUMBERS], rows[SCENE_NUMBERS], total;
};

/* "4:30 5" up to one of the stops, behind which *at is then. */
static inline struct scene_side
scene_side(const char **at, const char *stops)
{
	struct scene_side side = { 0 };

	for (; **at != '\0' && strchr(stops, **at) == NULL; *at += strspn(*at, " ")) {
		char *end;

		ck_assert(side.count < SCENE_NUMBERS && isdigit((unsigned char)**at));
		side.ids[side.count] = (uint32_t)strtoul(*at, &end, 10);
		side.rows[side.count] =
			*end == ':' ? (uint32_t)strtoul(end + 1, &end, 10) : SCENE_ROWS;
		side.total += side.rows[side.count++];
		*at = end;
	}
	return side;
}

static inline void
put_roaring(struct buf *b, uint32_t first, uint32_t end, const struct scene_side *ids)
{
	roaring_bitmap_t *set = ids != NULL ? roaring_bitmap_of_ptr(ids->count, ids->ids)
					    : roaring_bitmap_from_range(first, end, 1);

	ck_assert(set != NULL && buf_reserve(b, roaring_bitmap_portable_size_in_bytes(set)));
	b->size += roaring_bitmap_portable_serialize(set, (char *)b->data + b->size);
	roaring_bitmap_free(set);
}

static inline void
put_digest(struct buf *b, unsigned field, uint32_t id, uint32_t rows, uint32_t deleted)
{
	struct buf digest = { 0 };

	put_number(&digest, 1, id);
	put_number(&digest, 2, rows);
	put_number(&digest, 3, deleted);
	put_message(b, field, &digest);
}

static inline void
put_little(struct buf *b, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		buf_put_byte(b, (uint8_t)(value >> 8 * i));
}

/* One rewrite: a group (ids of sources ascend), or a transition. */
static inline struct buf
scene_rewrite(const char **at, bool legacy, const char *stops)
{
	struct scene_side from = scene_side(at, ">"), to;
	struct buf record = { 0 }, treemap = { 0 }, mapping = { 0 };
	uint32_t gone, keys = 0;

	*at += strspn(*at, "> ");
	to = scene_side(at, stops);
	ck_assert_uint_le(to.total, from.total);
	gone = from.total - to.total;
	for (size_t i = 0; i < from.count; i++) {
		uint32_t here = gone < from.rows[i] ? gone : from.rows[i];

		gone -= here;
		put_digest(&record, legacy ? 2 : 1, from.ids[i], from.rows[i], here);
		if (here == from.rows[i])
			continue;
		put_little(&mapping, from.ids[i], 4);
		put_roaring(&mapping, here, from.rows[i], NULL);
		keys++;
	}
	put_little(&treemap, keys, 8);
	buf_put_slice(&treemap, buf_slice(&mapping));
	buf_release(&mapping);
	for (size_t i = 0; i < to.count; i++)
		put_digest(&record, legacy ? 3 : 2, to.ids[i], to.rows[i], 0);
	put_message(legacy ? &record : &mapping, 1, &treemap);
	if (!legacy)
		put_message(&record, 3, &mapping);
	return record;
}

static inline void
scene_skip(const char **at, char separator)
{
	*at += strspn(*at, " ");
	if (**at == separator)
		(*at)++;
	*at += strspn(*at, " ");
}

static inline void
put_legacy(struct buf *content, const char *at)
{
	while (*at != '\0') {
		struct buf version = { 0 };
		char *end;

		put_number(&version, 1, strtoul(at, &end, 10));
		at = end;
		scene_skip(&at, '=');
		while (*at != '\0' && *at != '|') {
			struct buf group = scene_rewrite(&at, true, ";|");

			put_message(&version, 3, &group);
			scene_skip(&at, ';');
		}
		scene_skip(&at, '|');
		put_message(content, 1, &version);
	}
}

static inline void
put_tagged(struct buf *content, const char *at)
{
	while (*at != '\0') {
		struct buf transition = scene_rewrite(&at, false, ";");

		put_message(content, 2, &transition);
		scene_skip(&at, ';');
	}
}

#endif
