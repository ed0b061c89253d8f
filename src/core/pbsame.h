/* Whether two values of messages are the same. */
#ifndef CORE_PBSAME_H
#define CORE_PBSAME_H

#include <stdint.h>
#include <string.h>

#include "lance/table.pb-c.h"
#include "util/slice.h"

static inline bool
pbsame_bytes(ProtobufCBinaryData a, ProtobufCBinaryData b)
{
	return slice_equal(slice_of(a.data, a.len), slice_of(b.data, b.len));
}

static inline bool
pbsame_numbers(const int32_t *a, size_t a_count, const int32_t *b, size_t b_count)
{
	return a_count == b_count && (a_count == 0 || memcmp(a, b, a_count * sizeof(*a)) == 0);
}

/* Of a base id that may be absent. */
static inline bool
pbsame_base(bool a_has, uint32_t a, bool b_has, uint32_t b)
{
	return a_has == b_has && (!a_has || a == b);
}

/* One and the same data file, read in the same way. Sizes are left out: one that is not recorded
 * says nothing. */
static inline bool
pbsame_file(const Lance__Table__DataFile *a, const Lance__Table__DataFile *b)
{
	return pbsame_bytes(a->path, b->path) &&
	       pbsame_numbers(a->fields, a->n_fields, b->fields, b->n_fields) &&
	       pbsame_numbers(a->column_indices, a->n_column_indices, b->column_indices,
		       b->n_column_indices) &&
	       a->file_major_version == b->file_major_version &&
	       a->file_minor_version == b->file_minor_version &&
	       pbsame_base(a->base_id_presence_case != 0, a->base_id, b->base_id_presence_case != 0,
		       b->base_id);
}

/* The same files, in the same order. */
static inline bool
pbsame_files(const Lance__Table__DataFragment *a, const Lance__Table__DataFragment *b)
{
	if (a->n_files != b->n_files)
		return false;
	for (size_t i = 0; i < a->n_files; i++)
		if (!pbsame_file(a->files[i], b->files[i]))
			return false;
	return true;
}

#endif
