/* Manifests of writers that are too old to be trusted.
 *
 * Row counts that were not recorded, or by a writer that does not say who it is, are taken from the
 * files. Coverage of indices that such a writer recorded may claim too much; to find the truth the
 * index itself would have to be read. So the entry covers nothing any more: readers scan, and
 * optimizing the index covers all again. Saying that the coverage is not known would be worse,
 * since the reference then wants to find out at its next commit, and aborts for most kinds of
 * indices. Format facts: tolerant reads and repairs.
 */
#include "draft_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lance/table.pb-c.h"
#include "util/macros.h"

#define SYSTEM_PREFIX "__lance_"

/* Two deletion files are the same when they have the same name. */
static bool
same_deletion(const Lance__Table__DeletionFile *message, const struct lancet_deletion_file *stored)
{
	return message->read_version == stored->read_version && message->id == stored->id;
}

static int
set_counts(struct draft *draft, size_t place, const struct lancet_fragment_info *info,
	struct lancet_error *err)
{
	const struct fragment_span *span = &draft->origin->spans[draft->fragments[place].stored];
	Lance__Table__DataFragment *message;
	Lance__Table__DeletionFile *deletion;

	if (draft->fragments[place].message == NULL && info->physical_rows == span->physical_rows &&
		info->deleted_rows == span->deleted_rows)
		return LANCET_OK;
	TRY(draft_edit(draft, place, &message, err));
	message->physical_rows = info->physical_rows;
	if (message->deletion_file == NULL || !info->has_deletion_file ||
		!same_deletion(message->deletion_file, &info->deletion))
		return LANCET_OK;
	deletion = draft_copy(draft, message->deletion_file, sizeof(*deletion));
	if (deletion == NULL)
		return draft_no_memory(err);
	deletion->num_deleted_rows = info->deleted_rows;
	message->deletion_file = deletion;
	if (deletion->num_deleted_rows == 0)
		message->deletion_file = NULL;
	return LANCET_OK;
}

static bool
has_no_rows(const struct lancet_fragment_info *info)
{
	return info->deleted_rows >= info->physical_rows;
}

static int
count_fragment(struct draft *draft, size_t place, struct lancet_error *err)
{
	const struct draft_fragment *at = &draft->fragments[place];
	lancet_fragment *fragment;
	int rc = LANCET_OK;

	TRY(lancet_fragment_open(draft->origin, at->stored, &fragment, err));
	if (has_no_rows(lancet_fragment_info(fragment)))
		draft_remove(draft, place);
	else
		rc = set_counts(draft, place, lancet_fragment_info(fragment), err);
	lancet_fragment_unref(fragment);
	return rc;
}

static bool
is_counted(const struct draft *draft, size_t place)
{
	const struct fragment_span *span = &draft->origin->spans[draft->fragments[place].stored];

	return draft->origin->info.has_writer && span->physical_rows > 0 && span->deleted_rows > 0;
}

static int
count_fragments(struct draft *draft, struct lancet_error *err)
{
	for (size_t i = 0; i < draft->fragment_count; i++) {
		const struct draft_fragment *at = &draft->fragments[i];

		if (at->removed || at->stored == UINT32_MAX || is_counted(draft, i))
			continue;
		TRY(count_fragment(draft, i, err));
	}
	return LANCET_OK;
}

/* "14.0.2" as numbers; parts that are missing are 0, one that is no number spoils it. */
static bool
parse_version(struct lancet_bytes text, uint64_t parts[3])
{
	size_t at = 0;

	memset(parts, 0, 3 * sizeof(*parts));
	for (size_t i = 0; i < 3; i++) {
		size_t digits = 0;

		for (; at < text.size && text.data[at] >= '0' && text.data[at] <= '9'; at++) {
			if (++digits > 9)
				return false;
			parts[i] = 10 * parts[i] + (uint64_t)(text.data[at] - '0');
		}
		if (at == text.size)
			return digits > 0;
		if (digits == 0 || text.data[at++] != '.')
			return i == 2 && digits > 0;
	}
	return true;
}

/* "lance" before 0.8.15, and who does not say: their coverage of indices is not right. */
static bool
bitmaps_are_trusted(const struct lancet_version_info *info)
{
	static const uint64_t first[3] = { 0, 8, 15 };
	uint64_t parts[3];

	if (!info->has_writer)
		return false;
	if (!slice_equal(slice_of(info->writer_library.data, info->writer_library.size),
		    slice_text("lance")))
		return true;
	if (!parse_version(info->writer_version, parts))
		return false;
	for (size_t i = 0; i < 3; i++)
		if (parts[i] != first[i])
			return parts[i] > first[i];
	return true;
}

static bool
is_system(const Lance__Table__IndexMetadata *message)
{
	const size_t size = sizeof(SYSTEM_PREFIX) - 1;

	return message->name.len >= size && memcmp(message->name.data, SYSTEM_PREFIX, size) == 0;
}

static int
forget_coverage(struct draft *draft, struct lancet_error *err)
{
	/* an empty portable Roaring bitmap */
	static const uint8_t nothing[] = { 0x3a, 0x30, 0, 0, 0, 0, 0, 0 };

	for (size_t i = 0; i < draft->index_count; i++) {
		const struct draft_index *index = &draft->indices[i];
		Lance__Table__IndexMetadata *message;

		if (index->removed || index->segment == NULL || is_system(index->message))
			continue;
		TRY(draft_index_edit(draft, i, &message, err));
		message->fragment_bitmap =
			(ProtobufCBinaryData){ sizeof(nothing), (uint8_t *)(uintptr_t)nothing };
	}
	return LANCET_OK;
}

int
draft_migrate(struct draft *draft, struct lancet_error *err)
{
	if (draft->origin == NULL)
		return LANCET_OK;
	if (draft->origin->counts_missing)
		TRY(count_fragments(draft, err));
	if (!bitmaps_are_trusted(&draft->origin->info))
		TRY(forget_coverage(draft, err));
	return LANCET_OK;
}
