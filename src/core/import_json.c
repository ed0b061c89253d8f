/* JSON lines as rows: an object each; see import.h and lancet/rowtext.h.
 *
 * json-c is not used here: it has no whole numbers beyond 64 bits, which decimals may be, and makes
 * a tree of each line, at several times the cost of the values.
 */
#include "import.h"

#include <stdlib.h>

#include "import_rows.h"
#include "util/macros.h"

struct json_source {
	struct text_source base;
	size_t at, size; /* of the line in hand, in the input */
};

/* The next line, which may be empty, without its end. */
static int
read_line(struct json_source *json, struct lancet_error *err)
{
	struct text_source *base = &json->base;
	struct import_input *input = &base->input;
	const uint8_t *from, *end;
	size_t left;

	base->line = base->next_line++;
	for (;;) {
		from = input->bytes.data + input->at;
		left = input->bytes.size - input->at;
		end = left == 0 ? NULL : memchr(from, '\n', left);
		if (end != NULL || input->ended)
			break;
		TRY(import_input_more(base, err));
	}
	json->at = input->at;
	json->size = end != NULL ? (size_t)(end - from) : left;
	input->at += json->size + (end != NULL);
	return import_check_text(base, slice_of(from, json->size), err);
}

static struct jsonpull
line_of(const struct json_source *json)
{
	struct jsonpull from;

	jsonpull_init(&from, slice_of(json->base.input.bytes.data + json->at, json->size));
	return from;
}

static int
json_read(struct text_source *base, bool *ret_more, struct lancet_error *err)
{
	struct json_source *json = (struct json_source *)base;
	struct import_input *input = &base->input;
	struct jsonpull from;

	do {
		if (input->at == input->bytes.size && !input->ended)
			TRY(import_input_more(base, err));
		*ret_more = input->at < input->bytes.size;
		if (!*ret_more)
			return LANCET_OK;
		TRY(read_line(json, err));
		from = line_of(json);
	} while (jsonpull_peek(&from) == JSONPULL_END);
	return LANCET_OK;
}

static int
json_put(struct text_source *base, struct array *columns, struct lancet_error *err)
{
	struct jsonpull from = line_of((struct json_source *)base);
	int rc;

	base->column = NULL;
	if (jsonpull_peek(&from) != JSONPULL_OBJECT)
		return jsonpull_fail(&from,
			"no object, which each line has to be; jq -c '.[]' makes lines of an array",
			err);
	rc = import_members(&base->root, columns, &from, err);
	base->column = base->root.failed;
	return rc == LANCET_OK ? jsonpull_finish(&from, err) : rc;
}

static const struct text_source_ops json_ops = { .read = json_read, .put = json_put };

int
import_json_open(const struct field_tree *schema, int file, struct row_source **ret_source,
	struct lancet_error *err)
{
	struct json_source *json = calloc(1, sizeof(*json));
	int rc;

	if (json == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "JSON lines");
	rc = text_source_init(&json->base, &json_ops, schema, file, err);
	if (rc != LANCET_OK) {
		text_source_free(&json->base.base);
		return rc;
	}
	*ret_source = &json->base.base;
	return LANCET_OK;
}
