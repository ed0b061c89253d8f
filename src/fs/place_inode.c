/* Inode numbers and paths of places, both by going up to the root.
 *
 * A number is hashed along the path that the tree shows, so a branch mounted as the root has the
 * numbers that it has below branches/. In directories of named children that never change, clashes
 * are looked for once and settled; pass-through files stand outside of that, because theirs must be
 * the same in every directory.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "util/macros.h"
#include "util/text.h"

#define PATH_DEPTH_MAX 300 /* a live path has at most 255 directories */

/* The directory that ref is in. False for the root. */
static bool
step_up(struct node_ref *ref)
{
	uint8_t parent = ref->kind->parent;

	if (ref->kind->id == NODE_ROOT)
		return false;
	if (ref->kind->up != NULL) {
		ref->kind->up(ref);
		return true;
	}
	if (parent == NODE_VERSION && ref->flavour == SLOT_CURRENT)
		parent = NODE_CURRENT;
	if (parent == NODE_ROOT && ref->dataset != ref->tree->dataset)
		parent = NODE_BRANCH;
	ref->kind = node_kind_of(parent);
	return true;
}

/* Numbers in names differ by construction, all else by its hash. */
static uint64_t
step_inode(uint64_t parent, const struct node_kind *kind, const char *name)
{
	uint64_t number;

	if (kind->numbered && text_to_u64(slice_text(name), &number))
		return inode_numbered(parent, number);
	return inode_named(parent, slice_text(name));
}

/* The root's own number: of branches/NAME when it shows a branch. */
static uint64_t
root_inode(struct tree *tree)
{
	struct lancet_bytes branch = lancet_dataset_branch_name(tree->dataset);
	uint64_t inode = inode_root();
	char name[TEXT_NAME_MAX + 1];

	if (branch.size == 0)
		return inode;
	text_name_encode(slice_of(branch.data, branch.size), name);
	return inode_named(inode_named(inode, slice_text("branches")), slice_text(name));
}

struct settler {
	const struct place *dir;
	uint64_t dir_inode;
	struct inode_child *children;
	size_t count, room;
};

static int
settle_child(void *context, const struct node_child *child)
{
	struct settler *settler = context;
	char label[NODE_NAME_SIZE];
	const char *name;

	if (node_kind_of(child->kind)->shape == SHAPE_PASS)
		return LANCET_OK;
	TRY(place_child_name(settler->dir, child, label, &name, NULL));
	if (settler->count == settler->room) {
		size_t room = settler->room * 2 + 16;
		void *grown = realloc(settler->children, room * sizeof(*settler->children));

		if (grown == NULL)
			return LANCET_NO_MEMORY;
		settler->children = grown;
		settler->room = room;
	}
	name = strdup(name);
	if (name == NULL)
		return LANCET_NO_MEMORY;
	settler->children[settler->count++] = (struct inode_child){ name,
		step_inode(settler->dir_inode, node_kind_of(child->kind), name) };
	return LANCET_OK;
}

static bool
wants_settling(const struct place *dir, const struct node_kind *kind)
{
	const struct node_kind *parent = dir->ref.kind;

	return parent->list != NULL && parent->needs_version && !parent->live_list &&
	       !kind->numbered && kind->name == NULL && kind->shape != SHAPE_PASS;
}

/* The number of child `name`, whose hash is `inode`, after the clashes of its directory are
 * settled. That there are none, as nearly always, is remembered in the place of a size. */
static uint64_t
settled_inode(const struct place *dir, uint64_t dir_inode, const char *name, uint64_t inode)
{
	struct settler settler = { .dir = dir, .dir_inode = dir_inode };
	struct textcache *texts = dir->ref.tree->texts;
	struct text_key key;
	uint64_t node, clashes = 0;

	if (place_node(dir, &node, NULL) != LANCET_OK || !place_key(dir, node, &key))
		return inode;
	if (textcache_size(texts, key, &clashes) && clashes == 0)
		return inode;
	if (dir->ref.kind->list(&dir->ref, settle_child, &settler, NULL) == LANCET_OK) {
		clashes = inode_settle(settler.children, settler.count);
		textcache_remember(texts, key, clashes);
	}
	for (size_t i = 0; i < settler.count; i++) {
		if (clashes > 0 && strcmp(settler.children[i].name, name) == 0)
			inode = settler.children[i].inode;
		free((char *)(uintptr_t)settler.children[i].name);
	}
	free(settler.children);
	return inode;
}

static int
file_inode(const struct node_ref *ref, uint64_t *ret_inode)
{
	struct node_file file = { 0 };
	int rc = ref->kind->file(ref, &file, NULL);

	if (rc != LANCET_OK)
		return rc;
	*ret_inode = inode_file(lancet_base_identity(file.base), file.path);
	free(file.path);
	return LANCET_OK;
}

