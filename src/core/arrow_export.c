/* Arrays as Arrow hands them over; see arrow_export.h.
 *
 * Buffers move, nothing is copied: what a decoder wrote is what the consumer reads. An array
 * without values may have no buffers, but its offsets are never missing.
 */
#include "arrow_export.h"

#include <assert.h>
#include <stdlib.h>

#include "util/macros.h"

#define BUFFERS_MAX 3 /* validity, offsets, bytes */

/* What an ArrowArray owns; one allocation together with the places of its children. */
struct owner {
	const void *buffers[BUFFERS_MAX];
	struct buf owned[BUFFERS_MAX];
	struct ArrowArray dictionary;
	struct ArrowArray **child_pointers;
	struct ArrowArray children[];
};

static void
array_release_callback(struct ArrowArray *array)
{
	struct owner *owner = array->private_data;

	for (int64_t i = 0; i < array->n_children; i++) {
		if (array->children[i]->release != NULL)
			array->children[i]->release(array->children[i]);
	}
	if (array->dictionary != NULL && array->dictionary->release != NULL)
		array->dictionary->release(array->dictionary);
	for (size_t i = 0; i < BUFFERS_MAX; i++)
		buf_release(&owner->owned[i]);
	free(owner->child_pointers);
	free(owner);
	array->release = NULL;
}

static int
owner_new(size_t child_count, struct ArrowArray *array, struct lancet_error *err)
{
	struct owner *owner = calloc(1, sizeof(*owner) + child_count * sizeof(owner->children[0]));
	struct ArrowArray **pointers = calloc(child_count + 1, sizeof(struct ArrowArray *));

	if (owner == NULL || pointers == NULL) {
		free(owner);
		free(pointers);
		return lancet_fail(err, LANCET_NO_MEMORY, "Arrow array");
	}
	for (size_t i = 0; i < child_count; i++)
		pointers[i] = &owner->children[i];
	owner->child_pointers = pointers;
	*array = (struct ArrowArray){
		.n_children = (int64_t)child_count,
		.buffers = owner->buffers,
		.children = pointers,
		.release = array_release_callback,
		.private_data = owner,
	};
	return LANCET_OK;
}

/* Moves a buffer out; its bytes are no longer counted against the budget. */
static void
move_buffer(struct array *from, struct buf *buf, struct ArrowArray *into)
{
	struct owner *owner = into->private_data;
	size_t counted = buf->capacity < from->budget->used ? buf->capacity : from->budget->used;

	assert(into->n_buffers < BUFFERS_MAX);
	owner->owned[into->n_buffers] = *buf;
	owner->buffers[into->n_buffers] = buf->size == 0 ? NULL : buf->data;
	into->n_buffers++;
	from->budget->used -= counted;
	*buf = (struct buf){ 0 };
}

static void
move_validity(struct array *from, struct ArrowArray *into)
{
	if (from->null_count == 0)
		from->validity.size = 0;
	move_buffer(from, &from->validity, into);
}

static void
move_offsets(struct array *from, struct ArrowArray *into)
{
	static const uint64_t none = 0;
	struct owner *owner = into->private_data;

	move_buffer(from, &from->offsets, into);
	if (from->length == 0 && owner->buffers[into->n_buffers - 1] == NULL)
		owner->buffers[into->n_buffers - 1] = &none;
}

static void
move_buffers(struct array *from, struct ArrowArray *into)
{
	into->length = (int64_t)from->length;
	into->null_count = (int64_t)from->null_count;
	switch (from->field->kind) {
	case FIELD_NULL:
		into->null_count = into->length;
		return;
	case FIELD_FIXED:
	case FIELD_DICTIONARY:
		move_validity(from, into);
		move_buffer(from, &from->data, into);
		return;
	case FIELD_VARIABLE:
		move_validity(from, into);
		move_offsets(from, into);
		move_buffer(from, &from->data, into);
		return;
	case FIELD_LIST:
	case FIELD_MAP:
		move_validity(from, into);
		move_offsets(from, into);
		return;
	case FIELD_FIXED_LIST:
	case FIELD_STRUCT:
		move_validity(from, into);
		return;
	}
}

/* Makes the owners of the whole tree before anything moves: what fails leaves the arrays as they
 * were. */
static int
make_owners(const struct array *from, struct ArrowArray *into, struct lancet_error *err)
{
	bool dictionary = from->field->kind == FIELD_DICTIONARY;
	struct owner *owner;
	int rc = owner_new(dictionary ? 0 : from->child_count, into, err);

	if (rc != LANCET_OK)
		return rc;
	owner = into->private_data;
	if (dictionary) {
		rc = make_owners(&from->children[0], &owner->dictionary, err);
		into->dictionary = &owner->dictionary;
	}
	for (int64_t i = 0; rc == LANCET_OK && i < into->n_children; i++)
		rc = make_owners(&from->children[i], into->children[i], err);
	if (rc != LANCET_OK)
		into->release(into);
	return rc;
}

static void
move_tree(struct array *from, struct ArrowArray *into)
{
	move_buffers(from, into);
	if (into->dictionary != NULL)
		move_tree(&from->children[0], into->dictionary);
	for (int64_t i = 0; i < into->n_children; i++)
		move_tree(&from->children[i], into->children[i]);
}

int
arrow_export_batch(struct array *columns, size_t count, uint64_t rows, struct ArrowArray *ret_batch,
	struct lancet_error *err)
{
	struct ArrowArray batch = { 0 };
	int rc = owner_new(count, &batch, err);

	if (rc != LANCET_OK)
		return rc;
	for (size_t i = 0; rc == LANCET_OK && i < count; i++)
		rc = make_owners(&columns[i], batch.children[i], err);
	if (rc != LANCET_OK) {
		batch.release(&batch);
		return rc;
	}
	for (size_t i = 0; i < count; i++) {
		assert(columns[i].length == rows);
		move_tree(&columns[i], batch.children[i]);
	}
	batch.length = (int64_t)rows;
	batch.n_buffers = 1; /* no validity: a row is never null */
	*ret_batch = batch;
	return LANCET_OK;
}
