/* lancet rows: rows of a version as JSON lines, CSV or an Arrow stream.
 *
 * A batch is read, written and let go before the next one, so memory is bounded by the size of a
 * batch, or of a single row where one is larger.
 */
#include "command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lancet/ipc.h>
#include <lancet/rowtext.h>
#include <lancet/scan.h>
#include <lancet/version.h>

#include "output.h"
#include "util/buf.h"
#include "util/macros.h"
#include "util/text.h"

#define BATCH_BYTES   (16u << 20) /* decoded */
#define ROW_IDS_MAX   (1u << 20)
#define COLUMNS_MAX   65536u
#define WORD_SIZE_MAX (32u << 20) /* bytes of a list */

enum format { FORMAT_JSONL, FORMAT_CSV, FORMAT_ARROW };

/* What the words of the command line ask for. */
struct request {
	struct lancet_scan_options options;
	enum format format;
	struct buf names;   /* of the columns, each with a NUL behind it */
	struct buf columns; /* const char *: options.columns */
	struct buf row_ids; /* uint64_t: options.row_ids */
};

static int
refuse(const char *key, const char *value, const char *why, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID, "%s=%.100s: %s", key, value, why);
}

/* Names between commas; a backslash takes what follows it as it is. */
static int
parse_columns(struct request *request, const char *value, struct lancet_error *err)
{
	size_t count = 1;

	for (const char *at = value; *at != '\0'; at++) {
		if (*at == '\\' && at[1] != '\0') {
			buf_put_byte(&request->names, (uint8_t) * ++at);
		} else {
			count += *at == ',';
			buf_put_byte(&request->names, *at == ',' ? '\0' : (uint8_t)*at);
		}
	}
	buf_put_byte(&request->names, '\0');
	TRY(buf_check(&request->names, "columns", err));
	if (count > COLUMNS_MAX)
		return lancet_fail(err, LANCET_LIMIT, "columns=: more than %u names", COLUMNS_MAX);
	for (size_t at = 0; count > 0; count--) {
		const char *name = (const char *)request->names.data + at;

		if (*name == '\0')
			return refuse("columns", value, "a name is empty", err);
		buf_put(&request->columns, &name, sizeof(name));
		at += strlen(name) + 1;
	}
	request->options.columns = (const char *const *)(const void *)request->columns.data;
	request->options.column_count = request->columns.size / sizeof(char *);
	return buf_check(&request->columns, "columns", err);
}

/* "FIRST" or "FIRST-LAST" */
static int
parse_range(struct request *request, struct slice range, struct lancet_error *err)
{
	const uint8_t *dash = memchr(range.data, '-', range.size);
	size_t size = dash != NULL ? (size_t)(dash - range.data) : range.size;
	uint64_t first, last;

	if (range.size == 0)
		return lancet_fail(err, LANCET_INVALID, "row_ids=: an item is empty");
	if (!text_to_u64(slice_of(range.data, size), &first))
		return lancet_fail(err, LANCET_INVALID, "row_ids=: %.*s is no row id",
			(int)(range.size < 40 ? range.size : 40), (const char *)range.data);
	last = first;
	if (dash != NULL &&
		(!text_to_u64(slice_of(dash + 1, range.size - size - 1), &last) || last < first))
		return lancet_fail(err, LANCET_INVALID, "row_ids=: %.*s is no range",
			(int)(range.size < 40 ? range.size : 40), (const char *)range.data);
	if (last - first >= ROW_IDS_MAX - request->row_ids.size / sizeof(first))
		return lancet_fail(err, LANCET_LIMIT, "row_ids=: more than %u rows", ROW_IDS_MAX);
	for (uint64_t id = first; id - first <= last - first; id++)
		buf_put(&request->row_ids, &id, sizeof(id));
	return LANCET_OK;
}

static int
parse_row_ids(struct request *request, const char *value, struct lancet_error *err)
{
	const char *at = value;

	for (;;) {
		size_t size = strcspn(at, ",");

		TRY(parse_range(request, slice_of(at, size), err));
		if (at[size] == '\0')
			break;
		at += size + 1;
	}
	request->options.row_ids = (const uint64_t *)(const void *)request->row_ids.data;
	request->options.row_id_count = request->row_ids.size / sizeof(uint64_t);
	return buf_check(&request->row_ids, "row_ids", err);
}

static int
parse_where(struct request *request, const char *value, struct lancet_error *err)
{
	(void)err;
	request->options.where = value;
	return LANCET_OK;
}

static int
parse_limit(struct request *request, const char *value, struct lancet_error *err)
{
	if (!text_to_u64(slice_text(value), &request->options.limit))
		return refuse("limit", value, "not a number of rows", err);
	return LANCET_OK;
}

static int
parse_offset(struct request *request, const char *value, struct lancet_error *err)
{
	if (!text_to_u64(slice_text(value), &request->options.offset))
		return refuse("offset", value, "not a number of rows", err);
	return LANCET_OK;
}

static int
parse_format(struct request *request, const char *value, struct lancet_error *err)
{
	if (strcmp(value, "jsonl") == 0)
		request->format = FORMAT_JSONL;
	else if (strcmp(value, "csv") == 0)
		request->format = FORMAT_CSV;
	else if (strcmp(value, "arrow") == 0)
		request->format = FORMAT_ARROW;
	else
		return refuse("format", value, "jsonl, csv or arrow", err);
	return LANCET_OK;
}

