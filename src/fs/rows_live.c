/* dataset/: a complete dataset of one version's live files. SPEC section 7.
 *
 * Directories are derived from the sorted list of live files. One is known by its first file and
 * its depth, so its prefix can always be read off that file's path. Files are pass-through, or made
 * (the rewritten manifest and reuse history). Tag files come and go while the version stays; they
 * are known by name.
 */
#include "place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rawfile.h"
#include "util/macros.h"

#define DEPTH_BITS 8
#define DEPTH_MAX  ((1u << DEPTH_BITS) - 1)
#define INDEX_MAX  (UINT64_C(1) << (ADDR_ITEM_BITS - DEPTH_BITS))

#define ITEM_OF(first, depth) ((uint64_t)(first) << DEPTH_BITS | (depth))

static int
open_live(const struct node_ref *ref, lancet_live **ret_live, struct lancet_error *err)
{
	return tree_live(ref->tree, ref->version, ret_live, err);
}

static const char *
live_path(const lancet_live *live, size_t index)
{
	return lancet_live_file(live, index)->path;
}

/* The first file at or behind `low` whose path does not sort before prefix + last. */
static size_t
lower_bound(const lancet_live *live, size_t low, struct slice prefix, char last)
{
	size_t high = lancet_live_ref_start(live);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *path = live_path(live, middle);
		int order = strncmp(path, (const char *)prefix.data, prefix.size);

		if (order == 0)
			order = (unsigned char)path[prefix.size] - (unsigned char)last;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first `depth` parts of a path with the slash behind them; size 0 for depth 0. False: it has
 * fewer. */
static bool
prefix_of(const char *path, unsigned depth, struct slice *ret_prefix)
{
	const char *end = path;

	for (unsigned i = 0; i < depth; i++) {
		end = strchr(end, '/');
		if (end == NULL)
			return false;
		end++;
	}
	*ret_prefix = slice_of(path, (size_t)(end - path));
	return true;
}

/* Where ref's directory begins in the list, and its prefix. */
static int
directory_of(const struct node_ref *ref, const lancet_live *live, size_t *ret_first,
	unsigned *ret_depth, struct slice *ret_prefix, struct lancet_error *err)
{
	*ret_first = 0;
	*ret_depth = 0;
	*ret_prefix = slice_text("");
	if (ref->kind->id == NODE_DATASET)
		return LANCET_OK;
	*ret_first = (size_t)(ref->item >> DEPTH_BITS);
	*ret_depth = (unsigned)(ref->item & DEPTH_MAX);
	if (*ret_first >= lancet_live_ref_start(live) ||
		!prefix_of(live_path(live, *ret_first), *ret_depth, ret_prefix))
		return lancet_fail(err, LANCET_NOT_FOUND, "no such directory");
	return LANCET_OK;
}

/* The child that file `index` is, or is in. False when its address has no room for it. */
static bool
make_child(const lancet_live *live, size_t index, struct slice prefix, unsigned depth,
	struct node_child *ret_child)
{
	const char *rest = live_path(live, index) + prefix.size;
	bool is_dir = strchr(rest, '/') != NULL;

	if (index >= INDEX_MAX || (is_dir && depth == DEPTH_MAX))
		return false;
	*ret_child = (struct node_child){ .kind = NODE_LIVE_FILE, .item = index };
	if (is_dir)
		*ret_child = (struct node_child){ .kind = NODE_LIVE_DIR,
			.item = ITEM_OF(index, depth + 1) };
	else if (lancet_live_file(live, index)->rewritten)
		ret_child->kind = NODE_LIVE_MADE;
	return true;
}

/* The file behind all that child `index` holds. */
static size_t
after_child(const lancet_live *live, size_t index, struct slice prefix)
{
	const char *path = live_path(live, index);
	const char *slash = strchr(path + prefix.size, '/');

	if (slash == NULL)
		return index + 1;
	return lower_bound(live, index + 1, slice_of(path, (size_t)(slash - path)), '/' + 1);
}

static int
list_live(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	lancet_live *live = NULL;
	struct slice prefix;
	unsigned depth;
	size_t at;
	int rc;

	TRY(open_live(ref, &live, err));
	rc = directory_of(ref, live, &at, &depth, &prefix, err);
	while (rc == LANCET_OK && at < lancet_live_ref_start(live)) {
		struct node_child child;

		if (strncmp(live_path(live, at), (const char *)prefix.data, prefix.size) != 0)
			break;
		if (make_child(live, at, prefix, depth, &child))
			rc = sink(context, &child);
		else
			rc = lancet_fail(
				err, LANCET_LIMIT, "too many live files, or directories too deep");
		at = after_child(live, at, prefix);
	}
	lancet_live_unref(live);
	return rc;
}

/* The file of exactly this path, else the first one below it as a directory. */
static int
find_in(const lancet_live *live, size_t first, const char *path, size_t prefix_size, unsigned depth,
	struct node_child *ret_child, struct lancet_error *err)
{
	struct slice whole = slice_text(path);
	struct slice prefix = slice_of(path, prefix_size);
	size_t at = lower_bound(live, first, whole, '\0');

	if (at < lancet_live_ref_start(live) && strcmp(live_path(live, at), path) != 0)
		at = lower_bound(live, at, whole, '/');
	if (at >= lancet_live_ref_start(live) ||
		strncmp(live_path(live, at), path, whole.size) != 0 ||
		(live_path(live, at)[whole.size] != '\0' &&
			live_path(live, at)[whole.size] != '/') ||
		!make_child(live, at, prefix, depth, ret_child))
		return lancet_fail(err, LANCET_NOT_FOUND, "%s: no such file", path);
	return LANCET_OK;
}

static int
find_live(const struct node_ref *ref, const char *name, struct node_child *ret_child,
	struct lancet_error *err)
{
	struct buf path = { 0 };
	lancet_live *live = NULL;
	struct slice prefix;
	unsigned depth;
	size_t first;
	int rc;

	TRY(open_live(ref, &live, err));
	rc = directory_of(ref, live, &first, &depth, &prefix, err);
	if (rc == LANCET_OK) {
		buf_put_slice(&path, prefix);
		buf_put(&path, name, strlen(name) + 1);
		rc = buf_check(&path, name, err);
	}
	if (rc == LANCET_OK)
		rc = find_in(
			live, first, (const char *)path.data, prefix.size, depth, ret_child, err);
	buf_release(&path);
	lancet_live_unref(live);
	return rc;
}

/* The part of a path behind its first `depth` parts, up to the next slash. */
static int
copy_part(const char *path, unsigned depth, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	struct slice prefix;
	size_t size;

	if (!prefix_of(path, depth, &prefix))
		return lancet_fail(err, LANCET_NOT_FOUND, "no such file");
	size = strcspn(path + prefix.size, "/");
	if (size >= NODE_NAME_SIZE)
		return lancet_fail(err, LANCET_CORRUPT, "%s: a name has more than 255 bytes", path);
	memcpy(into, path + prefix.size, size);
	into[size] = '\0';
	return LANCET_OK;
}

static unsigned
path_depth(const char *path)
{
	unsigned depth = 0;

	for (; *path != '\0'; path++)
		depth += *path == '/';
	return depth;
}

static int
label_live(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	bool is_dir = ref->kind->id == NODE_LIVE_DIR;
	size_t index = (size_t)(is_dir ? ref->item >> DEPTH_BITS : ref->item);
	lancet_live *live = NULL;
	const char *path;
	int rc;

	TRY(open_live(ref, &live, err));
	rc = LANCET_NOT_FOUND;
	if (index < lancet_live_ref_start(live)) {
		path = live_path(live, index);
		rc = copy_part(path,
			is_dir ? (unsigned)(ref->item & DEPTH_MAX) - 1 : path_depth(path), into,
			err);
	} else {
		(void)lancet_fail(err, LANCET_NOT_FOUND, "no such file");
	}
	lancet_live_unref(live);
	return rc;
}

/* The directory of a file or directory is one level up; depth 0 is dataset/ itself. */
static void
up_from_live(struct node_ref *ref)
{
	size_t first = (size_t)ref->item;
	unsigned depth = 0, end;
	struct slice prefix;
	lancet_live *live = NULL;

	if (ref->kind->id == NODE_LIVE_DIR) {
		first = (size_t)(ref->item >> DEPTH_BITS);
		depth = (unsigned)(ref->item & DEPTH_MAX) - 1;
	}
	if (open_live(ref, &live, NULL) == LANCET_OK && first < lancet_live_ref_start(live)) {
		end = path_depth(live_path(live, first));
		if (ref->kind->id != NODE_LIVE_DIR)
			depth = end;
		/* as an address names it: by the first file below it */
		if (prefix_of(live_path(live, first), depth, &prefix) && prefix.size > 0)
			first = lower_bound(live, 0, slice_of(prefix.data, prefix.size - 1), '/');
	}
	lancet_live_unref(live);
	ref->item = depth == 0 ? 0 : ITEM_OF(first, depth);
	ref->kind = node_kind_of(depth == 0 ? NODE_DATASET : NODE_LIVE_DIR);
}

static int
copy_source(
	const struct lancet_live_file *file, struct node_file *ret_file, struct lancet_error *err)
{
	char *path;

	if (file->base == NULL || file->source_path == NULL)
		return lancet_fail(err,
			file->code != LANCET_OK ? (enum lancet_code)file->code : LANCET_CORRUPT,
			"%s: its base can't be reached", file->path);
	path = strdup(file->source_path);
	if (path == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", file->path);
	*ret_file = (struct node_file){ file->base, path };
	return LANCET_OK;
}

static int
live_file(const struct node_ref *ref, struct node_file *ret_file, struct lancet_error *err)
{
	lancet_live *live = NULL;
	int rc;

	TRY(open_live(ref, &live, err));
	if (ref->item < lancet_live_ref_start(live))
		rc = copy_source(lancet_live_file(live, (size_t)ref->item), ret_file, err);
	else
		rc = lancet_fail(err, LANCET_NOT_FOUND, "no such file");
	lancet_live_unref(live);
	return rc;
}

static int
measure_live(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	lancet_live *live = NULL;

	TRY(open_live(ref, &live, err));
	*ret_size = UINT64_MAX;
	if (ref->item < lancet_live_ref_start(live))
		*ret_size = lancet_live_file(live, (size_t)ref->item)->size;
	lancet_live_unref(live);
	return LANCET_OK;
}

static int
raw_live(const struct node_ref *ref, struct raw_bytes *ret_raw, struct lancet_error *err)
{
	lancet_live *live = NULL;
	int rc;

	TRY(open_live(ref, &live, err));
	if (ref->item < lancet_live_ref_start(live))
		rc = raw_of_live(live, (size_t)ref->item, ret_raw, err);
	else
		rc = lancet_fail(err, LANCET_NOT_FOUND, "no such file");
	lancet_live_unref(live);
	return rc;
}

static const uint8_t dataset_rows[] = { NODE_LIVE_REFS, NODE_NONE };

const struct node_kind rows_live[] = {
	/* live: tags of the version, and with them _refs/, come and go */
	{ .id = NODE_DATASET,
		.name = "dataset",
		.shape = SHAPE_DIR,
		.parent = NODE_VERSION,
		.needs_version = true,
		.live_list = true,
		.backup = true,
		.rows = dataset_rows,
		.list = list_live,
		.find = find_live },
	{ .id = NODE_LIVE_DIR,
		.shape = SHAPE_DIR,
		.parent = NODE_DATASET,
		.needs_version = true,
		.backup = true,
		.list = list_live,
		.find = find_live,
		.label = label_live,
		.up = up_from_live },
	{ .id = NODE_LIVE_FILE,
		.shape = SHAPE_PASS,
		.parent = NODE_DATASET,
		.needs_version = true,
		.backup = true,
		.label = label_live,
		.up = up_from_live,
		.measure = measure_live,
		.file = live_file },
	{ .id = NODE_LIVE_MADE,
		.shape = SHAPE_RAW,
		.parent = NODE_DATASET,
		.needs_version = true,
		.backup = true,
		.label = label_live,
		.up = up_from_live,
		.raw = raw_live,
		.file = live_file },
	{ .id = NODE_PASS, .shape = SHAPE_PASS },
	{ .id = NODE_NONE },
};
