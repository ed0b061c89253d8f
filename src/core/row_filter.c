/* Conditions on the rows of a version; the columns they look at are read by a scan of their own. */
#include "row_filter.h"

#include <inttypes.h>
#include <stdlib.h>

#include "predicate.h"
#include "util/bits.h"
#include "util/macros.h"

#define BATCH_ROWS 65536u

struct row_filter {
	lancet_scan *scan; /* of the columns that the condition looks at */
	struct predicate *predicate;
	const struct array **columns; /* by root, as the condition knows them */
	uint64_t ordinal;
	uint8_t matches[BATCH_ROWS / 8];
};

/* The names of columns that the condition may mean; *ret_texts, which is to be freed, has them. */
static int
wanted_names(const struct predicate *predicate, lancet_version *version, const char ***ret_names,
	size_t *ret_count, char **ret_texts, struct lancet_error *err)
{
	const struct lancet_field *fields;
	size_t count, wanted = 0, size = 1;
	char *text;

	TRY(lancet_version_fields(version, &fields, &count, err));
	for (size_t i = 0; i < count; i++)
		size += fields[i].name.size + 1;
	*ret_names = calloc(count + PREDICATE_LINEAGE + 1, sizeof(**ret_names));
	*ret_texts = text = calloc(1, size);
	if (*ret_names == NULL || text == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "condition");
	for (size_t i = 0; i < count; i++) {
		struct slice name = slice_of(fields[i].name.data, fields[i].name.size);

		if (fields[i].parent_id >= 0 || !predicate_wants(predicate, name) ||
			(name.size > 0 && memchr(name.data, '\0', name.size) != NULL))
			continue;
		(*ret_names)[wanted++] = text;
		if (name.size > 0)
			memcpy(text, name.data, name.size);
		text += name.size + 1;
	}
	for (size_t i = 0; i < PREDICATE_LINEAGE; i++) {
		const char *name = predicate_lineage_name(i);

		if (predicate_wants(predicate, slice_text(name)))
			(*ret_names)[wanted++] = name;
	}
	*ret_count = wanted;
	return LANCET_OK;
}

static int
open_scan(struct row_filter *filter, lancet_version *version, size_t batch_bytes,
	struct lancet_error *err)
{
	struct lancet_scan_options options = {
		.limit = UINT64_MAX, .batch_rows = BATCH_ROWS, .batch_bytes = batch_bytes
	};
	const char **names = NULL;
	char *texts = NULL;
	int rc = wanted_names(
		filter->predicate, version, &names, &options.column_count, &texts, err);

	options.columns = names;
	if (rc == LANCET_OK)
		rc = lancet_scan_open(version, &options, &filter->scan, err);
	free(names);
	free(texts);
	return rc;
}

static int
connect_columns(struct row_filter *filter, struct lancet_error *err)
{
	lancet_scan *scan = filter->scan;
	size_t roots = scan->schema.tree.root_count;

	filter->columns = calloc(roots + PREDICATE_LINEAGE, sizeof(*filter->columns));
	if (filter->columns == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "condition");
	for (size_t i = 0; i < scan->column_count; i++) {
		const struct scan_column *column = &scan->columns[i];

		filter->columns[column->is_lineage ? roots + column->lineage : column->root] =
			&scan->arrays[i];
	}
	return predicate_bind(filter->predicate, &scan->schema.tree, err);
}

int
row_filter_open(lancet_version *version, const char *where, size_t batch_bytes,
	struct row_filter **ret_filter, struct lancet_error *err)
{
	_Static_assert(PREDICATE_LINEAGE == SCAN_LINEAGE, "one order");
	struct row_filter *filter = calloc(1, sizeof(*filter));
	int rc;

	if (filter == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "condition");
	rc = predicate_read(where, &filter->predicate, err);
	if (rc == LANCET_OK)
		rc = open_scan(filter, version, batch_bytes, err);
	if (rc == LANCET_OK)
		rc = connect_columns(filter, err);
	if (rc == LANCET_OK) {
		*ret_filter = filter;
		return rc;
	}
	row_filter_free(filter);
	return lancet_wrap(err, rc, "where");
}

void
row_filter_free(struct row_filter *filter)
{
	if (filter == NULL)
		return;
	predicate_free(filter->predicate);
	lancet_scan_free(filter->scan);
	free(filter->columns);
	free(filter);
}

int
row_filter_enter(struct row_filter *filter, uint64_t ordinal, struct lancet_error *err)
{
	struct scan_fragment *fragment;

	filter->ordinal = ordinal;
	filter->scan->row = 0;
	TRY(scan_fragment_get(filter->scan, ordinal, &fragment, err));
	return scan_fragment_deletion(fragment, err);
}

/* Whose places among the rows of a range are bits from `bit` on. */
static int
add_matches(const uint8_t *bits, uint64_t bit, const struct row_range *range,
	struct scan_selection *matches, struct lancet_error *err)
{
	for (uint64_t i = 0; i < range->count;) {
		uint64_t start = i;

		while (i < range->count && bits_get(bits, bit + i))
			i++;
		if (i > start)
			TRY(scan_select(matches, range->first + start, i - start, err));
		while (i < range->count && !bits_get(bits, bit + i))
			i += (bit + i) % 8 == 0 && bits[(bit + i) / 8] == 0 && range->count - i >= 8
				     ? 8
				     : 1;
	}
	return LANCET_OK;
}

static int
match(struct row_filter *filter, uint64_t rows, struct scan_selection *matches,
	struct lancet_error *err)
{
	const struct scan_selection *read = &filter->scan->selection;
	uint64_t bit = 0;

	TRY(predicate_match(filter->predicate, filter->columns, rows, filter->matches, err));
	for (size_t i = 0; i < read->count; i++) {
		TRY(add_matches(filter->matches, bit, &read->ranges[i], matches, err));
		bit += read->ranges[i].count;
	}
	return LANCET_OK;
}

int
row_filter_next(struct row_filter *filter, struct scan_selection *matches, bool *ret_end,
	struct lancet_error *err)
{
	lancet_scan *scan = filter->scan;
	struct scan_fragment *fragment;
	uint64_t first = scan->row, rows = 0;
	int rc;

	TRY(scan_fragment_get(scan, filter->ordinal, &fragment, err));
	TRY(scan_fragment_next(scan, fragment, &rows, err));
	rc = rows == 0 ? LANCET_OK : match(filter, rows, matches, err);
	if (rows > 0)
		scan_drop(scan);
	if (rc != LANCET_OK)
		return lancet_wrap(err, rc, "where: fragment %" PRIu64 ", row %" PRIu64 " or later",
			lancet_fragment_info(fragment->fragment)->id, first);
	*ret_end = scan->row >= lancet_fragment_info(fragment->fragment)->physical_rows;
	return LANCET_OK;
}
