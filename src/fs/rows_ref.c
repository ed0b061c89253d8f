/* tags/ and branches/. SPEC section 3.
 *
 * Tags are links: of main's tree to any branch, of a branch's to its own versions. A branch is a
 * tree of its own; one that can't be opened stays listed, with the reason in its `error`. Both are
 * slots by name, because the refs of a dataset come and go.
 */
#include "place.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "util/macros.h"
#include "util/text.h"

static void
encode(const char *name, char into[NODE_NAME_SIZE])
{
	static_assert(NODE_NAME_SIZE == TEXT_NAME_MAX + 1, "names fit");
	(void)text_name_encode(slice_text(name), into);
}

/* Whether the tree of ref shows this tag: main shows all, a branch its own and what is too damaged
 * to tell. */
static bool
shows_tag(const struct node_ref *ref, const struct lancet_tag *tag)
{
	struct lancet_bytes branch = lancet_dataset_branch_name(ref->dataset);

	if (branch.size == 0 || tag->code != LANCET_OK)
		return branch.size == 0;
	return tag->has_branch &&
	       slice_equal(slice_text(tag->branch), slice_of(branch.data, branch.size));
}

static int
list_tags(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	struct lancet_tag_list list = { 0 };
	int rc;

	TRY(lancet_dataset_tags(ref->dataset, &list, err));
	rc = LANCET_OK;
	for (size_t i = 0; i < list.count && rc == LANCET_OK; i++) {
		char name[NODE_NAME_SIZE];
		struct node_child child = { .name = name, .kind = NODE_TAG, .item = i };

		encode(list.tags[i].name, name);
		if (shows_tag(ref, &list.tags[i]))
			rc = sink(context, &child);
	}
	lancet_tag_list_release(&list);
	return rc;
}

/* The plain name of an encoded one; a hashed name takes a walk over `list`. */
static int
plain_name(const char *name, struct buf *out, struct lancet_error *err)
{
	if (!text_name_decode(slice_text(name), out))
		return lancet_fail(err, LANCET_NOT_FOUND, "%s: no such name", name);
	buf_put_byte(out, '\0');
	return buf_check(out, name, err);
}

/* Names of refs are file names with at most one suffix, but encoding lengthens them: then all are
 * compared. */
static int
tag_name(const struct node_ref *ref, const char *name, struct buf *out, struct lancet_error *err)
{
	struct lancet_tag_list list = { 0 };
	int rc = LANCET_NOT_FOUND;

	if (plain_name(name, out, NULL) == LANCET_OK)
		return LANCET_OK;
	TRY(lancet_dataset_tags(ref->dataset, &list, err));
	for (size_t i = 0; i < list.count && rc == LANCET_NOT_FOUND; i++) {
		char encoded[NODE_NAME_SIZE];

		encode(list.tags[i].name, encoded);
		if (strcmp(encoded, name) == 0) {
			buf_put(out, list.tags[i].name, strlen(list.tags[i].name) + 1);
			rc = buf_check(out, name, err);
		}
	}
	lancet_tag_list_release(&list);
	return rc != LANCET_NOT_FOUND ? rc : lancet_fail(err, rc, "%s: no such tag", name);
}

static int
load_tag(const struct node_ref *ref, const char *name, struct lancet_tag_list *ret_one,
	struct lancet_error *err)
{
	struct lancet_bytes bytes = { (const uint8_t *)name, strlen(name) };

	TRY(lancet_dataset_tag(ref->dataset, bytes, ret_one, err));
	if (ret_one->count == 1 && shows_tag(ref, &ret_one->tags[0]))
		return LANCET_OK;
	lancet_tag_list_release(ret_one);
	return lancet_fail(err, LANCET_NOT_FOUND, "%s: no such tag", name);
}

static int
find_tag(const struct node_ref *ref, const char *name, struct node_child *ret_child,
	struct lancet_error *err)
{
	struct lancet_tag_list one = { 0 };
	struct buf plain = { 0 };
	int rc = tag_name(ref, name, &plain, err);

