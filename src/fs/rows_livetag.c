/* dataset/_refs/tags/: the tag files of the version, as they are now. SPEC section 7.
 *
 * They are looked up by name each time, because tags are made and removed while the version stays;
 * a slot holds the name of one that is in use.
 */
#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "rawfile.h"
#include "util/macros.h"

#define TAGS_PREFIX "_refs/tags/"

static const char *
tag_name(const lancet_live *live, size_t index)
{
	const char *path = lancet_live_file(live, index)->path;
	size_t size = strlen(TAGS_PREFIX);

	return strncmp(path, TAGS_PREFIX, size) == 0 ? path + size : NULL;
}

static bool
has_tags(const struct node_ref *ref)
{
	lancet_live *live = NULL;
	bool any = lancet_live_open(ref->version, &live, NULL) == LANCET_OK &&
		   lancet_live_ref_start(live) < lancet_live_count(live);

	lancet_live_unref(live);
	return any;
}

static int
list_tags(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	lancet_live *live = NULL;
	int rc;

	TRY(lancet_live_open(ref->version, &live, err));
	rc = LANCET_OK;
	for (size_t i = lancet_live_ref_start(live); i < lancet_live_count(live) && rc == LANCET_OK;
		i++) {
		struct node_child child = { .name = tag_name(live, i), .kind = NODE_LIVE_TAG };

		if (child.name != NULL && strlen(child.name) < NODE_NAME_SIZE)
			rc = sink(context, &child);
	}
	lancet_live_unref(live);
	return rc;
}

/* The live files as they are now, and which of them is called `name`. */
static int
find_tag(const struct node_ref *ref, const char *name, lancet_live **ret_live, size_t *ret_index,
	struct lancet_error *err)
{
	lancet_live *live = NULL;

	TRY(lancet_live_open(ref->version, &live, err));
	for (size_t i = lancet_live_ref_start(live); i < lancet_live_count(live); i++) {
		if (tag_name(live, i) == NULL || strcmp(tag_name(live, i), name) != 0)
			continue;
		*ret_live = live;
		*ret_index = i;
		return LANCET_OK;
	}
	lancet_live_unref(live);
	return lancet_fail(err, LANCET_NOT_FOUND, "%s: no such tag", name);
}

static int
find_child(const struct node_ref *ref, const char *name, struct node_child *ret_child,
	struct lancet_error *err)
{
	lancet_live *live = NULL;
	size_t index = 0;

	TRY(find_tag(ref, name, &live, &index, err));
	*ret_child = (struct node_child){ .name = name, .kind = NODE_LIVE_TAG };
	lancet_live_unref(live);
	return LANCET_OK;
}

static int
enter_tag(const struct node_ref *parent, const struct node_child *child, struct slot_key *ret_key,
	struct lancet_error *err)
{
	(void)err;
	*ret_key =
		(struct slot_key){ parent->dataset, parent->number, parent->flavour, child->name };
	return LANCET_OK;
}

static int
label_tag(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	if (ref->ref_name == NULL || strlen(ref->ref_name) >= NODE_NAME_SIZE)
		return lancet_fail(err, LANCET_CLEANED, "the tag is gone");
	memcpy(into, ref->ref_name, strlen(ref->ref_name) + 1);
	return LANCET_OK;
}

static int
tag_file(const struct node_ref *ref, struct node_file *ret_file, struct lancet_error *err)
{
	const struct lancet_live_file *file;
	lancet_live *live = NULL;
	size_t index = 0;
	char *path;

	if (ref->ref_name == NULL)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such tag");
	TRY(find_tag(ref, ref->ref_name, &live, &index, err));
	file = lancet_live_file(live, index);
	path = strdup(file->source_path);
	if (path != NULL)
		*ret_file = (struct node_file){ file->base, path };
	lancet_live_unref(live);
	return path != NULL ? LANCET_OK : lancet_fail(err, LANCET_NO_MEMORY, "tag: out of memory");
}

static int
raw_backing(
	const struct lancet_live_file *file, struct raw_bytes *ret_raw, struct lancet_error *err)
{
	struct stat st;
	int fd = -1;

	TRY(lancet_base_open(file->base, file->source_path, &fd, &st, err));
	return raw_of_fd(fd, (uint64_t)st.st_size, ret_raw, err);
}

/* Not a pass-through node: the kernel would keep the bytes of a tag that was moved since. */
static int
raw_tag(const struct node_ref *ref, struct raw_bytes *ret_raw, struct lancet_error *err)
{
	const struct lancet_live_file *file;
	lancet_live *live = NULL;
	size_t index = 0;
	int rc;

	if (ref->ref_name == NULL)
		return lancet_fail(err, LANCET_NOT_FOUND, "no such tag");
	TRY(find_tag(ref, ref->ref_name, &live, &index, err));
	file = lancet_live_file(live, index);
	rc = file->rewritten ? raw_of_live(live, index, ret_raw, err)
			     : raw_backing(file, ret_raw, err);
	lancet_live_unref(live);
	return rc;
}

static const uint8_t refs_rows[] = { NODE_LIVE_TAGS, NODE_NONE };

const struct node_kind rows_livetag[] = {
	{ .id = NODE_LIVE_REFS,
		.name = "_refs",
		.shape = SHAPE_DIR,
		.parent = NODE_DATASET,
		.needs_version = true,
		.live = true,
		.live_list = true,
		.backup = true,
		.present = has_tags,
		.rows = refs_rows },
	{ .id = NODE_LIVE_TAGS,
		.name = "tags",
		.shape = SHAPE_DIR,
		.parent = NODE_LIVE_REFS,
		.needs_version = true,
		.live = true,
		.live_list = true,
		.backup = true,
		.present = has_tags,
		.list = list_tags,
		.find = find_child },
	{ .id = NODE_LIVE_TAG,
		.shape = SHAPE_RAW,
		.parent = NODE_LIVE_TAGS,
		.needs_version = true,
		.live = true,
		.backup = true,
		.label = label_tag,
		.enter = enter_tag,
		.raw = raw_tag,
		.file = tag_file },
	{ .id = NODE_NONE },
};
