/* What pages of 2.1 and 2.2 can't hold, by name. Format facts: per-type rules. */
#include "page_writer.h"

#include "datafile.h"
#include "util/macros.h"

struct above {
	enum file_version version;
	bool lists, fixed_lists; /* with levels of their own */
};

static int check_field(const struct field *field, struct above above, struct lancet_error *err);

static int
refuse(const struct field *field, struct above above, const char *what, struct lancet_error *err)
{
	char name[PAGE_NAME_SIZE];

	return lancet_fail(err, LANCET_UNSUPPORTED, "column %s: files of version %s can't hold %s",
		page_column_name(field, name), file_version_name(above.version), what);
}

static int
check_children(const struct field *field, struct above above, struct lancet_error *err)
{
	for (size_t i = 0; i < field->child_count; i++)
		TRY(check_field(&field->children[i], above, err));
	return LANCET_OK;
}

/* Children of a packed struct have whole bytes; as many in each row, or, from 2.2 on, any text. */
static int
check_packed(const struct field *field, struct above above, struct lancet_error *err)
{
	for (size_t i = 0; i < field->child_count; i++) {
		const struct field *child = &field->children[i];
		bool list = child->kind == FIELD_FIXED_LIST;

		if (child->kind == FIELD_VARIABLE && above.version >= FILE_2_2)
			continue;
		while (child->kind == FIELD_FIXED_LIST)
			child = &child->children[0];
		if (child->kind != FIELD_FIXED || child->bits == 0 || child->bits % 8 != 0 ||
			(list && above.version < FILE_2_2))
			return refuse(
				&field->children[i], above, "such values in packed structs", err);
	}
	return LANCET_OK;
}

/* How many stored rows a value has: as many for all fields of a struct, or the reference doesn't
 * find them. */
static uint64_t
stored_rows(const struct field *field)
{
	uint64_t rows = 1;

	while (!field_is_leaf(field)) {
		if (field->kind == FIELD_FIXED_LIST)
			rows *= field->dimension;
		field = &field->children[0];
	}
	return rows;
}

static int
check_struct(const struct field *field, struct above above, struct lancet_error *err)
{
	if (field->child_count == 0 && (field->packed || field->parent != NULL))
		return refuse(field, above,
			field->packed ? "packed structs without fields"
				      : "structs without fields inside of others",
			err);
	for (size_t i = 1; i < field->child_count && !field->packed; i++)
		if (stored_rows(&field->children[i]) != stored_rows(&field->children[0]))
			return refuse(&field->children[i], above,
				"fixed-size lists of structs beside fields without", err);
	return field->packed ? check_packed(field, above, err) : check_children(field, above, err);
}

/* Lists of numbers are values; those of structs are told by levels. */
static int
check_fixed_list(const struct field *field, struct above above, struct lancet_error *err)
{
	const struct field *item = field;

	if (field->dimension == 0)
		return refuse(field, above, "fixed-size lists of no items", err);
	while (item->kind == FIELD_FIXED_LIST)
		item = &item->children[0];
	if (item->kind == FIELD_FIXED)
		return check_children(field, above, err);
	if (above.version < FILE_2_2)
		return refuse(field, above, "fixed-size lists of structs", err);
	if (above.lists)
		return refuse(field, above, "fixed-size lists of structs inside of lists", err);
	above.fixed_lists = true;
	return check_children(field, above, err);
}

static int
check_list(const struct field *field, struct above above, struct lancet_error *err)
{
	if (field->kind == FIELD_MAP && above.version < FILE_2_2)
		return refuse(field, above, "maps", err);
	if (above.fixed_lists)
		return refuse(field, above, "lists inside of fixed-size lists of structs", err);
	above.lists = true;
	return check_children(field, above, err);
}

static int
check_field(const struct field *field, struct above above, struct lancet_error *err)
{
	if (field->blob != FIELD_NO_BLOB)
		return LANCET_OK; /* its pages hold no values */
	switch (field->kind) {
	case FIELD_FIXED:
		if (field->bits == 0)
			return refuse(field, above, "values of no bytes", err);
		return LANCET_OK;
	case FIELD_LIST:
	case FIELD_MAP:
		return check_list(field, above, err);
	case FIELD_FIXED_LIST:
		return check_fixed_list(field, above, err);
	case FIELD_STRUCT:
		return check_struct(field, above, err);
	case FIELD_DICTIONARY:
		return check_children(field, above, err);
	case FIELD_NULL:
	case FIELD_VARIABLE:
		break;
	}
	return LANCET_OK;
}

/* Whether slot `index` of an array is null in any of its children. */
static bool
has_null_child(const struct array *array, uint64_t index)
{
	for (size_t i = 0; i < array->child_count; i++)
		if (!array_is_valid(&array->children[i], index))
			return true;
	return false;
}

int
page_check_values(const struct page_job *job, struct lancet_error *err)
{
	const struct shred *shred = &job->shred;
	const struct array *values = shred->values;
	uint64_t slot = shred->first, nulls = 0;

	for (size_t i = 0; i < values->child_count && job->leaf->packed; i++)
		nulls += values->children[i].null_count;
	for (uint64_t i = 0; i < shred->entries && nulls > 0; i++) {
		unsigned def = shred->def == NULL ? 0 : shred->def[i];

		if (def == 0 && has_null_child(values, slot))
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"nulls inside of packed structs are not supported");
		slot += def <= shred->layers.visible_max;
	}
	return LANCET_OK;
}

int
page_write_check(enum file_version version, const struct field *root, struct lancet_error *err)
{
	return check_field(root, (struct above){ .version = version }, err);
}
