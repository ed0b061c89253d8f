/* The root of a dataset or branch, and its versions. SPEC section 3.
 *
 * Listing versions reads one directory and opens no manifest; whether one can be read shows inside
 * its directory.
 */
#include "place.h"

#include <inttypes.h>
#include <stdio.h>

#include "render.h"
#include "util/macros.h"
#include "util/text.h"

#define DETACHED_BIT (UINT64_C(1) << 63)

static bool
has_current(const struct node_ref *ref)
{
	uint64_t number;

	return tree_current_of(ref->tree, ref->dataset, &number, NULL) == LANCET_OK;
}

static int
link_latest(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	uint64_t number = 0;

	TRY(lancet_dataset_latest(ref->dataset, &number, err));
	buf_printf(out, "versions/%" PRIu64, number);
	return LANCET_OK;
}

static int
emit_versions(const struct lancet_version_list *list, node_sink sink, void *context)
{
	for (size_t i = 0; i < list->count; i++) {
		struct node_child child = { .kind = NODE_VERSION, .item = list->entries[i].number };

		TRY(sink(context, &child));
	}
	return LANCET_OK;
}

static int
list_versions(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	struct lancet_version_list list = { 0 };
	int rc;

	TRY(ref->kind->id == NODE_DETACHED ? lancet_dataset_detached(ref->dataset, &list, err)
					   : lancet_dataset_versions(ref->dataset, &list, err));
	rc = emit_versions(&list, sink, context);
	lancet_version_list_release(&list);
	return rc;
}

static int
find_version(const struct node_ref *ref, const char *name, struct node_child *ret_child,
	struct lancet_error *err)
{
	bool detached = ref->kind->id == NODE_DETACHED;
	uint64_t number = 0;
	struct stat st;

	if (!text_to_u64(slice_text(name), &number) || number == 0 ||
		((number & DETACHED_BIT) != 0) != detached)
		return lancet_fail(err, LANCET_NOT_FOUND, "%s: no version", name);
	TRY(lancet_dataset_manifest_stat(ref->dataset, number, &st, err));
	*ret_child = (struct node_child){ .kind = NODE_VERSION, .item = number };
	return LANCET_OK;
}

/* In a listing the number is still the child's; afterwards it is the slot's. */
static int
label_version(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	uint64_t number = ref->flavour == SLOT_TREE ? ref->item : ref->number;

	(void)err;
	snprintf(into, NODE_NAME_SIZE, "%" PRIu64, number);
	return LANCET_OK;
}

static int
enter_version(const struct node_ref *parent, const struct node_child *child,
	struct slot_key *ret_key, struct lancet_error *err)
{
	(void)err;
	*ret_key = (struct slot_key){
		.dataset = parent->dataset,
		.number = child->item,
		.flavour = (child->item & DETACHED_BIT) != 0 ? SLOT_DETACHED : SLOT_VERSION,
	};
	return LANCET_OK;
}

static void
up_from_version(struct node_ref *ref)
{
	ref->kind = node_kind_of(ref->flavour == SLOT_DETACHED ? NODE_DETACHED : NODE_VERSIONS);
}

static int
enter_current(const struct node_ref *parent, const struct node_child *child,
	struct slot_key *ret_key, struct lancet_error *err)
{
	uint64_t number = 0;

	(void)child;
	TRY(tree_current_of(parent->tree, parent->dataset, &number, err));
	*ret_key = (struct slot_key){ parent->dataset, number, SLOT_CURRENT, NULL };
	return LANCET_OK;
}

static const uint8_t root_rows[] = { NODE_README, NODE_LATEST, NODE_CURRENT, NODE_VERSIONS,
	NODE_TAGS, NODE_BRANCHES, NODE_DETACHED, NODE_CTL, NODE_NONE };
static const uint8_t version_rows[] = { NODE_ERROR, NODE_MANIFEST_RAW, NODE_SUMMARY,
	NODE_MANIFEST_JSON, NODE_MANIFEST_PB, NODE_SCHEMA, NODE_SCHEMA_JSON, NODE_TRANSACTION_JSON,
	NODE_TRANSACTION_PB, NODE_CONFIG, NODE_METADATA, NODE_SCHEMA_METADATA, NODE_FRAGMENTS_TSV,
	NODE_FILES_TSV, NODE_FRAGMENTS, NODE_INDICES, NODE_REUSE, NODE_DATASET, NODE_NONE };

const struct node_kind rows_root[] = {
	{ .id = NODE_ROOT, .shape = SHAPE_DIR, .live = true, .live_list = true, .rows = root_rows },
	{ .id = NODE_README,
		.name = "README.txt",
		.shape = SHAPE_TEXT,
		.parent = NODE_ROOT,
		.render = render_readme },
	{ .id = NODE_LATEST,
		.name = "latest",
		.shape = SHAPE_LINK,
		.parent = NODE_ROOT,
		.live = true,
		.link = link_latest },
	{ .id = NODE_VERSIONS,
		.name = "versions",
		.shape = SHAPE_DIR,
		.parent = NODE_ROOT,
		.live = true,
		.live_list = true,
		.list = list_versions,
		.find = find_version },
	{ .id = NODE_DETACHED,
		.name = "detached",
		.shape = SHAPE_DIR,
		.parent = NODE_ROOT,
		.live = true,
		.live_list = true,
		.list = list_versions,
		.find = find_version },
	{ .id = NODE_VERSION,
		.shape = SHAPE_DIR,
		.parent = NODE_VERSIONS,
		.tries_version = true,
		.numbered = true,
		.rows = version_rows,
		.label = label_version,
		.up = up_from_version,
		.enter = enter_version },
	{ .id = NODE_CURRENT,
		.name = "current",
		.shape = SHAPE_DIR,
		.parent = NODE_ROOT,
		.tries_version = true,
		.rows = version_rows,
		.present = has_current,
		.enter = enter_current },
	{ .id = NODE_NONE },
};
