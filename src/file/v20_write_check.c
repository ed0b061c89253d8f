/* What version 2.0 can't hold, by name. Format facts: per-type rules. */
#include "page_out.h"

#include "util/macros.h"

static int
refuse(const struct field *field, const char *what, struct lancet_error *err)
{
	char name[PAGE_NAME_SIZE];

	return lancet_fail(err, LANCET_UNSUPPORTED, "column %s: files of version 2.0 can't hold %s",
		page_column_name(field, name), what);
}

/* Children of a packed struct have whole bytes, as many in each row. */
static int
check_packed(const struct field *field, struct lancet_error *err)
{
	if (field->child_count == 0)
		return refuse(field, "packed structs without children", err);
	for (size_t i = 0; i < field->child_count; i++) {
		const struct field *child = &field->children[i];

		while (child->kind == FIELD_FIXED_LIST)
			child = &child->children[0];
		if (child->kind != FIELD_FIXED || child->bits % 8 != 0)
			return refuse(&field->children[i], "such values in packed structs", err);
	}
	return LANCET_OK;
}

int
v20_write_check(const struct field *root, struct lancet_error *err)
{
	const struct field *item = root;

	switch (root->kind) {
	case FIELD_MAP:
		return refuse(root, "maps", err);
	case FIELD_FIXED_LIST:
		while (item->kind == FIELD_FIXED_LIST)
			item = &item->children[0];
		if (item->kind != FIELD_FIXED)
			return refuse(root, "fixed-size lists of structs", err);
		return v20_write_check(item, err);
	case FIELD_FIXED:
		if (root->bits == 0)
			return refuse(root, "values of no bytes", err);
		return LANCET_OK;
	case FIELD_STRUCT:
		if (root->packed)
			return check_packed(root, err);
		break;
	default:
		break;
	}
	for (size_t i = 0; i < root->child_count; i++)
		TRY(v20_write_check(&root->children[i], err));
	return LANCET_OK;
}
