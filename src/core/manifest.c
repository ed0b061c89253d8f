/* Opens a version: frame, fragments' places, and everything small.
 *
 * The last 64 KiB are read at once: they hold the footer and nearly always the whole message. A
 * larger message is walked through a window, so that neither its size nor what it holds inline is
 * paid for. Format facts: manifest file layout, Manifest message; writing.md 51 (torn manifests).
 */
#include "manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/cursor.h"
#include "util/macros.h"
#include "util/pbscan.h"

#define TAIL_SIZE      (64u * 1024)
#define WINDOW_MIN     (256u * 1024)
#define WINDOW_MAX     (4u << 20)
#define FIRST_READ     (64u * 1024)
#define MAGIC          0x434e414cu /* "LANC" */

/* The end of the file in memory, or the file itself when that has it all in memory. */
struct tail {
	struct source *src;
	uint64_t at; /* offset in the file of the first byte of src */
};

int
manifest_footer_parse(struct slice footer, uint64_t file_size, uint64_t *ret_prefix_offset,
                      uint32_t *ret_size, struct lancet_error *err)
{
	struct cursor c = { .in = footer };
	uint64_t offset = cursor_u64(&c);
	uint64_t size;
	uint32_t magic;

	cursor_skip(&c, 4); /* major and minor: readers don't check them */
	magic = cursor_u32(&c);
	if (c.bad)
		return lancet_fail(err, LANCET_CORRUPT, "footer: %zu bytes, %u needed", footer.size,
		                   MANIFEST_FOOTER_SIZE);
	if (magic != MAGIC)
		return lancet_fail(err, LANCET_CORRUPT, "footer: magic is %08" PRIx32, magic);
	size = file_size - MANIFEST_FOOTER_SIZE;
	if (size < MANIFEST_PREFIX_SIZE || offset > size - MANIFEST_PREFIX_SIZE)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "footer: position %" PRIu64 ", file has %" PRIu64 " bytes",
		                   offset, file_size);
	size -= offset + MANIFEST_PREFIX_SIZE;
	if (size > UINT32_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "message of %" PRIu64 " bytes", size);
	if (size == 0)
		return lancet_fail(err, LANCET_CORRUPT, "message is empty");
	*ret_prefix_offset = offset;
	*ret_size = (uint32_t)size;
	return LANCET_OK;
}

static int
tail_load(struct source *file, struct tail *ret_tail, struct lancet_error *err)
{
	size_t size = file->size < TAIL_SIZE ? (size_t)file->size : TAIL_SIZE;
	struct tail tail = { .at = file->size - size };
	uint8_t *data;

	if (file->data != NULL) {
		*ret_tail = (struct tail){ .src = source_ref(file) };
		return LANCET_OK;
	}
	TRY(source_load(file, tail.at, size, &data, err));
	tail.src = source_memory_new(slice_of(data, size), data);
	if (tail.src == NULL) {
		free(data);
		return lancet_fail(err, LANCET_NO_MEMORY, "end of file");
	}
	*ret_tail = tail;
	return LANCET_OK;
}

static int
find_message(struct lancet_version *version, const struct tail *tail, struct lancet_error *err)
{
	uint64_t have = version->file->size < MANIFEST_FOOTER_SIZE ? version->file->size :
		MANIFEST_FOOTER_SIZE;
	uint8_t footer[MANIFEST_FOOTER_SIZE];
	uint64_t prefix_at;

	TRY(source_read_at(tail->src, tail->src->size - have, (size_t)have, footer, err));
	TRY(manifest_footer_parse(slice_of(footer, (size_t)have), version->file->size, &prefix_at,
	                          &version->message_size, err));
	version->message_offset = prefix_at + MANIFEST_PREFIX_SIZE;
	return LANCET_OK;
}

static size_t
window_size(uint32_t message_size)
{
	size_t size = message_size / 8;

	if (size < WINDOW_MIN)
		return WINDOW_MIN;
	return size > WINDOW_MAX ? WINDOW_MAX : size;
}

/* Checks the length prefix at the start of the scan and steps over it. */
static int
check_prefix(struct pbscan *scan, uint32_t size, struct lancet_error *err)
{
	struct slice prefix;
	uint32_t stored;

	TRY(pbscan_bytes(scan, scan->at, MANIFEST_PREFIX_SIZE, &prefix, err));
	stored = load_u32(prefix.data);
	if (stored != size)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "length prefix is %" PRIu32 ", footer leaves %" PRIu32 " bytes",
		                   stored, size);
	scan->at += MANIFEST_PREFIX_SIZE;
	return LANCET_OK;
}

/* Walks the message where it lies. */
static int
scan_message(struct lancet_version *version, const struct tail *tail, struct manifest_scan *found,
             struct lancet_error *err)
{
	uint64_t prefix_at = version->message_offset - MANIFEST_PREFIX_SIZE;
	bool at_hand = prefix_at >= tail->at;
	struct pbscan scan;
	int rc;

	TRY(pbscan_init(&scan, at_hand ? tail->src : version->file,
	                at_hand ? prefix_at - tail->at : prefix_at,
	                (uint64_t)version->message_size + MANIFEST_PREFIX_SIZE,
	                window_size(version->message_size), err));
	scan.read_size = FIRST_READ;
	rc = check_prefix(&scan, version->message_size, err);
	if (rc == LANCET_OK)
		rc = manifest_scan_run(found, &scan, err);
	pbscan_release(&scan);
	return rc;
}

/* Reads all that the version needs of its file. */
static int
read_manifest(struct lancet_version *version, uint64_t number, struct lancet_error *err)
{
	struct manifest_scan found = { 0 };
	struct tail tail = { 0 };
	int rc;

	TRY(tail_load(version->file, &tail, err));
	rc = find_message(version, &tail, err);
	if (rc == LANCET_OK)
		rc = scan_message(version, &tail, &found, err);
	if (rc == LANCET_OK)
		rc = manifest_fill(version, &found, err);
	if (rc == LANCET_OK && version->info.number != number)
		rc = lancet_fail(err, LANCET_CORRUPT, "message is of version %" PRIu64,
		                 version->info.number);
	if (rc == LANCET_OK) {
		version->spans = found.spans;
		found.spans = NULL;
	}
	manifest_scan_release(&found);
	source_unref(tail.src);
	return rc;
}

int
version_load(struct lancet_dataset *dataset, uint64_t number, struct source *file,
             const struct stat *st, const char *name, struct lancet_version **ret_version,
             struct lancet_error *err)
{
	struct lancet_version *version = calloc(1, sizeof(*version));
	int rc;

	if (version == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "version %" PRIu64, number);
	version->refs = 1;
	version->dataset = dataset_pin(dataset);
	version->file = source_ref(file);
	snprintf(version->name, sizeof(version->name), "%s", name);
	rc = read_manifest(version, number, err);
	if (rc != LANCET_OK) {
		lancet_version_unref(version);
		return rc;
	}
	version->info.manifest_stat = *st;
	version->footprint = sizeof(*version) + arena_footprint(&version->arena) +
		version->info.fragment_count * sizeof(*version->spans);
	*ret_version = version;
	return LANCET_OK;
}