	if (rc == LANCET_OK)
		rc = load_tag(ref, (const char *)plain.data, &one, err);
	if (rc == LANCET_OK)
		*ret_child = (struct node_child){ .kind = NODE_TAG };
	lancet_tag_list_release(&one);
	buf_release(&plain);
	return rc;
}

static int
enter_tag(const struct node_ref *parent, const struct node_child *child, struct slot_key *ret_key,
	struct lancet_error *err)
{
	(void)err;
	*ret_key = (struct slot_key){ parent->dataset, 0, SLOT_REF, child->name };
	return LANCET_OK;
}

static int
label_ref(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	if (ref->ref_name == NULL || strlen(ref->ref_name) >= NODE_NAME_SIZE)
		return lancet_fail(err, LANCET_CLEANED, "the ref is gone");
	memcpy(into, ref->ref_name, strlen(ref->ref_name) + 1);
	return LANCET_OK;
}

static int
link_tag(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_tag_list one = { 0 };
	struct buf plain = { 0 };
	char branch[NODE_NAME_SIZE];
	const struct lancet_tag *tag;
	int rc = tag_name(ref, ref->ref_name, &plain, err);

	if (rc == LANCET_OK)
		rc = load_tag(ref, (const char *)plain.data, &one, err);
	buf_release(&plain);
	if (rc != LANCET_OK)
		return rc;
	tag = &one.tags[0];
	if (tag->code != LANCET_OK) {
		rc = lancet_fail(
			err, (enum lancet_code)tag->code, "tag %s: %s", ref->ref_name, tag->error);
	} else if (tag->has_branch && lancet_dataset_branch_name(ref->dataset).size == 0) {
		encode(tag->branch, branch);
		buf_printf(out, "../branches/%s/versions/%" PRIu64, branch, tag->version);
	} else {
		buf_printf(out, "../versions/%" PRIu64, tag->version);
	}
	lancet_tag_list_release(&one);
	return rc;
}

static uint8_t
branch_kind(const struct node_ref *ref, const struct lancet_branch *branch)
{
	lancet_dataset *dataset;

	if (branch->code != LANCET_OK ||
		tree_branch_open(ref->tree, branch->name, &dataset, NULL) != LANCET_OK)
		return NODE_BROKEN_BRANCH;
	return NODE_BRANCH;
}

static int
list_branches(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	struct lancet_branch_list list = { 0 };
	int rc;

	TRY(lancet_dataset_branches(ref->dataset, &list, err));
	rc = LANCET_OK;
	for (size_t i = 0; i < list.count && rc == LANCET_OK; i++) {
		char name[NODE_NAME_SIZE];
		struct node_child child = { .name = name, .item = i };

		encode(list.branches[i].name, name);
		child.kind = branch_kind(ref, &list.branches[i]);
		rc = sink(context, &child);
	}
	lancet_branch_list_release(&list);
	return rc;
}

/* The branch whose encoded name it is. *ret_list holds it at *ret_index; the caller releases the
 * list. */
static int
branch_named(const struct node_ref *ref, const char *name, struct lancet_branch_list *ret_list,
	size_t *ret_index, struct lancet_error *err)
{
	struct lancet_branch_list list = { 0 };

	TRY(lancet_dataset_branches(ref->dataset, &list, err));
	for (size_t i = 0; i < list.count; i++) {
		char encoded[NODE_NAME_SIZE];

		encode(list.branches[i].name, encoded);
		if (strcmp(encoded, name) != 0)
			continue;
		*ret_list = list;
		*ret_index = i;
		return LANCET_OK;
	}
	lancet_branch_list_release(&list);
	return lancet_fail(err, LANCET_NOT_FOUND, "%s: no such branch", name);
}

static int
enter_branch(const struct node_ref *parent, const struct node_child *child,
	struct slot_key *ret_key, struct lancet_error *err)
{
	struct lancet_branch_list list = { 0 };
	lancet_dataset *dataset = NULL;
	size_t index = 0;
	int rc;

