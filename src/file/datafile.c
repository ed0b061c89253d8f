/* Open data files: the tail, and what is read later and kept; see datafile.h.
 *
 *     2.0 to 2.3: … | metadata of the columns | places of these | places of the global buffers |
 *     footer, 40 bytes: u64 where each of the three begins, u32 global buffers, u32 columns
 *     legacy: … | footer, 16 bytes: i64 place of the metadata
 *     all end in u16 major, u16 minor, "LANC"
 *
 * The last bytes stay in memory: in small files they hold all metadata, so that there is one read.
 * What is read later is made by whoever needs it first, and put in place by compare-and-swap.
 */
#include "datafile.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "lance/file.pb-c.h"
#include "legacy_meta.h"
#include "stored_schema.h"
#include "util/cursor.h"
#include "util/macros.h"

#define MAGIC        0x434e414cu /* "LANC" */
#define VERSION_SIZE 8u
#define FOOTER_SIZE  40u
#define TAIL_MAX     4096u
#define ENTRY_SIZE   16u /* u64 place, u64 size: of column metadata, of a global buffer */
#define ALIGNMENT    64u /* of global buffers since 2.1 */
/* Of one column: a million pages need about as much. */
#define METADATA_MAX (256u << 20)

struct loaded_column {
	struct file_column column;
	struct arena arena;
};

struct datafile {
	struct source *source;
	int refs; /* atomic */
	enum file_version version;
	uint64_t metadata, columns_at, globals_at; /* places of the three tables */
	uint32_t column_count, global_count;
	_Atomic(struct loaded_column *) *columns; /* by number, NULL = not read yet */
	_Atomic(struct stored_schema *) schema;
	_Atomic(struct legacy_meta *) legacy;
	uint64_t tail_at; /* where the tail begins */
	size_t tail_size;
	uint8_t tail[TAIL_MAX];
};

static int
read_bytes(const struct datafile *file, uint64_t offset, size_t size, void *into,
	struct lancet_error *err)
{
	if (offset < file->tail_at || offset - file->tail_at > file->tail_size ||
		size > file->tail_size - (size_t)(offset - file->tail_at))
		return source_read_at(file->source, offset, size, into, err);
	memcpy(into, file->tail + (offset - file->tail_at), size);
	return LANCET_OK;
}

static int
read_tail(struct datafile *file, struct lancet_error *err)
{
	uint64_t size = file->source->size;

	if (size < VERSION_SIZE)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " bytes are no data file", size);
	file->tail_size = size < TAIL_MAX ? (size_t)size : TAIL_MAX;
	file->tail_at = size - file->tail_size;
	return source_read_at(file->source, file->tail_at, file->tail_size, file->tail, err);
}

bool
file_version_of(uint64_t major, uint64_t minor, enum file_version *ret_version)
{
	static const struct {
		uint32_t major, minor;
		enum file_version version;
	} known[] = {
		{ 0, 0, FILE_LEGACY },
		{ 0, 1, FILE_LEGACY },
		{ 0, 2, FILE_LEGACY },
		{ 0, 3, FILE_2_0 },
		{ 2, 0, FILE_2_0 },
		{ 2, 1, FILE_2_1 },
		{ 2, 2, FILE_2_2 },
		{ 2, 3, FILE_2_3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].major == major && known[i].minor == minor) {
			*ret_version = known[i].version;
			return true;
		}
	return false;
}

static int
parse_version(struct slice end, enum file_version *ret_version, struct lancet_error *err)
{
	struct cursor c = { .in = end };
	unsigned major = cursor_u16(&c);
	unsigned minor = cursor_u16(&c);
	uint32_t magic = cursor_u32(&c);

	assert(!c.bad);
	if (magic != MAGIC)
		return lancet_fail(err, LANCET_CORRUPT, "footer: magic is %08" PRIx32, magic);
	if (!file_version_of(major, minor, ret_version))
		return lancet_fail(
			err, LANCET_UNSUPPORTED, "data file of version %u.%u", major, minor);
	return LANCET_OK;
}

/* The three tables follow each other and end before the footer. */
static int
parse_footer(struct datafile *file, struct slice footer, struct lancet_error *err)
{
	struct cursor c = { .in = footer };
	uint64_t end = file->source->size - FOOTER_SIZE;

	file->metadata = cursor_u64(&c);
	file->columns_at = cursor_u64(&c);
	file->globals_at = cursor_u64(&c);
	file->global_count = cursor_u32(&c);
	file->column_count = cursor_u32(&c);
	assert(!c.bad);
	if (file->metadata > file->columns_at || file->columns_at > file->globals_at ||
		file->globals_at > end)
		return lancet_fail(err, LANCET_CORRUPT,
			"footer: tables at %" PRIu64 ", %" PRIu64 ", %" PRIu64 " of %" PRIu64
			" bytes",
			file->metadata, file->columns_at, file->globals_at, end);
	if (file->column_count > (file->globals_at - file->columns_at) / ENTRY_SIZE)
		return lancet_fail(err, LANCET_CORRUPT,
			"footer: no room for the places of %" PRIu32 " columns",
			file->column_count);
	if (file->global_count > (end - file->globals_at) / ENTRY_SIZE)
		return lancet_fail(err, LANCET_CORRUPT,
			"footer: no room for the places of %" PRIu32 " global buffers",
			file->global_count);
	if (file->global_count == 0)
		return lancet_fail(err, LANCET_CORRUPT, "footer: no descriptor");
	file->columns = calloc((size_t)file->column_count + 1, sizeof(struct loaded_column *));
	if (file->columns == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%" PRIu32 " columns of a data file",
			file->column_count);
	return LANCET_OK;
}

