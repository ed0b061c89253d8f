/* UpdateConfig: entries of the dataset's maps and of its fields' metadata.
 *
 * There are two forms of the message. The old one has whole maps of metadata, which replace what
 * there was. Some metadata of fields says which of them are keys, which can be said once only.
 * Format facts: UpdateConfig; field metadata with reserved keys.
 */
#include "operation.h"

#include <inttypes.h>
#include <stdlib.h>

#include "draft_map.h"
#include "draft_schema.h"
#include "lance/transaction.pb-c.h"
#include "touched.h"
#include "util/macros.h"

#define LOOKUPS_MAX ((size_t)1 << 31) /* fields looked at */

typedef Lance__Table__Transaction__UpdateConfig Message;
typedef Lance__Table__Transaction__UpdateMap Map;
typedef Lance__File__StringEntry StringEntry;

/* Changes of one map, in either form of the message. */
struct changes {
	struct map_change *list;
	size_t count;
	bool replace;
};

static int
changes_reserve(struct changes *changes, size_t count, struct lancet_error *err)
{
	*changes = (struct changes){ .list = calloc(count + 1, sizeof(*changes->list)) };
	return changes->list == NULL ? draft_no_memory(err) : LANCET_OK;
}

static struct slice
bytes_of(ProtobufCBinaryData data)
{
	return slice_of(data.data, data.len);
}

static int
changes_of_map(const Map *map, struct changes *ret_changes, struct lancet_error *err)
{
	TRY(changes_reserve(ret_changes, map->n_update_entries, err));
	ret_changes->replace = map->replace;
	for (size_t i = 0; i < map->n_update_entries; i++)
		ret_changes->list[ret_changes->count++] =
			(struct map_change){ bytes_of(map->update_entries[i]->key),
				bytes_of(map->update_entries[i]->value),
				map->update_entries[i]->value_presence_case == 0 };
	return LANCET_OK;
}

static void
add_values(struct changes *changes, StringEntry *const *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		changes->list[changes->count++] = (struct map_change){ bytes_of(entries[i]->key),
			bytes_of(entries[i]->value), false };
}

/* The old form, with the keys it deletes. */
static int
changes_of_entries(StringEntry *const *entries, size_t count, const ProtobufCBinaryData *deletes,
	size_t delete_count, bool replace, struct changes *ret_changes, struct lancet_error *err)
{
	TRY(changes_reserve(ret_changes, count + delete_count, err));
	ret_changes->replace = replace;
	add_values(ret_changes, entries, count);
	for (size_t i = 0; i < delete_count; i++)
		ret_changes->list[ret_changes->count++] =
			(struct map_change){ bytes_of(deletes[i]), { 0 }, true };
	return LANCET_OK;
}

/* Frees the changes. */
static int
change_map(struct draft *draft, StringEntry ***list, size_t *count, enum draft_change bit,
	struct changes *changes, struct lancet_error *err)
{
	int rc = LANCET_OK;

	if (changes->count > 0 || changes->replace) {
		rc = draft_map_change(
			draft, list, count, changes->list, changes->count, changes->replace, err);
		draft->changed |= bit;
	}
	free(changes->list);
	return rc;
}

/* The keys that a field's metadata says it is a part of. */
enum reserved_key { KEY_PRIMARY, KEY_CLUSTERING, RESERVED_KEYS };
static const char *const key_names[] = { "primary", "clustering" };

static bool
is_part(const Lance__File__Field *field, enum reserved_key key)
{
	return key == KEY_PRIMARY ? field_is_primary_key(field) : field_is_clustering_key(field);
}

static bool
is_of_key(struct slice name, enum reserved_key key)
{
	if (key == KEY_CLUSTERING)
		return slice_equal(name, slice_text(CLUSTERING_KEY_POSITION));
	return slice_equal(name, slice_text(PRIMARY_KEY)) ||
	       slice_equal(name, slice_text(PRIMARY_KEY_POSITION));
}

static bool
touches_key(const struct changes *changes, const Lance__File__Field *field, enum reserved_key key)
{
	if (changes->replace && is_part(field, key))
		return true;
	for (size_t i = 0; i < changes->count; i++)
		if (is_of_key(changes->list[i].key, key))
			return true;
	return false;
}

static bool
has_key(const struct draft *draft, enum reserved_key key)
{
	for (size_t i = 0; i < draft->head->n_fields; i++)
		if (is_part(draft->head->fields[i], key))
			return true;
	return false;
}

/* What a message does to the keys of the schema. */
struct keys {
	bool had[RESERVED_KEYS], touched[RESERVED_KEYS];
};

