/* Open files and what they read from: a text, computed records, raw bytes or a backing descriptor.
 *
 * An open file holds counted, immutable things only; reading takes no lock and asks the tree
 * nothing.
 */
#include "place.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/macros.h"

struct tree_file {
	struct tree *tree;
	const struct node_kind *kind;
	struct tree_opened opened;
	bool immutable;
	int fd; /* SHAPE_PASS, and that of a handle, else -1 */
	uint64_t size;
	struct text *text; /* SHAPE_TEXT; SHAPE_RECORDS without a width: the index */
	struct records records;
	struct raw_bytes raw;
	struct node_handle handle; /* SHAPE_HANDLE */
};

/* Renders, whole and once; immutable texts are kept. */
static int
render(const struct place *place, uint64_t node, struct text **ret_text, struct lancet_error *err)
{
	struct buf bytes = { .limit = RENDERED_SIZE_MAX };
	const struct node_kind *kind = place->ref.kind;
	struct text_key key;
	struct text *text;
	int rc = kind->render(&place->ref, &bytes, err);

	if (rc == LANCET_OK)
		rc = buf_check(&bytes, kind->name != NULL ? kind->name : "text", err);
	text = rc == LANCET_OK ? text_new(&bytes) : NULL;
	if (rc == LANCET_OK && text == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "out of memory");
	buf_release(&bytes);
	if (rc != LANCET_OK)
		return rc;
	if (place_key(place, node, &key)) {
		textcache_put(place->ref.tree->texts, key, text);
		textcache_remember(place->ref.tree->texts, key, text->size);
	}
	*ret_text = text;
	return LANCET_OK;
}

int
place_text(
	const struct place *place, uint64_t node, struct text **ret_text, struct lancet_error *err)
{
	struct text *text = NULL;
	struct text_key key;

	if (place_key(place, node, &key))
		text = textcache_get(place->ref.tree->texts, key);
	if (text == NULL)
		return render(place, node, ret_text, err);
	*ret_text = text;
	return LANCET_OK;
}

/* The index of records that vary, from the cache when it is there. */
static int
index_of(const struct place *place, uint64_t node, const struct records *records,
	struct text **ret_index, struct lancet_error *err)
{
	struct textcache *texts = place->ref.tree->texts;
	struct text_key key;
	bool keep = place_key(place, node, &key);

	*ret_index = keep ? textcache_get(texts, key) : NULL;
	if (*ret_index != NULL)
		return LANCET_OK;
	TRY(records_index(records, ret_index, err));
	if (keep)
		textcache_put(texts, key, *ret_index);
	return LANCET_OK;
}

/* Records, their size, and the index when they vary. */
static int
open_records(const struct place *place, uint64_t node, struct records *ret_records,
	struct text **ret_index, uint64_t *ret_size, struct lancet_error *err)
{
	struct records records = { 0 };
	struct text *index = NULL;
	int rc;

	TRY(place->ref.kind->records(&place->ref, &records, err));
	rc = buf_check(&records.header, place->ref.kind->name, err);
	if (rc == LANCET_OK && records.width == 0)
		rc = index_of(place, node, &records, &index, err);
	if (rc == LANCET_OK && records.width == 0)
		*ret_size = records_index_size(index);
	else if (rc == LANCET_OK)
		*ret_size = records.header.size + records.count * records.width;
	if (rc != LANCET_OK) {
		records_release(&records);
		return rc;
	}
	*ret_records = records;
	*ret_index = index;
	return LANCET_OK;
}

static int
records_size(const struct place *place, uint64_t node, uint64_t *ret_size, struct lancet_error *err)
{
	struct records records = { 0 };
	struct text *index = NULL;

	TRY(open_records(place, node, &records, &index, ret_size, err));
	records_release(&records);
	text_unref(index);
	return LANCET_OK;
}

static int
raw_size(const struct place *place, uint64_t *ret_size, struct lancet_error *err)
{
	struct raw_bytes raw = { 0 };

	TRY(place->ref.kind->raw(&place->ref, &raw, err));
	*ret_size = raw.size;
	if (raw.release != NULL)
		raw.release(&raw);
	return LANCET_OK;
}

