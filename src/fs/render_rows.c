/* head.jsonl and columns.tsv of a fragment: what its data files hold, for people. SPEC section 4.
 *
 * Both open data files, which a stat must not cost: they are computed when opened, and kept like
 * other texts.
 */
#include "render.h"

#include <lancet/rowtext.h>
#include <lancet/scan.h>

#include "util/macros.h"
#include "util/text.h"

#define HEAD_ROWS 100
/* Of one row, decoded: a preview is no reason to take more. */
#define HEAD_ROW_BYTES ((size_t)128 << 20)

/* What is shown of a value: enough for people, and little enough that a head fits a text. Tables of
 * more fields than WIDE_FIELDS share what that many would have. */
#define CUT_BYTES     1024u
#define CUT_BYTES_MIN 64u
#define CUT_ITEMS     64u
#define CUT_ITEMS_MIN 4u
#define WIDE_FIELDS   256u

static size_t
share(size_t whole, size_t least, size_t fields)
{
	size_t part = fields <= WIDE_FIELDS ? whole : whole * WIDE_FIELDS / fields;

	return part < least ? least : part;
}

static int
head_cut(lancet_version *version, struct lancet_rowtext_cut *ret_cut, struct lancet_error *err)
{
	const struct lancet_field *fields;
	size_t count = 0;

	TRY(lancet_version_fields(version, &fields, &count, err));
	*ret_cut = (struct lancet_rowtext_cut){
		.bytes = share(CUT_BYTES, CUT_BYTES_MIN, count),
		.items = share(CUT_ITEMS, CUT_ITEMS_MIN, count),
	};
	return LANCET_OK;
}

struct text_sink {
	struct buf *out;
	struct lancet_error *err;
};

static int
put_text(void *context, const void *data, size_t size)
{
	struct text_sink *sink = context;

	buf_put(sink->out, data, size);
	return buf_check(sink->out, "head.jsonl", sink->err);
}

static int
put_rows(void *user, const struct ArrowArray *batch, struct lancet_error *err)
{
	return lancet_rowtext_write(user, batch, err);
}

static int
put_head(
	lancet_scan *scan, struct lancet_rowtext_cut cut, struct buf *out, struct lancet_error *err)
{
	struct text_sink text = { out, err };
	const struct lancet_output sink = { put_text, &text };
	lancet_rowtext *rows = NULL;
	struct ArrowSchema schema;
	int rc;

	TRY(lancet_scan_schema(scan, &schema, err));
	rc = lancet_rowtext_open(&schema, LANCET_JSON_LINES, cut, &sink, &rows, err);
	if (rc == LANCET_OK)
		rc = lancet_scan_each(scan, put_rows, rows, err);
	lancet_rowtext_free(rows);
	schema.release(&schema);
	return rc;
}

int
render_head(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	const struct lancet_scan_options options = {
		.fragments = &ref->ordinal,
		.fragment_count = 1,
		.limit = HEAD_ROWS,
		.batch_rows = HEAD_ROWS,
		.row_bytes = HEAD_ROW_BYTES,
	};
	struct lancet_rowtext_cut cut;
	lancet_scan *scan = NULL;
	int rc;

	TRY(head_cut(ref->version, &cut, err));
	TRY(lancet_scan_open(ref->version, &options, &scan, err));
	rc = put_head(scan, cut, out, err);
	lancet_scan_free(scan);
	return rc;
}

static void
put_cell(struct buf *out, unsigned width, const char *text)
{
	buf_put_cell(out, width, slice_text(text));
	buf_put_byte(out, '\t');
}

/* Negative ones are fields without a name in the schema; a column that is none has no number. */
static void
put_small(struct buf *out, int32_t value, bool absent)
{
	struct buf digits = { 0 };

	if (absent)
		buf_put_byte(&digits, '-');
	else
		buf_put_i64(&digits, value);
	buf_put_cell(out, 10, buf_slice(&digits));
	buf_put_byte(out, '\t');
	if (digits.failed != LANCET_OK && out->failed == LANCET_OK)
		out->failed = digits.failed;
	buf_release(&digits);
}

static int
put_column(void *context, const struct lancet_column_info *info)
{
	struct text_sink *sink = context;
	struct buf *out = sink->out;

	put_small(out, info->field, false);
	put_small(out, info->column, info->column < 0);
	buf_put_u64(out, 20, info->pages);
	buf_put_byte(out, '\t');
	buf_put_u64(out, 20, info->bytes);
	buf_put_byte(out, '\t');
	put_cell(out, sizeof("file_version") - 1, info->file_version);
	put_cell(out, 0, info->name);
	put_cell(out, 0, info->type);
	put_cell(out, 0, info->encodings);
	buf_put_cell(out, 0, slice_of(info->path.data, info->path.size));
	buf_put_byte(out, '\t');
	if (info->has_null_count)
		buf_put_u64(out, 20, info->null_count);
	else
		buf_put_cell(out, 20, slice_text("-"));
	buf_put_byte(out, '\n');
	return buf_check(out, "columns.tsv", sink->err);
}

int
render_columns_tsv(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct text_sink sink = { out, err };
	lancet_fragment *fragment = NULL;
	int rc;

	TRY(lancet_fragment_open(ref->version, ref->ordinal, &fragment, err));
	put_cell(out, 10, "field");
	put_cell(out, 10, "column");
	put_cell(out, 20, "pages");
	put_cell(out, 20, "encoded_bytes");
	put_cell(out, 0, "file_version");
	put_cell(out, 0, "name");
	put_cell(out, 0, "type");
	put_cell(out, 0, "encodings");
	put_cell(out, 0, "file");
	buf_put_cell(out, 20, slice_text("null_count"));
	buf_put_byte(out, '\n');
	rc = lancet_fragment_columns(fragment, put_column, &sink, err);
	lancet_fragment_unref(fragment);
	return rc;
}
