/* The file of a branch. Its identifier says where it comes from: the list of its parent and one
 * pair more, so that of two branches it can be told whether one descends from the other, whatever
 * they are called. Format facts: branches.
 */
#include "branch_write.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <time.h>
#include <uuid/uuid.h>

#include "ref_write.h"
#include "util/json.h"
#include "util/macros.h"

#define ID_SIZE     32 /* hex digits */
#define PAIRS_MAX   1000
#define HASH_PRIME  UINT64_C(0x100000001b3)
#define HASH_SEED   UINT64_C(0xcbf29ce484222325)
#define HASH_SECOND UINT64_C(0x9e3779b97f4a7c15) /* of the other half */

int
branch_find_file(
	struct lancet_dataset *root, const char *name, char **ret_key, struct lancet_error *err)
{
	struct ref_stems stems;
	int rc = LANCET_OK;

	*ret_key = NULL;
	TRY(ref_stems_list(dataset_base(root)->store, REFS_BRANCHES, &stems, err));
	for (size_t i = 0; i < stems.count && rc == LANCET_OK && *ret_key == NULL; i++) {
		bool decoded;
		lancet_autofree char *found = ref_stem_name(stems.stems[i], &decoded);
		bool same = found != NULL && strcmp(found, name) == 0;

		if (same)
			*ret_key = ref_key_of_stem(REFS_BRANCHES, stems.stems[i]);
		if (found == NULL || (same && *ret_key == NULL))
			rc = lancet_fail(err, LANCET_NO_MEMORY, "branch %s", name);
	}
	ref_stems_release(&stems);
	return rc;
}

int
branch_has_directory(
	struct lancet_dataset *root, const char *name, bool *ret_has, struct lancet_error *err)
{
	char key[STORE_KEY_MAX + 1];
	struct stat st;
	int rc;

	if (snprintf(key, sizeof(key), BRANCH_TREE "/%s/" VERSIONS_DIR, name) >= (int)sizeof(key))
		return lancet_fail(err, LANCET_INVALID, "the name of the branch is too long");
	rc = store_stat(dataset_base(root)->store, key, &st, err);
	if (rc != LANCET_OK && rc != LANCET_NOT_FOUND)
		return rc;
	if (rc == LANCET_NOT_FOUND && err != NULL)
		*err = (struct lancet_error){ 0 };
	*ret_has = rc == LANCET_OK;
	return LANCET_OK;
}

static uint64_t
hash_of(struct slice text, uint64_t hash)
{
	for (size_t i = 0; i < text.size; i++)
		hash = (hash ^ text.data[i]) * HASH_PRIME;
	return hash;
}

/* A branch of old writers has no identifier: every reader makes up the same one. */
static int
make_up_pair(struct json_object *file, const char *name, char ret_id[ID_SIZE + 1],
	struct lancet_error *err)
{
	uint64_t version = 0, created = 0;
	lancet_autofree char *parent = NULL;
	struct buf text = { 0 };
	struct slice bytes;
	int rc;

	TRY(json_get_u64(file, "parentVersion", &version, err));
	TRY(ref_get_u64(file, "createAt", &created, err));
	TRY(ref_get_text(file, "parentBranch", &parent, err));
	buf_printf(&text,
		"branch_name=%s\nparent_branch=%s\nparent_version=%" PRIu64 "\ncreate_at=%" PRIu64,
		name, parent != NULL ? parent : "", version, created);
	rc = buf_check(&text, "identifier", err);
	bytes = buf_slice(&text);
	(void)snprintf(ret_id, ID_SIZE + 1, "%016" PRIx64 "%016" PRIx64, hash_of(bytes, HASH_SEED),
		hash_of(bytes, HASH_SEED ^ HASH_SECOND));
	buf_release(&text);
	return rc;
}

/* Takes the pair. */
static int
add_pair(struct json_object *mapping, uint64_t version, const char *id, struct lancet_error *err)
{
	struct json_object *pair = json_object_new_array();
	int rc = pair != NULL ? LANCET_OK : LANCET_NO_MEMORY;

	if (rc == LANCET_OK)
		rc = json_object_array_add(pair, json_object_new_uint64(version)) == 0 &&
				     json_object_array_add(pair, json_object_new_string(id)) == 0 &&
				     json_object_array_add(mapping, pair) == 0
			     ? LANCET_OK
			     : LANCET_NO_MEMORY;
	if (rc == LANCET_OK)
		return rc;
	json_object_put(pair);
	return lancet_fail(err, rc, "the identifier of a branch");
}

