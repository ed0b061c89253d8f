/* Rows that an Update moves: transaction_sound.h.
 *
 * With stable row ids a moved row keeps its id, so it has to be gone from where it was, and to come
 * once. Two rows of one id are damage that nobody can repair. Ids that are a column of a new
 * fragment's file are not read. Format facts: updates.
 */
#include "transaction_sound.h"

#include <inttypes.h>
#include <stdlib.h>

#include "column.h"
#include "draft_lineage.h"
#include "lance/transaction.pb-c.h"
#include "numbers.h"
#include "row_ranges.h"
#include "sequence.h"
#include "util/buf.h"
#include "util/macros.h"
#include "version.h"

#define BLOCK_ROWS 65536u /* ids that are looked up together */

typedef Lance__Table__DataFragment stored_fragment;
typedef Lance__Table__Transaction__Update stored_update;

struct moved {
	const struct sound *sound;
	stored_fragment **images; /* those that the message updates, by id; malloc */
	size_t image_count;
	struct numbers removed; /* fragments, by the message */
	struct buf ranges;      /* struct row_id_range */
};

/* One block of ids, and the fragment in which they are looked for. */
struct search {
	const struct moved *moved;
	const uint64_t *ids;
	size_t left; /* ids whose row was not found yet */
	lancet_fragment *fragment;
	lancet_deletion *deleted; /* in the version that was read */
	roaring_bitmap_t *after;  /* by the message; NULL: none */
	bool removed;             /* the whole fragment, by the message */
};

static struct row_id_range *
ranges_of(const struct moved *moved, size_t *ret_count)
{
	*ret_count = moved->ranges.size / sizeof(struct row_id_range);
	return (void *)moved->ranges.data;
}

static void
put_id(struct moved *moved, uint64_t id)
{
	struct row_id_range range = { id, id };
	size_t count;
	struct row_id_range *list = ranges_of(moved, &count);

	if (count > 0 && list[count - 1].last + 1 == id && id != 0)
		list[count - 1].last = id;
	else
		buf_put(&moved->ranges, &range, sizeof(range));
}

static int
collect(struct moved *moved, const stored_fragment *fragment, uint64_t *block)
{
	struct lancet_error *err = moved->sound->err;
	struct sequence *ids = NULL;
	uint64_t rows = 0;
	int rc;

	if (fragment->row_id_sequence_case !=
		LANCE__TABLE__DATA_FRAGMENT__ROW_ID_SEQUENCE_INLINE_ROW_IDS)
		return LANCET_OK;
	rc = lineage_open_ids(fragment, &ids, &rows, err);
	for (uint64_t row = 0; row < rows && rc == LANCET_OK; row += BLOCK_ROWS) {
		size_t count = rows - row < BLOCK_ROWS ? (size_t)(rows - row) : BLOCK_ROWS;

		rc = sequence_read(ids, row, count, block, err);
		for (size_t i = 0; i < count && rc == LANCET_OK; i++)
			put_id(moved, block[i]);
	}
	sequence_free(ids);
	return rc == LANCET_OK ? buf_check(&moved->ranges, "row ids", err)
			       : lancet_wrap(err, rc, "row ids");
}

static int
compare_ranges(const void *left, const void *right)
{
	const struct row_id_range *a = left, *b = right;

	return (a->first > b->first) - (a->first < b->first);
}

static int
check_once(const struct moved *moved)
{
	size_t count;
	struct row_id_range *list = ranges_of(moved, &count);

	if (count > 1)
		qsort(list, count, sizeof(*list), compare_ranges);
	for (size_t i = 1; i < count; i++)
		if (list[i].first <= list[i - 1].last)
			return lancet_fail(moved->sound->err, LANCET_CORRUPT,
				"new fragments: row id %" PRIu64 " comes twice", list[i].first);
	return LANCET_OK;
}

static int
note_row(void *context, uint64_t row, size_t index, struct lancet_error *err)
{
	struct search *search = context;
	uint8_t deleted;

	lancet_deletion_marks(search->deleted, row, 1, &deleted);
	if (deleted != 0)
		return LANCET_OK;
	search->left--;
	if (search->removed ||
		(search->after != NULL && roaring_bitmap_contains(search->after, (uint32_t)row)))
		return LANCET_OK;
	return lancet_fail(err, LANCET_CORRUPT,
		"row %" PRIu64 " is not deleted, but row id %" PRIu64 " is in a new fragment, too",
		row, search->ids[index]);
}

static int
compare_images(const void *left, const void *right)
{
	const stored_fragment *a = *(stored_fragment *const *)left;
	const stored_fragment *b = *(stored_fragment *const *)right;

	return (a->id > b->id) - (a->id < b->id);
}

static const stored_fragment *
find_image(const struct moved *moved, uint64_t id)
{
	stored_fragment key = { .id = id };
	stored_fragment *const wanted = &key;
	stored_fragment *const *found =
		moved->image_count == 0 ? NULL
					: bsearch(&wanted, moved->images, moved->image_count,
						  sizeof(wanted), compare_images);

	return found == NULL ? NULL : *found;
}