	TRY(branch_named(parent, child->name, &list, &index, err));
	rc = tree_branch_open(parent->tree, list.branches[index].name, &dataset, err);
	lancet_branch_list_release(&list);
	if (rc == LANCET_OK)
		*ret_key = (struct slot_key){ dataset, 0, SLOT_TREE, NULL };
	return rc;
}

static int
enter_broken(const struct node_ref *parent, const struct node_child *child,
	struct slot_key *ret_key, struct lancet_error *err)
{
	return enter_tag(parent, child, ret_key, err);
}

static int
label_branch(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	struct lancet_bytes name = lancet_dataset_branch_name(ref->dataset);

	(void)err;
	(void)text_name_encode(slice_of(name.data, name.size), into);
	return LANCET_OK;
}

static void
up_from_branch(struct node_ref *ref)
{
	ref->kind = node_kind_of(NODE_BRANCHES);
	ref->dataset = ref->tree->dataset;
}

static int
render_branch_error(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_branch_list list = { 0 };
	struct lancet_error why = { 0 };
	lancet_dataset *dataset;
	size_t index = 0;

	TRY(branch_named(ref, ref->ref_name, &list, &index, err));
	if (list.branches[index].code != LANCET_OK)
		buf_printf(out, "branch %s can't be opened: %s\n", ref->ref_name,
			list.branches[index].error);
	else if (tree_branch_open(ref->tree, list.branches[index].name, &dataset, &why) !=
		 LANCET_OK)
		buf_printf(out, "branch %s can't be opened: %s\n", ref->ref_name, why.text);
	else
		buf_printf(out, "branch %s can be opened now\n", ref->ref_name);
	lancet_branch_list_release(&list);
	buf_put_text(out,
		"Other branches and the main line are not affected. Restore the branch's files, "
		"or delete the branch with the library that made it.\n");
	return LANCET_OK;
}

static const uint8_t branch_rows[] = { NODE_LATEST, NODE_CURRENT, NODE_VERSIONS, NODE_DETACHED,
	NODE_CTL, NODE_NONE };
static const uint8_t broken_rows[] = { NODE_BRANCH_ERROR, NODE_NONE };

static bool
shows_main(const struct node_ref *ref)
{
	return lancet_dataset_branch_name(ref->dataset).size == 0;
}

const struct node_kind rows_ref[] = {
	{ .id = NODE_TAGS,
		.name = "tags",
		.shape = SHAPE_DIR,
		.parent = NODE_ROOT,
		.live = true,
		.live_list = true,
		.list = list_tags,
		.find = find_tag },
	{ .id = NODE_TAG,
		.shape = SHAPE_LINK,
		.parent = NODE_TAGS,
		.live = true,
		.label = label_ref,
		.enter = enter_tag,
		.link = link_tag },
	{ .id = NODE_BRANCHES,
		.name = "branches",
		.shape = SHAPE_DIR,
		.parent = NODE_ROOT,
		.live = true,
		.live_list = true,
		.present = shows_main,
		.list = list_branches },
	{ .id = NODE_BRANCH,
		.shape = SHAPE_DIR,
		.parent = NODE_BRANCHES,
		.live = true,
		.live_list = true,
		.rows = branch_rows,
		.label = label_branch,
		.up = up_from_branch,
		.enter = enter_branch },
	{ .id = NODE_BROKEN_BRANCH,
		.shape = SHAPE_DIR,
		.parent = NODE_BRANCHES,
		.live = true,
		.live_list = true,
		.rows = broken_rows,
		.label = label_ref,
		.enter = enter_broken },
	{ .id = NODE_BRANCH_ERROR,
		.name = "error",
		.shape = SHAPE_TEXT,
		.parent = NODE_BROKEN_BRANCH,
		.live = true,
		.render = render_branch_error },
	{ .id = NODE_NONE },
};
