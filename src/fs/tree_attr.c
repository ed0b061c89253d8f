/* Attributes: exact sizes, stable numbers, times and permissions of every node (SPEC section 6).
 *
 * Sizes come by arithmetic where the kind can tell (measure) and from the rendered text otherwise,
 * once. A file whose text can't be made has size 0 and fails when it is opened, so that it never
 * hides its neighbours.
 */
#include "place.h"

#include <inttypes.h>
#include <stdlib.h>

#include "util/macros.h"

#define DIRECTORY_WRITE 0700 /* what a copied directory needs of its owner */
#define STAT_BLOCK      512

/* Owner and modes of what is made from the dataset's directory. */
static void
set_owner(const struct tree *tree, struct stat *st)
{
	const struct tree_options *options = &tree->options;

	if (st->st_uid == (uid_t)-1)
		st->st_uid = tree->owner.st_uid;
	if (st->st_gid == (gid_t)-1)
		st->st_gid = tree->owner.st_gid;
	if (options->set_uid)
		st->st_uid = options->uid;
	if (options->set_gid)
		st->st_gid = options->gid;
}

static mode_t
directory_mode(const struct tree *tree, bool backup)
{
	mode_t mode = tree->owner.st_mode & 0777;

	if (tree->options.set_umask)
		return (backup ? 0777 : 0555) & ~tree->options.umask;
	return backup ? mode | DIRECTORY_WRITE : (mode & 0555) | 0500;
}

static mode_t
rendered_mode(const struct tree *tree)
{
	if (tree->options.set_umask)
		return 0444 & ~tree->options.umask;
	return (tree->owner.st_mode & 0444) | 0400;
}

static mode_t
backing_mode(const struct tree *tree, mode_t mode)
{
	return tree->options.set_umask ? 0666 & ~tree->options.umask : mode & 07777;
}

/* The time of directories that show what others write. */
static int
live_time(const struct place *place, struct timespec *ret_time, struct lancet_error *err)
{
	struct stat st;
	int rc;

	switch (place->ref.kind->id) {
	case NODE_VERSION:
	case NODE_CURRENT:
	case NODE_ERROR:
	case NODE_MANIFEST_RAW:
		rc = lancet_dataset_manifest_stat(place->ref.dataset, place->ref.number, &st, err);
		if (rc == LANCET_NOT_FOUND)
			return lancet_fail(err, LANCET_CLEANED, "version %" PRIu64 " was removed",
				place->ref.number);
		break;
	case NODE_README:
	case NODE_TAGS:
	case NODE_TAG:
	case NODE_BRANCHES:
	case NODE_BROKEN_BRANCH:
	case NODE_BRANCH_ERROR:
		rc = lancet_dataset_stat(place->ref.dataset, &st, err);
		break;
	default:
		rc = lancet_dataset_versions_stat(place->ref.dataset, &st, err);
	}
	if (rc == LANCET_OK)
		*ret_time = st.st_mtim;
	return rc;
}

/* A rewritten file shows the modes and times of the one it is made from. */
static void
like_backing(const struct place *place, struct stat *st)
{
	struct node_file file = { 0 };
	struct stat backing;

	st->st_mode = S_IFREG | backing_mode(place->ref.tree, 0644);
	if (place->ref.kind->file(&place->ref, &file, NULL) != LANCET_OK)
		return;
	if (lancet_base_stat(file.base, file.path, &backing, NULL) == LANCET_OK) {
		st->st_mode = S_IFREG | backing_mode(place->ref.tree, backing.st_mode);
		st->st_mtim = backing.st_mtim;
		st->st_uid = backing.st_uid;
		st->st_gid = backing.st_gid;
	}
	free(file.path);
}

static int
pass_stat(const struct place *place, struct tree_entry *entry, struct lancet_error *err)
{
	const struct tree *tree = place->ref.tree;
	struct pass_file file;
	bool lost = false;

	if (!passnodes_get(tree->passnodes, place->addr.item, &file))
		return lancet_fail(err, LANCET_CLEANED, "the node is gone");
	TRY(pass_file_stat(&file, &entry->st, &lost, err));
	entry->st.st_mode = S_IFREG | backing_mode(tree, entry->st.st_mode);
	if (lost && !tree->options.set_umask)
		entry->st.st_mode = S_IFREG | rendered_mode(tree);
	entry->immutable = !lost;
	return LANCET_OK;
}

static int
set_size(const struct place *place, struct tree_entry *entry, struct lancet_error *err)
{
	struct lancet_error why = { 0 };
	uint64_t size = 0;
	int rc = LANCET_OK;

	if (place->ref.kind->shape != SHAPE_DIR)
		rc = place_size(place, entry->node, &size, &why);
	if (rc != LANCET_OK && !place_fails_itself(&why)) {
		if (err != NULL)
			*err = why;
		return rc;
	}
	if (rc != LANCET_OK)
		entry->immutable = false; /* and it fails when it is read */
	entry->st.st_size = size > INT64_MAX ? INT64_MAX : (off_t)size;
	entry->st.st_blocks =
		entry->st.st_size / STAT_BLOCK + (entry->st.st_size % STAT_BLOCK != 0);
	return LANCET_OK;
}

static int
made_stat(const struct place *place, struct tree_entry *entry, struct lancet_error *err)
{
	const struct node_kind *kind = place->ref.kind;
	struct stat *st = &entry->st;
	uint64_t inode = 0;

	TRY(place_inode(place, &inode, err));
	*st = (struct stat){ .st_ino = (ino_t)inode,
		.st_nlink = 1,
		.st_blksize = 4096,
		.st_uid = (uid_t)-1,
		.st_gid = (gid_t)-1 };
	switch (kind->shape) {
	case SHAPE_DIR:
		st->st_mode = S_IFDIR | directory_mode(place->ref.tree, kind->backup);
		break;
	case SHAPE_LINK:
		st->st_mode = S_IFLNK | 0777;
		break;
	default:
		st->st_mode = S_IFREG | rendered_mode(place->ref.tree);
	}
	if (place->ref.version != NULL)
		st->st_mtim = version_time(place->ref.version);
	else
		TRY(live_time(place, &st->st_mtim, err));
	TRY(set_size(place, entry, err));
	if (kind->shape == SHAPE_RAW && kind->file != NULL)
		like_backing(place, st);
	if (kind->attributes != NULL)
		TRY(kind->attributes(&place->ref, st, err));
	st->st_ctim = st->st_mtim;
	st->st_atim = st->st_mtim;
	return LANCET_OK;
}

int
place_stat(const struct place *place, struct tree_entry *ret_entry, struct lancet_error *err)
{
	struct tree_entry entry = { .generation = place->generation,
		.immutable = place_is_immutable(place) };

	TRY(place_node(place, &entry.node, err));
	if (place->addr.kind == NODE_PASS)
		TRY(pass_stat(place, &entry, err));
	else
		TRY(made_stat(place, &entry, err));
	set_owner(place->ref.tree, &entry.st);
	*ret_entry = entry;
	return LANCET_OK;
}

int
tree_getattr(
	struct tree *tree, uint64_t node, struct tree_entry *ret_entry, struct lancet_error *err)
{
	struct tree_entry entry = { 0 };
	struct place place;
	int rc;

	TRY(place_resolve(tree, node, &place, err));
	rc = place_stat(&place, &entry, err);
	place_release(&place);
	if (rc == LANCET_OK)
		*ret_entry = entry;
	return rc;
}