/* What the message makes of the fragment. */
static int
open_after(struct search *search, uint64_t id, uint64_t rows)
{
	const struct moved *moved = search->moved;
	const stored_fragment *image = find_image(moved, id);

	search->removed = numbers_find(&moved->removed, id) != SIZE_MAX;
	if (search->removed || image == NULL || image->deletion_file == NULL)
		return LANCET_OK;
	return sound_deletion_load(moved->sound, id, image->deletion_file, rows, &search->after);
}

static int
search_rows(struct search *search, size_t count)
{
	struct lancet_error *err = search->moved->sound->err;
	const struct lancet_fragment_info *info = lancet_fragment_info(search->fragment);
	lancet_column *column = NULL;
	int rc = lancet_deletion_open(search->fragment, &search->deleted, err);

	if (rc == LANCET_OK)
		rc = open_after(search, info->id, info->physical_rows);
	if (rc == LANCET_OK)
		rc = lancet_column_open(search->fragment, LANCET_ROW_ID, &column, err);
	if (rc == LANCET_OK)
		rc = column_find(column, search->ids, count, note_row, search, err);
	lancet_column_free(column);
	return lancet_wrap(err, rc, "fragment %" PRIu64, info->id);
}

static int
search_fragment(struct search *search, uint64_t ordinal, size_t count)
{
	const struct sound *sound = search->moved->sound;
	int rc = lancet_fragment_open(sound->read, ordinal, &search->fragment, sound->err);

	if (rc == LANCET_OK)
		rc = search_rows(search, count);
	if (search->after != NULL)
		roaring_bitmap_free(search->after);
	search->after = NULL;
	search->removed = false;
	lancet_deletion_unref(search->deleted);
	search->deleted = NULL;
	lancet_fragment_unref(search->fragment);
	search->fragment = NULL;
	return rc;
}

static bool
is_source(const struct moved *moved, uint64_t id)
{
	return numbers_find(&moved->removed, id) != SIZE_MAX || find_image(moved, id) != NULL;
}

/* Each id is live in one fragment at most, most often in one that the message changes. */
static int
check_block(const struct moved *moved, const uint64_t *ids, size_t count)
{
	const lancet_version *read = moved->sound->read;
	struct search search = { .moved = moved, .ids = ids, .left = count };

	for (int sources = 1; sources >= 0; sources--)
		for (uint64_t i = 0; i < read->info.fragment_count && search.left > 0; i++)
			if (is_source(moved, read->spans[i].id) == (sources != 0))
				TRY(search_fragment(&search, i, count));
	return LANCET_OK;
}

static int
check_gone(const struct moved *moved, uint64_t *block)
{
	size_t range_count, count = 0;
	const struct row_id_range *list = ranges_of(moved, &range_count);

	for (size_t i = 0; i < range_count; i++)
		for (uint64_t at = 0; at <= list[i].last - list[i].first; at++) {
			block[count++] = list[i].first + at;
			if (count < BLOCK_ROWS)
				continue;
			TRY(check_block(moved, block, count));
			count = 0;
		}
	return count == 0 ? LANCET_OK : check_block(moved, block, count);
}

static int
fill_sources(struct moved *moved, const stored_update *update, struct arena *arena)
{
	size_t count = update->n_updated_fragments;

	moved->images = calloc(count + 1, sizeof(stored_fragment *));
	if (moved->images == NULL ||
		!numbers_reserve(&moved->removed, update->n_removed_fragment_ids, arena))
		return lancet_fail(moved->sound->err, LANCET_NO_MEMORY, "row ids");
	for (size_t i = 0; i < count; i++)
		moved->images[moved->image_count++] = update->updated_fragments[i];
	qsort(moved->images, count, sizeof(stored_fragment *), compare_images);
	for (size_t i = 0; i < update->n_removed_fragment_ids; i++)
		numbers_put(&moved->removed, update->removed_fragment_ids[i]);
	numbers_sort(&moved->removed);
	return LANCET_OK;
}

static int
check_rows(struct moved *moved, const stored_update *update)
{
	lancet_autofree uint64_t *block = calloc(BLOCK_ROWS, sizeof(*block));

	if (block == NULL)
		return lancet_fail(moved->sound->err, LANCET_NO_MEMORY, "row ids");
	for (size_t i = 0; i < update->n_new_fragments; i++)
		TRY(collect(moved, update->new_fragments[i], block));
	TRY(check_once(moved));
	return check_gone(moved, block);
}

int
sound_moved(const struct sound *sound, const stored_update *update)
{
	struct moved moved = { .sound = sound };
	struct arena arena = { 0 };
	int rc;

	if (!sound->read->info.stable_row_ids || update->n_new_fragments == 0)
		return LANCET_OK;
	rc = fill_sources(&moved, update, &arena);
	if (rc == LANCET_OK)
		rc = check_rows(&moved, update);
	buf_release(&moved.ranges);
	free(moved.images);
	arena_release(&arena);
	return rc;
}
