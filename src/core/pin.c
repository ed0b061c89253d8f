/* Pins: tags that say when they may go. SPEC section 7.
 *
 * For everybody else they are plain tags, so a cleanup of any program leaves their version alone.
 * Only a tag with the prefix and with a time is a pin: anything else is the user's own.
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <time.h>

#include "dataset.h"
#include "tag_write.h"
#include "util/json.h"
#include "util/macros.h"
#include "util/text.h"

#define EXPIRES "lancefs.expires"

static int
tag_name_of(const char *pin, char **ret_name, struct lancet_error *err)
{
	if (asprintf(ret_name, LANCET_PIN_PREFIX "%s", pin) >= 0)
		return LANCET_OK;
	*ret_name = NULL;
	return lancet_fail(err, LANCET_NO_MEMORY, "pin %s", pin);
}

static bool
has_prefix(const char *tag)
{
	return strncmp(tag, LANCET_PIN_PREFIX, strlen(LANCET_PIN_PREFIX)) == 0;
}

/* The metadata of a pin; NULL when the tag is none. */
static struct json_object *
metadata_of(struct json_object *root, struct slice *ret_expires)
{
	struct json_object *metadata = NULL;

	if (!json_object_object_get_ex(root, "metadata", &metadata) ||
		!json_object_is_type(metadata, json_type_object) ||
		json_get_text(metadata, EXPIRES, ret_expires, NULL) != LANCET_OK)
		return NULL;
	return metadata;
}

struct renewal {
	lancet_dataset *dataset;
	const char *name;
	uint64_t version;
	const char *expires;
};

static int
renew(void *context, struct json_object *root, struct lancet_error *err)
{
	const struct renewal *renewal = context;
	struct slice old;
	struct json_object *metadata = metadata_of(root, &old);

	if (metadata == NULL)
		return lancet_fail(err, LANCET_EXISTS,
			"there is a tag %s that is no pin: it has no " EXPIRES, renewal->name);
	TRY(ref_set_text(metadata, EXPIRES, renewal->expires, err));
	return tag_set_version(renewal->dataset, root, renewal->version, err);
}

/* Makes the pin or renews it; others may make and remove it at the same time. */
static int
create_or_renew(struct renewal *renewal, struct lancet_error *err)
{
	struct json_object *metadata;
	int rc = tag_change(renewal->dataset, renewal->name, renew, renewal, err);

	if (rc != LANCET_NOT_FOUND)
		return rc;
	metadata = json_object_new_object();
	if (metadata == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s", renewal->name);
	rc = ref_set_text(metadata, EXPIRES, renewal->expires, err);
	if (rc != LANCET_OK) {
		json_object_put(metadata);
		return rc;
	}
	rc = tag_create_with(renewal->dataset, renewal->name, renewal->version, metadata, err);
	if (rc == LANCET_EXISTS) /* made a moment ago */
		rc = tag_change(renewal->dataset, renewal->name, renew, renewal, err);
	return rc;
}

int
lancet_pin_create(lancet_dataset *dataset, const char *name, uint64_t version, uint64_t ttl,
	struct lancet_error *err)
{
	lancet_autofree char *tag = NULL;
	char expires[31];
	struct renewal renewal = { dataset, NULL, version, expires };
	struct stat manifest;

	if (ttl == 0 || !ref_time(ttl, expires))
		return lancet_fail(
			err, LANCET_INVALID, "a pin of %" PRIu64 " seconds makes no sense", ttl);
	TRY(lancet_dataset_manifest_stat(dataset, version, &manifest, err));
	TRY(tag_name_of(name, &tag, err));
	renewal.name = tag;
	return create_or_renew(&renewal, err);
}

/* NOT_FOUND: a tag of the user's own. */
static int
check_is_pin(lancet_dataset *dataset, const struct lancet_tag *tag, struct lancet_error *err)
{
	struct json_object *root = NULL;
	struct stat seen;
	struct slice expires;
	int rc = ref_load(dataset_base(dataset_root(dataset))->store, tag->key, &root, &seen, err);

	if (rc == LANCET_OK && metadata_of(root, &expires) == NULL)
		rc = lancet_fail(err, LANCET_NOT_FOUND, "no pin: it has no " EXPIRES);
	json_object_put(root);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", tag->key);
}

int
lancet_pin_delete(lancet_dataset *dataset, const char *name, struct lancet_error *err)
{
	lancet_autofree char *tag = NULL;
	struct lancet_tag_list list;
	int rc;

	TRY(tag_name_of(name, &tag, err));
	rc = lancet_dataset_tag(
		dataset, (struct lancet_bytes){ (uint8_t *)tag, strlen(tag) }, &list, err);
	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, rc, "no pin \"%.200s\"", name);
	TRY(rc);
	rc = check_is_pin(dataset, &list.tags[0], err);
	lancet_tag_list_release(&list);
	return rc == LANCET_OK ? lancet_tag_delete(dataset, tag, err) : rc;
}

/* A pin whose time can't be read never ends by itself. */
static bool
is_over(struct json_object *root, int64_t now)
{
	struct slice text;
	int64_t seconds;
	int32_t nanos;

	return metadata_of(root, &text) != NULL && text_to_timestamp(text, &seconds, &nanos) &&
	       seconds < now;
}

static int
expire_one(struct store *store, const char *key, int64_t now, size_t *removed,
	struct lancet_error *err)
{
	struct json_object *root = NULL;
	struct stat seen;
	int rc = ref_load(store, key, &root, &seen, err);
	bool over = rc == LANCET_OK && is_over(root, now);

	json_object_put(root);
	if (rc == LANCET_NOT_FOUND)
		return LANCET_OK;
	if (rc != LANCET_OK || !over || !ref_is_unchanged(store, key, &seen))
		return rc;
	rc = ref_remove(store, key, err);
	if (rc == LANCET_NOT_FOUND)
		return LANCET_OK;
	*removed += rc == LANCET_OK;
	return rc;
}

int
lancet_pins_expire(lancet_dataset *dataset, size_t *ret_removed, struct lancet_error *err)
{
	struct store *store = dataset_base(dataset_root(dataset))->store;
	struct lancet_tag_list list;
	struct lancet_error first = { 0 };
	size_t removed = 0;
	int rc = LANCET_OK;

	TRY(lancet_dataset_tags(dataset, &list, err));
	for (size_t i = 0; i < list.count; i++) {
		const struct lancet_tag *tag = &list.tags[i];
		struct lancet_error why = { 0 };
		int one;

		if (tag->code != LANCET_OK || !has_prefix(tag->name))
			continue;
		one = expire_one(store, tag->key, time(NULL), &removed, &why);
		if (one != LANCET_OK && rc == LANCET_OK) {
			rc = lancet_wrap(&why, one, "%s", tag->key);
			first = why;
		}
	}
	lancet_tag_list_release(&list);
	if (ret_removed != NULL)
		*ret_removed = removed;
	if (rc != LANCET_OK && err != NULL)
		*err = first;
	return rc;
}
