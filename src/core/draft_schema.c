#include "draft_schema.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "file/field.h"
#include "file/field_logical.h"
#include "file/field_parents.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "util/slice.h"

#define EXTENSION_NAME "ARROW:extension:name"
#define PARENT_NONE    (-1)

typedef Lance__File__Field Field;
typedef Lance__File__StringEntry StringEntry;

static struct slice
bytes_of(ProtobufCBinaryData data)
{
	return slice_of(data.data, data.len);
}

/* Of equal keys the last one counts. */
static const StringEntry *
find_entry(const Field *field, const char *key)
{
	for (size_t i = field->n_metadata; i > 0; i--)
		if (slice_equal(bytes_of(field->metadata[i - 1]->key), slice_text(key)))
			return field->metadata[i - 1];
	return NULL;
}

/* As the reference reads a number of 32 bits: a plus and leading zeros are fine. */
static bool
parse_position(const StringEntry *entry, uint32_t *ret_position)
{
	uint64_t value = 0;
	size_t at, size = entry == NULL ? 0 : entry->value.len;

	at = size > 1 && entry->value.data[0] == '+';
	if (at == size)
		return false;
	for (; at < size; at++) {
		if (entry->value.data[at] < '0' || entry->value.data[at] > '9')
			return false;
		value = value * 10 + (entry->value.data[at] - '0');
		if (value > UINT32_MAX)
			return false;
	}
	*ret_position = (uint32_t)value;
	return true;
}

static bool
is_truthy(const StringEntry *entry)
{
	static const char *const words[] = { "true", "1", "yes", "on", "y" };

	for (size_t i = 0; entry != NULL && i < ARRAY_SIZE(words); i++)
		if (entry->value.len == strlen(words[i]) &&
			strncasecmp((const char *)entry->value.data, words[i], entry->value.len) ==
				0)
			return true;
	return false;
}

void
draft_schema_mirror(Field *field)
{
	const StringEntry *extension = find_entry(field, EXTENSION_NAME);
	uint32_t position = 0;

	field->unenforced_primary_key =
		parse_position(find_entry(field, PRIMARY_KEY_POSITION), &position) ||
		is_truthy(find_entry(field, PRIMARY_KEY));
	field->unenforced_primary_key_position = position;
	position = 0;
	(void)parse_position(find_entry(field, CLUSTERING_KEY_POSITION), &position);
	field->unenforced_clustering_key_position = position;
	field->extension_name = extension == NULL ? (ProtobufCBinaryData){ 0 } : extension->value;
}

bool
field_is_primary_key(const Field *field)
{
	return field->unenforced_primary_key || field->unenforced_primary_key_position > 0;
}

bool
field_is_clustering_key(const Field *field)
{
	return field->unenforced_clustering_key_position > 0;
}

/* A list of fields that is looked at: what is above each of them, and them by id. */
struct listing {
	Field *const *fields;
	size_t count;
	size_t *parents; /* count at the top level */
	size_t *by_id, *by_name;
};

static void
listing_release(struct listing *listing)
{
	free(listing->parents);
	free(listing->by_id);
	free(listing->by_name);
}

static int
check_key_field(const struct listing *listing, size_t at, struct lancet_error *err)
{
	const Field *field = listing->fields[at];

	for (size_t i = 0; i < listing->count; i++)
		if (listing->parents[i] == at)
			return lancet_fail(err, LANCET_INVALID,
				"field %" PRId32 ": a primary key is no field of others",
				field->id);
	for (; at < listing->count; at = listing->parents[at])
		if (listing->fields[at]->nullable)
			return lancet_fail(err, LANCET_INVALID,
				"field %" PRId32 ": a primary key and what it is in can't be null",
				field->id);
	return LANCET_OK;
}

int
draft_schema_check_key(Field *const *fields, size_t count, struct lancet_error *err)
{
	struct listing listing = { .fields = fields, .count = count };
	int rc = field_parents(fields, count, &listing.parents, err);

	for (size_t i = 0; i < count && rc == LANCET_OK; i++)
		if (field_is_primary_key(fields[i]))
			rc = check_key_field(&listing, i, err);
	listing_release(&listing);
	return rc;
}

