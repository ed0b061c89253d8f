/* The details of a fragment reuse index: an encoded history, in the entry itself or in a file.
 *
 * Nothing of the history is decoded here. Format facts: the entry, ledger validity.
 */
#include "reuse.h"

#include <inttypes.h>
#include <stdio.h>

#include "deletion.h"
#include "index_set.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "util/pbscan.h"
#include "util/pbunpack.h"
#include "version.h"

#define CONTENT_SIZE_MAX (UINT64_C(1) << 30)
#define DETAILS_TYPE     "lance.table.FragmentReuseIndexDetails"

static bool
has_type(struct lancet_bytes url)
{
	size_t size = sizeof(DETAILS_TYPE) - 1;

	return url.size >= size && memcmp(url.data + url.size - size, DETAILS_TYPE, size) == 0;
}

/* The content of the only field of the two. */
static int
find_content(struct slice details, struct slice *ret_content, bool *ret_external,
	struct lancet_error *err)
{
	struct pbmem scan = { .in = details };
	struct slice content = { 0 };
	struct pb_field field;
	uint32_t number = 0;
	bool more;

	for (;;) {
		TRY(pbmem_next(&scan, &field, &more, err));
		if (!more)
			break;
		if (field.number > 2)
			continue;
		if (number != 0)
			return lancet_fail(err, LANCET_CORRUPT, "several contents");
		if (field.wire != PB_BYTES)
			return lancet_fail(
				err, LANCET_CORRUPT, "content: wire type %d", (int)field.wire);
		number = field.number;
		content = slice_of(details.data + field.offset, (size_t)field.value);
	}
	if (number == 0)
		return lancet_fail(err, LANCET_CORRUPT, "no content");
	*ret_content = content;
	*ret_external = number == 2;
	return LANCET_OK;
}

static int
read_file(const struct reuse_details *details, struct arena *arena, struct slice *ret_content,
	struct lancet_error *err)
{
	struct source *source = NULL;
	uint8_t *bytes = NULL;
	int rc = LANCET_OK;

	TRY(fragment_file_open(details->base, details->key, &source, err));
	if (details->offset > source->size || details->size > source->size - details->offset)
		rc = lancet_fail(err, LANCET_CORRUPT,
			"%s: %" PRIu64 " bytes at %" PRIu64 " of %" PRIu64, details->key,
			details->size, details->offset, source->size);
	else if (details->size > CONTENT_SIZE_MAX)
		rc = lancet_fail(err, LANCET_LIMIT, "%s: %" PRIu64 " bytes, limit %" PRIu64,
			details->key, details->size, CONTENT_SIZE_MAX);
	else if ((bytes = arena_alloc(arena, (size_t)details->size)) == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "%s: %" PRIu64 " bytes", details->key,
			details->size);
	else
		rc = source_read_at(source, details->offset, (size_t)details->size, bytes, err);
	if (rc == LANCET_OK)
		*ret_content = slice_of(bytes, (size_t)details->size);
	source_unref(source);
	return rc;
}

/* "DIRECTORY/NAME" in the arena. */
static int
make_key(lancet_version *version, const struct lancet_index_segment *entry, struct slice name,
	struct arena *arena, char **ret_key, struct lancet_error *err)
{
	struct buf key = { 0 };
	char *copy = NULL;
	int rc;

	if (!entry->uuid_valid)
		return lancet_fail(err, LANCET_CORRUPT, "\"%s\" is no UUID", entry->uuid_text);
	rc = store_key_check(name, err);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "external");
	index_directory_put(&key, version, entry);
	buf_put_byte(&key, '/');
	buf_put_slice(&key, name);
	buf_put_byte(&key, '\0');
	rc = buf_check(&key, "external", err);
	if (rc == LANCET_OK && (copy = arena_copy(arena, key.data, key.size)) == NULL)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "external: %zu bytes", key.size);
	buf_release(&key);
	if (rc == LANCET_OK)
		*ret_key = copy;
	return rc;
}

static int
load_external(lancet_version *version, const struct lancet_index_segment *entry,
	struct arena *arena, struct slice place, struct reuse_details *ret_details,
	struct lancet_error *err)
{
	Lance__Table__ExternalFile *file = NULL;
	struct reuse_details details = { .external = true };
	struct slice name;

	TRY(pb_unpack(&lance__table__external_file__descriptor, place, arena, &file, err));
	name = slice_of(file->path.data, file->path.len);
	details.path = (struct lancet_bytes){ name.data, name.size };
	details.offset = file->offset;
	details.size = file->size;
	TRY(make_key(version, entry, name, arena, &details.key, err));
	if (details.size == 0)
		return lancet_fail(err, LANCET_CORRUPT, "%s: 0 bytes", details.key);
	TRY(lancet_version_base(version, entry->has_base, entry->base_id, &details.base, err));
	TRY(read_file(&details, arena, &details.content, err));
	*ret_details = details;
	return LANCET_OK;
}

static int
load(lancet_version *version, const struct lancet_index_segment *entry, struct arena *arena,
	struct reuse_details *ret_details, struct lancet_error *err)
{
	struct slice content;
	bool external = false;

	if (!has_type(entry->type_url))
		return lancet_fail(err, LANCET_CORRUPT, "not of type " DETAILS_TYPE);
	TRY(find_content(
		slice_of(entry->details.data, entry->details.size), &content, &external, err));
	if (external)
		return load_external(version, entry, arena, content, ret_details, err);
	*ret_details = (struct reuse_details){ .content = content };
	return LANCET_OK;
}

int
reuse_details_load(lancet_version *version, const struct lancet_index_segment *entry,
	struct arena *arena, struct reuse_details *ret_details, struct lancet_error *err)
{
	int rc = load(version, entry, arena, ret_details, err);

	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "fragment reuse details");
}
