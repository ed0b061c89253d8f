/* Which lists of an operation name files, and which of these are new: transaction_sound.h. */
#include "transaction_sound.h"

#include <inttypes.h>
#include <stdlib.h>

#include "fragment.h"
#include "lance/transaction.pb-c.h"
#include "pbsame.h"
#include "store_write.h"
#include "util/macros.h"
#include "version.h"

typedef Lance__Table__DataFragment stored_fragment;
typedef Lance__Table__DataFile stored_file;
typedef Lance__Table__Transaction transaction;

static bool
same_file(const stored_file *a, const stored_file *b)
{
	return pbsame_file(a, b) && a->file_size_bytes == b->file_size_bytes;
}

static bool
has_file(const stored_fragment *fragment, const stored_file *file)
{
	for (size_t i = 0; fragment != NULL && i < fragment->n_files; i++) {
		if (same_file(fragment->files[i], file))
			return true;
	}
	return false;
}

static bool
same_coverage(const Lance__Table__DataOverlayFile *a, const Lance__Table__DataOverlayFile *b)
{
	if (a->coverage_case != b->coverage_case)
		return false;
	if (a->coverage_case == LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_SHARED_OFFSET_BITMAP)
		return pbsame_bytes(a->shared_offset_bitmap, b->shared_offset_bitmap);
	if (a->coverage_case != LANCE__TABLE__DATA_OVERLAY_FILE__COVERAGE_FIELD_COVERAGE ||
		a->field_coverage->n_offset_bitmaps != b->field_coverage->n_offset_bitmaps)
		return false;
	for (size_t i = 0; i < a->field_coverage->n_offset_bitmaps; i++) {
		if (!pbsame_bytes(a->field_coverage->offset_bitmaps[i],
			    b->field_coverage->offset_bitmaps[i]))
			return false;
	}
	return true;
}

static bool
has_overlay(const stored_fragment *fragment, const Lance__Table__DataOverlayFile *overlay)
{
	for (size_t i = 0; fragment != NULL && i < fragment->n_overlays; i++) {
		const Lance__Table__DataOverlayFile *known = fragment->overlays[i];

		if (known->committed_version == overlay->committed_version &&
			known->data_file != NULL && overlay->data_file != NULL &&
			pbsame_bytes(known->data_file->path, overlay->data_file->path) &&
			same_coverage(known, overlay))
			return true;
	}
	return false;
}

static bool
same_deletion(const Lance__Table__DeletionFile *a, const Lance__Table__DeletionFile *b)
{
	return a != NULL && b != NULL && a->file_type == b->file_type &&
	       a->read_version == b->read_version && a->id == b->id &&
	       a->num_deleted_rows == b->num_deleted_rows &&
	       pbsame_base(a->base_id_presence_case != 0, a->base_id, b->base_id_presence_case != 0,
		       b->base_id);
}

static int
check_overlays(const struct sound *sound, Lance__Table__DataOverlayFile *const *overlays,
	size_t count, uint64_t rows, const stored_fragment *before)
{
	for (size_t i = 0; i < count; i++) {
		if (!has_overlay(before, overlays[i]))
			TRY(sound_overlay(sound, overlays[i], rows));
	}
	return LANCET_OK;
}

/* `before`: the fragment as the version that was read has it; NULL: it has none. */
static int
check_parts(
	const struct sound *sound, const stored_fragment *fragment, const stored_fragment *before)
{
	uint64_t rows = fragment->physical_rows;

	if (rows == 0 && before != NULL)
		rows = before->physical_rows;
	if (before != NULL && before->physical_rows != 0 && rows != before->physical_rows)
		return lancet_fail(sound->err, LANCET_CORRUPT,
			"%" PRIu64 " physical rows, but version %" PRIu64 " has %" PRIu64, rows,
			sound->read->info.number, before->physical_rows);
	for (size_t i = 0; i < fragment->n_files; i++) {
		if (!has_file(before, fragment->files[i]))
			TRY(sound_data_file(sound, fragment->files[i], rows));
	}
	TRY(check_overlays(sound, fragment->overlays, fragment->n_overlays, rows, before));
	if (fragment->deletion_file == NULL ||
		(before != NULL && same_deletion(fragment->deletion_file, before->deletion_file)))
		return LANCET_OK;
	return sound_deletion(sound, fragment->id, fragment->deletion_file, rows,
		before != NULL ? before->deletion_file : NULL);
}

/* The fragment of the version that was read, to be released; *ret_opened is NULL when there is
 * none. */
static int
open_before(const struct sound *sound, uint64_t id, lancet_fragment **ret_opened)
{
	uint64_t ordinal = version_first_span(sound->read, id);

	*ret_opened = NULL;
	if (ordinal == sound->read->info.fragment_count || sound->read->spans[ordinal].id != id)
		return LANCET_OK;
	return fragment_open_stored(sound->read, ordinal, ret_opened, sound->err);
}

/* Fragments that stay under their ids are held against what they were. */
static int
check_images(const struct sound *sound, stored_fragment *const *fragments, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		lancet_fragment *before;
		int rc = open_before(sound, fragments[i]->id, &before);

		if (rc == LANCET_OK)
			rc = check_parts(
				sound, fragments[i], before != NULL ? before->message : NULL);
		lancet_fragment_unref(before);
		if (rc != LANCET_OK)
			return lancet_wrap(sound->err, rc, "fragment %" PRIu64, fragments[i]->id);
	}
	return LANCET_OK;
}

