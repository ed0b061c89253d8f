/* Shared by the builders: change_build.h. */
#include "change_build.h"

#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "version.h"

void *
change_alloc(lancet_change *change, size_t count, size_t size, struct lancet_error *err)
{
	void *memory = arena_zalloc(&change->arena, count, size);

	if (memory == NULL)
		(void)change_no_memory(err);
	return memory;
}

int
change_text(lancet_change *change, const char *text, ProtobufCBinaryData *ret_text,
	struct lancet_error *err)
{
	size_t size = text == NULL ? 0 : strlen(text);
	uint8_t *copy = arena_copy(&change->arena, text == NULL ? "" : text, size + 1);

	if (copy == NULL)
		return change_no_memory(err);
	*ret_text = (ProtobufCBinaryData){ size, copy };
	return LANCET_OK;
}

int
change_predicate(lancet_change *change, struct buf *text, ProtobufCBinaryData *ret_text,
	struct lancet_error *err)
{
	int rc;

	buf_put_byte(text, '\0');
	rc = buf_check(text, "predicate", err);
	if (rc == LANCET_OK)
		rc = change_text(change, (const char *)text->data, ret_text, err);
	buf_release(text);
	return rc;
}

int
change_built(lancet_change *change, int rc, lancet_change **ret_change)
{
	if (rc != LANCET_OK)
		lancet_change_free(change);
	else
		*ret_change = change;
	return rc;
}

int
change_built_rows(lancet_change *change, int rc, uint64_t rows, lancet_change **ret_change)
{
	if (rc == LANCET_OK && rows == 0) {
		lancet_change_free(change);
		change = NULL;
	}
	return change_built(change, rc, ret_change);
}

int
change_check_cancelled(const struct lancet_change_run *run, struct lancet_error *err)
{
	if (run != NULL && run->cancelled != NULL && run->cancelled(run->context))
		return lancet_fail(err, LANCET_CANCELLED, "cancelled");
	return LANCET_OK;
}

void
change_tell_rows(const struct lancet_change_run *run, uint64_t done, uint64_t total)
{
	if (run != NULL && run->progress != NULL)
		run->progress(run->context, done, total, "rows");
}

/* Whether the name is shorter than size_before, and all of the path or what is before a dot of it.
 */
static bool
starts_with(struct slice path, ProtobufCBinaryData name, size_t size_before)
{
	if (name.len > path.size || name.len >= size_before ||
		(name.len > 0 && memcmp(path.data, name.data, name.len) != 0))
		return false;
	return name.len == path.size || path.data[name.len] == '.';
}

/* The child of `parent` whose name is the longest beginning of the path that is shorter than
 * size_before; the number of fields when there is none. */
static size_t
longest_child(const Lance__Table__Manifest *message, const size_t *parents, size_t parent,
	struct slice path, size_t size_before)
{
	size_t found = message->n_fields, size = 0;

	for (size_t i = 0; i < message->n_fields; i++) {
		ProtobufCBinaryData name = message->fields[i]->name;

		if (parents[i] != parent || !starts_with(path, name, size_before) ||
			(found < message->n_fields && name.len <= size))
			continue;
		found = i;
		size = name.len;
	}
	return found;
}

/* Each level takes at least the dot off the path: the recursion is no deeper than it has dots. */
static size_t
find_below(const Lance__Table__Manifest *message, const size_t *parents, size_t parent,
	struct slice path)
{
	size_t none = message->n_fields, size_before = SIZE_MAX;

	for (;;) {
		size_t child = longest_child(message, parents, parent, path, size_before);
		size_t size, found;

		if (child == none)
			return none;
		size = message->fields[child]->name.len;
		if (size == path.size)
			return child;
		found = find_below(message, parents, child,
			slice_of(path.data + size + 1, path.size - size - 1));
		if (found != none)
			return found;
		size_before = size;
	}
}

int
change_find_field(lancet_version *version, const size_t *parents, const char *path,
	size_t *ret_place, struct lancet_error *err)
{
	const Lance__Table__Manifest *message = version->message;
	size_t place = find_below(message, parents, message->n_fields, slice_text(path));

	if (place == message->n_fields)
		return lancet_fail(err, LANCET_NOT_FOUND, "column \"%.200s\": there is none", path);
	*ret_place = place;
	return LANCET_OK;
}
