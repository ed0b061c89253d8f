/* Reading files of refs: their names, and the JSON in them. See refs.h. */
#include "refs.h"

#include "names.h"
#include "util/json.h"
#include "util/macros.h"

#include <stdio.h>
#include <string.h>

#define SUFFIX      ".json"
#define SUFFIX_SIZE (sizeof(SUFFIX) - 1)
#define STEMS_FIRST 16

static int
add_stem(void *context, const char *name, bool is_dir)
{
	struct ref_stems *stems = context;
	size_t size = strlen(name);

	if (is_dir || size < SUFFIX_SIZE || strcmp(name + size - SUFFIX_SIZE, SUFFIX) != 0)
		return LANCET_OK;
	if (stems->count == stems->capacity) {
		size_t more = stems->count == 0 ? STEMS_FIRST : 2 * stems->count;
		void *grown = reallocarray(stems->stems, more, sizeof(*stems->stems));

		stems->failed = grown == NULL;
		if (stems->failed)
			return LANCET_NO_MEMORY;
		stems->stems = grown;
		stems->capacity = more;
	}
	stems->stems[stems->count] = strndup(name, size - SUFFIX_SIZE);
	stems->failed = stems->stems[stems->count] == NULL;
	if (stems->failed)
		return LANCET_NO_MEMORY;
	stems->count++;
	return LANCET_OK;
}

int
ref_stems_list(struct store *store, const char *directory, struct ref_stems *ret_stems,
               struct lancet_error *err)
{
	struct ref_stems stems = { 0 };
	int rc = store_list(store, directory, add_stem, &stems, err);

	if (stems.failed)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "names in %s", directory);
	if (rc != LANCET_OK && rc != LANCET_NOT_FOUND) {
		ref_stems_release(&stems);
		return rc;
	}
	*ret_stems = stems;
	return LANCET_OK;
}

void
ref_stems_release(struct ref_stems *stems)
{
	for (size_t i = 0; i < stems->count; i++)
		free(stems->stems[i]);
	free(stems->stems);
	*stems = (struct ref_stems){ 0 };
}

char *
ref_stem_name(const char *stem, bool *ret_decoded)
{
	struct buf name = { 0 };
	bool decoded = percent_decode(slice_text(stem), &name);

	if (!decoded)
		buf_put_text(&name, stem);
	buf_put_byte(&name, '\0');
	if (name.failed != LANCET_OK) {
		buf_release(&name);
		return NULL;
	}
	*ret_decoded = decoded;
	return (char *)name.data;
}

char *
ref_key_of_stem(const char *directory, const char *stem)
{
	struct buf key = { 0 };

	buf_printf(&key, "%s/%s" SUFFIX, directory, stem);
	buf_put_byte(&key, '\0');
	if (key.failed != LANCET_OK) {
		buf_release(&key);
		return NULL;
	}
	return (char *)key.data;
}

char *
ref_key_of_name(const char *directory, struct slice name)
{
	struct buf stem = { 0 };
	char *key;

	ref_name_encode(name, &stem);
	buf_put_byte(&stem, '\0');
	key = stem.failed == LANCET_OK ? ref_key_of_stem(directory, (const char *)stem.data) : NULL;
	buf_release(&stem);
	return key;
}

int
ref_load(struct store *store, const char *key, struct json_object **ret_root,
         struct stat *ret_stat, struct lancet_error *err)
{
	lancet_autofree uint8_t *data = NULL;
	struct source *file;
	size_t size;
	int rc;

	TRY(store_open_source(store, key, &file, ret_stat, err));
	if (file->size > JSON_SIZE_MAX) {
		rc = lancet_fail(err, LANCET_LIMIT, "file of more than %u bytes", JSON_SIZE_MAX);
		source_unref(file);
		return rc;
	}
	size = (size_t)file->size;
	rc = source_load(file, 0, size, &data, err);
	source_unref(file);
	if (rc == LANCET_OK)
		rc = json_parse(slice_of(data, size), ret_root, err);
	return rc;
}

int
ref_get_text(struct json_object *root, const char *key, char **ret_text, struct lancet_error *err)
{
	struct slice text;
	char *copy;

	if (!json_has(root, key)) {
		*ret_text = NULL;
		return LANCET_OK;
	}
	TRY(json_get_text(root, key, &text, err));
	if (memchr(text.data, '\0', text.size) != NULL)
		return lancet_fail(err, LANCET_CORRUPT, "\"%s\" holds a NUL byte", key);
	copy = strndup((const char *)text.data, text.size);
	if (copy == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "\"%s\"", key);
	*ret_text = copy;
	return LANCET_OK;
}

int
ref_get_u64(struct json_object *root, const char *key, uint64_t *ret_value,
            struct lancet_error *err)
{
	if (json_has(root, key))
		return json_get_u64(root, key, ret_value, err);
	*ret_value = 0;
	return LANCET_OK;
}

void
ref_keep_error(const struct lancet_error *why, int code, int *ret_code, char *into, size_t size)
{
	*ret_code = code;
	(void)snprintf(into, size, "%s", why->text);
}
