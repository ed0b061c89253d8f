/* Editing and publishing the JSON of tags and branches; see ref_write.h. */
#include "ref_write.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>
#include <time.h>

#include "publish.h"
#include "util/jsonw.h"
#include "util/macros.h"
#include "util/text.h"

int
ref_set_object(struct json_object *object, const char *key, struct json_object *value,
	struct lancet_error *err)
{
	if (value != NULL && json_object_object_add(object, key, value) == 0)
		return LANCET_OK;
	json_object_put(value);
	return lancet_fail(err, LANCET_NO_MEMORY, "\"%s\"", key);
}

int
ref_set_text(
	struct json_object *object, const char *key, const char *text, struct lancet_error *err)
{
	if (text != NULL)
		return ref_set_object(object, key, json_object_new_string(text), err);
	if (json_object_object_add(object, key, NULL) != 0)
		return lancet_fail(err, LANCET_NO_MEMORY, "\"%s\"", key);
	return LANCET_OK;
}

int
ref_set_u64(struct json_object *object, const char *key, uint64_t value, struct lancet_error *err)
{
	return ref_set_object(object, key, json_object_new_uint64(value), err);
}

static int put_value(
	struct jsonw *w, const char *key, struct json_object *value, struct lancet_error *err);

static int
put_members(struct jsonw *w, const char *key, struct json_object *value, struct lancet_error *err)
{
	struct json_object_iterator at = json_object_iter_begin(value);
	struct json_object_iterator end = json_object_iter_end(value);

	jsonw_object(w, key);
	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
		TRY(put_value(
			w, json_object_iter_peek_name(&at), json_object_iter_peek_value(&at), err));
	jsonw_end(w);
	return LANCET_OK;
}

static int
put_items(struct jsonw *w, const char *key, struct json_object *value, struct lancet_error *err)
{
	jsonw_array(w, key);
	for (size_t i = 0; i < json_object_array_length(value); i++)
		TRY(put_value(w, NULL, json_object_array_get_idx(value, i), err));
	jsonw_end(w);
	return LANCET_OK;
}

/* json-c clamps integers to what 64 bits hold. */
static int
put_integer(struct jsonw *w, const char *key, struct json_object *value, struct lancet_error *err)
{
	int64_t number = json_object_get_int64(value);

	if (number == INT64_MIN || json_object_get_uint64(value) == UINT64_MAX)
		return lancet_fail(err, LANCET_UNSUPPORTED, "%s: a number beyond 64 bits",
			key != NULL ? key : "an array");
	if (number < 0)
		jsonw_i64(w, key, number);
	else
		jsonw_u64(w, key, json_object_get_uint64(value));
	return LANCET_OK;
}

static int
put_value(struct jsonw *w, const char *key, struct json_object *value, struct lancet_error *err)
{
	switch (json_object_get_type(value)) {
	case json_type_null:
		jsonw_null(w, key);
		return LANCET_OK;
	case json_type_boolean:
		jsonw_bool(w, key, json_object_get_boolean(value));
		return LANCET_OK;
	case json_type_double:
		jsonw_double(w, key, json_object_get_double(value));
		return LANCET_OK;
	case json_type_int:
		return put_integer(w, key, value, err);
	case json_type_object:
		return put_members(w, key, value, err);
	case json_type_array:
		return put_items(w, key, value, err);
	case json_type_string:
		jsonw_slice(w, key,
			slice_of(json_object_get_string(value),
				(size_t)json_object_get_string_len(value)));
		return LANCET_OK;
	}
	return lancet_fail(err, LANCET_CORRUPT, "a value of no known kind");
}

int
ref_render(struct json_object *root, struct buf *out, struct lancet_error *err)
{
	struct jsonw w;

	jsonw_init(&w, out);
	TRY(put_value(&w, NULL, root, err));
	return buf_check(out, "a ref", err);
}

int
ref_create(struct store *store, const char *key, struct json_object *root, struct lancet_error *err)
{
	struct buf text = { 0 };
	struct slice bytes;
	int rc = ref_render(root, &text, err);

	bytes = buf_slice(&text);
	if (rc == LANCET_OK)
		rc = publish_file(store, key, &bytes, 1, PUBLISH_NEW, true, err);
	buf_release(&text);
	return rc;
}

bool
ref_is_unchanged(struct store *store, const char *key, const struct stat *seen)
{
	struct stat now;

	return store_stat(store, key, &now, NULL) == LANCET_OK && now.st_dev == seen->st_dev &&
	       now.st_ino == seen->st_ino && now.st_size == seen->st_size &&
	       now.st_mtim.tv_sec == seen->st_mtim.tv_sec &&
	       now.st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
}

/* The file is written and synced first, so that hardly any time is between looking at the old one
 * and taking its place: the format has no way to do both in one step. */
static int
replace(struct publish *publish, const char *key, struct slice bytes, const struct stat *seen,
	struct lancet_error *err)
{
	TRY(publish_add(publish, key, &bytes, 1, PUBLISH_REPLACE, err));
	TRY(publish_sync_all(publish, err));
	if (!ref_is_unchanged(publish->store, key, seen))
		return lancet_fail(err, LANCET_BUSY, "%s: changed by somebody else", key);
	return publish_name_all(publish, err);
}

int
ref_replace(struct store *store, const char *key, struct json_object *root, const struct stat *seen,
	struct lancet_error *err)
{
	struct buf text = { 0 };
	struct publish publish;
	int rc = ref_render(root, &text, err);

	if (rc == LANCET_OK) {
		publish_init(&publish, store, true);
		rc = replace(&publish, key, buf_slice(&text), seen, err);
		publish_release(&publish);
	}
	buf_release(&text);
	return rc;
}

int
ref_remove(struct store *store, const char *key, struct lancet_error *err)
{
	char dir[STORE_KEY_MAX + 1];
	size_t size = store_dir_size(key);
	int rc;

	TRY(store_remove(store, key, err));
	memcpy(dir, key, size);
	dir[size] = '\0';
	rc = store_sync_dir(store, dir, err);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s: is removed, but not durably", key);
}

bool
ref_time(uint64_t later, char into[31])
{
	struct timespec now;

	if (clock_gettime(CLOCK_REALTIME, &now) != 0 || later > INT64_MAX / 2)
		return false;
	return text_timestamp((int64_t)now.tv_sec + (int64_t)later, now.tv_nsec, into);
}
