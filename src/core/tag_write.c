/* Making, moving and removing tags. Format facts: tags.
 *
 * A tag is one file, so each of these is one step for everybody who looks. Whether the version is
 * there is looked at once more after a tag was made: a cleanup that ran meanwhile may have taken
 * it, and one that comes later sees the tag.
 */
#include "tag_write.h"

#include <inttypes.h>
#include <json-c/json.h>

#include "dataset.h"
#include "util/json.h"
#include "util/macros.h"

#define MOVES_MAX     20  /* times that somebody else may have been faster */
#define FILE_NAME_MAX 255 /* of what file systems take */

static struct store *
root_store(lancet_dataset *dataset)
{
	return dataset_base(dataset_root(dataset))->store;
}

static bool
is_ascii(const char *text)
{
	while (*text != '\0' && (unsigned char)*text < 0x80)
		text++;
	return *text == '\0';
}

/* The key of a new tag's file. With letters beyond ASCII the reference makes a tag that it can't
 * read again: listing tags and cleaning up fail from then on, so no such tag is made here. */
static int
key_of(const char *name, char **ret_key, struct lancet_error *err)
{
	char *key;

	if (!tag_name_is_valid(slice_text(name)) || !is_ascii(name))
		return lancet_fail(err, LANCET_INVALID,
			"\"%.200s\" is no name for a tag: letters, digits, '.', '-' and '_', "
			"without '.' at either end, '..', or '.lock' at the end",
			name);
	key = ref_key_of_name(REFS_TAGS, slice_text(name));
	if (key == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "tag %s", name);
	if (strlen(key + sizeof(REFS_TAGS)) > FILE_NAME_MAX) {
		free(key);
		return lancet_fail(err, LANCET_INVALID, "\"%.64s...\" is too long for a tag", name);
	}
	*ret_key = key;
	return LANCET_OK;
}

/* The key of the tag's file that is there, however its name is spelt. */
static int
find_key(lancet_dataset *dataset, const char *name, char **ret_key, struct lancet_error *err)
{
	struct lancet_tag_list list;
	struct lancet_bytes text = { (const uint8_t *)name, strlen(name) };

	TRY(lancet_dataset_tag(dataset, text, &list, err));
	*ret_key = lancet_steal(&list.tags[0].key);
	lancet_tag_list_release(&list);
	return LANCET_OK;
}

int
tag_set_version(lancet_dataset *dataset, struct json_object *root, uint64_t version,
	struct lancet_error *err)
{
	const char *branch = dataset->branch[0] != '\0' ? dataset->branch : NULL;
	struct stat manifest;
	char now[31];

	TRY(lancet_dataset_manifest_stat(dataset, version, &manifest, err));
	if (!ref_time(0, now))
		return lancet_fail(err, LANCET_IO, "the clock is beyond the year 9999");
	TRY(ref_set_text(root, "branch", branch, err));
	TRY(ref_set_u64(root, "version", version, err));
	TRY(ref_set_text(root, "updatedAt", now, err));
	return ref_set_u64(root, "manifestSize", (uint64_t)manifest.st_size, err);
}

/* The keys of a new file, in the order in which the reference writes them. */
static int
fill_new(lancet_dataset *dataset, struct json_object *root, uint64_t version,
	struct json_object *metadata, struct lancet_error *err)
{
	int rc = ref_set_text(root, "branch", NULL, err);
	char now[31] = "";

	if (rc == LANCET_OK)
		rc = ref_set_u64(root, "version", version, err);
	(void)ref_time(0, now);
	if (rc == LANCET_OK)
		rc = ref_set_text(root, "createdAt", now, err);
	if (rc == LANCET_OK)
		rc = tag_set_version(dataset, root, version, err);
	if (rc == LANCET_OK)
		return ref_set_object(root, "metadata", metadata, err);
	json_object_put(metadata);
	return rc;
}

/* NOT_FOUND, and the tag is taken back, when the version has gone in the meantime. */
static int
check_still_there(
	lancet_dataset *dataset, const char *key, uint64_t version, struct lancet_error *err)
{
	struct stat manifest;
	int rc = lancet_dataset_manifest_stat(dataset, version, &manifest, err);

	if (rc == LANCET_NOT_FOUND)
		(void)ref_remove(root_store(dataset), key, NULL);
	return rc;
}

int
tag_create_with(lancet_dataset *dataset, const char *name, uint64_t version,
	struct json_object *metadata, struct lancet_error *err)
{
	struct json_object *root = json_object_new_object();
	lancet_autofree char *key = NULL, *taken = NULL;
	int rc = key_of(name, &key, err);

	if (metadata == NULL)
		metadata = json_object_new_object();
	if (rc == LANCET_OK && find_key(dataset, name, &taken, NULL) == LANCET_OK)
		rc = lancet_fail(err, LANCET_EXISTS, "there is a tag %s: move or delete it", name);
	if (rc == LANCET_OK && (root == NULL || metadata == NULL))
		rc = lancet_fail(err, LANCET_NO_MEMORY, "tag %s", name);
	if (rc == LANCET_OK) {
		rc = fill_new(dataset, root, version, metadata, err);
		metadata = NULL; /* taken */
	}
	if (rc == LANCET_OK)
		rc = ref_create(root_store(dataset), key, root, err);
	json_object_put(metadata);
	json_object_put(root);
	return rc == LANCET_OK ? check_still_there(dataset, key, version, err) : rc;
}

int
lancet_tag_create(
	lancet_dataset *dataset, const char *name, uint64_t version, struct lancet_error *err)
{
	return tag_create_with(dataset, name, version, NULL, err);
}

static int
change_once(lancet_dataset *dataset, const char *key, tag_edit edit, void *context,
	struct lancet_error *err)
{
	struct store *store = root_store(dataset);
	struct json_object *root = NULL;
	struct stat seen;
	int rc = ref_load(store, key, &root, &seen, err);

	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "%s", key);
	rc = edit(context, root, err);
	if (rc == LANCET_OK)
		rc = ref_replace(store, key, root, &seen, err);
	json_object_put(root);
	return rc;
}

int
tag_change(lancet_dataset *dataset, const char *name, tag_edit edit, void *context,
	struct lancet_error *err)
{
	lancet_autofree char *key = NULL;
	int rc = LANCET_BUSY;

	TRY(find_key(dataset, name, &key, err));
	for (int i = 0; rc == LANCET_BUSY && i < MOVES_MAX; i++)
		rc = change_once(dataset, key, edit, context, err);
	return rc;
}

struct move {
	lancet_dataset *dataset;
	uint64_t version;
};

static int
edit_version(void *context, struct json_object *root, struct lancet_error *err)
{
	const struct move *move = context;

	return tag_set_version(move->dataset, root, move->version, err);
}

int
lancet_tag_move(
	lancet_dataset *dataset, const char *name, uint64_t version, struct lancet_error *err)
{
	struct move move = { dataset, version };

	return tag_change(dataset, name, edit_version, &move, err);
}

int
lancet_tag_delete(lancet_dataset *dataset, const char *name, struct lancet_error *err)
{
	lancet_autofree char *key = NULL;

	TRY(find_key(dataset, name, &key, err));
	return ref_remove(root_store(dataset), key, err);
}
