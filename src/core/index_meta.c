/* The index section of a manifest, decoded on first use.
 *
 * An entry is one segment; the segments of an index share its name. What spoils one segment only
 * (its bitmap, its UUID) is found out by who needs that; what makes the reference refuse the
 * section is refused here. The set is built privately and published by compare-and-swap. Format
 * facts: IndexMetadata.
 */
#include "index_set.h"

#include <stdlib.h>

#include "lance/table.pb-c.h"
#include "names.h"
#include "util/pbunpack.h"
#include "util/macros.h"
#include "version.h"

#define SECTION_SIZE_MAX ((uint64_t)256 * 1024 * 1024)
#define SYSTEM_PREFIX    "__lance_"
#define UUID_SIZE        16u
#define UUID_TEXT_SIZE   36u

static struct lancet_bytes
bytes_of(ProtobufCBinaryData data)
{
	return (struct lancet_bytes){ data.data, data.len };
}

static int
compare_ids(const void *left, const void *right)
{
	int32_t a = *(const int32_t *)left;
	int32_t b = *(const int32_t *)right;

	return (a > b) - (a < b);
}

static int
has_duplicates(const int32_t *ids, size_t count, bool *ret_has, struct lancet_error *err)
{
	lancet_autofree int32_t *sorted = calloc(count, sizeof(*sorted));

	if (sorted == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu field ids", count);
	memcpy(sorted, ids, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_ids);
	*ret_has = false;
	for (size_t i = 1; i < count; i++)
		*ret_has = *ret_has || sorted[i] == sorted[i - 1];
	return LANCET_OK;
}

/* Covering fields are the last ones of the fields, not all of them, and none twice. */
static int
check_covering(const Lance__Table__IndexMetadata *message, struct lancet_error *err)
{
	size_t count = message->n_covering_fields;
	bool bad = false;

	if (count == 0)
		return LANCET_OK;
	if (count < message->n_fields)
		TRY(has_duplicates(message->fields, message->n_fields, &bad, err));
	if (bad || count >= message->n_fields ||
	    memcmp(message->covering_fields, message->fields + message->n_fields - count,
	           count * sizeof(int32_t)) != 0)
		return lancet_fail(
			err, LANCET_CORRUPT,
			"index section: index %.*s: covering fields are not a part of its fields",
			(int)(message->name.len < 100 ? message->name.len : 100),
			(const char *)message->name.data);
	return LANCET_OK;
}

static void
fill_uuid(struct lancet_index_segment *info, const Lance__Table__UUID *stored)
{
	static const char digits[] = "0123456789abcdef";
	size_t size = stored == NULL ? 0 : stored->uuid.len;

	info->uuid_valid = size == UUID_SIZE;
	if (info->uuid_valid) {
		memcpy(info->uuid, stored->uuid.data, UUID_SIZE);
		uuid_format(info->uuid, info->uuid_text);
		return;
	}
	for (size_t i = 0; i < size && i < UUID_TEXT_SIZE / 2; i++) {
		info->uuid_text[2 * i] = digits[stored->uuid.data[i] >> 4];
		info->uuid_text[2 * i + 1] = digits[stored->uuid.data[i] & 15];
	}
}

static int
fill_files(struct arena *arena, struct lancet_index_segment *info,
           const Lance__Table__IndexMetadata *message, struct lancet_error *err)
{
	struct lancet_index_file *files;

	if (message->n_files == 0)
		return LANCET_OK;
	files = arena_zalloc(arena, message->n_files, sizeof(*files));
	if (files == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "index section: %zu files",
		                   message->n_files);
	for (size_t i = 0; i < message->n_files; i++)
		files[i] = (struct lancet_index_file){ bytes_of(message->files[i]->path),
			                               message->files[i]->size_bytes };
	info->has_files = true;
	info->files = files;
	info->file_count = message->n_files;
	return LANCET_OK;
}

static int
fill_segment(struct arena *arena, struct index_segment *segment,
             const Lance__Table__IndexMetadata *message, struct lancet_error *err)
{
	struct lancet_index_segment *info = &segment->info;

	TRY(check_covering(message, err));
	segment->message = message;
	fill_uuid(info, message->uuid);
	info->name = bytes_of(message->name);
	if (message->index_details != NULL) {
		info->type_url = bytes_of(message->index_details->type_url);
		info->details = bytes_of(message->index_details->value);
	}
	info->bitmap = bytes_of(message->fragment_bitmap);
	info->fields = message->fields;
	info->field_count = message->n_fields;
	info->dataset_version = message->dataset_version;
	info->has_index_version = message->index_version_presence_case != 0;
	info->index_version = info->has_index_version ? message->index_version : 0;
	info->has_created_at = message->created_at_presence_case != 0;
	info->created_at = info->has_created_at ? message->created_at : 0;
	info->has_base = message->base_id_presence_case != 0;
	info->base_id = info->has_base ? message->base_id : 0;
	return fill_files(arena, info, message, err);
}

static struct slice
name_of(const struct lancet_index_segment *segment)
{
	return slice_of(segment->name.data, segment->name.size);
}

/* By name, then as stored: they lie in one array. */
static int
compare_segments(const void *left, const void *right)
{
	const struct lancet_index_segment *a = *(const struct lancet_index_segment *const *)left;
	const struct lancet_index_segment *b = *(const struct lancet_index_segment *const *)right;
	int order = slice_compare(name_of(a), name_of(b));

	return order != 0 ? order : (a > b) - (a < b);
}

static bool
is_system(struct slice name)
{
	const size_t size = sizeof(SYSTEM_PREFIX) - 1;

	return name.size >= size && memcmp(name.data, SYSTEM_PREFIX, size) == 0;
}

/* Runs of equal names in the sorted list become the indices. */
static void
group(struct index_set *set, const struct lancet_index_segment *const *sorted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct lancet_index *index;

		if (i > 0 && slice_equal(name_of(sorted[i]), name_of(sorted[i - 1]))) {
			set->indices[set->count - 1].segment_count++;
			continue;
		}
		index = &set->indices[set->count++];
		index->name = sorted[i]->name;
		index->is_system = is_system(name_of(sorted[i]));
		index->segments = &sorted[i];
		index->segment_count = 1;
	}
}

