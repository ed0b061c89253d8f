/* Preconditions: how they are written and decoded, and each reason for which one no longer holds.
 */
#include "unit.h"

#include "storecalls.h"
#include "worldmake.h"

static struct preconditions *
open_text(lancet_version *read, const char *text)
{
	struct preconditions *conditions = NULL;
	lancet_transaction *transaction;
	struct arena arena = { 0 };
	struct slice *list;
	size_t count;

	OK(preconditions_encode(read, text, &arena, &list, &count, &err));
	transaction = world_transaction(list, count);
	OK(preconditions_open(transaction, read, &conditions, &err));
	ck_assert_ptr_nonnull(conditions);
	lancet_transaction_free(transaction);
	arena_release(&arena);
	return conditions;
}

static void
none(struct world *w)
{
	(void)w;
}
static void
drop_field(struct world *w)
{
	w->manifest.n_fields = 3;
}
static void
rename_field(struct world *w)
{
	w->fields[3].name = maker_text("z");
}
static void
retype(struct world *w)
{
	w->fields[3].logical_type = maker_text("binary");
}
static void
make_required(struct world *w)
{
	w->fields[3].nullable = 0;
}
static void
retype_parent(struct world *w)
{
	w->fields[1].logical_type = maker_text("list");
}
static void
require_parent(struct world *w)
{
	w->fields[1].nullable = 0;
}
static void
retype_sibling(struct world *w)
{
	w->fields[2].logical_type = maker_text("int64");
}
static void
move_field(struct world *w)
{
	w->fields[3].parent_id = -1;
}
static void
add_child(struct world *w)
{
	world_field(w, 4, 9, 1, "new", "int32");
	w->manifest.n_fields = 5;
}
static void
add_sibling(struct world *w)
{
	world_field(w, 4, 9, -1, "new", "int32");
	w->manifest.n_fields = 5;
}
static void
order_fields(struct world *w)
{
	w->field_list[2] = &w->fields[3];
	w->field_list[3] = &w->fields[2];
}
static void
remove_fragment(struct world *w)
{
	w->fragment_list[0] = &w->fragments[1];
	w->manifest.n_fragments = 1;
}
static void
add_fragment(struct world *w)
{
	w->fragments[1].id = 6;
}
static void
resize(struct world *w)
{
	w->fragments[0].physical_rows = 11;
}
static void
other_path(struct world *w)
{
	w->files[1].path = maker_text("t.lance");
}
static void
other_column(struct world *w)
{
	w->columns[1][1] = 5;
}
static void
other_format(struct world *w)
{
	w->files[1].file_minor_version = 2;
}
static void
other_size(struct world *w)
{
	w->files[1].file_size_bytes = 5;
}
static void
bury(struct world *w)
{
	w->ids[1][1] = -2;
}
static void
other_base(struct world *w)
{
	w->files[1].base_id_presence_case = LANCE__TABLE__DATA_FILE__BASE_ID_PRESENCE_BASE_ID;
	w->files[1].base_id = 1;
}
static void
replace(struct world *w)
{
	w->ids[1][1] = -2;
	w->files[2].fields[0] = 3;
	w->fragments[0].n_files = 3;
}
static void
fill_parent(struct world *w)
{
	/* files before 2.1 list the struct, whose column says where it is null */
	w->ids[0][1] = 1;
	w->files[0].n_fields = w->files[0].n_column_indices = 2;
}
static void
order_files(struct world *w)
{
	w->file_list[0] = &w->files[1];
	w->file_list[1] = &w->files[0];
}
static void
drop_deletion(struct world *w)
{
	w->fragments[0].deletion_file = NULL;
}
static void
delete_more(struct world *w)
{
	w->deletion.id = 8;
}
static void
delete_later(struct world *w)
{
	w->deletion.read_version = 3;
}
static void
delete_array(struct world *w)
{
	w->deletion.file_type = 0;
}
static void
delete_elsewhere(struct world *w)
{
	w->deletion.base_id_presence_case = LANCE__TABLE__DELETION_FILE__BASE_ID_PRESENCE_BASE_ID;
	w->deletion.base_id = 1;
}
static void
count_deleted(struct world *w)
{
	w->deletion.num_deleted_rows = 2;
}
static void
delete_other(struct world *w)
{
	w->fragments[1].deletion_file = &w->deletion;
}
static void
drop_overlay(struct world *w)
{
	w->fragments[0].n_overlays = 0;
}
static void
bury_overlay(struct world *w)
{
	w->overlay_ids[0][0] = -2;
}
static void
stamp_overlay(struct world *w)
{
	w->overlays[0].committed_version = 1;
}
static void
swap_overlay(struct world *w)
{
	w->overlay_files[0].path = maker_text("p.lance");
}
static void
shift_overlay(struct world *w)
{
	w->overlay_columns[0][0] = 1;
}
static void
narrow_overlay(struct world *w)
{
	w->overlays[0].shared_offset_bitmap = world_bitmap(w->bitmaps[0], "1");
}
static void
add_overlay(struct world *w)
{
	world_overlay(w, 1, 2, "567", 3);
	w->fragments[0].n_overlays = 2;
}
static void
overlay_parent(struct world *w)
{
	world_overlay(w, 1, 1, "567", 3);
	w->fragments[0].n_overlays = 2;
}
static void
move_base(struct world *w)
{
	w->base.path = maker_text("/elsewhere");
}
static void
root_base(struct world *w)
{
	w->base.is_dataset_root = 1;
}