static int
parse_tail(struct datafile *file, struct lancet_error *err)
{
	struct slice tail;
	struct page_buffer descriptor;

	TRY(read_tail(file, err));
	tail = slice_of(file->tail, file->tail_size);
	TRY(parse_version(
		slice_of(tail.data + tail.size - VERSION_SIZE, VERSION_SIZE), &file->version, err));
	if (tail.size < (file->version == FILE_LEGACY ? LEGACY_FOOTER_SIZE : FOOTER_SIZE))
		return lancet_fail(err, LANCET_CORRUPT, "%zu bytes are no data file", tail.size);
	if (file->version == FILE_LEGACY)
		return LANCET_OK;
	TRY(parse_footer(file, slice_of(tail.data + tail.size - FOOTER_SIZE, FOOTER_SIZE), err));
	return datafile_global_buffer(file, 0, &descriptor, err);
}

int
datafile_open(struct source *src, struct datafile **ret_file, struct lancet_error *err)
{
	struct datafile *file = calloc(1, sizeof(*file));
	int rc;

	if (file == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "data file");
	file->source = source_ref(src);
	file->refs = 1;
	rc = parse_tail(file, err);
	if (rc != LANCET_OK) {
		datafile_unref(file);
		return rc;
	}
	*ret_file = file;
	return LANCET_OK;
}

struct datafile *
datafile_ref(struct datafile *file)
{
	int before = __atomic_fetch_add(&file->refs, 1, __ATOMIC_RELAXED);

	assert(before > 0);
	(void)before;
	return file;
}

static void
free_column(struct loaded_column *loaded)
{
	if (loaded == NULL)
		return;
	arena_release(&loaded->arena);
	free(loaded);
}

static void
free_legacy(struct legacy_meta *meta)
{
	legacy_meta_release(meta);
	free(meta);
}

void
datafile_unref(struct datafile *file)
{
	int before;

	if (file == NULL)
		return;
	before = __atomic_fetch_sub(&file->refs, 1, __ATOMIC_ACQ_REL);
	assert(before > 0);
	if (before > 1)
		return;
	for (uint32_t i = 0; file->columns != NULL && i < file->column_count; i++)
		free_column(atomic_load(&file->columns[i]));
	free((void *)file->columns);
	stored_schema_free(atomic_load(&file->schema));
	free_legacy(atomic_load(&file->legacy));
	source_unref(file->source);
	free(file);
}

enum file_version
datafile_version(const struct datafile *file)
{
	return file->version;
}

const char *
file_version_name(enum file_version version)
{
	static const char *const names[] = { "0.1", "2.0", "2.1", "2.2", "2.3" };

	assert((size_t)version < ARRAY_SIZE(names));
	return names[version];
}

struct source *
datafile_source(const struct datafile *file)
{
	return file->source;
}

uint32_t
datafile_column_count(const struct datafile *file)
{
	return file->column_count;
}

static int
read_entry(const struct datafile *file, uint64_t table, uint32_t index,
	struct page_buffer *ret_place, struct lancet_error *err)
{
	uint8_t entry[ENTRY_SIZE];

	TRY(read_bytes(file, table + (uint64_t)index * ENTRY_SIZE, sizeof(entry), entry, err));
	ret_place->offset = load_u64(entry);
	ret_place->size = load_u64(entry + 8);
	return LANCET_OK;
}

static int
load_column(struct datafile *file, uint32_t index, struct loaded_column *loaded,
	struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = NULL;
	struct page_buffer place;

	TRY(read_entry(file, file->columns_at, index, &place, err));
	if (place.offset < file->metadata || place.offset > file->columns_at ||
		place.size > file->columns_at - place.offset)
		return lancet_fail(err, LANCET_CORRUPT,
			"metadata of %" PRIu64 " bytes at %" PRIu64 " is not where it must be",
			place.size, place.offset);
	if (place.size > METADATA_MAX)
		return lancet_fail(err, LANCET_LIMIT, "metadata of %" PRIu64 " bytes", place.size);
	bytes = malloc((size_t)place.size + 1);
	if (bytes == NULL)
		return lancet_fail(
			err, LANCET_NO_MEMORY, "metadata of %" PRIu64 " bytes", place.size);
	TRY(read_bytes(file, place.offset, (size_t)place.size, bytes, err));
	loaded->column.index = index;
	return file_column_parse(slice_of(bytes, (size_t)place.size), file->version, file->metadata,
		&loaded->arena, &loaded->column, err);
}

