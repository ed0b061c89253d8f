/* Batches to lines of text: the writer of lancet/rowtext.h. */
#include "row_field.h"

#include "util/macros.h"

struct lancet_rowtext {
	struct arena arena;
	struct row_field root;
	enum lancet_rowtext_form form;
	struct lancet_output sink;
	struct buf text; /* kept for its capacity */
	struct lancet_rowtext_cut cut;
};

static struct row_writer
writer_of(struct lancet_rowtext *rows, struct lancet_error *err)
{
	return (struct row_writer){
		.text = &rows->text, .sink = &rows->sink, .cut = rows->cut, .err = err
	};
}

int
lancet_rowtext_open(const struct ArrowSchema *schema, enum lancet_rowtext_form form,
	struct lancet_rowtext_cut cut, const struct lancet_output *out, lancet_rowtext **ret_writer,
	struct lancet_error *err)
{
	struct lancet_rowtext *rows;
	int rc;

	if (form == LANCET_CSV && (cut.bytes != 0 || cut.items != 0))
		return lancet_fail(err, LANCET_INVALID, "CSV is not cut");
	rows = calloc(1, sizeof(*rows));
	if (rows == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "out of memory");
	rows->form = form;
	rows->sink = *out;
	rows->cut = cut;
	rc = row_field_init(&rows->root, schema, 0, &rows->arena, err);
	if (rc == LANCET_OK && rows->root.type.kind != ARROW_STRUCT)
		rc = lancet_fail(err, LANCET_INVALID, "batches are structs of columns");
	if (rc == LANCET_OK && form == LANCET_CSV) {
		struct row_writer writer = writer_of(rows, err);

		row_csv_header(&writer, &rows->root);
		row_flush(&writer, 0);
		rc = writer.failed;
	}
	if (rc != LANCET_OK) {
		lancet_rowtext_free(rows);
		return rc;
	}
	*ret_writer = rows;
	return LANCET_OK;
}

int
lancet_rowtext_write(lancet_rowtext *rows, const struct ArrowArray *batch, struct lancet_error *err)
{
	struct row_writer writer = writer_of(rows, err);

	if (batch->n_children != (int64_t)rows->root.child_count)
		return lancet_fail(err, LANCET_INVALID, "a batch of another schema");
	for (int64_t row = 0; row < batch->length && writer.failed == LANCET_OK; row++) {
		if (rows->form == LANCET_CSV)
			row_csv_line(&writer, &rows->root, batch, row);
		else
			row_json_line(&writer, &rows->root, batch, row);
	}
	row_flush(&writer, 0);
	return writer.failed;
}

void
lancet_rowtext_free(lancet_rowtext *rows)
{
	if (rows == NULL)
		return;
	buf_release(&rows->text);
	arena_release(&rows->arena);
	free(rows);
}