/* `before` is done to the version that was read, too. */
static const struct {
	const char *condition;
	void (*before)(struct world *w), (*change)(struct world *w);
	const char *reason; /* NULL: it holds */
	int32_t field;
} rules[] = {
	{ "s.y@4:*", none, none, NULL, 0 },
	/* the field */
	{ "s.y@4:*", none, drop_field, "dropped", 3 },
	{ "s@4:*", none, drop_field, "dropped", 1 },
	{ "a@4:*", none, drop_field, NULL, 0 },
	{ "s.y@4:*", none, rename_field, NULL, 0 },
	{ "s.y@4:*", none, retype, "retyped", 3 },
	{ "s.y@4:*", none, make_required, "retyped", 3 },
	{ "s.y@4:*", none, retype_parent, "retyped", 3 },
	{ "s.y@4:*", none, require_parent, "retyped", 3 },
	{ "s.y@4:*", none, retype_sibling, NULL, 0 },
	{ "s@4:*", none, retype_sibling, "retyped", 1 },
	{ "s.y@4:*", none, move_field, "retyped", 3 },
	{ "s@4:*", none, add_child, "extended", 1 },
	{ "s.y@4:*", none, add_child, NULL, 0 },
	{ "s@4:*", none, add_sibling, NULL, 0 },
	{ "s@4:*", none, order_fields, NULL, 0 },
	/* the fragment */
	{ "a@4:0", none, remove_fragment, "gone", 0 },
	{ "a@5:0", none, remove_fragment, NULL, 0 },
	{ "a@5:0", none, add_fragment, "gone", 0 },
	{ "a@4:0", none, resize, "resized", 0 },
	{ "a@5:0", none, resize, NULL, 0 },
	/* data files */
	{ "s.y@4:0", none, other_path, "rewritten", 3 },
	{ "s@4:0", none, other_path, "rewritten", 1 },
	{ "a@4:0", none, other_path, NULL, 0 },
	{ "s.y@5:0", none, other_path, NULL, 0 },
	{ "s.y@4:0", none, other_column, "rewritten", 3 },
	{ "s.x@4:0", none, other_column, NULL, 0 },
	{ "s.y@4:0", none, other_format, "rewritten", 3 },
	{ "s.y@4:0", none, other_size, NULL, 0 },
	{ "s.y@4:0", none, other_base, "rewritten", 3 },
	{ "s.y@4:0", none, bury, "rewritten", 3 },
	{ "s.x@4:0", none, bury, NULL, 0 },
	{ "s.y@4:0", none, replace, "rewritten", 3 },
	{ "a,s.x@4:0", none, replace, NULL, 0 },
	{ "s.y@4:0", none, fill_parent, "rewritten", 3 },
	{ "s.y@4:0", none, order_files, NULL, 0 },
	{ "s.y@4:0", other_base, move_base, "rewritten", 3 },
	{ "s.y@4:0", other_base, root_base, "rewritten", 3 },
	{ "a@4:0", none, move_base, NULL, 0 },
	{ "s.y@4:0", bury, replace, "rewritten", 3 },
	/* the deletion file */
	{ "a@4:0", none, drop_deletion, "rows were deleted", 0 },
	{ "a@4:0", drop_deletion, none, NULL, 0 },
	{ "a@4:0", none, delete_more, "rows were deleted", 0 },
	{ "a@4:0", none, delete_later, "rows were deleted", 0 },
	{ "a@4:0", none, delete_array, "rows were deleted", 0 },
	{ "a@4:0", none, delete_elsewhere, "rows were deleted", 0 },
	{ "a@4:0", none, count_deleted, NULL, 0 },
	{ "a@5:0", none, delete_other, "rows were deleted", 0 },
	{ "a@4:0", none, delete_other, NULL, 0 },
	{ "a@4:0", delete_elsewhere, move_base, "rows were deleted", 0 },
	/* overlays */
	{ "s.x@4:1", none, drop_overlay, "overlaid", 2 },
	{ "s.x@4:3-9", none, drop_overlay, NULL, 0 },
	{ "s.y@4:*", none, drop_overlay, NULL, 0 },
	{ "s.x@4:1", none, bury_overlay, "overlaid", 2 },
	{ "s.x@4:1", none, stamp_overlay, "overlaid", 2 },
	{ "s.x@4:1", none, swap_overlay, "overlaid", 2 },
	{ "s.x@4:1", none, shift_overlay, "overlaid", 2 },
	{ "s.x@4:2", none, narrow_overlay, "overlaid", 2 },
	{ "s.x@4:1,2", none, narrow_overlay, "overlaid", 2 },
	{ "s.x@4:1", none, narrow_overlay, NULL, 0 },
	{ "s.x@4:5", none, add_overlay, "overlaid", 2 },
	{ "s.x@4:*", none, add_overlay, "overlaid", 2 },
	{ "s@4:7", none, add_overlay, "overlaid", 1 },
	{ "s.x@4:0-4,8-9", none, add_overlay, NULL, 0 },
	{ "s.y@4:5", none, add_overlay, NULL, 0 },
	{ "s.y@4:5", none, overlay_parent, "overlaid", 3 },
	{ "a@4:5", none, overlay_parent, NULL, 0 },
	/* several of each */
	{ "a,s.y@5:*;4:3", none, other_path, "rewritten", 3 },
	{ "a@5:1;4:3", none, other_path, NULL, 0 },
};

