/* What pages of 2.1 and 2.2 can't hold, by name. Format facts: per-type rules. */
#include "page_out.h"

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

static int
check_struct(const struct field *field, struct above above, struct lancet_error *err)
{
	if (field->child_count == 0 && (field->packed || field->parent != NULL))
		return refuse(field, above,
			field->packed ? "packed structs without fields"
				      : "structs without fields inside of others",
			err);
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

int
page_write_check(enum file_version version, const struct field *root, struct lancet_error *err)
{
	return check_field(root, (struct above){ .version = version }, err);
}