static int
compare_ids(const void *left, const void *right, void *context)
{
	const struct listing *listing = context;
	const Field *a = listing->fields[*(const size_t *)left];
	const Field *b = listing->fields[*(const size_t *)right];

	return (a->id > b->id) - (a->id < b->id);
}

static int
compare_names(const void *left, const void *right, void *context)
{
	const struct listing *listing = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;

	if (listing->parents[a] != listing->parents[b])
		return listing->parents[a] < listing->parents[b] ? -1 : 1;
	return slice_compare(
		bytes_of(listing->fields[a]->name), bytes_of(listing->fields[b]->name));
}

static int
sort_listing(struct listing *listing, struct lancet_error *err)
{
	listing->by_id = calloc(listing->count + 1, sizeof(*listing->by_id));
	listing->by_name = calloc(listing->count + 1, sizeof(*listing->by_name));
	if (listing->by_id == NULL || listing->by_name == NULL)
		return draft_no_memory(err);
	TRY(field_parents(listing->fields, listing->count, &listing->parents, err));
	for (size_t i = 0; i < listing->count; i++)
		listing->by_id[i] = listing->by_name[i] = i;
	qsort_r(listing->by_id, listing->count, sizeof(*listing->by_id), compare_ids, listing);
	qsort_r(listing->by_name, listing->count, sizeof(*listing->by_name), compare_names,
		listing);
	return LANCET_OK;
}

static int
check_unique(struct listing *listing, struct lancet_error *err)
{
	for (size_t i = 0; i < listing->count; i++) {
		const Field *field = listing->fields[listing->by_id[i]];
		const Field *named = listing->fields[listing->by_name[i]];

		if (field->id < 0)
			return lancet_fail(
				err, LANCET_INVALID, "field id %" PRId32 " is negative", field->id);
		if (i > 0 && listing->fields[listing->by_id[i - 1]]->id == field->id)
			return lancet_fail(
				err, LANCET_INVALID, "two fields have id %" PRId32, field->id);
		if (i > 0 &&
			compare_names(&listing->by_name[i - 1], &listing->by_name[i], listing) == 0)
			return lancet_fail(err, LANCET_INVALID,
				"two fields beside each other are named %.*s",
				FIELD_TEXT(bytes_of(named->name)));
	}
	return LANCET_OK;
}

/* Top-level names that queries take for something else: the reference panics at some of them. */
static bool
is_reserved(struct slice name)
{
	static const char *const reserved[] = { "_rowid", "_rowaddr", "_rowoffset",
		"_row_created_at_version", "_row_last_updated_at_version" };

	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (slice_equal(name, slice_text(reserved[i])))
			return true;
	return name.size == 0 || memchr(name.data, '.', name.size) != NULL ||
	       memchr(name.data, '`', name.size) != NULL;
}

static bool
had_name(const struct draft *draft, struct slice name)
{
	for (size_t i = 0; i < draft->head->n_fields; i++)
		if (draft->head->fields[i]->parent_id == PARENT_NONE &&
			slice_equal(bytes_of(draft->head->fields[i]->name), name))
			return true;
	return false;
}

/* What others have named so can be committed on, and no more is. */
static int
check_names(const struct draft *draft, const struct listing *listing, struct lancet_error *err)
{
	for (size_t i = 0; i < listing->count; i++) {
		struct slice name = bytes_of(listing->fields[i]->name);

		if (listing->parents[i] == listing->count && is_reserved(name) &&
			!had_name(draft, name))
			return lancet_fail(err, LANCET_INVALID,
				"no top-level field can be named \"%.*s\"", FIELD_TEXT(name));
	}
	return LANCET_OK;
}

/* A field that the draft has had all along. */
static bool
is_known(const struct draft *draft, const Field *field)
{
	for (size_t i = 0; i < draft->head->n_fields; i++)
		if (draft->head->fields[i]->id == field->id)
			return slice_equal(bytes_of(draft->head->fields[i]->logical_type),
				bytes_of(field->logical_type));
	return false;
}

/* Types that a later release has made are carried along, and no new one is added. */
static int
check_new_types(
	const struct draft *draft, Field *const *fields, size_t count, struct lancet_error *err)
{
	struct arena scratch = { 0 };
	int rc = LANCET_OK;

	for (size_t i = 0; i < count && rc == LANCET_OK; i++) {
		struct logical_type type;

		if (is_known(draft, fields[i]))
			continue;
		rc = logical_parse(bytes_of(fields[i]->logical_type), &scratch, &type, err);
		rc = rc == LANCET_OK ? rc : lancet_wrap(err, rc, "field %" PRId32, fields[i]->id);
	}
	arena_release(&scratch);
	return rc;
}

