/* Changes of the sample that rename something or take it away. */
#ifndef TESTS_COMMITDROPS_H
#define TESTS_COMMITDROPS_H

#include "commitsample.h"

static inline int
case_rename(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	return lancet_change_rename_column(read, "price", "cost", ret_change, err);
}

static inline bool
case_rename_holds(lancet_version *made)
{
	const struct lancet_field *fields;
	size_t count;

	return lancet_version_fields(made, &fields, &count, NULL) == LANCET_OK && count == 3 &&
	       slice_equal(slice_of(fields[2].name.data, fields[2].name.size), slice_text("cost"));
}

static inline int
case_drop_fragments(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	const uint64_t ids[] = { 1, 2 };
	uint64_t rows;

	return lancet_change_drop_fragments(read, ids, 2, ret_change, &rows, err);
}

static inline bool
case_drop_fragments_holds(lancet_version *made)
{
	return lancet_version_info(made)->fragment_count == 2;
}

static inline int
case_drop_index(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	return lancet_change_drop_index(read, "id_idx", ret_change, err);
}

static inline bool
case_drop_index_holds(lancet_version *made)
{
	const struct lancet_index *indices;
	size_t count;

	return lancet_version_indices(made, &indices, &count, NULL) == LANCET_OK && count == 0;
}

#endif
