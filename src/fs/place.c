/* From node ids to places and from directories to children; see place.h.
 *
 * Everything here is driven by the tables: which rows a directory has, how listed children are
 * found, and which kinds begin a slot of their own.
 */
#include "place.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/macros.h"
#include "util/text.h"

int
fail_errno(struct lancet_error *err, int os_errno, const char *text)
{
	int rc = lancet_fail(err, LANCET_IO, "%s", text);

	if (err != NULL)
		err->os_errno = os_errno;
	return rc;
}

/* The version that the kind's callbacks want; dir's own when it is the same. */
static int
load_version(struct place *place, const struct place *dir, struct lancet_error *err)
{
	const struct node_kind *kind = place->ref.kind;
	struct slot_key key = { .dataset = place->ref.dataset, .number = place->ref.number };

	if (!kind->needs_version)
		return LANCET_OK;
	if (dir != NULL && dir->ref.version != NULL && dir->addr.slot == place->addr.slot) {
		place->ref.version = lancet_version_ref(dir->ref.version);
		return LANCET_OK;
	}
	return slot_version(&key, &place->ref.version, err);
}

bool
place_fails_itself(const struct lancet_error *why)
{
	return why->code != LANCET_CLEANED && why->code != LANCET_NO_MEMORY &&
	       why->os_errno != EMFILE && why->os_errno != ENFILE;
}

int
place_try_version(struct place *place, struct lancet_error *err)
{
	struct slot_key key = { .dataset = place->ref.dataset, .number = place->ref.number };
	struct lancet_error why = { 0 };
	int rc = LANCET_OK;

	if (place->ref.kind->tries_version && place->ref.version == NULL)
		rc = slot_version(&key, &place->ref.version, &why);
	if (rc == LANCET_OK || place_fails_itself(&why))
		return LANCET_OK; /* if it failed, its directory says why */
	if (err != NULL)
		*err = why;
	return rc;
}

static int
from_slot(struct tree *tree, struct place *place, struct lancet_error *err)
{
	struct slot_key key;

	if (!slots_get(tree->slots, place->addr.slot, &key, &place->generation))
		return lancet_fail(err, LANCET_CLEANED, "the node is gone");
	place->ref.dataset = key.dataset;
	place->ref.number = key.number;
	place->ref.flavour = key.flavour;
	place->ref.ref_name = key.name;
	return LANCET_OK;
}

int
place_resolve(struct tree *tree, uint64_t node, struct place *ret_place, struct lancet_error *err)
{
	struct place place = { 0 };
	int rc;

	if (!addr_decode(node, &place.addr))
		return lancet_fail(err, LANCET_CLEANED, "the node is gone");
	if (node == TREE_ROOT && tree->options.view_dataset) {
		place.addr.kind = NODE_DATASET;
		pthread_mutex_lock(&tree->lock);
		place.addr.slot = tree->view_slot;
		slots_add(tree->slots, place.addr.slot, 1);
		pthread_mutex_unlock(&tree->lock);
	}
	place.ref = (struct node_ref){
		.tree = tree,
		.kind = node_kind_of(place.addr.kind),
		.ordinal = place.addr.ordinal,
		.item = place.addr.item,
	};
	rc = from_slot(tree, &place, err);
	if (node == TREE_ROOT)
		slots_release(tree->slots, place.addr.slot, 1);
	if (rc == LANCET_OK)
		rc = load_version(&place, NULL, err);
	if (rc != LANCET_OK) {
		place_release(&place);
		return rc;
	}
	*ret_place = place;
	return LANCET_OK;
}

void
place_release(struct place *place)
{
	lancet_version_unref(place->ref.version);
	lancet_dataset_unref(place->ref.dataset);
	*place = (struct place){ 0 };
}

struct node_ref
place_child_ref(const struct place *dir, const struct node_child *child)
{
	struct node_ref ref = dir->ref;

	ref.kind = node_kind_of(child->kind);
	ref.ordinal = child->ordinal;
	ref.item = child->item;
	return ref;
}

