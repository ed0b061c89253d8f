/* config/, metadata/ and schema_metadata/: one value per file, exactly its bytes. SPEC section 3.
 *
 * Entries are unique and in byte order of their keys; item is the place in that order. Names are
 * the keys, encoded.
 */
#include "place.h"

#include "render.h"
#include "util/macros.h"
#include "util/text.h"

static const struct lancet_entry *
map_entries(const struct node_ref *ref, size_t *ret_count)
{
	return lancet_version_map(ref->version, ref->kind->map, ret_count);
}

static uint8_t
value_kind(enum lancet_map map)
{
	switch (map) {
	case LANCET_CONFIG:
		return NODE_CONFIG_VALUE;
	case LANCET_TABLE_METADATA:
		return NODE_METADATA_VALUE;
	case LANCET_SCHEMA_METADATA:
		break;
	}
	return NODE_SCHEMA_METADATA_VALUE;
}

static int
list_values(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	size_t count;
	const struct lancet_entry *entries = map_entries(ref, &count);

	(void)err;
	for (size_t i = 0; i < count; i++) {
		char name[NODE_NAME_SIZE];
		struct node_child child = {
			.name = name, .kind = value_kind(ref->kind->map), .item = i
		};

		(void)text_name_encode(slice_of(entries[i].key.data, entries[i].key.size), name);
		TRY(sink(context, &child));
	}
	return LANCET_OK;
}

static const struct lancet_entry *
value_entry(const struct node_ref *ref, struct lancet_error *err)
{
	size_t count;
	const struct lancet_entry *entries = map_entries(ref, &count);

	if (ref->item >= count) {
		(void)lancet_fail(err, LANCET_NOT_FOUND, "no such key");
		return NULL;
	}
	return &entries[ref->item];
}

static int
label_value(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	const struct lancet_entry *entry = value_entry(ref, err);

	if (entry == NULL)
		return LANCET_NOT_FOUND;
	(void)text_name_encode(slice_of(entry->key.data, entry->key.size), into);
	return LANCET_OK;
}

static int
measure_value(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	const struct lancet_entry *entry = value_entry(ref, err);

	if (entry == NULL)
		return LANCET_NOT_FOUND;
	*ret_size = entry->value.size;
	return LANCET_OK;
}

#define MAP_DIR(kind_id, dir_name, which)                                                          \
	{                                                                                          \
		.id = (kind_id), .name = (dir_name), .shape = SHAPE_DIR, .parent = NODE_VERSION,   \
		.needs_version = true, .map = (which), .list = list_values                         \
	}
#define MAP_VALUE(kind_id, dir, which)                                                             \
	{                                                                                          \
		.id = (kind_id), .shape = SHAPE_TEXT, .parent = (dir), .needs_version = true,      \
		.map = (which), .label = label_value, .measure = measure_value,                    \
		.render = render_map_value                                                         \
	}

const struct node_kind rows_map[] = {
	MAP_DIR(NODE_CONFIG, "config", LANCET_CONFIG),
	MAP_DIR(NODE_METADATA, "metadata", LANCET_TABLE_METADATA),
	MAP_DIR(NODE_SCHEMA_METADATA, "schema_metadata", LANCET_SCHEMA_METADATA),
	MAP_VALUE(NODE_CONFIG_VALUE, NODE_CONFIG, LANCET_CONFIG),
	MAP_VALUE(NODE_METADATA_VALUE, NODE_METADATA, LANCET_TABLE_METADATA),
	MAP_VALUE(NODE_SCHEMA_METADATA_VALUE, NODE_SCHEMA_METADATA, LANCET_SCHEMA_METADATA),
	{ .id = NODE_NONE },
};