static int
check_types(const struct draft *draft, Field *const *fields, size_t count, struct lancet_error *err)
{
	struct lancet_error cause = { 0 };
	struct field_tree tree;
	int rc = field_tree_init(&tree, fields, count, FIELD_BLOB_DESCRIPTIONS, &cause);

	if (rc == LANCET_OK) {
		field_tree_release(&tree);
		return LANCET_OK;
	}
	if (rc == LANCET_UNSUPPORTED)
		return check_new_types(draft, fields, count, err);
	return lancet_fail(err, cause.code, "%s", cause.text);
}

int
draft_schema_check(
	const struct draft *draft, Field *const *fields, size_t count, struct lancet_error *err)
{
	struct listing listing = { .fields = fields, .count = count };
	int rc = sort_listing(&listing, err);

	if (rc == LANCET_OK)
		rc = check_unique(&listing, err);
	if (rc == LANCET_OK)
		rc = check_names(draft, &listing, err);
	listing_release(&listing);
	if (rc == LANCET_OK)
		rc = check_types(draft, fields, count, err);
	if (rc == LANCET_OK)
		rc = draft_schema_check_key(fields, count, err);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "schema");
}

/* A copy whose numbers are those that its metadata says; what they say without it stays. */
static int
copy_field(struct draft *draft, const Field *field, Field **ret_copy, struct lancet_error *err)
{
	Field *copy = draft_copy(draft, field, sizeof(*field));

	if (copy == NULL)
		return draft_no_memory(err);
	draft_schema_mirror(copy);
	if (!field_is_primary_key(copy)) {
		copy->unenforced_primary_key = field->unenforced_primary_key;
		copy->unenforced_primary_key_position = field->unenforced_primary_key_position;
	}
	if (!field_is_clustering_key(copy))
		copy->unenforced_clustering_key_position =
			field->unenforced_clustering_key_position;
	if (copy->extension_name.len == 0)
		copy->extension_name = field->extension_name;
	*ret_copy = copy;
	return LANCET_OK;
}

int
draft_schema_set(struct draft *draft, Field *const *fields, size_t count, struct lancet_error *err)
{
	Field **list = draft_alloc(draft, (count + 1) * sizeof(*list));

	if (list == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < count; i++)
		TRY(copy_field(draft, fields[i], &list[i], err));
	draft->head->fields = list;
	draft->head->n_fields = count;
	draft->changed |= DRAFT_SCHEMA;
	return LANCET_OK;
}

/* Older writers kept the name of an extension beside the metadata only. */
static int
fold_extension(struct draft *draft, Field *field, struct lancet_error *err)
{
	static const char name[] = EXTENSION_NAME;
	StringEntry **list;
	StringEntry *entry;

	if (field->extension_name.len == 0 || find_entry(field, EXTENSION_NAME) != NULL)
		return LANCET_OK;
	list = draft_alloc(draft, (field->n_metadata + 1) * sizeof(*list));
	entry = draft_alloc(draft, sizeof(*entry));
	if (list == NULL || entry == NULL)
		return draft_no_memory(err);
	lance__file__string_entry__init(entry);
	entry->key.len = sizeof(name) - 1;
	entry->key.data = draft_copy(draft, name, sizeof(name));
	entry->value = field->extension_name;
	if (entry->key.data == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < field->n_metadata; i++)
		list[i] = field->metadata[i];
	list[field->n_metadata++] = entry;
	field->metadata = list;
	return LANCET_OK;
}

int
draft_schema_edit(struct draft *draft, int32_t id, Field **ret_field, struct lancet_error *err)
{
	size_t at = 0, count = draft->head->n_fields;

	while (at < count && draft->head->fields[at]->id != id)
		at++;
	*ret_field = NULL;
	if (at == count)
		return LANCET_OK;
	if ((draft->changed & DRAFT_SCHEMA) == 0)
		TRY(draft_schema_set(draft, draft->head->fields, count, err));
	*ret_field = draft->head->fields[at];
	return fold_extension(draft, *ret_field, err);
}