static bool
has_absurd_time(const struct lancet_version_info *info)
{
	char text[31];

	return !info->has_timestamp ||
	       !text_timestamp(info->timestamp_seconds, info->timestamp_nanos, text);
}

struct timespec
version_time(const lancet_version *version)
{
	const struct lancet_version_info *info = lancet_version_info(version);

	if (has_absurd_time(info))
		return info->manifest_stat.st_mtim;
	return (struct timespec){ info->timestamp_seconds, info->timestamp_nanos };
}

/* Turns a pass-through child into the file's own node. Where the bytes can't be told (an unknown
 * base, a hostile path) the child keeps its address: it can be looked up, and opening it says why.
 */
static int
enter_file(struct place *place, struct lancet_error *err)
{
	const struct node_kind *kind = place->ref.kind;
	struct lancet_error why = { 0 };
	struct node_file file = { 0 };
	struct pass_file pass = { .recorded_size = UINT64_MAX };
	uint32_t number = 0;
	int rc = kind->file(&place->ref, &file, &why);

	if (rc == LANCET_NO_MEMORY || rc == LANCET_NOT_FOUND) {
		if (err != NULL)
			*err = why;
		return rc;
	}
	if (rc != LANCET_OK)
		return LANCET_OK;
	pass.base = file.base;
	pass.path = file.path;
	if (kind->measure != NULL)
		(void)kind->measure(&place->ref, &pass.recorded_size, NULL);
	if (place->ref.version != NULL)
		pass.recorded_time = version_time(place->ref.version);
	rc = passnodes_intern(place->ref.tree->passnodes, &pass, &number, err);
	free(file.path);
	if (rc != LANCET_OK)
		return rc;
	place_uncount(place);
	lancet_version_unref(place->ref.version);
	place->ref.version = NULL;
	place->ref.kind = node_kind_of(NODE_PASS);
	place->ref.ordinal = 0;
	place->ref.item = number;
	place->addr = (struct addr){ .kind = NODE_PASS, .item = number };
	place->generation = 0;
	return LANCET_OK;
}

/* The slot of a child: its own, or dir's with one more count. */
static int
enter_slot(const struct place *dir, const struct node_child *child, struct place *place,
	struct lancet_error *err)
{
	struct tree *tree = dir->ref.tree;
	const struct node_kind *kind = place->ref.kind;
	struct slot_key key = { 0 };

	if (kind->enter == NULL) {
		place->addr.slot = dir->addr.slot;
		place->generation = dir->generation;
		lancet_dataset_ref(place->ref.dataset);
		slots_add(tree->slots, dir->addr.slot, 1);
		return LANCET_OK;
	}
	place->ref.dataset = NULL;
	place->ref.item = 0;
	TRY(kind->enter(&dir->ref, child, &key, err));
	TRY(slots_acquire(tree->slots, &key, &place->addr.slot, err));
	return from_slot(tree, place, err);
}

int
place_enter(const struct place *dir, const struct node_child *child, struct place *ret_place,
	struct lancet_error *err)
{
	struct place place = { .ref = place_child_ref(dir, child) };
	int rc;

	place.ref.version = NULL;
	rc = enter_slot(dir, child, &place, err);
	if (rc != LANCET_OK) {
		place.ref.version = NULL;
		return rc;
	}
	place.addr.kind = place.ref.kind->id;
	place.addr.ordinal = place.ref.ordinal;
	place.addr.item = place.ref.item;
	rc = load_version(&place, dir, err);
	if (rc == LANCET_OK && place.ref.kind->shape == SHAPE_PASS)
		rc = enter_file(&place, err);
	if (rc != LANCET_OK) {
		place_uncount(&place);
		place_release(&place);
		return rc;
	}
	*ret_place = place;
	return LANCET_OK;
}

void
place_uncount(const struct place *place)
{
	if (place->addr.kind != NODE_PASS)
		slots_release(place->ref.tree->slots, place->addr.slot, 1);
}

bool
place_has_row(const struct place *dir, const struct node_kind *row)
{
	struct node_ref ref = dir->ref;

	if (row->needs_version && ref.version == NULL)
		return false;
	ref.kind = row;
	return row->present == NULL || row->present(&ref);
}