/* Copies one stored pair. */
static int
copy_pair(struct json_object *mapping, struct json_object *pair, struct lancet_error *err)
{
	struct json_object *version, *id;
	int64_t number;

	if (!json_object_is_type(pair, json_type_array) || json_object_array_length(pair) != 2)
		return lancet_fail(err, LANCET_CORRUPT, "\"version_mapping\": not a list of pairs");
	version = json_object_array_get_idx(pair, 0);
	id = json_object_array_get_idx(pair, 1);
	number = json_object_get_int64(version);
	if (!json_object_is_type(version, json_type_int) || number < 0 || number == INT64_MAX ||
		!json_object_is_type(id, json_type_string))
		return lancet_fail(
			err, LANCET_CORRUPT, "\"version_mapping\": not a version and an id");
	return add_pair(mapping, (uint64_t)number, json_object_get_string(id), err);
}

static int
copy_mapping(struct json_object *file, const char *name, struct json_object *mapping,
	struct lancet_error *err)
{
	struct json_object *identifier = NULL, *stored = NULL;
	char id[ID_SIZE + 1];

	if (!json_has(file, "identifier")) {
		TRY(make_up_pair(file, name, id, err));
		return add_pair(mapping, 0, id, err);
	}
	(void)json_object_object_get_ex(file, "identifier", &identifier);
	if (!json_object_is_type(identifier, json_type_object) ||
		!json_object_object_get_ex(identifier, "version_mapping", &stored) ||
		!json_object_is_type(stored, json_type_array) ||
		json_object_array_length(stored) > PAIRS_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "\"identifier\": no \"version_mapping\"");
	for (size_t i = 0; i < json_object_array_length(stored); i++)
		TRY(copy_pair(mapping, json_object_array_get_idx(stored, i), err));
	return LANCET_OK;
}

/* The parent's list; that of main is empty. */
static int
put_parent(struct lancet_dataset *source, struct json_object *mapping, struct lancet_error *err)
{
	lancet_autofree char *key = NULL;
	struct json_object *file = NULL;
	struct stat st;
	int rc;

	if (source->branch[0] == '\0')
		return LANCET_OK;
	TRY(branch_find_file(dataset_root(source), source->branch, &key, err));
	if (key == NULL)
		return lancet_fail(err, LANCET_NOT_FOUND, "no branch \"%s\"", source->branch);
	rc = ref_load(dataset_base(dataset_root(source))->store, key, &file, &st, err);
	if (rc == LANCET_OK)
		rc = copy_mapping(file, source->branch, mapping, err);
	json_free(file);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", key);
}

static void
new_id(char into[ID_SIZE + 1])
{
	uuid_t id;

	uuid_generate_random(id);
	for (size_t i = 0; i < sizeof(id); i++)
		(void)snprintf(into + 2 * i, 3, "%02x", id[i]);
}

/* In the order in which the reference writes them. */
static int
fill_file(struct lancet_dataset *source, uint64_t version, uint64_t manifest_size,
	struct json_object *file, struct lancet_error *err)
{
	const char *parent = source->branch[0] != '\0' ? source->branch : NULL;
	struct json_object *identifier = json_object_new_object();
	struct json_object *mapping = json_object_new_array();
	char id[ID_SIZE + 1];
	int rc = ref_set_text(file, "parentBranch", parent, err);

	if (rc == LANCET_OK)
		rc = ref_set_object(file, "identifier", identifier, err);
	else
		json_object_put(identifier);
	if (rc == LANCET_OK)
		rc = ref_set_object(identifier, "version_mapping", mapping, err);
	else
		json_object_put(mapping);
	TRY(rc);
	new_id(id);
	TRY(put_parent(source, mapping, err));
	TRY(add_pair(mapping, version, id, err));
	TRY(ref_set_u64(file, "parentVersion", version, err));
	TRY(ref_set_u64(file, "createAt", (uint64_t)time(NULL), err));
	TRY(ref_set_u64(file, "manifestSize", manifest_size, err));
	return ref_set_object(file, "metadata", json_object_new_object(), err);
}

int
branch_file_create(struct lancet_dataset *source, const char *name, uint64_t version,
	uint64_t manifest_size, struct lancet_error *err)
{
	lancet_autofree char *key = ref_key_of_name(REFS_BRANCHES, slice_text(name));
	struct json_object *file = json_object_new_object();
	int rc = LANCET_OK;

	if (key == NULL || file == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "branch %s", name);
	if (rc == LANCET_OK)
		rc = fill_file(source, version, manifest_size, file, err);
	if (rc == LANCET_OK)
		rc = ref_create(dataset_base(dataset_root(source))->store, key, file, err);
	json_object_put(file);
	return rc;
}
