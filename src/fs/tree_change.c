/* The few things of the tree that can be changed: the files of ctl/. All else is EROFS. */
#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "stagefile.h"
#include "util/macros.h"

void
tree_set_control(struct tree *tree, struct control *control)
{
	tree->control = control;
}

struct control *
tree_control(const struct tree *tree)
{
	return tree->control;
}

lancet_dataset *
tree_dataset(const struct tree *tree)
{
	return tree->dataset;
}

bool
tree_is_control(uint64_t node)
{
	struct addr addr;

	return addr_decode(node, &addr) && kind_is_control(addr.kind);
}

/* What an attempt is told that nothing of ctl/ takes. */
static int
refuse(uint64_t node, struct lancet_error *err)
{
	if (tree_is_control(node))
		return fail_errno(err, EPERM, "control files can't be changed so");
	return fail_errno(err, EROFS, "the tree is read-only");
}

/* The stage that `node` is the directory of, with the directory as *ret_place. */
static int
stage_dir(struct tree *tree, uint64_t node, struct place *ret_place, struct lancet_error *err)
{
	struct addr addr;

	if (!addr_decode(node, &addr) || addr.kind != NODE_STAGE || tree->control == NULL)
		return refuse(node, err);
	return place_resolve(tree, node, ret_place, err);
}

/* In ctl/ itself there is nothing to be made. */
static int
refuse_name(uint64_t parent, struct lancet_error *err)
{
	struct addr addr;

	if (addr_decode(parent, &addr) && addr.kind == NODE_CTL)
		return fail_errno(err, EACCES, "there is no such control file");
	return refuse(parent, err);
}

int
tree_create(struct tree *tree, uint64_t parent, const char *name, mode_t mode,
	struct tree_entry *ret_entry, struct tree_file **ret_file, struct lancet_error *err)
{
	struct node_handle handle = { .fd = -1 };
	struct tree_file *file = NULL;
	struct node_child child = { .name = name, .kind = NODE_STAGED };
	struct place dir, place;
	int rc;

	if (strlen(name) >= NODE_NAME_SIZE)
		return fail_errno(err, ENAMETOOLONG, "name");
	rc = stage_dir(tree, parent, &dir, err);
	if (rc != LANCET_OK)
		return refuse_name(parent, err);
	rc = stagefile_create(control_stage(tree->control), dir.ref.dataset, name, mode, &handle,
		&child.item, err);
	if (rc == LANCET_OK)
		rc = place_enter(&dir, &child, &place, err);
	if (rc == LANCET_OK) {
		rc = place_stat(&place, ret_entry, err);
		file = rc == LANCET_OK ? tree_file_of_handle(&place, &handle) : NULL;
		if (rc == LANCET_OK && file == NULL)
			rc = lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", name);
		if (rc != LANCET_OK)
			place_uncount(&place);
		place_release(&place);
	}
	if (rc != LANCET_OK && handle.ops != NULL)
		handle.ops->close(handle.state);
	place_release(&dir);
	if (rc == LANCET_OK)
		*ret_file = file;
	return rc;
}

int
tree_remove(struct tree *tree, uint64_t parent, const char *name, struct lancet_error *err)
{
	struct place dir;
	int rc;

	TRY(stage_dir(tree, parent, &dir, err));
	rc = stage_unlink(control_stage(tree->control), dir.ref.dataset, name, 0, err);
	place_release(&dir);
	return rc;
}

int
tree_rename(struct tree *tree, uint64_t from, const char *old_name, uint64_t to,
	const char *new_name, bool exclusive, struct lancet_error *err)
{
	struct place dir;
	int rc;

	if (strlen(new_name) >= NODE_NAME_SIZE)
		return fail_errno(err, ENAMETOOLONG, "name");
	if (from != to)
		return refuse(tree_is_control(from) ? from : to, err);
	TRY(stage_dir(tree, from, &dir, err));
	rc = stage_rename(
		control_stage(tree->control), dir.ref.dataset, old_name, new_name, exclusive, err);
	place_release(&dir);
	return rc;
}

int
tree_change(struct tree *tree, uint64_t node, unsigned changes, const struct stat *wanted,
	struct lancet_error *err)
{
	struct addr addr;

	if (tree->control == NULL || !addr_decode(node, &addr))
		return refuse(node, err);
	/* a shell opens a file that it writes to with O_TRUNC: no matter */
	if (addr.kind == NODE_CONTROL && (changes & ~(unsigned)STAGE_SIZE) == 0)
		return LANCET_OK;
	if (addr.kind != NODE_STAGED)
		return refuse(node, err);
	return stage_change(control_stage(tree->control), addr.item, changes, wanted, err);
}

int
tree_write(struct tree_file *file, uint64_t offset, const void *bytes, size_t size,
	struct lancet_error *err)
{
	const struct node_handle *handle = tree_file_handle(file);

	if (handle == NULL || handle->ops != &stagefile_ops)
		return fail_errno(err, EBADF, "can't be written");
	return staged_write(handle->state, offset, bytes, size, err);
}