int
place_child_name(const struct place *dir, const struct node_child *child, char into[NODE_NAME_SIZE],
	const char **ret_name, struct lancet_error *err)
{
	struct node_ref ref;

	*ret_name = child->name;
	if (child->name != NULL)
		return LANCET_OK;
	ref = place_child_ref(dir, child);
	*ret_name = into;
	return ref.kind->label(&ref, into, err);
}

struct finder {
	const struct place *dir;
	const char *name;
	struct node_child *found;
};

/* LANCET_EXISTS ends the listing: the child is there. */
static int
compare_child(void *context, const struct node_child *child)
{
	struct finder *finder = context;
	char label[NODE_NAME_SIZE];
	const char *name;

	TRY(place_child_name(finder->dir, child, label, &name, NULL));
	if (strcmp(name, finder->name) != 0)
		return LANCET_OK;
	*finder->found = *child;
	finder->found->name = finder->name;
	return LANCET_EXISTS;
}

int
place_find(const struct place *dir, const char *name, struct node_child *ret_child,
	struct lancet_error *err)
{
	const struct node_kind *kind = dir->ref.kind;
	struct finder finder = { dir, name, ret_child };
	int rc;

	for (const uint8_t *row = kind->rows; row != NULL && *row != NODE_NONE; row++) {
		const struct node_kind *child = node_kind_of(*row);

		if (strcmp(child->name, name) != 0 || !place_has_row(dir, child))
			continue;
		*ret_child = (struct node_child){ name, *row, dir->ref.ordinal, dir->ref.item };
		return LANCET_OK;
	}
	if (kind->find != NULL) {
		TRY(kind->find(&dir->ref, name, ret_child, err));
		ret_child->name = name;
		return LANCET_OK;
	}
	rc = kind->list == NULL ? LANCET_OK : kind->list(&dir->ref, compare_child, &finder, err);
	if (rc == LANCET_EXISTS)
		return LANCET_OK;
	return rc != LANCET_OK ? rc : lancet_fail(err, LANCET_NOT_FOUND, "%s: no such name", name);
}

bool
place_is_immutable(const struct place *place)
{
	const struct node_kind *kind = place->ref.kind;

	if (kind->live || place_is_movable_root(place))
		return false;
	return kind->needs_version || kind->id == NODE_PASS || kind->id == NODE_VERSION;
}

bool
place_never_changes(const struct place *dir)
{
	return dir->ref.version != NULL && !dir->ref.kind->live_list;
}

bool
place_is_movable_root(const struct place *dir)
{
	const struct tree_options *options = &dir->ref.tree->options;

	return options->view_dataset && options->current_version == 0 &&
	       dir->addr.kind == NODE_DATASET;
}

int
place_node(const struct place *place, uint64_t *ret_node, struct lancet_error *err)
{
	if (place->ref.tree->options.view_dataset && place->addr.kind == NODE_DATASET) {
		*ret_node = TREE_ROOT;
		return LANCET_OK;
	}
	return addr_encode(&place->addr, ret_node, err);
}

bool
place_key(const struct place *place, uint64_t node, struct text_key *ret_key)
{
	const struct node_kind *kind = place->ref.kind;
	uint64_t stamp = 0;

	if (kind->stamp != NULL ? kind->stamp(&place->ref, &stamp, NULL) != LANCET_OK
				: !place_is_immutable(place))
		return false;
	*ret_key = (struct text_key){ node, place->generation ^ stamp };
	return true;
}

int
place_file(const struct place *place, struct node_file *ret_file, struct lancet_error *err)
{
	struct pass_file pass;
	char *path;

	if (place->addr.kind != NODE_PASS)
		return place->ref.kind->file(&place->ref, ret_file, err);
	if (!passnodes_get(place->ref.tree->passnodes, place->addr.item, &pass))
		return lancet_fail(err, LANCET_CLEANED, "the node is gone");
	path = strdup(pass.path);
	if (path == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", pass.path);
	*ret_file = (struct node_file){ pass.base, path };
	return LANCET_OK;
}
