/* A row map over any bytes: the rows of the source (u32), a number of destinations (u8), the rows
 * of each (u32), and the file.
 *
 * When all rows can be located, each is where its label and those before it say, and the
 * destinations are full.
 */
#include "fuzz.h"

#include "core/rowmap.h"
#include "util/cursor.h"

#define ROWS_MAX 200000u
#define COST_MAX ((size_t)512 << 20) /* of decoders, as for any data file */

static void
expect_reason(int rc, const struct lancet_error *err)
{
	fuzz_expect(rc == LANCET_OK || rc == LANCET_CORRUPT || rc == LANCET_UNSUPPORTED ||
		    rc == LANCET_LIMIT || rc == LANCET_NO_MEMORY);
	fuzz_expect(rc == LANCET_OK || err->text[0] != '\0');
}

/* Goes through the rows as the definition says. */
static void
check_definition(const struct lancet_transition *transition, const uint16_t *labels,
	const uint64_t *row_addrs)
{
	uint32_t next[UINT8_MAX] = { 0 };

	for (uint64_t row = 0; row < transition->source_rows; row++) {
		uint16_t label = labels[row];

		if (label == LANCET_NO_LABEL) {
			fuzz_expect(row_addrs[row] == LANCET_NO_ROW);
			continue;
		}
		fuzz_expect(label < transition->destination_count);
		fuzz_expect(row_addrs[row] ==
			    (transition->destinations[label].id << 32 | next[label]++));
	}
	for (size_t i = 0; i < transition->destination_count; i++)
		fuzz_expect(next[i] == transition->destinations[i].physical_rows);
}

/* Some rows alone, and a few together: as among all, which are given. */
static void
check_choices(struct rowmap *map, uint64_t rows, const uint64_t *row_addrs)
{
	const uint64_t some[] = { rows / 5, rows / 2, rows / 2, rows - 1 };
	struct lancet_error err = { 0 };
	uint64_t found[4];
	int rc;

	for (size_t i = 0; i < 4; i++) {
		rc = rowmap_locate(map, &some[i], 1, found, &err);
		expect_reason(rc, &err);
		fuzz_expect(rc != LANCET_OK || row_addrs == NULL || found[0] == row_addrs[some[i]]);
	}
	rc = rowmap_locate(map, some, 4, found, &err);
	expect_reason(rc, &err);
	for (size_t i = 0; rc == LANCET_OK && row_addrs != NULL && i < 4; i++)
		fuzz_expect(found[i] == row_addrs[some[i]]);
}

static void
read_map(struct rowmap *map, const struct lancet_transition *transition,
	const struct fuzz_guard *guard)
{
	size_t rows = (size_t)transition->source_rows;
	uint64_t *asked = calloc(rows + 1, sizeof(*asked));
	uint64_t *row_addrs = calloc(rows + 1, sizeof(*row_addrs));
	uint16_t *labels = calloc(rows + 1, sizeof(*labels));
	struct lancet_error err = { 0 };
	int rc;

	if (asked != NULL && row_addrs != NULL && labels != NULL) {
		for (size_t i = 0; i < rows; i++)
			asked[i] = i;
		if (rows > 0 && rows % 2 == 0)
			check_choices(map, rows, NULL);
		rc = rowmap_locate(map, asked, rows, row_addrs, &err);
		expect_reason(rc, &err);
		if (rows > 0)
			check_choices(map, rows, rc == LANCET_OK ? row_addrs : NULL);
		if (rowmap_labels(map, 0, rows, labels, &err) == LANCET_OK && rc == LANCET_OK)
			check_definition(transition, labels, row_addrs);
		fuzz_check(guard);
	}
	free(asked);
	free(row_addrs);
	free(labels);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(COST_MAX);
	struct cursor c = { .in = { data, size } };
	struct lancet_fragment_digest source = { 0 }, destinations[UINT8_MAX];
	struct lancet_transition transition = { .mapping = LANCET_STABLE_PARTITION };
	struct lancet_error err = { 0 };
	struct rowmap *map = NULL;
	struct source *src;
	int rc;

	source.physical_rows = cursor_u32(&c);
	transition.destination_count = cursor_u8(&c);
	for (size_t i = 0; i < transition.destination_count; i++)
		destinations[i] = (struct lancet_fragment_digest){ 1 + i, cursor_u32(&c), 0 };
	if (c.bad || source.physical_rows > ROWS_MAX)
		return 0;
	transition.sources = &source;
	transition.source_count = 1;
	transition.destinations = destinations;
	transition.source_rows = source.physical_rows;
	transition.map_bytes = size - c.at;
	src = source_memory_new(slice_of(data + c.at, size - c.at), NULL);
	if (src == NULL)
		return 0;
	rc = rowmap_open(src, &transition, &map, &err);
	source_unref(src);
	expect_reason(rc, &err);
	if (rc == LANCET_OK)
		read_map(map, &transition, &guard);
	rowmap_free(map);
	fuzz_end(&guard);
	return 0;
}
