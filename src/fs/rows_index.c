/* indices/ and their segments. SPEC section 3.
 *
 * item holds the index's place among all of the version and the segment's among those of its index
 * (render.h). A damaged index section fails here alone. Coverage is unknown as soon as one segment
 * does not record its own.
 */
#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "indexfile.h"
#include "render.h"
#include "util/macros.h"
#include "util/text.h"

#define ITEM_OF(index, segment) ((uint64_t)(index) << ITEM_SEGMENT_BITS | (segment))

int
index_of(
	const struct node_ref *ref, const struct lancet_index **ret_index, struct lancet_error *err)
{
	const struct lancet_index *indices;
	size_t count;

	TRY(lancet_version_indices(ref->version, &indices, &count, err));
	if (item_index(ref->item) >= count)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such index");
	*ret_index = &indices[item_index(ref->item)];
	return LANCET_OK;
}

int
segment_of(const struct node_ref *ref, const struct lancet_index_segment **ret_segment,
	struct lancet_error *err)
{
	const struct lancet_index *index = NULL;

	TRY(index_of(ref, &index, err));
	if (item_segment(ref->item) >= index->segment_count)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such index segment");
	*ret_segment = index->segments[item_segment(ref->item)];
	return LANCET_OK;
}

static bool
has_system_indices(const struct node_ref *ref)
{
	const struct lancet_index *indices;
	size_t count;

	if (lancet_version_indices(ref->version, &indices, &count, NULL) != LANCET_OK)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (indices[i].is_system)
			return true;
	}
	return false;
}

static int
list_indices(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	bool system = ref->kind->id == NODE_SYSTEM_INDICES;
	const struct lancet_index *indices;
	size_t count;

	TRY(lancet_version_indices(ref->version, &indices, &count, err));
	for (size_t i = 0; i < count; i++) {
		char name[NODE_NAME_SIZE];
		struct node_child child = { .name = name,
			.kind = system ? NODE_SYSTEM_INDEX : NODE_INDEX,
			.item = ITEM_OF(i, 0) };

		if (indices[i].is_system != system)
			continue;
		(void)text_name_encode(slice_of(indices[i].name.data, indices[i].name.size), name);
		TRY(sink(context, &child));
	}
	return LANCET_OK;
}

static int
label_index(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	const struct lancet_index *index = NULL;

	TRY(index_of(ref, &index, err));
	(void)text_name_encode(slice_of(index->name.data, index->name.size), into);
	return LANCET_OK;
}

/* What is in an index may be below indices/ or below .system/. */
static void
up_to_index(struct node_ref *ref)
{
	const struct lancet_index *index = NULL;
	bool system = index_of(ref, &index, NULL) == LANCET_OK && index->is_system;

	ref->item = ITEM_OF(item_index(ref->item), 0);
	ref->kind = node_kind_of(system ? NODE_SYSTEM_INDEX : NODE_INDEX);
}

static bool
covers_known_fragments(const struct node_ref *ref)
{
	const struct lancet_index *index = NULL;

	if (index_of(ref, &index, NULL) != LANCET_OK)
		return false;
	for (size_t i = 0; i < index->segment_count; i++) {
		if (index->segments[i]->bitmap.size == 0)
			return false;
	}
	return index->segment_count > 0;
}

static bool
segment_covers_known_fragments(const struct node_ref *ref)
{
	const struct lancet_index_segment *segment = NULL;

	return segment_of(ref, &segment, NULL) == LANCET_OK && segment->bitmap.size > 0;
}

static bool
is_user_index(const struct node_ref *ref)
{
	const struct lancet_index *index = NULL;

	return index_of(ref, &index, NULL) == LANCET_OK && !index->is_system;
}

/* A system index answers for no rows. */
static bool
covers_known_rows(const struct node_ref *ref)
{
	return is_user_index(ref) && covers_known_fragments(ref);
}

static bool
segment_covers_known_rows(const struct node_ref *ref)
{
	return is_user_index(ref) && segment_covers_known_fragments(ref);
}

