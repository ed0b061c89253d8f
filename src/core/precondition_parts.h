/* Inside of preconditions: the conditions decoded, and the steps of holding one against a version.
 */
#ifndef CORE_PRECONDITION_PARTS_H
#define CORE_PRECONDITION_PARTS_H

#include <roaring/roaring.h>

#include "util/arena.h"
#include "version.h"

struct precondition_failure;

struct condition_rows {
	uint64_t fragment;
	uint64_t physical_rows;    /* in the version read */
	roaring_bitmap_t *offsets; /* NULL: all rows */
};

struct condition {
	const int32_t *fields; /* each once */
	size_t field_count;
	struct condition_rows *rows; /* by fragment */
	size_t row_count;
};

struct preconditions {
	lancet_version *read; /* counted */
	struct arena arena;
	struct condition *list;
	size_t count;
};

/* A field that the cells of a condition depend on: those it names, what is below and above them. */
struct watched_field {
	int32_t id;
	int32_t named; /* the field of the condition that it is watched for */
};

struct condition_check {
	const struct condition *condition;
	lancet_version *read, *current;
	struct watched_field *fields; /* by id, each once; malloc */
	size_t field_count;
	bool same_bases; /* base ids mean the same in both versions */
	struct precondition_failure *failure;
	struct lancet_error *err;
};

/* Rows of a fragment of the version that was read, deleted ones too. CORRUPT: it has none such. */
int condition_count_rows(
	lancet_version *read, uint64_t id, uint64_t *ret_rows, struct lancet_error *err);
/* Fills failure and err; PRECONDITION. `fragment` UINT64_MAX: the field itself. */
int condition_broken(
	struct condition_check *check, int32_t field, uint64_t fragment, const char *reason);
/* The field of a given id in a list; NULL. Of several the first one. */
const struct lancet_field *condition_field(
	const struct lancet_field *fields, size_t count, int32_t id);

/* precondition_fields.c: the fields are what they were; fills check->fields. CORRUPT: one that the
 * version read does not have. */
int condition_check_fields(struct condition_check *check);
/* precondition_cells.c: the cells of one fragment are where they were. */
int condition_check_rows(struct condition_check *check, const struct condition_rows *rows);

/* The watched field of an id, NULL when it is none. */
const struct watched_field *condition_watched(const struct condition_check *check, int32_t id);

#endif
