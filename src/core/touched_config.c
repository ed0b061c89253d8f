/* Keys that an UpdateConfig or an Overwrite touches. Format facts: transactions. */
#include "touched.h"

#include "lance/transaction.pb-c.h"
#include "util/macros.h"

typedef Lance__Table__Transaction__UpdateConfig Message;

static int
set_map(struct touched *touched, struct map_changes *changes,
	const Lance__Table__Transaction__UpdateMap *map, struct lancet_error *err)
{
	if (map == NULL)
		return LANCET_OK;
	changes->present = true;
	changes->replaces = map->replace;
	if (!texts_reserve(&changes->set, map->n_update_entries, &touched->arena) ||
		!texts_reserve(&changes->all, map->n_update_entries, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < map->n_update_entries; i++) {
		const Lance__Table__Transaction__UpdateMapEntry *entry = map->update_entries[i];

		texts_put(&changes->all, entry->key.data, entry->key.len);
		if (entry->value_presence_case != 0)
			texts_put(&changes->set, entry->key.data, entry->key.len);
	}
	texts_sort(&changes->set);
	texts_sort(&changes->all);
	return LANCET_OK;
}

static int
set_entries(struct touched *touched, struct map_changes *changes,
	Lance__File__StringEntry *const *entries, size_t count, size_t deletions,
	struct lancet_error *err)
{
	changes->present = true;
	if (!texts_reserve(&changes->set, count, &touched->arena) ||
		!texts_reserve(&changes->all, count + deletions, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		texts_put(&changes->set, entries[i]->key.data, entries[i]->key.len);
		texts_put(&changes->all, entries[i]->key.data, entries[i]->key.len);
	}
	texts_sort(&changes->set);
	return LANCET_OK;
}

int
touched_overwrite(struct touched *touched, struct lancet_error *err)
{
	const Lance__Table__Transaction__Overwrite *message = touched->message->overwrite;

	TRY(set_entries(touched, &touched->config, message->config_upsert_values,
		message->n_config_upsert_values, 0, err));
	texts_sort(&touched->config.all);
	return LANCET_OK;
}

/* The old form: its maps of metadata replace what there was. */
static int
fill_old(struct touched *touched, const Message *message, struct lancet_error *err)
{
	struct map_changes *config = &touched->config;

	TRY(set_entries(touched, config, message->upsert_values, message->n_upsert_values,
		message->n_delete_keys, err));
	for (size_t i = 0; i < message->n_delete_keys; i++)
		texts_put(&config->all, message->delete_keys[i].data, message->delete_keys[i].len);
	texts_sort(&config->all);
	config->present = config->all.count > 0;
	touched->schema_metadata = message->n_schema_metadata > 0;
	touched->changes_metadata = touched->schema_metadata || message->n_field_metadata > 0;
	if (!numbers_reserve(&touched->metadata_fields, message->n_field_metadata, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < message->n_field_metadata; i++)
		numbers_put(&touched->metadata_fields, message->field_metadata[i]->key);
	numbers_sort(&touched->metadata_fields);
	return LANCET_OK;
}

static bool
map_changes_anything(const Lance__Table__Transaction__UpdateMap *map)
{
	return map != NULL && (map->replace || map->n_update_entries > 0);
}

static int
fill_new(struct touched *touched, const Message *message, struct lancet_error *err)
{
	TRY(set_map(touched, &touched->config, message->config_updates, err));
	TRY(set_map(touched, &touched->table, message->table_metadata_updates, err));
	touched->schema_metadata = message->schema_metadata_updates != NULL;
	touched->changes_metadata = map_changes_anything(message->schema_metadata_updates);
	if (!numbers_reserve(
		    &touched->metadata_fields, message->n_field_metadata_updates, &touched->arena))
		return touched_no_memory(err);
	for (size_t i = 0; i < message->n_field_metadata_updates; i++) {
		numbers_put(&touched->metadata_fields,
			(uint32_t)message->field_metadata_updates[i]->key);
		touched->changes_metadata =
			touched->changes_metadata ||
			map_changes_anything(message->field_metadata_updates[i]->value);
	}
	numbers_sort(&touched->metadata_fields);
	return LANCET_OK;
}

int
touched_config(struct touched *touched, struct lancet_error *err)
{
	const Message *message = touched->message->update_config;
	bool old = message->n_upsert_values > 0 || message->n_delete_keys > 0 ||
		   message->n_schema_metadata > 0 || message->n_field_metadata > 0;
	bool new = message->config_updates != NULL || message->table_metadata_updates != NULL ||
		   message->schema_metadata_updates != NULL ||
		   message->n_field_metadata_updates > 0;

	if (old && new)
		return lancet_fail(err, LANCET_CORRUPT, "both forms in one message");
	return old ? fill_old(touched, message, err) : fill_new(touched, message, err);
}
