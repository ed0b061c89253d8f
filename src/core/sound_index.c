/* Index files and row maps that a message names: transaction_sound.h. */
#include "transaction_sound.h"

#include <inttypes.h>
#include <stdlib.h>

#include "index_set.h"
#include "lance/transaction.pb-c.h"
#include "names.h"
#include "reuse.h"
#include "rowmap.h"
#include "touched.h"
#include "util/macros.h"
#include "version.h"

#define UUID_SIZE 16u

static int
check_index_file(const struct sound *sound, struct store *store, const char *directory,
	const Lance__Table__IndexFile *file)
{
	struct lancet_error *err = sound->err;
	struct buf key = { 0 };
	struct stat st;
	int rc = store_key_check(slice_of(file->path.data, file->path.len), err);

	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "%s: path of a file", directory);
	buf_printf(&key, "%s/%.*s", directory, (int)file->path.len, (const char *)file->path.data);
	buf_put_byte(&key, '\0');
	rc = buf_check(&key, "path of an index file", err);
	if (rc == LANCET_OK)
		rc = store_stat(store, (const char *)key.data, &st, err);
	if (rc == LANCET_OK && !S_ISREG(st.st_mode))
		rc = lancet_fail(
			err, LANCET_CORRUPT, "%s: no regular file", (const char *)key.data);
	else if (rc == LANCET_OK && file->size_bytes != (uint64_t)st.st_size)
		rc = lancet_fail(err, LANCET_CORRUPT,
			"%s: %" PRIu64 " bytes are recorded, the file has %" PRIu64,
			(const char *)key.data, file->size_bytes, (uint64_t)st.st_size);
	else if (rc != LANCET_OK)
		rc = lancet_wrap(err, rc, "%s", (const char *)key.data);
	else
		rc = sound_keep(sound, store, (const char *)key.data);
	buf_release(&key);
	return rc;
}

static int
note_name(void *context, const char *name, bool is_dir)
{
	(void)name;
	(void)is_dir;
	*(bool *)context = true;
	return LANCET_OK;
}

/* Without a list of files the directory has to hold one. */
static int
check_directory(struct store *store, const char *directory, struct lancet_error *err)
{
	bool found = false;
	int rc = store_list(store, directory, note_name, &found, err);

	if (rc == LANCET_OK && !found)
		rc = lancet_fail(err, LANCET_NOT_FOUND, "no file in it");
	return lancet_wrap(err, rc, "%s", directory);
}

int
sound_index_files(const struct sound *sound, struct slice uuid, bool has_base, uint32_t base_id,
	Lance__Table__IndexFile *const *files, size_t count)
{
	lancet_autofree char *directory = NULL;
	struct store *store;
	char text[37];

	if (uuid.size != UUID_SIZE)
		return lancet_fail(sound->err, LANCET_CORRUPT, "an index without a UUID");
	uuid_format(uuid.data, text);
	TRY(sound_place(
		sound, "_indices/", slice_text(text), has_base, base_id, &store, &directory));
	if (count == 0)
		return check_directory(store, directory, sound->err);
	for (size_t i = 0; i < count; i++)
		TRY(check_index_file(sound, store, directory, files[i]));
	return LANCET_OK;
}

/* Whether the version that was read names the same row map, of the same size. */
static bool
has_map(lancet_version *version, const struct lancet_transition *wanted)
{
	struct slice id = slice_of(wanted->map_id.data, wanted->map_id.size);
	lancet_reuse *reuse;

	if (lancet_version_reuse(version, &reuse, NULL) != LANCET_OK)
		return false;
	for (size_t i = 0; i < reuse->info.transition_count; i++) {
		const struct lancet_transition *known = &reuse->transitions[i].info;

		if (known->mapping == LANCET_STABLE_PARTITION &&
			slice_equal(slice_of(known->map_id.data, known->map_id.size), id) &&
			known->map_bytes == wanted->map_bytes &&
			known->has_base == wanted->has_base &&
			(!known->has_base || known->base_id == wanted->base_id))
			return true;
	}
	return false;
}

static int
check_map(const struct sound *sound, const struct lancet_transition *transition)
{
	lancet_autofree char *path = NULL;
	const lancet_base *base;
	struct source *source;
	struct rowmap *map;
	struct stat st;
	int rc;

	TRY(lancet_row_map_path(sound->read, transition, &base, &path, sound->err));
	rc = store_open_source(base->store, path, &source, &st, sound->err);
	if (rc == LANCET_OK) {
		rc = rowmap_open(source, transition, &map, sound->err);
		if (rc == LANCET_OK)
			rowmap_free(map);
		source_unref(source);
	}
	if (rc == LANCET_OK)
		rc = sound_keep(sound, base->store, path);
	return lancet_wrap(sound->err, rc, "%s", path);
}