static int
check_keys(const struct keys *keys, const struct draft *draft, struct lancet_error *err)
{
	for (size_t i = 0; i < RESERVED_KEYS; i++) {
		if (!keys->touched[i])
			continue;
		if (keys->had[i])
			return lancet_fail(err, LANCET_INVALID,
				"the unenforced %s key can't be changed once it is set",
				key_names[i]);
		if (!has_key(draft, (enum reserved_key)i))
			return lancet_fail(err, LANCET_INVALID,
				"the unenforced %s key can't be set to a value that makes none",
				key_names[i]);
	}
	return draft_schema_check_key(draft->head->fields, draft->head->n_fields, err);
}

/* Frees the changes. */
static int
change_field(struct draft *draft, int32_t id, struct keys *keys, struct changes *changes,
	struct lancet_error *err)
{
	Lance__File__Field *field = NULL;
	int rc = draft_schema_edit(draft, id, &field, err);

	if (rc == LANCET_OK && field == NULL)
		rc = lancet_fail(err, LANCET_INVALID, "field %" PRId32 " does not exist", id);
	for (size_t i = 0; i < RESERVED_KEYS && rc == LANCET_OK; i++)
		keys->touched[i] |= touches_key(changes, field, (enum reserved_key)i);
	if (rc != LANCET_OK) {
		free(changes->list);
		return rc;
	}
	rc = change_map(draft, &field->metadata, &field->n_metadata, DRAFT_SCHEMA, changes, err);
	if (rc == LANCET_OK)
		draft_schema_mirror(field);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "field %" PRId32, id);
}

static int
apply_fields(struct draft *draft, const Message *message, struct lancet_error *err)
{
	struct keys keys = { { has_key(draft, KEY_PRIMARY), has_key(draft, KEY_CLUSTERING) },
		{ false } };
	struct changes changes;

	if (message->n_field_metadata == 0 && message->n_field_metadata_updates == 0)
		return LANCET_OK;
	for (size_t i = 0; i < message->n_field_metadata; i++) {
		const Lance__Table__Transaction__UpdateConfig__FieldMetadataUpdate *value =
			message->field_metadata[i]->value;

		TRY(changes_of_entries(value == NULL ? NULL : value->metadata,
			value == NULL ? 0 : value->n_metadata, NULL, 0, true, &changes, err));
		TRY(change_field(
			draft, (int32_t)message->field_metadata[i]->key, &keys, &changes, err));
	}
	for (size_t i = 0; i < message->n_field_metadata_updates; i++) {
		static const Map nothing = LANCE__TABLE__TRANSACTION__UPDATE_MAP__INIT;
		const Map *value = message->field_metadata_updates[i]->value;

		TRY(changes_of_map(value == NULL ? &nothing : value, &changes, err));
		TRY(change_field(
			draft, message->field_metadata_updates[i]->key, &keys, &changes, err));
	}
	return check_keys(&keys, draft, err);
}

static int
apply_map(struct draft *draft, const Map *map, StringEntry ***list, size_t *count,
	enum draft_change bit, struct lancet_error *err)
{
	struct changes changes;

	if (map == NULL)
		return LANCET_OK;
	TRY(changes_of_map(map, &changes, err));
	return change_map(draft, list, count, bit, &changes, err);
}

static int
apply_old_maps(struct draft *draft, const Message *message, struct lancet_error *err)
{
	Lance__Table__Manifest *head = draft->head;
	struct changes changes;

	TRY(changes_of_entries(message->upsert_values, message->n_upsert_values,
		message->delete_keys, message->n_delete_keys, false, &changes, err));
	TRY(change_map(draft, &head->config, &head->n_config, DRAFT_CONFIG, &changes, err));
	if (message->n_schema_metadata == 0)
		return LANCET_OK;
	TRY(changes_of_entries(message->schema_metadata, message->n_schema_metadata, NULL, 0, true,
		&changes, err));
	return change_map(draft, &head->schema_metadata, &head->n_schema_metadata,
		DRAFT_SCHEMA_METADATA, &changes, err);
}

int
op_update_config_check(struct draft *draft, struct lancet_error *err)
{
	const Message *message = draft->message->update_config;
	size_t updates = message->n_field_metadata + message->n_field_metadata_updates;

	if (updates > 0 && draft->head->n_fields > LOOKUPS_MAX / updates)
		return lancet_fail(err, LANCET_LIMIT, "metadata of %zu of %zu fields", updates,
			draft->head->n_fields);
	return LANCET_OK;
}

int
op_update_config_apply(struct draft *draft, struct lancet_error *err)
{
	const Message *message = draft->message->update_config;
	Lance__Table__Manifest *head = draft->head;

	TRY(apply_old_maps(draft, message, err));
	TRY(apply_map(
		draft, message->config_updates, &head->config, &head->n_config, DRAFT_CONFIG, err));
	TRY(apply_map(draft, message->table_metadata_updates, &head->table_metadata,
		&head->n_table_metadata, DRAFT_TABLE_METADATA, err));
	TRY(apply_map(draft, message->schema_metadata_updates, &head->schema_metadata,
		&head->n_schema_metadata, DRAFT_SCHEMA_METADATA, err));
	return apply_fields(draft, message, err);
}
