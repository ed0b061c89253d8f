/* overlays/K/ of a fragment: the data file that lies over others, and the rows that it covers. SPEC
 * section 3.
 *
 * Coverage is one list for all fields, or a directory with one for each. The latter's lists are
 * numbered through all overlays of the fragment, because ten bits hold either an overlay or such a
 * list.
 */
#include "place.h"

#include <inttypes.h>
#include <stdio.h>

#include "columnfile.h"
#include "util/macros.h"

static int
open_fragment(const struct node_ref *ref, lancet_fragment **ret_fragment, struct lancet_error *err)
{
	return lancet_fragment_open(ref->version, ref->ordinal, ret_fragment, err);
}

static bool
has_overlays(const struct node_ref *ref)
{
	lancet_fragment *fragment = NULL;
	bool has = open_fragment(ref, &fragment, NULL) == LANCET_OK &&
		   lancet_fragment_info(fragment)->overlay_count > 0;

	lancet_fragment_unref(fragment);
	return has;
}

/* Whether the coverage of overlay ref->item is one list. */
static bool
overlay_shares(const struct node_ref *ref, bool *ret_shared)
{
	const struct lancet_fragment_info *info;
	lancet_fragment *fragment = NULL;
	bool found = false;

	if (open_fragment(ref, &fragment, NULL) == LANCET_OK) {
		info = lancet_fragment_info(fragment);
		found = ref->item < info->overlay_count;
		if (found)
			*ret_shared = info->overlays[ref->item].shared;
	}
	lancet_fragment_unref(fragment);
	return found;
}

static bool
has_shared_coverage(const struct node_ref *ref)
{
	bool shared = false;

	return overlay_shares(ref, &shared) && shared;
}

static bool
has_field_coverages(const struct node_ref *ref)
{
	bool shared = true;

	return overlay_shares(ref, &shared) && !shared;
}

static int
list_overlays(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	lancet_fragment *fragment = NULL;
	size_t count;

	TRY(open_fragment(ref, &fragment, err));
	count = lancet_fragment_info(fragment)->overlay_count;
	lancet_fragment_unref(fragment);
	for (size_t i = 0; i < count; i++) {
		struct node_child child = { NULL, NODE_OVERLAY, ref->ordinal, i };

		TRY(sink(context, &child));
	}
	return LANCET_OK;
}

static int
label_overlay(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	(void)err;
	snprintf(into, NODE_NAME_SIZE, "%" PRIu64, ref->item);
	return LANCET_OK;
}

static int
find_overlay(const struct node_ref *ref, lancet_fragment *fragment,
	const struct lancet_overlay **ret_overlay, struct lancet_error *err)
{
	const struct lancet_fragment_info *info = lancet_fragment_info(fragment);

	if (ref->item >= info->overlay_count)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such overlay");
	*ret_overlay = &info->overlays[ref->item];
	return LANCET_OK;
}

static int
overlay_file(const struct node_ref *ref, struct node_file *ret_file, struct lancet_error *err)
{
	const struct lancet_overlay *overlay = NULL;
	lancet_fragment *fragment = NULL;
	int rc;

	TRY(open_fragment(ref, &fragment, err));
	rc = find_overlay(ref, fragment, &overlay, err);
	if (rc == LANCET_OK)
		rc = lancet_data_file_path(
			ref->version, &overlay->file, &ret_file->base, &ret_file->path, err);
	lancet_fragment_unref(fragment);
	return rc;
}

static int
measure_overlay_file(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	const struct lancet_overlay *overlay = NULL;
	lancet_fragment *fragment = NULL;
	int rc;

	TRY(open_fragment(ref, &fragment, err));
	rc = find_overlay(ref, fragment, &overlay, err);
	if (rc == LANCET_OK)
		*ret_size = overlay->file.size != 0 ? overlay->file.size : UINT64_MAX;
	lancet_fragment_unref(fragment);
	return rc;
}

static int
records_shared(const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	return records_coverage(ref, ref->item, 0, ret_records, err);
}

/* Lists that are shown for an overlay: one for each field that has one. */
static size_t
field_lists(const struct lancet_overlay *overlay)
{
	if (overlay->shared)
		return 0;
	return overlay->coverage_count < overlay->file.field_count ? overlay->coverage_count
								   : overlay->file.field_count;
}

