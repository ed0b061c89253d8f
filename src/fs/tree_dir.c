/* Open directories: a listing taken at opendir, never half old and half new.
 *
 * Names are kept only where they can't be made from the numbers of an entry, and children that have
 * an index are not kept at all, so that a listing of 100,000 fragments costs nothing while it is
 * open.
 */
#include "place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/macros.h"

#define NO_NAME     UINT32_MAX
#define ENTRIES_MAX (UINT32_MAX / 2)

struct dir_entry {
	uint64_t item;
	uint32_t ordinal;
	uint32_t name; /* where it is in names; NO_NAME = what label gives, or the row's */
	uint8_t kind;
};

struct tree_dir {
	struct place place; /* counted */
	struct tree_opened opened;
	bool immutable;
	uint64_t inode; /* hash along the path: what the children's numbers are made of */
	uint64_t parent_inode;
	struct dir_entry *entries;
	size_t count, room;
	uint64_t indexed; /* children behind the entries that have an index */
	struct buf names;
	char label[NODE_NAME_SIZE]; /* the name handed out last, when it was made */
};

static int
add_entry(void *context, const struct node_child *child)
{
	struct tree_dir *dir = context;
	struct dir_entry entry = { child->item, (uint32_t)child->ordinal, NO_NAME, child->kind };

	if (dir->count == ENTRIES_MAX || child->ordinal > UINT32_MAX || dir->names.size >= NO_NAME)
		return LANCET_LIMIT;
	if (dir->count == dir->room) {
		size_t room = dir->room * 2 + 16;
		void *grown = realloc(dir->entries, room * sizeof(*dir->entries));

		if (grown == NULL)
			return LANCET_NO_MEMORY;
		dir->entries = grown;
		dir->room = room;
	}
	if (child->name != NULL) {
		entry.name = (uint32_t)dir->names.size;
		buf_put(&dir->names, child->name, strlen(child->name) + 1);
	}
	dir->entries[dir->count++] = entry;
	return (int)dir->names.failed;
}

static const char *
kept_name(const struct tree_dir *dir, const struct dir_entry *entry)
{
	return entry->name == NO_NAME ? NULL : (const char *)dir->names.data + entry->name;
}

struct named_entry {
	const char *name;
	size_t at;
};

static int
compare_named(const void *a, const void *b)
{
	const struct named_entry *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

/* Two children of one name (only a damaged dataset has them): a look-up finds the first, so that
 * one stays. */
static int
drop_repeated(struct tree_dir *dir, struct lancet_error *err)
{
	struct named_entry *named = malloc((dir->count + 1) * sizeof(*named));
	size_t count = 0, kept = 0;

	if (named == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "listing: out of memory");
	for (size_t i = 0; i < dir->count; i++) {
		const char *name = kept_name(dir, &dir->entries[i]);

		if (name != NULL)
			named[count++] = (struct named_entry){ name, i };
	}
	qsort(named, count, sizeof(*named), compare_named);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(named[i].name, named[i - 1].name) == 0)
			dir->entries[named[i].at].kind = NODE_NONE;
	}
	for (size_t i = 0; i < dir->count; i++) {
		if (dir->entries[i].kind != NODE_NONE)
			dir->entries[kept++] = dir->entries[i];
	}
	dir->count = kept;
	free(named);
	return LANCET_OK;
}

static int
take_listing(struct tree_dir *dir, struct lancet_error *err)
{
	const struct node_kind *kind = dir->place.ref.kind;
	int rc = LANCET_OK;

	for (const uint8_t *row = kind->rows; row != NULL && *row != NODE_NONE; row++) {
		struct node_child child = { NULL, *row, dir->place.ref.ordinal,
			dir->place.ref.item };

		if (place_has_row(&dir->place, node_kind_of(*row)))
			rc = add_entry(dir, &child);
		if (rc != LANCET_OK)
			return lancet_fail(err, (enum lancet_code)rc, "listing: out of memory");
	}
	if (kind->list != NULL) {
		struct lancet_error why = { 0 };

		rc = kind->list(&dir->place.ref, add_entry, dir, &why);
		if (rc != LANCET_OK && why.code == LANCET_OK)
			return lancet_fail(
				err, (enum lancet_code)rc, "listing: too long to be kept");
		if (rc != LANCET_OK && err != NULL)
			*err = why;
		if (rc != LANCET_OK)
			return rc;
		TRY(drop_repeated(dir, err));
	}
	if (kind->count != NULL)
		TRY(kind->count(&dir->place.ref, &dir->indexed, err));
	return LANCET_OK;
}