static int
parse_blobs(struct request *request, const char *value, struct lancet_error *err)
{
	if (strcmp(value, "descriptions") == 0)
		request->options.blobs = LANCET_BLOB_DESCRIPTIONS;
	else if (strcmp(value, "bytes") == 0)
		request->options.blobs = LANCET_BLOB_BYTES;
	else
		return refuse("blobs", value, "descriptions or bytes", err);
	return LANCET_OK;
}

struct row_word {
	const char *key;
	int (*parse)(struct request *request, const char *value, struct lancet_error *err);
};

static const struct row_word words[ROWS_WORDS] = {
	{ "columns", parse_columns },
	{ "row_ids", parse_row_ids },
	{ "where", parse_where },
	{ "limit", parse_limit },
	{ "offset", parse_offset },
	{ "format", parse_format },
	{ "blobs", parse_blobs },
};

static int
parse_word(struct request *request, const char *text, unsigned *seen, struct lancet_error *err)
{
	size_t size = strcspn(text, "=");

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (text[size] != '=' || strlen(words[i].key) != size ||
			strncmp(text, words[i].key, size) != 0)
			continue;
		if (*seen & 1u << i)
			return lancet_fail(err, LANCET_INVALID, "%s= is there twice", words[i].key);
		*seen |= 1u << i;
		return words[i].parse(request, text + size + 1, err);
	}
	return lancet_fail(err, LANCET_INVALID, "%.100s: no such word for rows", text);
}

static int
parse_request(struct request *request, const struct command_line *line, struct lancet_error *err)
{
	unsigned seen = 0;

	for (int i = 0; i < line->word_count; i++)
		TRY(parse_word(request, line->words[i], &seen, err));
	if (request->format == FORMAT_ARROW && isatty(STDOUT_FILENO))
		return lancet_fail(err, LANCET_INVALID,
			"format=arrow: a terminal can't show it: redirect the output");
	return LANCET_OK;
}

/* The writer of one of the formats. */
struct writer {
	lancet_ipc *arrow;
	lancet_rowtext *text;
};

static int
open_writer(struct writer *writer, const struct ArrowSchema *schema, enum format format,
	const struct lancet_output *out, struct lancet_error *err)
{
	static const struct lancet_rowtext_cut all = { 0, 0 };

	if (format == FORMAT_ARROW)
		return lancet_ipc_open(schema, out, &writer->arrow, err);
	return lancet_rowtext_open(schema, format == FORMAT_CSV ? LANCET_CSV : LANCET_JSON_LINES,
		all, out, &writer->text, err);
}

static int
write_batch(void *user, const struct ArrowArray *batch, struct lancet_error *err)
{
	struct writer *writer = user;

	if (writer->arrow != NULL)
		return lancet_ipc_write(writer->arrow, batch, err);
	return lancet_rowtext_write(writer->text, batch, err);
}

static int
write_batches(lancet_scan *scan, struct writer *writer, struct lancet_error *err)
{
	TRY(lancet_scan_each(scan, write_batch, writer, err));
	return writer->arrow == NULL ? LANCET_OK : lancet_ipc_finish(writer->arrow, err);
}

static int
write_scan(lancet_scan *scan, enum format format, struct lancet_error *err)
{
	struct output output = { .err = err };
	const struct lancet_output out = { output_write, &output };
	struct writer writer = { 0 };
	struct ArrowSchema schema;
	int rc;

	TRY(lancet_scan_schema(scan, &schema, err));
	rc = open_writer(&writer, &schema, format, &out, err);
	if (rc == LANCET_OK)
		rc = write_batches(scan, &writer, err);
	/* rows before a damaged one are whole, and are shown */
	if (rc == LANCET_OK)
		rc = output_flush(&output);
	else if (output.pending.size > 0 && format != FORMAT_ARROW)
		(void)output_put(output.pending.data, output.pending.size, NULL);
	lancet_ipc_free(writer.arrow);
	lancet_rowtext_free(writer.text);
	schema.release(&schema);
	output_release(&output);
	return rc;
}

static int
scan_version(
	const struct command_line *line, const struct request *request, struct lancet_error *err)
{
	lancet_version *version = NULL;
	lancet_scan *scan = NULL;
	int rc;

	TRY(command_version(line, &version, err));
	rc = lancet_scan_open(version, &request->options, &scan, err);
	if (rc == LANCET_OK)
		rc = write_scan(scan, request->format, err);
	lancet_scan_free(scan);
	lancet_version_unref(version);
	return rc;
}

int
command_rows(const struct command_line *line, struct lancet_error *err)
{
	struct request request = {
		.options = { .limit = UINT64_MAX, .batch_bytes = BATCH_BYTES },
		.names = { .limit = WORD_SIZE_MAX },
	};
	int rc = parse_request(&request, line, err);

	if (rc == LANCET_OK)
		rc = scan_version(line, &request, err);
	buf_release(&request.names);
	buf_release(&request.columns);
	buf_release(&request.row_ids);
	return rc;
}