START_TEST(a_condition_holds_until_its_cells_change)
{
	struct precondition_failure failure = { 0 };
	struct world read, current;
	struct preconditions *conditions;
	struct lancet_error err = { 0 };
	int rc;

	world_init(&read, 3);
	rules[_i].before(&read);
	world_open(&read);
	world_init(&current, 4);
	rules[_i].before(&current);
	rules[_i].change(&current);
	world_open(&current);
	conditions = open_text(read.version, rules[_i].condition);
	rc = preconditions_check(conditions, current.version, &failure, &err);
	if (rules[_i].reason == NULL) {
		ck_assert_msg(rc == LANCET_OK, "%d: %s", _i, err.text);
	} else {
		ck_assert_msg(rc == LANCET_PRECONDITION, "%d: %d %s", _i, rc, err.text);
		ck_assert_str_eq(failure.reason, rules[_i].reason);
		ck_assert_int_eq(failure.field, rules[_i].field);
		ck_assert_ptr_nonnull(strstr(failure.text, rules[_i].reason));
	}
	preconditions_free(conditions);
	world_release(&read);
	world_release(&current);
}
END_TEST

START_TEST(the_version_that_was_read_holds)
{
	struct world read;
	struct preconditions *conditions;
	struct precondition_failure failure;

	world_init(&read, 3);
	world_open(&read);
	conditions = open_text(read.version, "a@4:*");
	OK(preconditions_check(conditions, read.version, &failure, &err));
	ck_assert_uint_eq(preconditions_broken_by(conditions, read.version), 0);
	preconditions_free(conditions);
	world_release(&read);
}
END_TEST

UNIT_MAIN("precondition", UNIT_LOOP(a_condition_holds_until_its_cells_change, rules),
	UNIT_TEST(the_version_that_was_read_holds))