int
tree_opendir(struct tree *tree, uint64_t node, struct tree_dir **ret_dir, struct lancet_error *err)
{
	struct tree_dir *dir = calloc(1, sizeof(*dir));
	int rc;

	if (dir == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "listing: out of memory");
	rc = place_resolve(tree, node, &dir->place, err);
	if (rc != LANCET_OK) {
		free(dir);
		return rc;
	}
	slots_add(tree->slots, dir->place.addr.slot,
		1); /* what it shows stays itself while it is open */
	rc = LANCET_OK;
	if (dir->place.ref.kind->shape != SHAPE_DIR)
		rc = fail_errno(err, ENOTDIR, "is not a directory");
	if (rc == LANCET_OK)
		rc = place_try_version(&dir->place, err);
	if (rc == LANCET_OK)
		rc = place_inode(&dir->place, &dir->inode, err);
	dir->parent_inode = dir->inode;
	if (rc == LANCET_OK && node != TREE_ROOT)
		rc = place_parent_inode(&dir->place, &dir->parent_inode, err);
	if (rc == LANCET_OK)
		rc = take_listing(dir, err);
	if (rc != LANCET_OK) {
		tree_dir_close(dir);
		return rc;
	}
	dir->immutable = place_never_changes(&dir->place);
	tree_note_open(tree, &dir->place, &dir->opened);
	*ret_dir = dir;
	return LANCET_OK;
}

void
tree_dir_close(struct tree_dir *dir)
{
	if (dir == NULL)
		return;
	tree_note_close(dir->place.ref.tree, &dir->opened);
	slots_release(dir->place.ref.tree->slots, dir->place.addr.slot, 1);
	place_release(&dir->place);
	buf_release(&dir->names);
	free(dir->entries);
	free(dir);
}

bool
tree_dir_is_immutable(const struct tree_dir *dir)
{
	return dir->immutable;
}

uint64_t
tree_dir_inode(const struct tree_dir *dir)
{
	return dir->inode;
}

uint64_t
tree_dir_parent_inode(const struct tree_dir *dir)
{
	return dir->parent_inode;
}

uint64_t
tree_dir_count(const struct tree_dir *dir)
{
	return dir->count + dir->indexed;
}

static mode_t
shape_mode(enum node_shape shape)
{
	switch (shape) {
	case SHAPE_DIR:
		return S_IFDIR;
	case SHAPE_LINK:
		return S_IFLNK;
	default:
		return S_IFREG;
	}
}

static void
child_at(const struct tree_dir *dir, uint64_t index, struct node_child *child)
{
	const struct dir_entry *entry;

	if (index >= dir->count) {
		dir->place.ref.kind->at(&dir->place.ref, index - dir->count, child);
		return;
	}
	entry = &dir->entries[index];
	*child = (struct node_child){ kept_name(dir, entry), entry->kind, entry->ordinal,
		entry->item };
	if (child->name == NULL)
		child->name = node_kind_of(child->kind)->name; /* NULL for listed kinds */
}

static int
stat_child(const struct tree_dir *dir, const struct node_child *child, struct tree_entry *ret_entry,
	struct lancet_error *err)
{
	struct place place;
	int rc;

	TRY(place_enter(&dir->place, child, &place, err));
	rc = place_stat(&place, ret_entry, err);
	if (rc != LANCET_OK)
		place_uncount(&place);
	place_release(&place);
	if (rc == LANCET_OK && place_is_movable_root(&dir->place))
		ret_entry->immutable = false;
	return rc;
}

int
tree_dir_entry(struct tree_dir *dir, uint64_t index, bool want_stat, const char **ret_name,
	struct tree_entry *ret_entry, struct lancet_error *err)
{
	struct tree_entry entry = { 0 };
	struct node_child child;
	const char *name;
	uint64_t inode = 0;

	if (index >= tree_dir_count(dir))
		return lancet_fail(err, LANCET_NOT_FOUND, "past the end of the listing");
	child_at(dir, index, &child);
	TRY(place_child_name(&dir->place, &child, dir->label, &name, err));
	child.name = name;
	if (want_stat) {
		TRY(stat_child(dir, &child, &entry, err));
	} else {
		TRY(place_child_inode(&dir->place, dir->inode, &child, name, &inode, err));
		entry.st.st_ino = (ino_t)inode;
		entry.st.st_mode = shape_mode(node_kind_of(child.kind)->shape);
	}
	*ret_name = name;
	*ret_entry = entry;
	return LANCET_OK;
}