/* Fragments that get their ids when they are committed, or have reserved ones. */
static int
check_new(const struct sound *sound, stored_fragment *const *fragments, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		int rc = check_parts(sound, fragments[i], NULL);

		if (rc != LANCET_OK)
			return lancet_wrap(sound->err, rc, "new fragment %zu", i);
	}
	return LANCET_OK;
}

static int
check_rewrite(const struct sound *sound, const Lance__Table__Transaction__Rewrite *rewrite)
{
	TRY(check_new(sound, rewrite->new_fragments, rewrite->n_new_fragments));
	for (size_t i = 0; i < rewrite->n_groups; i++)
		TRY(check_new(sound, rewrite->groups[i]->new_fragments,
			rewrite->groups[i]->n_new_fragments));
	for (size_t i = 0; i < rewrite->n_rewritten_indices; i++) {
		const Lance__Table__Transaction__Rewrite__RewrittenIndex *index =
			rewrite->rewritten_indices[i];

		if (index->new_id == NULL)
			return lancet_fail(
				sound->err, LANCET_CORRUPT, "rewritten index %zu: no new id", i);
		TRY(sound_index_files(sound,
			slice_of(index->new_id->uuid.data, index->new_id->uuid.len), false, 0,
			index->new_index_files, index->n_new_index_files));
	}
	return LANCET_OK;
}

static int
check_replacements(
	const struct sound *sound, const Lance__Table__Transaction__DataReplacement *replacement)
{
	for (size_t i = 0; i < replacement->n_replacements; i++) {
		const Lance__Table__Transaction__DataReplacementGroup *group =
			replacement->replacements[i];
		lancet_fragment *before;
		int rc;

		if (group->new_file == NULL)
			return lancet_fail(sound->err, LANCET_CORRUPT,
				"fragment %" PRIu64 ": no new file", group->fragment_id);
		rc = open_before(sound, group->fragment_id, &before);
		if (rc == LANCET_OK &&
			!has_file(before != NULL ? before->message : NULL, group->new_file))
			rc = sound_data_file(sound, group->new_file,
				before != NULL ? before->message->physical_rows : 0);
		lancet_fragment_unref(before);
		if (rc != LANCET_OK)
			return lancet_wrap(sound->err, rc, "fragment %" PRIu64, group->fragment_id);
	}
	return LANCET_OK;
}

static int
check_overlay_groups(
	const struct sound *sound, const Lance__Table__Transaction__DataOverlay *overlay)
{
	for (size_t i = 0; i < overlay->n_groups; i++) {
		const Lance__Table__Transaction__DataOverlayGroup *group = overlay->groups[i];
		lancet_fragment *before;
		int rc = open_before(sound, group->fragment_id, &before);

		if (rc == LANCET_OK)
			rc = check_overlays(sound, group->overlays, group->n_overlays,
				before != NULL ? before->message->physical_rows : 0, NULL);
		lancet_fragment_unref(before);
		if (rc != LANCET_OK)
			return lancet_wrap(sound->err, rc, "fragment %" PRIu64, group->fragment_id);
	}
	return LANCET_OK;
}

static int
check_update(const struct sound *sound, const Lance__Table__Transaction__Update *update)
{
	TRY(check_images(sound, update->updated_fragments, update->n_updated_fragments));
	TRY(check_new(sound, update->new_fragments, update->n_new_fragments));
	return sound_moved(sound, update);
}

static int
check_indices(const struct sound *sound, const Lance__Table__Transaction__CreateIndex *create)
{
	for (size_t i = 0; i < create->n_new_indices; i++)
		TRY(sound_index(sound, create->new_indices[i]));
	return LANCET_OK;
}

static int
check_operation(const struct sound *sound, const transaction *message)
{
	switch (message->operation_case) {
	case LANCE__TABLE__TRANSACTION__OPERATION_APPEND:
		return check_new(sound, message->append->fragments, message->append->n_fragments);
	case LANCE__TABLE__TRANSACTION__OPERATION_DELETE:
		return check_images(sound, message->delete_->updated_fragments,
			message->delete_->n_updated_fragments);
	case LANCE__TABLE__TRANSACTION__OPERATION_OVERWRITE:
		return check_new(
			sound, message->overwrite->fragments, message->overwrite->n_fragments);
	case LANCE__TABLE__TRANSACTION__OPERATION_CREATE_INDEX:
		return check_indices(sound, message->create_index);
	case LANCE__TABLE__TRANSACTION__OPERATION_REWRITE:
		return check_rewrite(sound, message->rewrite);
	case LANCE__TABLE__TRANSACTION__OPERATION_MERGE:
		return check_images(sound, message->merge->fragments, message->merge->n_fragments);
	case LANCE__TABLE__TRANSACTION__OPERATION_UPDATE:
		return check_update(sound, message->update);
	case LANCE__TABLE__TRANSACTION__OPERATION_DATA_REPLACEMENT:
		return check_replacements(sound, message->data_replacement);
	case LANCE__TABLE__TRANSACTION__OPERATION_DATA_OVERLAY:
		return check_overlay_groups(sound, message->data_overlay);
	default:
		return LANCET_OK; /* names no files */
	}
}

int
sound_keep(const struct sound *sound, struct store *store, const char *key)
{
	return sound->theirs ? store_keep(store, key, sound->err) : LANCET_OK;
}

int
transaction_sound(
	lancet_version *read, const transaction *message, bool theirs, struct lancet_error *err)
{
	struct sound sound = { .read = read, .message = message, .theirs = theirs, .err = err };

	return lancet_wrap(err, check_operation(&sound, message), "transaction");
}
