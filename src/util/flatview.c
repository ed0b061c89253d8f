/* Flatbuffers with every step checked; see flatview.h.
 *
 * Positions are kept in size_t and every sum is of values below 2^33, so on 64-bit machines none
 * wraps; 32-bit ones are safe because a message over 2 GiB is refused at the root, as the format
 * demands.
 */
#include "flatview.h"

#include "cursor.h"

#define VTABLE_HEAD 4u /* its own size, the table's size */

/* `size` bytes at `at`, or NULL and bad. */
static const uint8_t *
bytes_at(struct flatview *view, uint64_t at, uint64_t size)
{
	if (view->bad || at > view->in.size || size > view->in.size - at) {
		view->bad = true;
		return NULL;
	}
	return view->in.data + at;
}

static struct flattable
refuse_table(struct flatview *view)
{
	view->bad = true;
	return (struct flattable){ .view = view };
}

/* The table at `at`: its vtable and its inline part are inside the buffer when this succeeds. */
static struct flattable
table_at(struct flatview *view, uint64_t at)
{
	struct flattable t = { .view = view, .at = (size_t)at };
	const uint8_t *head = bytes_at(view, at, 4);
	int64_t vtable;

	if (head == NULL)
		return (struct flattable){ .view = view };
	vtable = (int64_t)at - (int32_t)load_u32(head);
	if (vtable < 0)
		return refuse_table(view);
	head = bytes_at(view, (uint64_t)vtable, VTABLE_HEAD);
	if (head == NULL)
		return (struct flattable){ .view = view };
	t.vtable = (size_t)vtable;
	t.vtable_size = load_u16(head);
	t.size = load_u16(head + 2);
	if (t.vtable_size < VTABLE_HEAD || t.vtable_size % 2 != 0 || t.size < 4)
		return refuse_table(view);
	if (bytes_at(view, t.vtable, t.vtable_size) == NULL || bytes_at(view, at, t.size) == NULL)
		return (struct flattable){ .view = view };
	return t;
}

struct flattable
flatview_root(struct flatview *view)
{
	const uint8_t *root = bytes_at(view, 0, 4);

	if (root == NULL)
		return (struct flattable){ .view = view };
	if (view->in.size > INT32_MAX)
		return refuse_table(view);
	return table_at(view, load_u32(root));
}

/* Where in the buffer a field of `size` inline bytes is; 0 when it is absent or bad. */
static size_t
field_at(const struct flattable *t, unsigned field, size_t size)
{
	uint64_t slot = VTABLE_HEAD + 2 * (uint64_t)field;
	uint16_t offset;

	if (t->size == 0 || t->view->bad || slot + 2 > t->vtable_size)
		return 0;
	offset = load_u16(t->view->in.data + t->vtable + slot);
	if (offset == 0)
		return 0;
	if (offset < 4 || offset > t->size || size > (size_t)t->size - offset) {
		t->view->bad = true;
		return 0;
	}
	return t->at + offset;
}

struct slice
flatview_field(const struct flattable *t, unsigned field, size_t size)
{
	size_t at = field_at(t, field, size);

	return at == 0 ? (struct slice){ 0 } : slice_of(t->view->in.data + at, size);
}

bool
flatview_bool(const struct flattable *t, unsigned field, bool absent)
{
	return flatview_u8(t, field, absent) != 0;
}

uint8_t
flatview_u8(const struct flattable *t, unsigned field, uint8_t absent)
{
	struct slice s = flatview_field(t, field, 1);

	return s.size == 0 ? absent : s.data[0];
}

int8_t
flatview_i8(const struct flattable *t, unsigned field, int8_t absent)
{
	return (int8_t)flatview_u8(t, field, (uint8_t)absent);
}

int16_t
flatview_i16(const struct flattable *t, unsigned field, int16_t absent)
{
	struct slice s = flatview_field(t, field, 2);

	return s.size == 0 ? absent : (int16_t)load_u16(s.data);
}

int32_t
flatview_i32(const struct flattable *t, unsigned field, int32_t absent)
{
	struct slice s = flatview_field(t, field, 4);

	return s.size == 0 ? absent : (int32_t)load_u32(s.data);
}

int64_t
flatview_i64(const struct flattable *t, unsigned field, int64_t absent)
{
	struct slice s = flatview_field(t, field, 8);

	return s.size == 0 ? absent : (int64_t)load_u64(s.data);
}

/* Follows the reference stored at `at`, whose four bytes are known to be there. */
static uint64_t
target_of(const struct flatview *view, size_t at)
{
	return (uint64_t)at + load_u32(view->in.data + at);
}

struct flattable
flatview_table(const struct flattable *t, unsigned field)
{
	size_t at = field_at(t, field, 4);

	return at == 0 ? (struct flattable){ .view = t->view }
	               : table_at(t->view, target_of(t->view, at));
}

struct flatvector
flatview_vector(const struct flattable *t, unsigned field, size_t element_size)
{
	struct flatvector none = { .view = t->view, .element_size = element_size };
	struct flatvector v = none;
	size_t at = field_at(t, field, 4);
	const uint8_t *from;
	uint64_t target;

	if (at == 0)
		return none;
	target = target_of(t->view, at);
	from = bytes_at(t->view, target, 4);
	if (from == NULL)
		return none;
	v.count = load_u32(from);
	if (v.count > (t->view->in.size - target - 4) / element_size) {
		t->view->bad = true;
		return none;
	}
	v.at = (size_t)target + 4;
	v.elements = slice_of(from + 4, v.count * element_size);
	v.present = true;
	return v;
}

struct slice
flatview_string(const struct flattable *t, unsigned field)
{
	return flatview_vector(t, field, 1).elements;
}

struct slice
flatvector_element(const struct flatvector *v, uint32_t index)
{
	if (v->view->bad || index >= v->count) {
		v->view->bad = true;
		return (struct slice){ 0 };
	}
	return slice_of(v->elements.data + index * v->element_size, v->element_size);
}

struct flattable
flatvector_table(const struct flatvector *v, uint32_t index)
{
	if (v->element_size != 4 || flatvector_element(v, index).size == 0)
		return refuse_table(v->view);
	return table_at(v->view, target_of(v->view, v->at + index * (size_t)4));
}
