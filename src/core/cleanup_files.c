/* The files of a dataset's directory that a cleanup may remove, found by their shapes.
 *
 * Whatever has another shape is somebody's own and is never listed: private files of other
 * programs, the version hint, manifests that were set aside. Format facts: directory layout,
 * cleanup.
 */
#include "cleanup.h"

#include <stdlib.h>
#include <string.h>

#include "refs.h"
#include "reuse.h"
#include "util/macros.h"
#include "util/text.h"

#define DEPTH_MAX   8 /* directories below a listed one */
#define FILES_MAX   (UINT32_C(1) << 30)
#define DATA        "data"
#define DATA_SUFFIX ".lance"
#define BLOB_SUFFIX ".blob"
#define TEMPORARY   ".tmp"

/* What is known of a name from the directory it lies in. */
struct shape {
	const char *directory;
	/* Finds the key in the path; false: not of this shape. */
	bool (*match)(const char *path, const char *name, struct cleanup_entry *entry);
	bool deep, root_only;
};

struct walk {
	struct cleanup_files *files;
	struct store *store;
	const struct shape *shape;
	const char *directory;
	unsigned depth;
	struct lancet_error *err;
};

static bool
ends_with(const char *name, const char *end)
{
	size_t size = strlen(name), end_size = strlen(end);

	return size > end_size && strcmp(name + size - end_size, end) == 0;
}

