/* Assignments: "column = expression, …". */
#include <stdlib.h>

#include "assignment_store.h"
#include "util/macros.h"

/* Which values a column takes. Floating-point numbers become decimals or whole numbers only where
 * that is exact, which is told row by row. */
static bool
takes(const struct value_type *target, const struct value_type *value)
{
	if (value->class == VALUE_NULL)
		return true;
	if (target->class == VALUE_DECIMAL && value->class == VALUE_FLOAT)
		return false;
	if (type_is_number(target) && type_is_number(value))
		return true;
	return target->class == value->class && target->class != VALUE_OTHER;
}

static int
refuse(const struct expression *target, const char *what, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID, "at %u: column \"%.*s\" %s", target->place,
		FIELD_TEXT(target->path[0]), what);
}

static int
check_target(const struct assignments *assignments, const struct expression *target,
	struct lancet_error *err)
{
	if (target->path_size > 1)
		return lancet_fail(err, LANCET_INVALID,
			"at %u: \"%.*s.%.*s\": only whole columns can be set", target->place,
			FIELD_TEXT(target->path[0]), FIELD_TEXT(target->path[1]));
	if (target->root >= assignments->base.schema->root_count)
		return refuse(target, "is set by commits alone", err);
	for (size_t i = 0; assignments->list[i].target != target; i++) {
		if (assignments->list[i].target->root == target->root)
			return refuse(target, "is set twice", err);
	}
	return LANCET_OK;
}

static int
check_value(
	const struct expression *target, const struct expression *value, struct lancet_error *err)
{
	const struct value_type *type = &value->type;
	bool is_null = value->kind == EXPRESSION_CONSTANT && value->is_null;

	if (is_null && !target->fields[0]->nullable)
		return refuse(target, "can't be null", err);
	if (is_null)
		return LANCET_OK;
	if (target->type.class == VALUE_OTHER || target->type.class == VALUE_NULL)
		return refuse(target, "can only be set to null", err);
	if (!takes(&target->type, type))
		return lancet_fail(err, LANCET_INVALID,
			"at %u: %s for column \"%.*s\", which is %s", value->place, type_name(type),
			FIELD_TEXT(target->path[0]), type_name(&target->type));
	if (type->class == VALUE_INSTANT && !type_zones_agree(type, &target->type))
		return refuse(target, "and the value differ in having a zone", err);
	return LANCET_OK;
}

/* What no row could take is refused before there is one. */
static int
try_constant(const struct assignments *assignments, size_t index, struct lancet_error *err)
{
	const struct assignment *one = &assignments->list[index];
	struct array_budget budget = { .limit = (size_t)64 << 20 };
	struct array out;
	int rc;

	if (one->value->kind != EXPRESSION_CONSTANT)
		return LANCET_OK;
	TRY(array_init(&out, one->target->fields[0], &budget, err));
	rc = assignments_apply(assignments, index, NULL, 1, &out, err);
	array_release(&out);
	return rc;
}

static int
bind(struct assignments *assignments, const struct field_tree *schema, struct lancet_error *err)
{
	struct predicate *base = &assignments->base;

	TRY(predicate_prepare(base, schema, err));
	for (size_t i = 0; i < assignments->count; i++) {
		struct assignment *one = &assignments->list[i];

		TRY(predicate_find_column(base, one->target, err));
		TRY(check_target(assignments, one->target, err));
		TRY(predicate_bind_top(base, &one->value, &one->target->type, err));
		TRY(check_value(one->target, one->value, err));
		TRY(try_constant(assignments, i, err));
	}
	return LANCET_OK;
}

int
assignments_parse(const char *text, const struct field_tree *schema,
	struct assignments **ret_assignments, struct lancet_error *err)
{
	struct assignments *assignments = calloc(1, sizeof(*assignments));
	int rc;

	if (assignments == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "assignments");
	rc = assignments_read(assignments, text, err);
	if (rc == LANCET_OK)
		rc = bind(assignments, schema, err);
	if (rc == LANCET_OK)
		*ret_assignments = assignments;
	else
		assignments_free(assignments);
	return rc;
}

void
assignments_free(struct assignments *assignments)
{
	if (assignments == NULL)
		return;
	arena_release(&assignments->base.arena);
	free(assignments->list);
	free(assignments);
}

size_t
assignments_count(const struct assignments *assignments)
{
	return assignments->count;
}

size_t
assignments_root(const struct assignments *assignments, size_t index)
{
	return assignments->list[index].target->root;
}

bool
assignments_use(const struct assignments *assignments, size_t root)
{
	return assignments->base.uses[root];
}

int
assignments_apply(const struct assignments *assignments, size_t index,
	const struct array *const *columns, uint64_t rows, struct array *out,
	struct lancet_error *err)
{
	const struct assignment *one = &assignments->list[index];
	struct machine machine = { .columns = columns, .err = err };
	struct vector vector;
	int rc = LANCET_OK;

	if (one->value->type.class == VALUE_NULL)
		return store_nulls(out, rows, err);
	while (rc == LANCET_OK && machine_next(&machine, rows)) {
		rc = eval_value(&machine, one->value, 0, &vector);
		if (rc == LANCET_OK)
			rc = store_vector(&machine, &vector, &one->target->type, out);
	}
	machine_release(&machine);
	if (rc == LANCET_INVALID)
		return lancet_wrap(
			err, rc, "column \"%.*s\"", FIELD_TEXT(one->target->fields[0]->name));
	return rc;
}