static int
text_size(const struct place *place, uint64_t node, uint64_t *ret_size, struct lancet_error *err)
{
	struct text *text = NULL;

	TRY(place_text(place, node, &text, err));
	*ret_size = text->size;
	text_unref(text);
	return LANCET_OK;
}

static int
link_size(const struct place *place, uint64_t *ret_size, struct lancet_error *err)
{
	struct buf target = { 0 };
	int rc = place->ref.kind->link(&place->ref, &target, err);

	if (rc == LANCET_OK)
		rc = buf_check(&target, "link", err);
	if (rc == LANCET_OK)
		*ret_size = target.size;
	buf_release(&target);
	return rc;
}

int
place_size(const struct place *place, uint64_t node, uint64_t *ret_size, struct lancet_error *err)
{
	const struct node_kind *kind = place->ref.kind;
	struct textcache *texts = place->ref.tree->texts;
	struct text_key key;
	uint64_t size = 0;
	bool keep;
	int rc;

	if (kind->computed) {
		*ret_size = 0;
		return LANCET_OK;
	}
	if (kind->measure != NULL) {
		TRY(kind->measure(&place->ref, &size, err));
		*ret_size = size == UINT64_MAX ? 0 : size;
		return LANCET_OK;
	}
	keep = place_key(place, node, &key);
	if (keep && textcache_size(texts, key, ret_size))
		return LANCET_OK;
	switch (kind->shape) {
	case SHAPE_TEXT:
		rc = text_size(place, node, &size, err);
		break;
	case SHAPE_RECORDS:
		rc = records_size(place, node, &size, err);
		break;
	case SHAPE_RAW:
		rc = raw_size(place, &size, err);
		break;
	case SHAPE_LINK:
		rc = link_size(place, &size, err);
		break;
	default:
		rc = LANCET_OK; /* a file that can't be reached has no size of its own */
	}
	if (rc != LANCET_OK)
		return rc;
	if (keep)
		textcache_remember(texts, key, size);
	*ret_size = size;
	return LANCET_OK;
}

static int
open_pass(const struct place *place, struct tree_file *file, struct lancet_error *err)
{
	struct node_file backing = { 0 };
	struct stat st;
	int rc;

	TRY(place_file(place, &backing, err));
	rc = lancet_base_open(backing.base, backing.path, &file->fd, &st, err);
	if (rc == LANCET_OK)
		file->size = (uint64_t)st.st_size;
	/* Its name comes from a manifest: that it is gone is the storage's fault. */
	if (rc == LANCET_NOT_FOUND)
		rc = fail_errno(err, EIO, "the file is gone");
	free(backing.path);
	return rc;
}

static int
open_handle(const struct place *place, bool to_write, struct tree_file *file,
	struct lancet_error *err)
{
	file->handle.fd = -1;
	TRY(place->ref.kind->open(&place->ref, to_write, &file->handle, err));
	file->fd = file->handle.fd;
	return LANCET_OK;
}

static int
open_place(const struct place *place, bool to_write, struct tree_file *file,
	struct lancet_error *err)
{
	uint64_t node = 0;

	if (to_write && place->ref.kind->shape != SHAPE_HANDLE)
		return fail_errno(err, kind_is_control(place->ref.kind->id) ? EPERM : EROFS,
			"can't be written");

	TRY(place_node(place, &node, err));
	switch (place->ref.kind->shape) {
	case SHAPE_DIR:
		return fail_errno(err, EISDIR, "is a directory");
	case SHAPE_LINK:
		return fail_errno(err, ELOOP, "is a symbolic link");
	case SHAPE_TEXT:
		TRY(place_text(place, node, &file->text, err));
		file->size = file->text->size;
		return LANCET_OK;
	case SHAPE_RECORDS:
		return open_records(place, node, &file->records, &file->text, &file->size, err);
	case SHAPE_RAW:
		TRY(place->ref.kind->raw(&place->ref, &file->raw, err));
		file->size = file->raw.size;
		return LANCET_OK;
	case SHAPE_PASS:
		return open_pass(place, file, err);
	case SHAPE_HANDLE:
		return open_handle(place, to_write, file, err);
	}
	return fail_errno(err, EIO, "no such shape");
}

