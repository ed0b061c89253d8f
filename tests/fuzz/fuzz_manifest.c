/* Opening a version and all that its manifest alone decides: the bytes as a file, and as a message
 * in a sound frame, so that inputs get past the footer.
 */
#include "fuzz.h"
#include "fuzzdataset.h"

#include "core/fragment.h"
#include "core/manifest.h"
#include "core/version.h"
#include "lance/table.pb-c.h"
#include "util/cursor.h"
#include "util/macros.h"

#include <sys/stat.h>

#define FRAGMENTS_MAX 64 /* opened of each version */
#define COST_BASE     ((size_t)1 << 20)
#define COST_PER_BYTE 200u

static int
swallow(void *context, const void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return LANCET_OK;
}

static void
walk_fragment(lancet_version *version, uint64_t ordinal)
{
	lancet_fragment *fragment;
	const struct lancet_fragment_info *info;
	const lancet_base *base;
	char *path;

	if (lancet_fragment_open(version, ordinal, &fragment, NULL) != LANCET_OK)
		return;
	info = lancet_fragment_info(fragment);
	/* bases of their own stay with the dataset: not here, where all memory must be given
	 * back */
	for (size_t i = 0; i < info->file_count; i++)
		if (!info->files[i].has_base &&
		    lancet_data_file_path(version, &info->files[i], &base, &path, NULL) ==
			    LANCET_OK)
			free(path);
	if (!info->deletion.has_base &&
	    lancet_deletion_file_path(fragment, &base, &path, NULL) == LANCET_OK)
		free(path);
	for (size_t i = 0; i < FRAGMENT_LINEAGE; i++)
		fuzz_expect(fragment->lineage[i].size <=
		            version->file->size - fragment->lineage[i].offset);
	lancet_fragment_unref(fragment);
}

static void
walk_version(lancet_version *version)
{
	const struct lancet_output out = { swallow, NULL };
	const struct lancet_field *fields;
	uint64_t count = lancet_version_info(version)->fragment_count;
	uint64_t ordinal;
	size_t size;
	uint8_t *data;

	for (uint64_t i = 0; i < count; i++) {
		struct lancet_fragment_span span;

		lancet_version_span(version, i, &span);
		if (i < FRAGMENTS_MAX)
			walk_fragment(version, i);
		fuzz_expect(lancet_version_find_fragment(version, span.id, &ordinal, NULL) ==
		            LANCET_OK);
		fuzz_expect(ordinal <= i);
	}
	(void)lancet_version_fields(version, &fields, &size, NULL);
	(void)lancet_version_schema_json(version, &out, NULL);
	if (version->has_index_section &&
	    version_section_load(version, version->index_section, 1 << 20, &data, &size, NULL) ==
		    LANCET_OK)
		free(data);
}

static void
load(struct slice bytes, uint64_t number)
{
	static const struct stat st;
	struct source *source = source_memory_new(bytes, NULL);
	lancet_version *version = NULL;

	if (source == NULL)
		return;
	if (version_load(fuzz_dataset(), number, source, &st, "1.manifest", &version, NULL) ==
	    LANCET_OK)
		walk_version(version);
	lancet_version_unref(version);
	source_unref(source);
}

/* The version that the message says it is. */
static uint64_t
message_version(struct slice message)
{
	struct pbmem scan = { .in = message };
	struct pb_field field;
	uint64_t number = 0;
	bool more;

	while (pbmem_next(&scan, &field, &more, NULL) == LANCET_OK && more)
		if (field.number == 3 && field.wire == PB_VARINT)
			number = field.value;
	return number;
}

static void
put_u32(struct buf *b, uint32_t value)
{
	const uint8_t bytes[] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
		                  (uint8_t)(value >> 24) };

	buf_put(b, bytes, sizeof(bytes));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard;
	struct slice message = slice_of(data, size);
	struct buf file = { 0 };

	(void)fuzz_dataset();
	guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	load(message, 1);
	put_u32(&file, (uint32_t)size);
	buf_put_slice(&file, message);
	buf_put(&file, "\0\0\0\0\0\0\0\0\0\0\2\0LANC", MANIFEST_FOOTER_SIZE);
	if (file.failed == LANCET_OK)
		load(buf_slice(&file), message_version(message));
	buf_release(&file);
	fuzz_end(&guard);
	return 0;
}