static int
check_history(const struct sound *sound, const struct lancet_reuse *reuse)
{
	for (size_t i = 0; i < reuse->info.transition_count; i++) {
		const struct lancet_transition *transition = &reuse->transitions[i].info;

		if (transition->fault == LANCET_CORRUPT)
			return lancet_fail(
				sound->err, LANCET_CORRUPT, "%s", transition->fault_text);
		if (transition->mapping == LANCET_STABLE_PARTITION &&
			!has_map(sound->read, transition))
			TRY(check_map(sound, transition));
	}
	return LANCET_OK;
}

/* The only entry of a section. */
static int
check_reuse_entry(const struct sound *sound, struct slice section)
{
	const struct lancet_index_segment *segment;
	struct lancet_reuse *reuse = NULL;
	struct reuse_details details;
	struct arena arena = { 0 };
	struct index_set *set;
	int rc;

	TRY(index_section_parse(section, &set, sound->err));
	if (set->count != 1 || set->indices[0].segment_count != 1) {
		version_indices_free(set);
		return lancet_fail(sound->err, LANCET_CORRUPT, "no entry of a reuse history");
	}
	segment = set->indices[0].segments[0];
	rc = reuse_details_load(sound->read, segment, &arena, &details, sound->err);
	if (rc == LANCET_OK)
		rc = reuse_parse(details.content,
			segment->has_index_version ? segment->index_version : 0, &reuse,
			sound->err);
	if (rc == LANCET_OK)
		rc = check_history(sound, reuse);
	version_reuse_free(reuse);
	arena_release(&arena);
	version_indices_free(set);
	return lancet_wrap(sound->err, rc, "%s", REUSE_INDEX_NAME);
}

/* IndexSection { indices #1 } of an encoded entry. */
static int
check_reuse(const struct sound *sound, struct slice entry)
{
	struct buf section = { 0 };
	size_t size = entry.size;
	int rc;

	buf_put_byte(&section, 0x0a);
	for (; size >= 0x80; size >>= 7)
		buf_put_byte(&section, (uint8_t)(size | 0x80));
	buf_put_byte(&section, (uint8_t)size);
	buf_put_slice(&section, entry);
	rc = buf_check(&section, "entry of the reuse history", sound->err);
	if (rc == LANCET_OK)
		rc = check_reuse_entry(sound, buf_slice(&section));
	buf_release(&section);
	return rc;
}

int
transaction_sound_reuse(lancet_version *read, struct lancet_bytes entry, struct lancet_error *err)
{
	struct sound sound = { .read = read, .theirs = true, .err = err };

	return check_reuse(&sound, slice_of(entry.data, entry.size));
}

/* Whether the version has the entry: then only what is said of it is new. */
static int
is_known(const struct sound *sound, struct slice uuid, bool *ret_known)
{
	const struct lancet_index *indices;
	size_t count;

	*ret_known = false;
	TRY(lancet_version_indices(sound->read, &indices, &count, sound->err));
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < indices[i].segment_count; j++) {
			const struct lancet_index_segment *segment = indices[i].segments[j];

			if (segment->uuid_valid &&
				slice_equal(slice_of(segment->uuid, UUID_SIZE), uuid))
				*ret_known = true;
		}
	}
	return LANCET_OK;
}

static int
check_packed(const struct sound *sound, const Lance__Table__IndexMetadata *index)
{
	size_t size = lance__table__index_metadata__get_packed_size(index);
	lancet_autofree uint8_t *bytes = malloc(size + 1);

	if (bytes == NULL)
		return lancet_fail(sound->err, LANCET_NO_MEMORY, "entry of the reuse history");
	return check_reuse(
		sound, slice_of(bytes, lance__table__index_metadata__pack(index, bytes)));
}

int
sound_index(const struct sound *sound, const Lance__Table__IndexMetadata *index)
{
	struct slice name = slice_of(index->name.data, index->name.len);
	struct slice uuid;
	bool known;

	if (index->uuid == NULL || index->uuid->uuid.len != UUID_SIZE)
		return lancet_fail(sound->err, LANCET_CORRUPT, "index \"%.*s\": no UUID",
			name.size < 200 ? (int)name.size : 200, (const char *)name.data);
	uuid = slice_of(index->uuid->uuid.data, UUID_SIZE);
	if (index_is_reuse((struct lancet_bytes){ name.data, name.size }))
		return check_packed(sound, index);
	if (slice_equal(name, slice_text(MEM_WAL_INDEX_NAME)))
		return LANCET_OK; /* it has no files */
	TRY(is_known(sound, uuid, &known));
	if (known)
		return LANCET_OK;
	return sound_index_files(sound, uuid, index->base_id_presence_case != 0, index->base_id,
		index->files, index->n_files);
}
