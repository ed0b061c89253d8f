/* Bounds-checked reading of flatbuffers, as Arrow IPC messages are made of them.
 *
 * Failure is sticky as in a cursor: any reference, vtable, vector or scalar that leaves the buffer
 * sets `bad` in the view, and every read after that gives the default or something absent. The
 * caller checks `bad` once at the end. Nothing here recurses: what is walked, and how deep, is the
 * caller's choice, so references that run in a circle cost no more than the caller's own loop.
 */
#ifndef UTIL_FLATVIEW_H
#define UTIL_FLATVIEW_H

#include "slice.h"

struct flatview {
	struct slice in; /* one message; positions inside are relative to its start */
	bool bad;
};

/* A table of the view. An absent one has size 0, and all its fields are absent. */
struct flattable {
	struct flatview *view;
	size_t at;            /* position of the table */
	size_t vtable;        /* position of its vtable */
	uint16_t vtable_size; /* bytes */
	uint16_t size;        /* bytes of the table's inline part; 0 = absent */
};

/* A vector of the view. An absent one has present = false and count 0. */
struct flatvector {
	struct flatview *view;
	struct slice elements; /* count * element_size bytes */
	size_t at;             /* position of the first element */
	size_t element_size;
	uint32_t count;
	bool present;
};

struct flattable flatview_root(struct flatview *view);
static inline bool
flattable_present(const struct flattable *t)
{
	return t->size != 0;
}

/* Fields are counted from 0 in schema order; a union takes two, its type (u8) first. */
/* The `size` inline bytes of a field (a scalar or struct), or an empty slice when it is absent. */
struct slice flatview_field(const struct flattable *t, unsigned field, size_t size);
bool flatview_bool(const struct flattable *t, unsigned field, bool absent);
uint8_t flatview_u8(const struct flattable *t, unsigned field, uint8_t absent);
int8_t flatview_i8(const struct flattable *t, unsigned field, int8_t absent);
int16_t flatview_i16(const struct flattable *t, unsigned field, int16_t absent);
int32_t flatview_i32(const struct flattable *t, unsigned field, int32_t absent);
int64_t flatview_i64(const struct flattable *t, unsigned field, int64_t absent);
/* A table, or the table of a union. */
struct flattable flatview_table(const struct flattable *t, unsigned field);
/* Empty when absent; not checked for UTF-8. */
struct slice flatview_string(const struct flattable *t, unsigned field);
/* A vector of scalars or structs of element_size bytes (>= 1); of tables or strings with size 4. */
struct flatvector flatview_vector(const struct flattable *t, unsigned field, size_t element_size);

/* One element as bytes; index >= count gives an empty slice and sets bad. */
struct slice flatvector_element(const struct flatvector *v, uint32_t index);
/* One element of a vector of tables. */
struct flattable flatvector_table(const struct flatvector *v, uint32_t index);

#endif