int
datafile_column(struct datafile *file, uint32_t index, const struct file_column **ret_column,
	struct lancet_error *err)
{
	struct loaded_column *loaded, *before = NULL;
	int rc;

	if (index >= file->column_count)
		return lancet_fail(err, LANCET_INVALID, "column %" PRIu32 " of %" PRIu32, index,
			file->column_count);
	loaded = atomic_load(&file->columns[index]);
	if (loaded == NULL) {
		loaded = calloc(1, sizeof(*loaded));
		rc = loaded == NULL ? lancet_fail(err, LANCET_NO_MEMORY, "metadata")
				    : load_column(file, index, loaded, err);
		if (rc != LANCET_OK) {
			free_column(loaded);
			return lancet_wrap(err, rc, "column %" PRIu32, index);
		}
		if (!atomic_compare_exchange_strong(&file->columns[index], &before, loaded)) {
			free_column(loaded);
			loaded = before;
		}
	}
	*ret_column = &loaded->column;
	return LANCET_OK;
}

int
datafile_global_buffer(const struct datafile *file, uint32_t index, struct page_buffer *ret_place,
	struct lancet_error *err)
{
	uint64_t size = file->source->size;
	struct page_buffer place;

	if (index >= file->global_count)
		return lancet_fail(err, LANCET_CORRUPT, "global buffer %" PRIu32 " of %" PRIu32,
			index, file->global_count);
	TRY(read_entry(file, file->globals_at, index, &place, err));
	if (place.offset > size || place.size > size - place.offset)
		return lancet_fail(err, LANCET_CORRUPT,
			"global buffer %" PRIu32 ": %" PRIu64 " bytes at %" PRIu64
			" pass the end at %" PRIu64,
			index, place.size, place.offset, size);
	if (file->version >= FILE_2_1 && place.offset % ALIGNMENT != 0)
		return lancet_fail(err, LANCET_CORRUPT,
			"global buffer %" PRIu32 " at %" PRIu64 " is not aligned to %u bytes",
			index, place.offset, ALIGNMENT);
	*ret_place = place;
	return LANCET_OK;
}

int
datafile_legacy(
	struct datafile *file, const struct legacy_meta **ret_meta, struct lancet_error *err)
{
	struct legacy_meta *meta = atomic_load(&file->legacy);
	struct legacy_meta *before = NULL;
	int rc;

	assert(file->version == FILE_LEGACY);
	if (meta == NULL) {
		meta = calloc(1, sizeof(*meta));
		rc = meta == NULL ? lancet_fail(err, LANCET_NO_MEMORY, "metadata")
				  : legacy_meta_init(meta, file->source, err);
		if (rc != LANCET_OK) {
			free(meta);
			return rc;
		}
		if (!atomic_compare_exchange_strong(&file->legacy, &before, meta)) {
			free_legacy(meta);
			meta = before;
		}
	}
	*ret_meta = meta;
	return LANCET_OK;
}

static int
load_schema(struct datafile *file, struct stored_schema **ret_schema, struct lancet_error *err)
{
	const struct legacy_meta *meta;
	struct page_buffer place;

	if (file->version == FILE_LEGACY) {
		TRY(datafile_legacy(file, &meta, err));
		return stored_schema_legacy(file->source, meta->manifest, ret_schema, err);
	}
	TRY(datafile_global_buffer(file, 0, &place, err));
	return stored_schema_new(file->source, place.offset, place.size, ret_schema, err);
}

static int
keep_schema(struct datafile *file, struct stored_schema **ret_schema, struct lancet_error *err)
{
	struct stored_schema *schema = atomic_load(&file->schema);
	struct stored_schema *before = NULL;

	if (schema == NULL) {
		TRY(load_schema(file, &schema, err));
		if (!atomic_compare_exchange_strong(&file->schema, &before, schema)) {
			stored_schema_free(schema);
			schema = before;
		}
	}
	*ret_schema = schema;
	return LANCET_OK;
}

int
datafile_fields(struct datafile *file, struct Lance__File__Field *const **ret_fields,
	size_t *ret_count, struct lancet_error *err)
{
	struct stored_schema *schema;

	TRY(keep_schema(file, &schema, err));
	*ret_fields = schema->fields;
	*ret_count = schema->count;
	return LANCET_OK;
}

int
datafile_metadata(struct datafile *file, struct slice key, struct slice *ret_value,
	struct lancet_error *err)
{
	struct stored_schema *schema;

	TRY(keep_schema(file, &schema, err));
	for (size_t i = schema->metadata_count; i-- > 0;) {
		const Lance__File__StringEntry *entry = schema->metadata[i];

		if (!slice_equal(slice_of(entry->key.data, entry->key.len), key))
			continue;
		*ret_value = slice_of(entry->value.data, entry->value.len);
		return LANCET_OK;
	}
	return lancet_fail(err, LANCET_NOT_FOUND, "no %.*s in the metadata of the schema",
		FIELD_TEXT(key));
}