static int
list_field_coverages(
	const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	const struct lancet_fragment_info *info;
	const struct lancet_overlay *overlay = NULL;
	lancet_fragment *fragment = NULL;
	uint64_t first = 0;
	int rc;

	TRY(open_fragment(ref, &fragment, err));
	info = lancet_fragment_info(fragment);
	rc = find_overlay(ref, fragment, &overlay, err);
	for (size_t i = 0; rc == LANCET_OK && i < ref->item; i++)
		first += field_lists(&info->overlays[i]);
	for (size_t i = 0; rc == LANCET_OK && i < field_lists(overlay); i++) {
		char name[NODE_NAME_SIZE];
		struct node_child child = { name, NODE_FIELD_COVERAGE, ref->ordinal, first + i };

		snprintf(name, sizeof(name), "%" PRId32, overlay->file.fields[i]);
		rc = sink(context, &child);
	}
	lancet_fragment_unref(fragment);
	return rc;
}

/* Where the list numbered ref->item is. */
static int
find_list(const struct node_ref *ref, size_t *ret_overlay, size_t *ret_index, int32_t *ret_field,
	struct lancet_error *err)
{
	const struct lancet_fragment_info *info;
	lancet_fragment *fragment = NULL;
	uint64_t left = ref->item;
	size_t i = 0;
	bool found;

	TRY(open_fragment(ref, &fragment, err));
	info = lancet_fragment_info(fragment);
	while (i < info->overlay_count && left >= field_lists(&info->overlays[i]))
		left -= field_lists(&info->overlays[i++]);
	found = i < info->overlay_count;
	if (found) {
		*ret_overlay = i;
		*ret_index = (size_t)left;
		*ret_field = info->overlays[i].file.fields[left];
	}
	lancet_fragment_unref(fragment);
	return found ? LANCET_OK : lancet_fail(err, LANCET_NOT_FOUND, "no such coverage");
}

static int
label_field_coverage(
	const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	size_t overlay, index;
	int32_t field;

	TRY(find_list(ref, &overlay, &index, &field, err));
	snprintf(into, NODE_NAME_SIZE, "%" PRId32, field);
	return LANCET_OK;
}

static void
up_from_field_coverage(struct node_ref *ref)
{
	size_t overlay = 0, index;
	int32_t field;

	(void)find_list(ref, &overlay, &index, &field, NULL);
	ref->item = overlay;
	ref->kind = node_kind_of(NODE_COVERAGES);
}

static int
records_field(const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	size_t overlay, index;
	int32_t field;

	TRY(find_list(ref, &overlay, &index, &field, err));
	return records_coverage(ref, overlay, index, ret_records, err);
}

static const uint8_t overlay_rows[] = { NODE_OVERLAY_FILE, NODE_COVERAGE, NODE_COVERAGES,
	NODE_NONE };

const struct node_kind rows_overlay[] = {
	{ .id = NODE_OVERLAYS,
		.name = "overlays",
		.shape = SHAPE_DIR,
		.parent = NODE_FRAGMENT,
		.needs_version = true,
		.present = has_overlays,
		.list = list_overlays },
	{ .id = NODE_OVERLAY,
		.shape = SHAPE_DIR,
		.parent = NODE_OVERLAYS,
		.needs_version = true,
		.numbered = true,
		.rows = overlay_rows,
		.label = label_overlay },
	{ .id = NODE_OVERLAY_FILE,
		.name = "data_file",
		.shape = SHAPE_PASS,
		.parent = NODE_OVERLAY,
		.needs_version = true,
		.measure = measure_overlay_file,
		.file = overlay_file },
	{ .id = NODE_COVERAGE,
		.name = "coverage",
		.shape = SHAPE_RECORDS,
		.parent = NODE_OVERLAY,
		.needs_version = true,
		.present = has_shared_coverage,
		.records = records_shared },
	{ .id = NODE_COVERAGES,
		.name = "coverage",
		.shape = SHAPE_DIR,
		.parent = NODE_OVERLAY,
		.needs_version = true,
		.present = has_field_coverages,
		.list = list_field_coverages },
	{ .id = NODE_FIELD_COVERAGE,
		.shape = SHAPE_RECORDS,
		.parent = NODE_COVERAGES,
		.needs_version = true,
		.label = label_field_coverage,
		.up = up_from_field_coverage,
		.records = records_field },
	{ .id = NODE_NONE },
};