static int
fill_set(struct index_set *set, struct slice bytes, struct lancet_error *err)
{
	Lance__Table__IndexSection *section;
	struct index_segment *segments;
	const struct lancet_index_segment **sorted;
	size_t count;

	TRY(pb_unpack(&lance__table__index_section__descriptor, bytes, &set->arena, &section, err));
	count = section->n_indices;
	segments = arena_zalloc(&set->arena, count, sizeof(*segments));
	sorted = arena_zalloc(&set->arena, count, sizeof(*sorted));
	set->indices = arena_zalloc(&set->arena, count, sizeof(*set->indices));
	if (segments == NULL || sorted == NULL || set->indices == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "index section: %zu entries", count);
	for (size_t i = 0; i < count; i++) {
		TRY(fill_segment(&set->arena, &segments[i], section->indices[i], err));
		sorted[i] = &segments[i].info;
	}
	qsort(sorted, count, sizeof(*sorted), compare_segments);
	group(set, sorted, count);
	return LANCET_OK;
}

void
version_indices_free(void *indices)
{
	struct index_set *set = indices;

	if (set == NULL)
		return;
	arena_release(&set->arena);
	free(set);
}

int
index_section_parse(struct slice bytes, struct index_set **ret_set, struct lancet_error *err)
{
	struct index_set *set = calloc(1, sizeof(*set));
	int rc;

	if (set == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "index section");
	rc = fill_set(set, bytes, err);
	if (rc != LANCET_OK) {
		version_indices_free(set);
		return rc;
	}
	*ret_set = set;
	return LANCET_OK;
}

static int
load_set(lancet_version *version, struct index_set **ret_set, struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = NULL;
	size_t size = 0;
	int rc;

	if (version->has_index_section) {
		rc = version_section_load(version, version->index_section, SECTION_SIZE_MAX, &bytes,
		                          &size, err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "index section");
	}
	return index_section_parse(slice_of(bytes, size), ret_set, err);
}

int
lancet_version_indices(lancet_version *version, const struct lancet_index **ret_indices,
                       size_t *ret_count, struct lancet_error *err)
{
	struct index_set *set = atomic_load(&version->indices);
	void *before = NULL;

	if (set == NULL) {
		TRY(load_set(version, &set, err));
		if (!atomic_compare_exchange_strong(&version->indices, &before, set)) {
			version_indices_free(set);
			set = before;
		}
	}
	*ret_indices = set->indices;
	*ret_count = set->count;
	return LANCET_OK;
}
