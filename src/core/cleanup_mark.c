/* What a version names, without decoding its fragments.
 *
 * A dataset has many versions that share most of their fragments, so only the few fields are walked
 * that name files. Of a field that is there twice the last one counts for readers; here all do.
 * Format facts: fragments, cleanup.
 */
#include "cleanup.h"

#include "reuse.h"
#include "util/macros.h"
#include "util/pbscan.h"

#define PATH_MAX_STORED 65536 /* bytes; no file has such a path */
#define SUFFIX          ".lance"

enum {
	FRAGMENT_ID = 1,
	FRAGMENT_FILES = 2,
	FRAGMENT_DELETION = 3,
	FRAGMENT_OVERLAYS = 11,
	FILE_PATH = 1,
	OVERLAY_FILE = 1,
	DELETION_TYPE = 1,
	DELETION_VERSION = 2,
	DELETION_ID = 3,
	BASE_ID = 7, /* of both kinds of files */
};

struct marking {
	struct cleanup_files *files;
	uint32_t place;
	struct pbscan *scan;
	struct lancet_error *err;
};

/* A file of another base is none of this dataset's, unless it stays: then it may be. */
static void
mark(const struct marking *marking, enum cleanup_kind kind, struct slice key, struct slice path,
	bool elsewhere)
{
	if (marking->place == CLEANUP_STAYS)
		cleanup_files_keep(marking->files, kind, key);
	else if (!elsewhere)
		cleanup_files_name(marking->files, kind, key, path, marking->place);
}

static void
mark_data_file(const struct marking *marking, struct slice path, bool elsewhere)
{
	size_t suffix = strlen(SUFFIX), start = path.size;

	if (path.size <= suffix || memcmp(path.data + path.size - suffix, SUFFIX, suffix) != 0)
		return; /* no such file is ever removed */
	while (start > 0 && path.data[start - 1] != '/')
		start--;
	mark(marking, CLEANUP_DATA, slice_of(path.data + start, path.size - start - suffix), path,
		elsewhere);
}

/* The scan is at a DataFile that ends at `end`. The path may be anywhere in it. */
static int
scan_data_file(const struct marking *marking, uint64_t end)
{
	struct pb_field field, path = { 0 };
	struct slice bytes;
	bool elsewhere = false, more;

	for (;;) {
		TRY(pbscan_next_inside(marking->scan, end, &field, &more, marking->err));
		if (!more)
			break;
		elsewhere |= field.number == BASE_ID;
		if (field.number == FILE_PATH && field.wire == PB_BYTES)
			path = field;
	}
	if (path.number == 0 || path.value > PATH_MAX_STORED)
		return LANCET_OK;
	TRY(pbscan_bytes(marking->scan, path.offset, (size_t)path.value, &bytes, marking->err));
	mark_data_file(marking, bytes, elsewhere);
	return LANCET_OK;
}

struct deletion {
	uint64_t type, version, id;
	bool present, elsewhere;
};

static int
scan_deletion(const struct marking *marking, uint64_t end, struct deletion *deletion)
{
	struct pb_field field;
	bool more;

	deletion->present = true;
	for (;;) {
		TRY(pbscan_next_inside(marking->scan, end, &field, &more, marking->err));
		if (!more)
			return LANCET_OK;
		deletion->elsewhere |= field.number == BASE_ID;
		if (field.wire != PB_VARINT)
			continue;
		if (field.number == DELETION_TYPE)
			deletion->type = field.value;
		else if (field.number == DELETION_VERSION)
			deletion->version = field.value;
		else if (field.number == DELETION_ID)
			deletion->id = field.value;
	}
}

static int
scan_overlay(const struct marking *marking, uint64_t end)
{
	struct pb_field field;
	bool more;

	for (;;) {
		TRY(pbscan_next_inside(marking->scan, end, &field, &more, marking->err));
		if (!more)
			return LANCET_OK;
		if (field.number != OVERLAY_FILE || field.wire != PB_BYTES)
			continue;
		marking->scan->at = field.offset;
		TRY(scan_data_file(marking, field.end));
	}
}