static bool
starts_with(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

/* Sets the key: `size` bytes of the path from `at` on. */
static bool
set_key(struct cleanup_entry *entry, enum cleanup_kind kind, const char *path, const char *at,
	size_t size)
{
	entry->kind = (uint8_t)kind;
	entry->key_at = (uint16_t)(at - path);
	entry->key_size = (uint16_t)size;
	return true;
}

static bool
match_leftover(const char *path, const char *name, struct cleanup_entry *entry)
{
	return starts_with(name, TEMPORARY) && set_key(entry, CLEANUP_LEFTOVER, path, name, 0);
}

/* data/…/STEM.lance, and data/STEM/….blob */
static bool
match_data(const char *path, const char *name, struct cleanup_entry *entry)
{
	const char *below = path + sizeof(DATA);
	const char *slash = strchr(below, '/');

	if (match_leftover(path, name, entry))
		return true;
	if (ends_with(name, DATA_SUFFIX))
		return set_key(entry, CLEANUP_DATA, path, name, strlen(name) - strlen(DATA_SUFFIX));
	return ends_with(name, BLOB_SUFFIX) && slash != NULL && slash + 1 == name &&
	       set_key(entry, CLEANUP_DATA, path, below, (size_t)(slash - below));
}

static bool
match_transaction(const char *path, const char *name, struct cleanup_entry *entry)
{
	return match_leftover(path, name, entry) ||
	       (ends_with(name, ".txn") &&
		       set_key(entry, CLEANUP_TRANSACTION, path, name, strlen(name)));
}

/* FRAGMENT-VERSION-ID.arrow or .bin */
static bool
match_deletion(const char *path, const char *name, struct cleanup_entry *entry)
{
	const char *dot = strchr(name, '.');
	uint64_t number;
	const char *at = name;

	if (match_leftover(path, name, entry))
		return true;
	if (dot == NULL || (strcmp(dot, ".arrow") != 0 && strcmp(dot, ".bin") != 0))
		return false;
	for (int i = 0; i < 3; i++) {
		const char *end = i < 2 ? strchr(at, '-') : dot;

		if (end == NULL || end > dot ||
			!text_to_u64(slice_of(at, (size_t)(end - at)), &number))
			return false;
		at = end + 1;
	}
	return set_key(entry, CLEANUP_DELETION, path, name, strlen(name));
}

/* Anything in a directory that is named by a UUID. */
static bool
match_below_id(
	const char *path, const char *top, enum cleanup_kind kind, struct cleanup_entry *entry)
{
	const char *id = path + strlen(top) + 1;
	const char *slash = strchr(id, '/');
	struct lancet_bytes bytes;

	if (slash == NULL)
		return false;
	bytes = (struct lancet_bytes){ (const uint8_t *)id, (size_t)(slash - id) };
	return reuse_map_id_is_valid(bytes) && set_key(entry, kind, path, id, bytes.size);
}

static bool
match_index(const char *path, const char *name, struct cleanup_entry *entry)
{
	(void)name;
	return match_below_id(path, "_indices", CLEANUP_INDEX, entry);
}

static bool
match_row_map(const char *path, const char *name, struct cleanup_entry *entry)
{
	(void)name;
	return match_below_id(path, "_fri", CLEANUP_ROW_MAP, entry);
}

static const struct shape shapes[] = {
	{ DATA, match_data, true, false },
	{ VERSIONS_DIR, match_leftover, false, false },
	{ "_transactions", match_transaction, false, false },
	{ "_deletions", match_deletion, false, false },
	{ "_indices", match_index, true, false },
	{ "_fri", match_row_map, true, false },
	{ REFS_TAGS, match_leftover, false, true },
	{ REFS_BRANCHES, match_leftover, false, true },
};

static int
reserve(struct cleanup_files *files, struct lancet_error *err)
{
	size_t more = files->count == 0 ? 256 : 2 * files->count;
	void *grown;

	if (files->count < files->capacity)
		return LANCET_OK;
	if (files->count >= FILES_MAX)
		return lancet_fail(err, LANCET_LIMIT, "more than %u files", FILES_MAX);
	grown = reallocarray(files->entries, more, sizeof(*files->entries));
	if (grown == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu files", more);
	files->entries = grown;
	files->capacity = more;
	return LANCET_OK;
}

/* One that is gone again, or is no regular file, is left alone. */
static int
add_file(const struct walk *walk, const char *path, struct cleanup_entry entry)
{
	struct cleanup_files *files = walk->files;
	struct stat st;
	int rc = store_stat(walk->store, path, &st, walk->err);

	if (rc == LANCET_NOT_FOUND || rc == LANCET_CORRUPT)
		return cleanup_forgive(walk->err);
	TRY(rc);
	if (!S_ISREG(st.st_mode))
		return LANCET_OK;
	TRY(reserve(files, walk->err));
	entry.bytes = (uint64_t)st.st_size;
	entry.changed = st.st_mtim.tv_sec;
	entry.path = arena_copy(&files->arena, path, strlen(path) + 1);
	if (entry.path == NULL)
		return lancet_fail(walk->err, LANCET_NO_MEMORY, "%zu files", files->count);
	files->has_row_maps |= entry.kind == CLEANUP_ROW_MAP;
	files->entries[files->count++] = entry;
	return LANCET_OK;
}

static int list_directory(struct walk *walk);

static int
add_name(void *context, const char *name, bool is_dir)
{
	struct walk *walk = context;
	char path[STORE_KEY_MAX + 1];
	struct cleanup_entry entry = { 0 };
	size_t size = strlen(walk->directory);

	if (size + strlen(name) + 1 > STORE_KEY_MAX)
		return LANCET_OK;
	memcpy(path, walk->directory, size);
	path[size] = '/';
	memcpy(path + size + 1, name, strlen(name) + 1);
	if (is_dir) {
		struct walk inner = *walk;

		inner.directory = path;
		inner.depth++;
		return walk->shape->deep && inner.depth <= DEPTH_MAX ? list_directory(&inner)
								     : LANCET_OK;
	}
	return walk->shape->match(path, path + size + 1, &entry) ? add_file(walk, path, entry)
								 : LANCET_OK;
}

static int
list_directory(struct walk *walk)
{
	int rc = store_list(walk->store, walk->directory, add_name, walk, walk->err);

	return rc == LANCET_NOT_FOUND ? cleanup_forgive(walk->err) : rc;
}

static struct slice
key_of(const struct cleanup_entry *entry)
{
	return slice_of(entry->path + entry->key_at, entry->key_size);
}

static size_t
bucket_of(const struct cleanup_files *files, enum cleanup_kind kind, struct slice key)
{
	return text_hash(TEXT_HASH_SEED + kind, key) & (files->bucket_count - 1);
}

static int
fill_buckets(struct cleanup_files *files, struct lancet_error *err)
{
	files->bucket_count = 16;
	while (files->bucket_count < files->count)
		files->bucket_count *= 2;
	files->buckets = calloc(files->bucket_count, sizeof(*files->buckets));
	if (files->buckets == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu files", files->count);
	for (size_t i = 0; i < files->count; i++) {
		struct cleanup_entry *entry = &files->entries[i];
		uint32_t *bucket = &files->buckets[bucket_of(files, entry->kind, key_of(entry))];

		entry->next = *bucket;
		*bucket = (uint32_t)i + 1;
	}
	return LANCET_OK;
}

int
cleanup_files_list(
	struct cleanup_files *files, struct lancet_dataset *dataset, struct lancet_error *err)
{
	struct walk walk = { .files = files, .store = dataset_base(dataset)->store, .err = err };

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		if (shapes[i].root_only && dataset != dataset_root(dataset))
			continue;
		walk.shape = &shapes[i];
		walk.directory = shapes[i].directory;
		TRY(list_directory(&walk));
	}
	return fill_buckets(files, err);
}

void
cleanup_files_release(struct cleanup_files *files)
{
	arena_release(&files->arena);
	free(files->entries);
	free(files->buckets);
	*files = (struct cleanup_files){ 0 };
}

/* The next entry of a bucket with this key, from `*at` on; NULL at the end. */
static struct cleanup_entry *
next_match(struct cleanup_files *files, enum cleanup_kind kind, struct slice key, uint32_t *at)
{
	while (*at != 0) {
		struct cleanup_entry *entry = &files->entries[*at - 1];

		*at = entry->next;
		if (entry->kind == kind && slice_equal(key_of(entry), key))
			return entry;
	}
	return NULL;
}

void
cleanup_files_keep(struct cleanup_files *files, enum cleanup_kind kind, struct slice key)
{
	uint32_t at = files->buckets[bucket_of(files, kind, key)];
	struct cleanup_entry *entry;

	while ((entry = next_match(files, kind, key, &at)) != NULL)
		entry->kept = true;
}

/* A data file by its path, a sidecar by the path of its data file. */
static bool
is_of_path(const struct cleanup_entry *entry, struct slice path)
{
	const char *below = entry->path + sizeof(DATA);
	size_t key_end = (size_t)(entry->key_at - sizeof(DATA)) + entry->key_size;

	return path.size == key_end + strlen(DATA_SUFFIX) &&
	       memcmp(path.data, below, key_end) == 0 &&
	       memcmp(path.data + key_end, DATA_SUFFIX, strlen(DATA_SUFFIX)) == 0;
}

void
cleanup_files_name(struct cleanup_files *files, enum cleanup_kind kind, struct slice key,
	struct slice path, uint32_t place)
{
	uint32_t at = files->buckets[bucket_of(files, kind, key)];
	struct cleanup_entry *entry;

	while ((entry = next_match(files, kind, key, &at)) != NULL)
		if ((kind != CLEANUP_DATA || is_of_path(entry, path)) && entry->last < place + 1)
			entry->last = place + 1;
}
