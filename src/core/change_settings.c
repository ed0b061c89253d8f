/* UpdateConfig: keys of the config, of the table's and the schema's metadata, and of fields. Format
 * facts: transactions, effect per operation.
 *
 * Whatever a key means to the format (field keys that are mirrored into the schema) is the
 * operation's to check, since documents have such keys, too.
 */
#include "change_build.h"

#include <stdlib.h>

#include "lance/transaction.pb-c.h"
#include "schema.h"
#include "util/macros.h"
#include "util/text.h"
#include "version.h"

#define KEY_MAX   ((size_t)4096) /* bytes */
#define VALUE_MAX ((size_t)1 << 20)
#define COUNT_MAX ((size_t)4096) /* keys in one change */

typedef Lance__Table__Transaction__UpdateMap update_map;
typedef Lance__Table__Transaction__UpdateMapEntry update_entry;
typedef Lance__Table__Transaction__UpdateConfig update_config;
typedef Lance__Table__Transaction__UpdateConfig__FieldUpdatesEntry field_entry;

static int
check_text(
	const char *what, const char *key, const char *text, size_t max, struct lancet_error *err)
{
	if (strlen(text) > max)
		return lancet_fail(err, LANCET_LIMIT, "%.60s: %s of %zu bytes, at most %zu", key,
			what, strlen(text), max);
	if (!text_is_utf8(slice_text(text)))
		return lancet_fail(err, LANCET_INVALID, "%.60s: the %s is not UTF-8", key, what);
	return LANCET_OK;
}

static int
check_setting(const struct lancet_set *set, struct lancet_error *err)
{
	if (set->key == NULL || set->key[0] == '\0')
		return lancet_fail(err, LANCET_INVALID, "a key is empty");
	if (set->where == LANCET_SET_FIELD_METADATA &&
		(set->field == NULL || set->field[0] == '\0'))
		return lancet_fail(err, LANCET_INVALID, "%.60s: which field?", set->key);
	TRY(check_text("key", set->key, set->key, KEY_MAX, err));
	return set->value == NULL ? LANCET_OK
				  : check_text("value", set->key, set->value, VALUE_MAX, err);
}

/* Appends to the map; of equal keys nothing could tell which one is meant. */
static int
add_entry(lancet_change *change, update_map *map, const struct lancet_set *set, size_t most,
	struct lancet_error *err)
{
	update_entry *entry;

	if (map->update_entries == NULL)
		map->update_entries = change_alloc(change, most, sizeof(update_entry *), err);
	entry = change_alloc(change, 1, sizeof(*entry), err);
	if (map->update_entries == NULL || entry == NULL)
		return LANCET_NO_MEMORY;
	lance__table__transaction__update_map_entry__init(entry);
	TRY(change_text(change, set->key, &entry->key, err));
	for (size_t i = 0; i < map->n_update_entries; i++) {
		ProtobufCBinaryData key = map->update_entries[i]->key;

		if (slice_equal(slice_of(key.data, key.len), slice_text(set->key)))
			return lancet_fail(err, LANCET_INVALID, "%.60s: is there twice", set->key);
	}
	if (set->value != NULL) {
		TRY(change_text(change, set->value, &entry->value, err));
		entry->value_presence_case =
			LANCE__TABLE__TRANSACTION__UPDATE_MAP_ENTRY__VALUE_PRESENCE_VALUE;
	}
	map->update_entries[map->n_update_entries++] = entry;
	return LANCET_OK;
}

static int
get_map(lancet_change *change, update_map **place, update_map **ret_map, struct lancet_error *err)
{
	if (*place == NULL) {
		*place = change_alloc(change, 1, sizeof(**place), err);
		if (*place == NULL)
			return LANCET_NO_MEMORY;
		lance__table__transaction__update_map__init(*place);
	}
	*ret_map = *place;
	return LANCET_OK;
}

static int
get_field_map(lancet_change *change, update_config *config, int32_t id, size_t most,
	update_map **ret_map, struct lancet_error *err)
{
	field_entry *entry;

	for (size_t i = 0; i < config->n_field_metadata_updates; i++) {
		if (config->field_metadata_updates[i]->key == id)
			return get_map(
				change, &config->field_metadata_updates[i]->value, ret_map, err);
	}
	if (config->field_metadata_updates == NULL)
		config->field_metadata_updates =
			change_alloc(change, most, sizeof(field_entry *), err);
	entry = change_alloc(change, 1, sizeof(*entry), err);
	if (config->field_metadata_updates == NULL || entry == NULL)
		return LANCET_NO_MEMORY;
	lance__table__transaction__update_config__field_updates_entry__init(entry);
	entry->key = id;
	config->field_metadata_updates[config->n_field_metadata_updates++] = entry;
	return get_map(change, &entry->value, ret_map, err);
}

static int
find_map(lancet_change *change, update_config *config, const struct lancet_set *set,
	const size_t *parents, size_t most, update_map **ret_map, struct lancet_error *err)
{
	size_t place;

	switch (set->where) {
	case LANCET_SET_CONFIG:
		return get_map(change, &config->config_updates, ret_map, err);
	case LANCET_SET_TABLE_METADATA:
		return get_map(change, &config->table_metadata_updates, ret_map, err);
	case LANCET_SET_SCHEMA_METADATA:
		return get_map(change, &config->schema_metadata_updates, ret_map, err);
	case LANCET_SET_FIELD_METADATA:
		TRY(change_find_field(change->read, parents, set->field, &place, err));
		return get_field_map(change, config, change->read->message->fields[place]->id, most,
			ret_map, err);
	}
	return lancet_fail(err, LANCET_INVALID, "%.60s: where?", set->key);
}

static int
build(lancet_change *change, const struct lancet_set *settings, size_t count,
	struct lancet_error *err)
{
	update_config *config = change_alloc(change, 1, sizeof(*config), err);
	lancet_autofree size_t *parents = NULL;
	update_map *map = NULL;

	if (config == NULL)
		return LANCET_NO_MEMORY;
	lance__table__transaction__update_config__init(config);
	TRY(schema_parents(change->read->message, &parents, err));
	for (size_t i = 0; i < count; i++) {
		TRY(check_setting(&settings[i], err));
		TRY(find_map(change, config, &settings[i], parents, count, &map, err));
		TRY(add_entry(change, map, &settings[i], count, err));
	}
	change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_UPDATE_CONFIG;
	change->message->update_config = config;
	return LANCET_OK;
}

int
lancet_change_settings(lancet_version *read, const struct lancet_set *settings, size_t count,
	lancet_change **ret_change, struct lancet_error *err)
{
	lancet_change *change;

	if (count == 0)
		return lancet_fail(err, LANCET_INVALID, "no key to set or unset");
	if (count > COUNT_MAX)
		return lancet_fail(err, LANCET_LIMIT, "%zu keys to set or unset, at most %zu",
			count, COUNT_MAX);
	TRY(change_new(read, &change, err));
	return change_built(change, build(change, settings, count, err), ret_change);
}