static void
mark_deletion(const struct marking *marking, uint64_t fragment, const struct deletion *deletion)
{
	char path[DELETION_PATH_MAX];
	struct slice name;

	if (!deletion->present)
		return;
	deletion_path_format(fragment, deletion->version, deletion->id, deletion->type != 0, path);
	name = slice_text(strchr(path, '/') + 1);
	mark(marking, CLEANUP_DELETION, name, name, deletion->elsewhere);
}

static int
scan_fragment(const struct marking *marking, uint64_t end)
{
	struct deletion deletion = { 0 };
	uint64_t fragment = 0;
	struct pb_field field;
	bool more;

	for (;;) {
		TRY(pbscan_next_inside(marking->scan, end, &field, &more, marking->err));
		if (!more)
			break;
		if (field.number == FRAGMENT_ID && field.wire == PB_VARINT)
			fragment = field.value;
		if (field.wire != PB_BYTES)
			continue;
		if (field.number == FRAGMENT_FILES) {
			marking->scan->at = field.offset;
			TRY(scan_data_file(marking, field.end));
		} else if (field.number == FRAGMENT_OVERLAYS) {
			marking->scan->at = field.offset;
			TRY(scan_overlay(marking, field.end));
		} else if (field.number == FRAGMENT_DELETION) {
			marking->scan->at = field.offset;
			TRY(scan_deletion(marking, field.end, &deletion));
		}
	}
	mark_deletion(marking, fragment, &deletion);
	return LANCET_OK;
}

static int
mark_fragments(struct marking *marking, lancet_version *version)
{
	struct pbscan scan;
	int rc;

	TRY(pbscan_init(&scan, version->file, version->message_offset, version->message_size, 0,
		marking->err));
	marking->scan = &scan;
	rc = LANCET_OK;
	for (uint64_t i = 0; i < version->info.fragment_count && rc == LANCET_OK; i++) {
		const struct fragment_span *span = &version->spans[i];

		scan.at = version->message_offset + span->offset;
		rc = scan_fragment(marking, scan.at + span->size);
	}
	pbscan_release(&scan);
	return rc;
}

static int
mark_indices(const struct marking *marking, lancet_version *version)
{
	const struct lancet_index *indices;
	size_t count;

	TRY(lancet_version_indices(version, &indices, &count, marking->err));
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < indices[i].segment_count; k++) {
			const struct lancet_index_segment *segment = indices[i].segments[k];

			mark(marking, CLEANUP_INDEX, slice_text(segment->uuid_text),
				slice_text(segment->uuid_text), segment->has_base);
		}
	return LANCET_OK;
}

/* A history that is not fully understood may name maps where nobody looks: then all of them stay.
 */
static int
mark_row_maps(const struct marking *marking, lancet_version *version)
{
	lancet_reuse *reuse = NULL;
	int rc;

	if (!marking->files->has_row_maps || marking->files->keep_row_maps)
		return LANCET_OK;
	rc = lancet_version_reuse(version, &reuse, NULL);
	if (rc == LANCET_NOT_FOUND)
		return LANCET_OK;
	if (rc == LANCET_NO_MEMORY)
		return lancet_fail(marking->err, rc, "reuse history");
	if (rc != LANCET_OK || !lancet_reuse_info(reuse)->interpretable) {
		marking->files->keep_row_maps = true;
		return LANCET_OK;
	}
	for (size_t i = 0; i < lancet_reuse_info(reuse)->transition_count; i++) {
		const struct reuse_transition *transition = &reuse->transitions[i];
		struct lancet_bytes id = transition->info.map_id;

		if (transition->has_row_map)
			mark(marking, CLEANUP_ROW_MAP, slice_of(id.data, id.size),
				slice_of(id.data, id.size), transition->info.has_base);
	}
	return LANCET_OK;
}

int
cleanup_mark(struct cleanup_files *files, lancet_version *version, uint32_t place,
	struct lancet_error *err)
{
	struct marking marking = { .files = files, .place = place, .err = err };
	struct lancet_bytes transaction = version->info.transaction_file;
	struct slice name = slice_of(transaction.data, transaction.size);

	TRY(mark_fragments(&marking, version));
	if (name.size > 0)
		mark(&marking, CLEANUP_TRANSACTION, name, name, false);
	TRY(mark_indices(&marking, version));
	return mark_row_maps(&marking, version);
}