int
place_child_inode(const struct place *dir, uint64_t dir_inode, const struct node_child *child,
	const char *name, uint64_t *ret_inode, struct lancet_error *err)
{
	struct node_ref ref = place_child_ref(dir, child);
	int rc;

	if (ref.kind->shape == SHAPE_PASS) {
		rc = file_inode(&ref, ret_inode);
		if (rc == LANCET_OK)
			return rc;
		if (rc == LANCET_NO_MEMORY)
			return lancet_fail(err, rc, "%s: out of memory", name);
	}
	*ret_inode = step_inode(dir_inode, ref.kind, name);
	if (wants_settling(dir, ref.kind))
		*ret_inode = settled_inode(dir, dir_inode, name, *ret_inode);
	return LANCET_OK;
}

static int
ref_name(const struct node_ref *ref, char label[NODE_NAME_SIZE], const char **ret_name,
	struct lancet_error *err)
{
	*ret_name = ref->kind->name;
	if (ref->kind->name != NULL)
		return LANCET_OK;
	*ret_name = label;
	return ref->kind->label(ref, label, err);
}

/* The number of ref's directory, by recursion over at most PATH_DEPTH_MAX steps. */
static int
ref_inode(const struct node_ref *ref, uint32_t generation, uint32_t slot, unsigned depth,
	uint64_t *ret_inode, struct lancet_error *err)
{
	struct place dir = { .ref = *ref, .generation = generation };
	char label[NODE_NAME_SIZE];
	const char *name;
	uint64_t parent;

	if (!step_up(&dir.ref)) {
		*ret_inode = root_inode(ref->tree);
		return LANCET_OK;
	}
	if (depth == PATH_DEPTH_MAX)
		return lancet_fail(err, LANCET_LIMIT, "more than %u directories deep", depth);
	TRY(ref_name(ref, label, &name, err));
	TRY(ref_inode(&dir.ref, generation, slot, depth + 1, &parent, err));
	*ret_inode = step_inode(parent, ref->kind, name);
	if (ref->version != NULL && wants_settling(&dir, ref->kind)) {
		dir.addr = (struct addr){ dir.ref.kind->id, slot, dir.ref.ordinal, dir.ref.item };
		*ret_inode = settled_inode(&dir, parent, name, *ret_inode);
	}
	return LANCET_OK;
}

int
place_inode(const struct place *place, uint64_t *ret_inode, struct lancet_error *err)
{
	struct pass_file pass;

	if (place->addr.kind != NODE_PASS)
		return ref_inode(
			&place->ref, place->generation, place->addr.slot, 0, ret_inode, err);
	if (!passnodes_get(place->ref.tree->passnodes, place->addr.item, &pass))
		return lancet_fail(err, LANCET_CLEANED, "the node is gone");
	*ret_inode = pass.inode;
	return LANCET_OK;
}

int
place_parent_inode(const struct place *dir, uint64_t *ret_inode, struct lancet_error *err)
{
	struct node_ref ref = dir->ref;

	(void)step_up(&ref);
	return ref_inode(&ref, dir->generation, dir->addr.slot, 0, ret_inode, err);
}

/* Puts "/name" before what is at *at. False when there is no room. */
static bool
prepend(char *start, char **at, const char *name)
{
	size_t size = strlen(name);

	if ((size_t)(*at - start) < size + 1)
		return false;
	*at -= size;
	memcpy(*at, name, size);
	*--*at = '/';
	return true;
}

static bool
path_of(struct node_ref ref, char *start, char **at)
{
	for (unsigned depth = 0; depth < PATH_DEPTH_MAX; depth++) {
		struct node_ref child = ref;
		char label[NODE_NAME_SIZE];
		const char *name;

		if (ref.kind->id == NODE_DATASET && ref.tree->options.view_dataset)
			return true; /* the root that is shown */
		if (!step_up(&ref))
			return true;
		if (ref_name(&child, label, &name, NULL) != LANCET_OK || !prepend(start, at, name))
			return false;
	}
	return false;
}

void
tree_path(struct tree *tree, uint64_t node, char *into, size_t size)
{
	char path[4096], *at = path + sizeof(path) - 1;
	struct pass_file pass;
	struct place place;
	bool known = false;

	*at = '\0';
	if (size == 0)
		return;
	if (place_resolve(tree, node, &place, NULL) == LANCET_OK) {
		if (place.addr.kind == NODE_PASS) {
			known = passnodes_get(tree->passnodes, place.addr.item, &pass);
			if (known)
				snprintf(into, size, "%s%s%s", lancet_base_identity(pass.base),
					lancet_base_identity(pass.base)[0] ? "/" : "", pass.path);
			place_release(&place);
			if (known)
				return;
		} else {
			known = path_of(place.ref, path, &at);
			place_release(&place);
		}
	}
	if (known)
		snprintf(into, size, "%s", *at == '/' ? at + 1 : ".");
	else
		snprintf(into, size, "node %#" PRIx64, node);
}
