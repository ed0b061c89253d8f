/* Deletes and updates by a condition, of the sample: two rows of fragment 0, and all of fragment 3.
 */
#ifndef TESTS_COMMITWHERE_H
#define TESTS_COMMITWHERE_H

#include "commitsample.h"

#define SAMPLE_WHERE "id in (1, 2) or id >= 80"

static inline int
case_delete_where(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	uint64_t rows;

	TRY(lancet_change_delete_where(read, SAMPLE_WHERE, NULL, ret_change, &rows, err));
	ck_assert_uint_eq(rows, 18);
	return LANCET_OK;
}

static inline bool
case_delete_where_holds(lancet_version *made)
{
	const struct lancet_version_info *info = lancet_version_info(made);

	return info->fragment_count == 3 && info->deleted_rows == 11 + 2 + 6 + 2;
}

static inline int
case_update_where(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	uint64_t rows;

	TRY(lancet_change_update(read, "price = price + 1, name = name || '!'", SAMPLE_WHERE, NULL,
		ret_change, &rows, err));
	ck_assert_uint_eq(rows, 18);
	return LANCET_OK;
}

static inline bool
case_update_where_holds(lancet_version *made)
{
	const struct lancet_version_info *info = lancet_version_info(made);

	return info->fragment_count == 4 && info->physical_rows == 48 + 32 + 8 + 18 &&
	       info->deleted_rows == 11 + 2 + 6 + 2;
}

#endif
