/* Names and messages of new data files; see fragment_write.h. */
#include "fragment_write.h"

#include <uuid/uuid.h>

#include "change_build.h"
#include "lance/table.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "transaction_sound.h"
#include "util/macros.h"

#define PREFIX      "data/"
#define PREFIX_SIZE (sizeof(PREFIX) - 1)

/* The first three bytes of a random UUID in binary, the others in hex. */
void
data_key_make(char into[DATA_KEY_SIZE + 1])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t uuid[16];
	char *to = into + PREFIX_SIZE;

	memcpy(into, PREFIX, PREFIX_SIZE);
	uuid_generate_random(uuid);
	for (size_t i = 0; i < 24; i++)
		*to++ = uuid[i / 8] >> (7 - i % 8) & 1 ? '1' : '0';
	for (size_t i = 3; i < 16; i++) {
		*to++ = digits[uuid[i] >> 4];
		*to++ = digits[uuid[i] & 15];
	}
	memcpy(to, ".lance", 7);
}

int
data_file_make(lancet_change *change, const char *key, enum file_version version,
	const int32_t *ids, const int32_t *columns, size_t count, uint64_t size,
	Lance__Table__DataFile **ret_file, struct lancet_error *err)
{
	Lance__Table__DataFile *file = change_alloc(change, 1, sizeof(*file), err);

	if (file == NULL)
		return LANCET_NO_MEMORY;
	lance__table__data_file__init(file);
	TRY(change_text(change, key + PREFIX_SIZE, &file->path, err));
	file->fields = change_alloc(change, count, sizeof(int32_t), err);
	file->column_indices = change_alloc(change, count, sizeof(int32_t), err);
	if (file->fields == NULL || file->column_indices == NULL)
		return LANCET_NO_MEMORY;
	for (size_t i = 0; i < count; i++) {
		if (ids[i] == FIELD_NO_ID || columns[i] < 0)
			continue;
		file->fields[file->n_fields++] = ids[i];
		file->column_indices[file->n_column_indices++] = columns[i];
	}
	file->file_major_version = 2;
	file->file_minor_version = (uint32_t)version - (uint32_t)FILE_2_0;
	file->file_size_bytes = size;
	*ret_file = file;
	return LANCET_OK;
}

int
data_fragment_make(lancet_change *change, Lance__Table__DataFile *file, uint64_t rows,
	Lance__Table__DataFragment **ret_fragment, struct lancet_error *err)
{
	Lance__Table__DataFragment *fragment = change_alloc(change, 1, sizeof(*fragment), err);
	Lance__Table__DataFile **files = change_alloc(change, 1, sizeof(*files), err);

	if (fragment == NULL || files == NULL)
		return LANCET_NO_MEMORY;
	lance__table__data_fragment__init(fragment);
	files[0] = file;
	fragment->files = files;
	fragment->n_files = 1;
	fragment->physical_rows = rows;
	*ret_fragment = fragment;
	return LANCET_OK;
}

int
data_append_make(lancet_change *change, Lance__Table__DataFragment *const *fragments, size_t count,
	struct lancet_error *err)
{
	Lance__Table__Transaction__Append *append = change_alloc(change, 1, sizeof(*append), err);

	if (append == NULL)
		return LANCET_NO_MEMORY;
	lance__table__transaction__append__init(append);
	append->fragments = arena_copy(&change->arena, fragments, count * sizeof(*fragments));
	if (append->fragments == NULL)
		return change_no_memory(err);
	append->n_fragments = count;
	change->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_APPEND;
	change->message->append = append;
	return transaction_sound(change->read, change->message, false, err);
}
