#include "draft_base.h"

#include <inttypes.h>

#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "util/roaringx.h"
#include "util/slice.h"
#include "util/text.h"

typedef Lance__Table__BasePath Base;

static struct slice
bytes_of(ProtobufCBinaryData data)
{
	return slice_of(data.data, data.len);
}

static bool
same_name(const Base *a, const Base *b)
{
	return a->name_presence_case == b->name_presence_case &&
	       (a->name_presence_case == 0 || slice_equal(bytes_of(a->name), bytes_of(b->name)));
}

static int
check_text(const Base *base, struct lancet_error *err)
{
	struct slice path = bytes_of(base->path);

	if (path.size == 0)
		return lancet_fail(err, LANCET_INVALID, "a base without a path");
	if (!text_is_utf8(path) || memchr(path.data, '\0', path.size) != NULL)
		return lancet_fail(err, LANCET_INVALID, "the path of a base is no text");
	if (base->name_presence_case != 0 && !text_is_utf8(bytes_of(base->name)))
		return lancet_fail(err, LANCET_INVALID, "the name of a base is not UTF-8");
	return LANCET_OK;
}

static int
check_against(const Base *base, const Base *other, struct lancet_error *err)
{
	if (base->id != 0 && base->id == other->id)
		return lancet_fail(err, LANCET_INVALID, "base id %" PRIu32 " is in use", base->id);
	if (same_name(base, other))
		return lancet_fail(
			err, LANCET_INVALID, "base %" PRIu32 " has the same name", other->id);
	if (slice_equal(bytes_of(base->path), bytes_of(other->path)))
		return lancet_fail(
			err, LANCET_INVALID, "base %" PRIu32 " has the same path", other->id);
	return LANCET_OK;
}

/* The smallest id from `first` on that is free. */
static int
choose_id(const Lance__Table__Manifest *head, uint32_t first, uint32_t *ret_id,
	struct lancet_error *err)
{
	roaring_bitmap_t *used = roaring_bitmap_create();

	if (used == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < head->n_base_paths; i++)
		roaring_bitmap_add(used, head->base_paths[i]->id);
	while (roaring_bitmap_contains(used, first) && first < UINT32_MAX)
		first++;
	roaring_bitmap_free(used);
	if (first == UINT32_MAX)
		return lancet_fail(err, LANCET_LIMIT, "no base id is left");
	*ret_id = first;
	return LANCET_OK;
}

static int
add(struct draft *draft, const Base *base, uint32_t id, struct lancet_error *err)
{
	Lance__Table__Manifest *head = draft->head;
	Base **list = draft_alloc(draft, (head->n_base_paths + 1) * sizeof(*list));
	Base *copy = draft_copy(draft, base, sizeof(*base));

	if (list == NULL || copy == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < head->n_base_paths; i++)
		list[i] = head->base_paths[i];
	copy->id = id;
	list[head->n_base_paths++] = copy;
	head->base_paths = list;
	draft->changed |= DRAFT_BASE_PATHS;
	return LANCET_OK;
}

int
draft_base_add(struct draft *draft, const Base *base, struct lancet_error *err)
{
	uint32_t id = base->id;

	TRY(check_text(base, err));
	for (size_t i = 0; i < draft->head->n_base_paths; i++)
		TRY(check_against(base, draft->head->base_paths[i], err));
	if (id == 0)
		TRY(choose_id(draft->head, 1, &id, err));
	return add(draft, base, id, err);
}

int
draft_base_of_clone(
	struct draft *draft, const Base *base, uint32_t *ret_id, struct lancet_error *err)
{
	uint32_t id;

	TRY(check_text(base, err));
	TRY(choose_id(draft->head, 0, &id, err));
	TRY(add(draft, base, id, err));
	*ret_id = id;
	return LANCET_OK;
}
