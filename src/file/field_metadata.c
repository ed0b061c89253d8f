/* Metadata of fields; see field_metadata.h. Format facts: FileDescriptor, per-type rules, blobs. */
#include "field_metadata.h"

#include <stdlib.h>
#include <strings.h>

#include "lance/file.pb-c.h"
#include "util/macros.h"

#define KEY_EXTENSION "ARROW:extension:name"
#define KEY_DETAILS   "ARROW:extension:metadata"
#define KEY_BLOB      "lance-encoding:blob"
#define KEY_PACKED    "lance-encoding:packed"
#define KEY_PACKED_V0 "packed" /* of 2.0; its value matters */
#define BLOB_V2       "lance.blob.v2"
#define BFLOAT16      "lance.bfloat16"

struct ranked {
	struct field_entry entry;
	size_t order; /* as stored */
};

static struct slice
text_of(ProtobufCBinaryData text)
{
	return slice_of(text.data, text.len);
}

static bool
is_text(struct slice text, const char *wanted)
{
	return slice_equal(text, slice_text(wanted));
}

bool
field_metadata_is_blob_v2(const struct Lance__File__Field *stored)
{
	bool is_flagged = false;
	struct slice extension = text_of(stored->extension_name);

	for (size_t i = 0; i < stored->n_metadata; i++) {
		struct slice key = text_of(stored->metadata[i]->key);

		is_flagged = is_flagged || is_text(key, KEY_BLOB);
		if (is_text(key, KEY_EXTENSION) && stored->extension_name.len == 0)
			extension = text_of(stored->metadata[i]->value);
	}
	return is_text(text_of(stored->logical_type), "struct") &&
	       (is_flagged || is_text(extension, BLOB_V2));
}

static int
compare(const void *left, const void *right)
{
	const struct ranked *a = left;
	const struct ranked *b = right;
	int order = slice_compare(a->entry.key, b->entry.key);

	return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

/* The entries in the order of their keys, each key once; returns how many remain. */
static size_t
sort_entries(struct ranked *entries, size_t count)
{
	size_t kept = 0;

	qsort(entries, count, sizeof(*entries), compare);
	for (size_t i = 0; i < count; i++) {
		if (i + 1 < count && slice_equal(entries[i].entry.key, entries[i + 1].entry.key))
			continue;
		entries[kept++] = entries[i];
	}
	return kept;
}

static bool
copy_slice(struct arena *arena, struct slice *text)
{
	const uint8_t *copy = arena_copy(arena, text->data, text->size);

	*text = slice_of(copy, text->size);
	return copy != NULL;
}

static int
keep_entries(struct field *field, const struct ranked *entries, size_t count, struct arena *arena,
	struct lancet_error *err)
{
	struct field_entry *kept = arena_zalloc(arena, count, sizeof(*kept));

	if (kept == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "metadata of a field");
	for (size_t i = 0; i < count; i++) {
		kept[i] = entries[i].entry;
		if (!copy_slice(arena, &kept[i].key) || !copy_slice(arena, &kept[i].value))
			return lancet_fail(err, LANCET_NO_MEMORY, "metadata of a field");
	}
	field->metadata = kept;
	field->metadata_count = count;
	return LANCET_OK;
}

int
field_metadata_fill(struct field *field, const struct Lance__File__Field *stored,
	struct arena *arena, struct lancet_error *err)
{
	size_t count = stored->n_metadata;
	lancet_autofree struct ranked *entries = NULL;

	if (count == 0 && stored->extension_name.len == 0)
		return LANCET_OK;
	entries = calloc(count + 1, sizeof(*entries));
	if (entries == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "metadata of a field");
	for (size_t i = 0; i < count; i++) {
		entries[i].entry.key = text_of(stored->metadata[i]->key);
		entries[i].entry.value = text_of(stored->metadata[i]->value);
		entries[i].order = i;
	}
	if (stored->extension_name.len > 0) {
		entries[count].entry.key = slice_text(KEY_EXTENSION);
		entries[count].entry.value = text_of(stored->extension_name);
		entries[count].order = count;
		count++;
	}
	count = sort_entries(entries, count);
	return keep_entries(field, entries, count, arena, err);
}

static const struct field_entry *
find_entry(const struct field *field, const char *key)
{
	for (size_t i = 0; i < field->metadata_count; i++) {
		if (is_text(field->metadata[i].key, key))
			return &field->metadata[i];
	}
	return NULL;
}

static bool
is_true(struct slice value)
{
	static const char *const words[] = { "true", "1", "yes", "on" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (value.size == strlen(words[i]) &&
			strncasecmp((const char *)value.data, words[i], value.size) == 0)
			return true;
	}
	return false;
}

int
field_metadata_flags(struct field *field, struct lancet_error *err)
{
	const struct field_entry *extension = find_entry(field, KEY_EXTENSION);
	const struct field_entry *packed = find_entry(field, KEY_PACKED_V0);
	bool is_v2 = extension != NULL && is_text(extension->value, BLOB_V2);

	if (is_v2 || find_entry(field, KEY_BLOB) != NULL) {
		if (field->kind == FIELD_STRUCT)
			field->blob = FIELD_BLOB_V2;
		else if (field->kind == FIELD_VARIABLE && !is_v2)
			field->blob = FIELD_BLOB_V1;
		else
			return lancet_fail(err, LANCET_UNSUPPORTED, "blobs of type %.*s",
				FIELD_TEXT(field->logical_type));
		return LANCET_OK;
	}
	field->packed =
		field->kind == FIELD_STRUCT && (find_entry(field, KEY_PACKED) != NULL ||
						       (packed != NULL && is_true(packed->value)));
	return LANCET_OK;
}

int
field_metadata_blob_v2(struct field *field, struct arena *arena, struct lancet_error *err)
{
	const struct ranked entries[] = {
		{ { slice_text(KEY_BLOB), slice_text("true") }, 0 },
		{ { slice_text(KEY_PACKED), slice_text("true") }, 1 },
	};

	return keep_entries(field, entries, ARRAY_SIZE(entries), arena, err);
}

int
field_metadata_bfloat16(struct field *field, struct arena *arena, struct lancet_error *err)
{
	const struct ranked entries[] = {
		{ { slice_text(KEY_DETAILS), slice_text("") }, 0 },
		{ { slice_text(KEY_EXTENSION), slice_text(BFLOAT16) }, 1 },
	};

	return keep_entries(field, entries, ARRAY_SIZE(entries), arena, err);
}
