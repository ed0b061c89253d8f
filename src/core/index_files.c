/* The files of an index segment: those its entry lists, else what its directory holds.
 *
 * A fragment reuse index lists none, but says itself when its details are a file. All paths are
 * checked before they are given away. Format facts: IndexMetadata, base paths, fragment reuse
 * index.
 */
#include <lancet/index.h>

#include <stdlib.h>

#include "index_set.h"
#include "lance/table.pb-c.h"
#include "pbjson_fields.h"
#include "util/pbunpack.h"
#include "util/buf.h"
#include "util/macros.h"
#include "version.h"

#define FILES_MAX 65536u

struct found {
	char *path;
	bool is_dir;
};

struct finding {
	struct found *items;
	size_t count, capacity;
	const char *directory; /* of the names that the store lists */
	struct lancet_error *err;
};

static int
add(struct finding *finding, const char *directory, struct slice name, bool is_dir)
{
	struct lancet_error *err = finding->err;
	size_t front = strlen(directory);
	struct found *items = finding->items;
	char *path;

	if (finding->count == FILES_MAX)
		return lancet_fail(err, LANCET_LIMIT, "%s: more than %u files", directory,
		                   FILES_MAX);
	if (finding->count == finding->capacity) {
		size_t capacity = finding->capacity == 0 ? 16 : finding->capacity * 2;

		items = realloc(items, capacity * sizeof(*items));
		if (items == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "%s: file names", directory);
		finding->items = items;
		finding->capacity = capacity;
	}
	path = malloc(front + 1 + name.size + 1);
	if (path == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: file names", directory);
	memcpy(path, directory, front);
	path[front] = '/';
	memcpy(path + front + 1, name.data, name.size);
	path[front + 1 + name.size] = '\0';
	items[finding->count++] = (struct found){ path, is_dir };
	return LANCET_OK;
}

/* A name from the entry itself: anything may stand there. */
static int
add_stored(struct finding *finding, const char *directory, struct lancet_bytes name)
{
	int rc = store_key_check(slice_of(name.data, name.size), finding->err);

	if (rc != LANCET_OK)
		return lancet_wrap(finding->err, rc, "%s: file", directory);
	return add(finding, directory, slice_of(name.data, name.size), false);
}

static int
add_listed(void *context, const char *name, bool is_dir)
{
	struct finding *finding = context;

	return add(finding, finding->directory, slice_text(name), is_dir);
}

/* Files at any depth. Directories are appended like files, and listed when the walk comes to them.
 */
static int
list_directory(struct finding *finding, struct store *store, const char *directory)
{
	int rc;

	finding->directory = directory;
	rc = store_list(store, directory, add_listed, finding, finding->err);
	if (rc == LANCET_NOT_FOUND) /* an index that lives in its entry alone */
		return LANCET_OK;
	for (size_t i = 0; rc == LANCET_OK && i < finding->count; i++) {
		if (!finding->items[i].is_dir)
			continue;
		finding->directory = finding->items[i].path;
		rc = store_list(store, finding->directory, add_listed, finding, finding->err);
	}
	return rc;
}

/* Details that can't be decoded name no file: whoever reads them reports that. */
static int
add_details(struct finding *finding, const char *directory,
            const struct lancet_index_segment *segment)
{
	const ProtobufCMessageDescriptor *type =
		&lance__table__fragment_reuse_index_details__descriptor;
	Lance__Table__FragmentReuseIndexDetails *details;
	struct arena arena = { 0 };
	int rc = LANCET_OK;

	if (pbjson_any_type(slice_of(segment->type_url.data, segment->type_url.size)) != type)
		return LANCET_OK;
	if (pb_unpack(type, slice_of(segment->details.data, segment->details.size), &arena,
	              &details, NULL) == LANCET_OK &&
	    details->content_case == LANCE__TABLE__FRAGMENT_REUSE_INDEX_DETAILS__CONTENT_EXTERNAL) {
		ProtobufCBinaryData path = details->external->path;

		rc = add_stored(finding, directory, (struct lancet_bytes){ path.data, path.len });
	}
	arena_release(&arena);
	return rc;
}

static int
find(struct finding *finding, struct store *store, const char *directory,
     const struct lancet_index_segment *segment)
{
	for (size_t i = 0; i < segment->file_count; i++)
		TRY(add_stored(finding, directory, segment->files[i].path));
	if (!segment->has_files)
		TRY(list_directory(finding, store, directory));
	return add_details(finding, directory, segment);
}

static int
compare_found(const void *left, const void *right)
{
	const struct found *a = left;
	const struct found *b = right;

	return strcmp(a->path, b->path);
}

/* Sorted, each once, in one block: the pointers, then the texts. */
static int
pack(struct finding *finding, char ***ret_paths, size_t *ret_count)
{
	size_t size = sizeof(char *), count = 0;
	char **paths;
	char *text;

	if (finding->count > 1)
		qsort(finding->items, finding->count, sizeof(finding->items[0]), compare_found);
	for (size_t i = 0; i < finding->count; i++)
		size += sizeof(char *) + strlen(finding->items[i].path) + 1;
	paths = malloc(size);
	if (paths == NULL)
		return lancet_fail(finding->err, LANCET_NO_MEMORY, "%zu file names",
		                   finding->count);
	text = (char *)(paths + finding->count + 1);
	for (size_t i = 0; i < finding->count; i++) {
		const struct found *found = &finding->items[i];
		size_t length = strlen(found->path);

		if (found->is_dir || (count > 0 && strcmp(paths[count - 1], found->path) == 0))
			continue;
		memcpy(text, found->path, length + 1);
		paths[count++] = text;
		text += length + 1;
	}
	*ret_paths = paths;
	*ret_count = count;
	return LANCET_OK;
}

/* Below a base that is no dataset, index directories lie right in it. */
void
index_directory_put(struct buf *into, const lancet_version *version,
                    const struct lancet_index_segment *segment)
{
	const struct lancet_base_path *path =
		segment->has_base ? version_base_path(version, segment->base_id) : NULL;

	if (path == NULL || path->is_dataset_root)
		buf_put_text(into, "_indices/");
	buf_put_text(into, segment->uuid_text);
}

int
lancet_index_segment_files(lancet_version *version, const struct lancet_index_segment *segment,
                           const lancet_base **ret_base, char ***ret_paths, size_t *ret_count,
                           struct lancet_error *err)
{
	struct finding finding = { .err = err };
	struct buf directory = { 0 };
	const lancet_base *base;
	int rc;

	if (!segment->uuid_valid)
		return lancet_fail(err, LANCET_CORRUPT, "index segment: \"%s\" is no UUID",
		                   segment->uuid_text);
	TRY(lancet_version_base(version, segment->has_base, segment->base_id, &base, err));
	index_directory_put(&directory, version, segment);
	buf_put_byte(&directory, '\0');
	rc = buf_check(&directory, "index directory", err);
	if (rc == LANCET_OK)
		rc = find(&finding, base->store, (const char *)directory.data, segment);
	if (rc == LANCET_OK)
		rc = pack(&finding, ret_paths, ret_count);
	if (rc == LANCET_OK)
		*ret_base = base;
	for (size_t i = 0; i < finding.count; i++)
		free(finding.items[i].path);
	free(finding.items);
	buf_release(&directory);
	return rc;
}