int
place_open(const struct place *place, bool to_write, struct tree_file **ret_file,
	struct lancet_error *err)
{
	struct tree_file *file = calloc(1, sizeof(*file));
	int rc;

	if (file == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "out of memory");
	file->tree = place->ref.tree;
	file->fd = -1;
	file->kind = place->ref.kind;
	file->immutable = place_is_immutable(place);
	rc = open_place(place, to_write, file, err);
	if (rc != LANCET_OK) {
		free(file);
		return rc;
	}
	tree_note_open(file->tree, place, &file->opened);
	*ret_file = file;
	return LANCET_OK;
}

static int
open_node(struct tree *tree, uint64_t node, bool to_write, struct tree_file **ret_file,
	struct lancet_error *err)
{
	struct place place;
	int rc;

	TRY(place_resolve(tree, node, &place, err));
	rc = place_open(&place, to_write, ret_file, err);
	place_release(&place);
	return rc;
}

int
tree_open(struct tree *tree, uint64_t node, struct tree_file **ret_file, struct lancet_error *err)
{
	return open_node(tree, node, false, ret_file, err);
}

int
tree_open_to_write(
	struct tree *tree, uint64_t node, struct tree_file **ret_file, struct lancet_error *err)
{
	return open_node(tree, node, true, ret_file, err);
}

struct tree_file *
tree_file_of_handle(const struct place *place, const struct node_handle *handle)
{
	struct tree_file *file = calloc(1, sizeof(*file));

	if (file != NULL) {
		file->tree = place->ref.tree;
		file->kind = place->ref.kind;
		file->handle = *handle;
		file->fd = handle->fd;
	}
	return file;
}

const struct node_handle *
tree_file_handle(const struct tree_file *file)
{
	return file->kind->shape == SHAPE_HANDLE ? &file->handle : NULL;
}

int
tree_file_fd(const struct tree_file *file)
{
	return file->fd;
}

uint64_t
tree_file_size(const struct tree_file *file)
{
	return file->size;
}

bool
tree_file_is_immutable(const struct tree_file *file)
{
	return file->immutable;
}

bool
tree_file_is_computed(const struct tree_file *file)
{
	return file->kind->computed;
}

static int
read_fd(const struct tree_file *file, uint64_t offset, size_t size, uint8_t *into, size_t *ret_got,
	struct lancet_error *err)
{
	size_t got = 0;

	if (offset > INT64_MAX - size)
		size = offset > INT64_MAX ? 0 : (size_t)(INT64_MAX - offset);
	while (got < size) {
		ssize_t n = pread(file->fd, into + got, size - got, (off_t)(offset + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return lancet_fail_errno(err, "read");
		if (n == 0)
			break;
		got += (size_t)n;
	}
	*ret_got = got;
	return LANCET_OK;
}

int
tree_read(struct tree_file *file, uint64_t offset, size_t size, void *into, size_t *ret_got,
	struct lancet_error *err)
{
	if (file->kind->shape == SHAPE_HANDLE && file->fd < 0)
		return file->handle.ops->read(
			file->handle.state, offset, size, into, ret_got, err);
	if (file->fd >= 0)
		return read_fd(file, offset, size, into, ret_got, err);
	if (offset >= file->size)
		size = 0;
	else if (size > file->size - offset)
		size = (size_t)(file->size - offset);
	if (size > 0 && file->kind->shape == SHAPE_TEXT)
		memcpy(into, file->text->data + offset, size);
	else if (size > 0 && file->kind->shape == SHAPE_RECORDS)
		TRY(records_read(&file->records, file->text, offset, size, into, err));
	else if (size > 0)
		TRY(file->raw.read(&file->raw, offset, size, into, err));
	*ret_got = size;
	return LANCET_OK;
}

void
tree_close(struct tree_file *file)
{
	if (file == NULL)
		return;
	tree_note_close(file->tree, &file->opened);
	if (file->handle.ops != NULL && file->handle.ops->close != NULL)
		file->handle.ops->close(file->handle.state);
	else if (file->fd >= 0)
		close(file->fd);
	text_unref(file->text);
	records_release(&file->records);
	if (file->raw.release != NULL)
		file->raw.release(&file->raw);
	free(file);
}