static int
list_segments(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	const struct lancet_index *index = NULL;

	TRY(index_of(ref, &index, err));
	for (size_t i = 0; i < index->segment_count; i++) {
		char name[NODE_NAME_SIZE];
		struct node_child child = { .name = name,
			.kind = NODE_SEGMENT,
			.item = ITEM_OF(item_index(ref->item), i) };

		if (i >> ITEM_SEGMENT_BITS != 0)
			return lancet_fail(err, LANCET_LIMIT, "more than %u segments",
				1u << ITEM_SEGMENT_BITS);
		(void)text_name_encode(slice_text(index->segments[i]->uuid_text), name);
		TRY(sink(context, &child));
	}
	return LANCET_OK;
}

static int
label_segment(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	const struct lancet_index_segment *segment = NULL;

	TRY(segment_of(ref, &segment, err));
	(void)text_name_encode(slice_text(segment->uuid_text), into);
	return LANCET_OK;
}

/* A file's name in its segment: "_indices/UUID/NAME" and "UUID/NAME" give NAME. */
static const char *
name_in_segment(const struct lancet_index_segment *segment, const char *path)
{
	const char *at = strncmp(path, "_indices/", 9) == 0 ? path + 9 : path;
	size_t uuid = strlen(segment->uuid_text);

	if (strncmp(at, segment->uuid_text, uuid) == 0 && at[uuid] == '/')
		return at + uuid + 1;
	return path;
}

static int
list_segment_files(
	const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	const struct lancet_index_segment *segment = NULL;
	const lancet_base *base;
	char **paths = NULL;
	size_t count = 0;
	int rc;

	TRY(segment_of(ref, &segment, err));
	TRY(lancet_index_segment_files(ref->version, segment, &base, &paths, &count, err));
	rc = LANCET_OK;
	for (size_t i = 0; i < count && rc == LANCET_OK; i++) {
		char name[NODE_NAME_SIZE];
		struct node_child child = { name, NODE_SEGMENT_FILE, i, ref->item };

		(void)text_name_encode(slice_text(name_in_segment(segment, paths[i])), name);
		rc = sink(context, &child);
	}
	free(paths);
	return rc;
}

/* File number ref->ordinal of its segment. */
static int
segment_file(const struct node_ref *ref, struct node_file *ret_file, struct lancet_error *err)
{
	const struct lancet_index_segment *segment = NULL;
	const lancet_base *base;
	char **paths = NULL, *path = NULL;
	size_t count = 0;

	TRY(segment_of(ref, &segment, err));
	TRY(lancet_index_segment_files(ref->version, segment, &base, &paths, &count, err));
	if (ref->ordinal < count)
		path = strdup(paths[ref->ordinal]);
	free(paths);
	if (path == NULL)
		return lancet_fail(err, ref->ordinal < count ? LANCET_NO_MEMORY : LANCET_NOT_FOUND,
			"no such index file");
	*ret_file = (struct node_file){ base, path };
	return LANCET_OK;
}

static int
measure_segment_file(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	const struct lancet_index_segment *segment = NULL;
	struct node_file file = { 0 };
	struct slice name;

	TRY(segment_of(ref, &segment, err));
	TRY(segment_file(ref, &file, err));
	name = slice_text(name_in_segment(segment, file.path));
	*ret_size = UINT64_MAX;
	for (size_t i = 0; i < segment->file_count; i++) {
		struct lancet_bytes path = segment->files[i].path;

		if (slice_equal(slice_of(path.data, path.size), name))
			*ret_size = segment->files[i].size;
	}
	free(file.path);
	return LANCET_OK;
}

static const uint8_t indices_rows[] = { NODE_SYSTEM_INDICES, NODE_NONE };
static const uint8_t index_rows[] = { NODE_INDEX_INFO, NODE_INDEX_BITMAP, NODE_INDEX_COVERED,
	NODE_INDEX_RETIRED, NODE_UNINDEXED, NODE_SEGMENTS, NODE_NONE };
static const uint8_t segment_rows[] = { NODE_SEGMENT_INFO, NODE_SEGMENT_BITMAP,
	NODE_SEGMENT_COVERED, NODE_SEGMENT_RETIRED, NODE_SEGMENT_FILES, NODE_NONE };

