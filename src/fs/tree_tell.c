/* What the kernel keeps and has to be told of: current/ that moved, versions that went. */
#include "place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/macros.h"
#include "util/text.h"

struct teller {
	struct tree *tree;
	tree_notice notice;
	void *context;
};

/* The node of directory `kind` in the tree of a dataset. False: the kernel can't know it. */
static bool
node_in(struct tree *tree, lancet_dataset *dataset, uint8_t kind, uint64_t *ret_node)
{
	const struct slot_key key = { dataset, 0, SLOT_TREE, NULL };
	struct addr addr = { .kind = kind };

	if (dataset != tree->dataset && kind == NODE_ROOT)
		addr.kind = NODE_BRANCH;
	return slots_find(tree->slots, &key, &addr.slot) &&
	       addr_encode(&addr, ret_node, NULL) == LANCET_OK;
}

void
tree_tell_moved(struct tree *tree, lancet_dataset *dataset, tree_notice notice, void *context)
{
	uint64_t node;

	if (node_in(tree, dataset, NODE_ROOT, &node))
		notice(context, node, "current");
}

void
tree_tell_changed(struct tree *tree, lancet_dataset *dataset, tree_notice notice, void *context)
{
	static const uint8_t changing[] = { NODE_ROOT, NODE_VERSIONS, NODE_DETACHED, NODE_TAGS,
		NODE_BRANCHES };
	uint64_t node;

	for (size_t i = 0; i < ARRAY_SIZE(changing); i++) {
		if (node_in(tree, dataset, changing[i], &node))
			notice(context, node, NULL);
	}
}

static void
tell_version(struct teller *teller, const struct slot_key *key)
{
	uint8_t kind = key->flavour == SLOT_DETACHED ? NODE_DETACHED : NODE_VERSIONS;
	struct stat st;
	uint64_t node;
	char name[24];

	if (lancet_dataset_manifest_stat(key->dataset, key->number, &st, NULL) !=
			LANCET_NOT_FOUND ||
		!node_in(teller->tree, key->dataset, kind, &node))
		return;
	snprintf(name, sizeof(name), "%" PRIu64, key->number);
	teller->notice(teller->context, node, name);
}

/* One that is made anew under the name chooses its current version anew. */
static void
forget_current(struct tree *tree, const lancet_dataset *dataset)
{
	pthread_mutex_lock(&tree->lock);
	for (struct tree_branch *branch = tree->branches; branch != NULL; branch = branch->next) {
		if (branch->dataset == dataset)
			branch->current = 0;
	}
	pthread_mutex_unlock(&tree->lock);
}

static void
tell_branch(struct teller *teller, const struct slot_key *key)
{
	struct lancet_bytes branch = lancet_dataset_branch_name(key->dataset);
	struct stat st;
	uint64_t node;
	char name[TEXT_NAME_MAX + 1];

	if (key->dataset == teller->tree->dataset ||
		lancet_dataset_versions_stat(key->dataset, &st, NULL) == LANCET_OK ||
		!node_in(teller->tree, teller->tree->dataset, NODE_BRANCHES, &node))
		return;
	forget_current(teller->tree, key->dataset);
	(void)text_name_encode(slice_of(branch.data, branch.size), name);
	teller->notice(teller->context, node, name);
}

void
tree_tell_removed(struct tree *tree, tree_notice notice, void *context)
{
	struct teller teller = { tree, notice, context };
	struct slot_key key;
	uint32_t generation;

	for (uint32_t i = 0; i < slots_made(tree->slots); i++) {
		if (!slots_get(tree->slots, i, &key, &generation))
			continue;
		if (key.flavour == SLOT_VERSION || key.flavour == SLOT_DETACHED)
			tell_version(&teller, &key);
		else if (key.flavour == SLOT_TREE)
			tell_branch(&teller, &key);
		lancet_dataset_unref(key.dataset);
	}
}
