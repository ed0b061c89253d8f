/* Rows from lines of text; see import_rows.h. */
#include "import_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/macros.h"
#include "util/text.h"

#define BLOCK ((size_t)1 << 20)

static int
read_block(struct import_input *input, size_t size, struct lancet_error *err)
{
	struct buf *bytes = &input->bytes;

	if (!buf_reserve(bytes, size))
		return buf_check(bytes, "a line", err);
	while (size > 0 && !input->ended) {
		ssize_t got = read(input->file, bytes->data + bytes->size, size);

		if (got < 0 && errno == EINTR)
			return lancet_fail(err, LANCET_CANCELLED, "cancelled by a signal");
		if (got < 0)
			return lancet_fail_errno(err, "rows");
		input->ended = got == 0;
		bytes->size += (size_t)got;
		size -= (size_t)got;
	}
	return LANCET_OK;
}

int
import_input_more(struct text_source *source, struct lancet_error *err)
{
	struct import_input *input = &source->input;
	struct buf *bytes = &input->bytes;
	size_t waiting = bytes->size - input->at;

	if (waiting >= IMPORT_LINE_MAX)
		return lancet_fail(err, LANCET_LIMIT, "line %" PRIu64 ": longer than %zu bytes",
			source->line, IMPORT_LINE_MAX);
	if (waiting > 0 && input->at > 0)
		memmove(bytes->data, bytes->data + input->at, waiting);
	input->offset += input->at;
	bytes->size = waiting;
	input->at = 0;
	return read_block(input, waiting < BLOCK ? BLOCK : waiting, err);
}

/* The first byte that does not belong to UTF-8, which the text is not. */
static size_t
first_bad(struct slice text)
{
	size_t at = 0;

	while (at < text.size) {
		size_t left = text.size - at, size = 1;

		while (size < 4 && size < left && !text_is_utf8(slice_of(text.data + at, size)))
			size++;
		if (!text_is_utf8(slice_of(text.data + at, size)))
			break;
		at += size;
	}
	return at;
}

int
import_check_text(const struct text_source *source, struct slice text, struct lancet_error *err)
{
	const struct import_input *input = &source->input;
	size_t start;

	if (text_is_utf8(text))
		return LANCET_OK;
	start = (size_t)(text.data - input->bytes.data);
	return lancet_fail(err, LANCET_INVALID,
		"line %" PRIu64 ": byte %" PRIu64 " of the file: not UTF-8", source->line,
		input->offset + start + first_bad(text) + 1);
}

static int
skip_mark(struct text_source *source, struct lancet_error *err)
{
	struct import_input *input = &source->input;
	struct slice start = buf_slice(&input->bytes);

	if (start.size >= 3 && memcmp(start.data, "\xef\xbb\xbf", 3) == 0)
		input->at = 3;
	if (start.size >= 2 &&
		(memcmp(start.data, "\xff\xfe", 2) == 0 || memcmp(start.data, "\xfe\xff", 2) == 0))
		return lancet_fail(err, LANCET_INVALID, "the text is UTF-16, UTF-8 is needed");
	return LANCET_OK;
}

/* After a batch that was too large for what earlier ones left of the budget. */
static int
renew(struct array *columns, size_t count, struct lancet_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct field *field = columns[i].field;
		struct array_budget *budget = columns[i].budget;

		array_release(&columns[i]);
		TRY(array_init(&columns[i], field, budget, err));
	}
	return LANCET_OK;
}

static void
cut_back(struct array *columns, size_t count, uint64_t rows)
{
	for (size_t i = 0; i < count; i++)
		array_truncate(&columns[i], rows);
}

static int
put_first(struct text_source *source, struct array *columns, struct lancet_error *err)
{
	int rc = source->ops->put(source, columns, err);

	if (rc != LANCET_LIMIT)
		return rc;
	TRY(renew(columns, source->root.child_count, err));
	return source->ops->put(source, columns, err);
}

static int
wrap_line(const struct text_source *source, int rc, struct lancet_error *err)
{
	if (source->column == NULL)
		return lancet_wrap(err, rc, "line %" PRIu64, source->line);
	return lancet_wrap(err, rc, "line %" PRIu64 ", column \"%.*s\"", source->line,
		FIELD_TEXT(source->column->name));
}

static int
next(struct row_source *base, struct array *columns, uint64_t max_rows, uint64_t *ret_rows,
	struct lancet_error *err)
{
	struct text_source *source = (struct text_source *)base;
	uint64_t rows = 0;

	for (; rows < max_rows; rows++) {
		int rc;

		if (!source->held)
			TRY(source->ops->read(source, &source->held, err));
		if (!source->held)
			break;
		rc = rows == 0 ? put_first(source, columns, err)
			       : source->ops->put(source, columns, err);
		if (rc == LANCET_LIMIT && rows > 0) {
			cut_back(columns, source->root.child_count, rows);
			break;
		}
		if (rc != LANCET_OK)
			return wrap_line(source, rc, err);
		source->held = false;
	}
	*ret_rows = rows;
	return LANCET_OK;
}

static const struct row_source_ops source_ops = { .next = next, .free = text_source_free };

int
text_source_init(struct text_source *source, const struct text_source_ops *ops,
	const struct field_tree *schema, int file, struct lancet_error *err)
{
	source->base.ops = &source_ops;
	source->ops = ops;
	source->input.file = file;
	source->line = source->next_line = 1;
	TRY(import_node_init(&source->root, schema, &source->arena, err));
	TRY(import_input_more(source, err));
	return skip_mark(source, err);
}

void
text_source_free(struct row_source *base)
{
	struct text_source *source = (struct text_source *)base;

	if (source == NULL)
		return;
	if (source->ops->release != NULL)
		source->ops->release(source);
	import_node_release(&source->root);
	arena_release(&source->arena);
	buf_release(&source->input.bytes);
	free(source);
}