const struct node_kind rows_index[] = {
	{ .id = NODE_INDICES,
		.name = "indices",
		.shape = SHAPE_DIR,
		.parent = NODE_VERSION,
		.needs_version = true,
		.rows = indices_rows,
		.list = list_indices },
	{ .id = NODE_SYSTEM_INDICES,
		.name = ".system",
		.shape = SHAPE_DIR,
		.parent = NODE_INDICES,
		.needs_version = true,
		.present = has_system_indices,
		.list = list_indices },
	{ .id = NODE_INDEX,
		.shape = SHAPE_DIR,
		.parent = NODE_INDICES,
		.needs_version = true,
		.rows = index_rows,
		.label = label_index },
	{ .id = NODE_SYSTEM_INDEX,
		.shape = SHAPE_DIR,
		.parent = NODE_SYSTEM_INDICES,
		.needs_version = true,
		.rows = index_rows,
		.label = label_index },
	{ .id = NODE_INDEX_INFO,
		.name = "info.json",
		.shape = SHAPE_TEXT,
		.parent = NODE_INDEX,
		.needs_version = true,
		.up = up_to_index,
		.render = render_index_info },
	{ .id = NODE_INDEX_BITMAP,
		.name = "fragment_bitmap",
		.shape = SHAPE_RECORDS,
		.parent = NODE_INDEX,
		.needs_version = true,
		.present = covers_known_fragments,
		.up = up_to_index,
		.records = records_index_bitmap },
	{ .id = NODE_INDEX_COVERED,
		.name = "covered_fragments",
		.shape = SHAPE_RECORDS,
		.parent = NODE_INDEX,
		.needs_version = true,
		.present = covers_known_rows,
		.up = up_to_index,
		.records = records_index_coverage },
	{ .id = NODE_INDEX_RETIRED,
		.name = "retired_fragments",
		.shape = SHAPE_RECORDS,
		.parent = NODE_INDEX,
		.needs_version = true,
		.present = covers_known_rows,
		.up = up_to_index,
		.records = records_index_coverage },
	{ .id = NODE_UNINDEXED,
		.name = "unindexed_fragments",
		.shape = SHAPE_RECORDS,
		.parent = NODE_INDEX,
		.needs_version = true,
		.present = covers_known_fragments,
		.up = up_to_index,
		.records = records_index_coverage },
	{ .id = NODE_SEGMENTS,
		.name = "segments",
		.shape = SHAPE_DIR,
		.parent = NODE_INDEX,
		.needs_version = true,
		.list = list_segments,
		.up = up_to_index },
	{ .id = NODE_SEGMENT,
		.shape = SHAPE_DIR,
		.parent = NODE_SEGMENTS,
		.needs_version = true,
		.rows = segment_rows,
		.label = label_segment },
	{ .id = NODE_SEGMENT_INFO,
		.name = "info.json",
		.shape = SHAPE_TEXT,
		.parent = NODE_SEGMENT,
		.needs_version = true,
		.render = render_segment_info },
	{ .id = NODE_SEGMENT_BITMAP,
		.name = "fragment_bitmap",
		.shape = SHAPE_RECORDS,
		.parent = NODE_SEGMENT,
		.needs_version = true,
		.present = segment_covers_known_fragments,
		.records = records_segment_bitmap },
	{ .id = NODE_SEGMENT_COVERED,
		.name = "covered_fragments",
		.shape = SHAPE_RECORDS,
		.parent = NODE_SEGMENT,
		.needs_version = true,
		.present = segment_covers_known_rows,
		.records = records_segment_coverage },
	{ .id = NODE_SEGMENT_RETIRED,
		.name = "retired_fragments",
		.shape = SHAPE_RECORDS,
		.parent = NODE_SEGMENT,
		.needs_version = true,
		.present = segment_covers_known_rows,
		.records = records_segment_coverage },
	{ .id = NODE_SEGMENT_FILES,
		.name = "files",
		.shape = SHAPE_DIR,
		.parent = NODE_SEGMENT,
		.needs_version = true,
		.list = list_segment_files },
	{ .id = NODE_SEGMENT_FILE,
		.shape = SHAPE_PASS,
		.parent = NODE_SEGMENT_FILES,
		.needs_version = true,
		.measure = measure_segment_file,
		.file = segment_file },
	{ .id = NODE_NONE },
};
