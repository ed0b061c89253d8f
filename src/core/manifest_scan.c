/* Finds the fragments of a manifest without decoding them.
 *
 * Of each fragment only the few numbers are looked at that listings and sums need; long fields,
 * such as inline row ids, are stepped over and never read. Nested messages are walked with the
 * same window as the manifest itself: the walk goes on to the byte where the outer field ends.
 * Format facts: Manifest message, fragments.
 */
#include "manifest.h"

#include <inttypes.h>
#include <stdlib.h>

#include "format.h"
#include "pbrest.h"
#include "util/macros.h"

#define REST_SIZE_MAX      (64u << 20)
#define FRAGMENT_COUNT_MAX (UINT32_C(1) << 26)

enum {
	MANIFEST_FRAGMENTS = 2,
	MANIFEST_FRAGMENT_TREE = 22,
	FRAGMENT_ID = 1,
	FRAGMENT_FILES = 2,
	FRAGMENT_DELETION_FILE = 3,
	FRAGMENT_PHYSICAL_ROWS = 4,
	FRAGMENT_OVERLAYS = 11,
	FRAGMENT_SPILLED_FIRST = 12,
	FRAGMENT_SPILLED_LAST = 14,
	FILE_MAJOR = 4,
	FILE_MINOR = 5,
	FILE_SIZE = 6,
	DELETED_ROWS = 4,
};

static void
add_saturated(uint64_t *sum, uint64_t value)
{
	*sum = value > UINT64_MAX - *sum ? UINT64_MAX : *sum + value;
}

static uint32_t
saturated_u32(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static int
scan_file(struct manifest_scan *found, struct pbscan *scan, uint64_t end, struct lancet_error *err)
{
	uint64_t size = 0, major = 0, minor = 0;
	struct pb_field field;
	bool more;

	for (;;) {
		TRY(pbscan_next_inside(scan, end, &field, &more, err));
		if (!more)
			break;
		if (field.wire != PB_VARINT)
			continue;
		if (field.number == FILE_SIZE)
			size = field.value;
		else if (field.number == FILE_MAJOR)
			major = field.value;
		else if (field.number == FILE_MINOR)
			minor = field.value;
	}
	add_saturated(&found->data_files, 1);
	add_saturated(&found->data_bytes, size);
	found->formats |= format_bit(major, minor);
	if (!found->has_file) {
		found->has_file = true;
		found->file_major = saturated_u32(major);
		found->file_minor = saturated_u32(minor);
	}
	return LANCET_OK;
}

static int
scan_deletion_file(struct pbscan *scan, uint64_t end, uint64_t *deleted, struct lancet_error *err)
{
	struct pb_field field;
	bool more;

	for (;;) {
		TRY(pbscan_next_inside(scan, end, &field, &more, err));
		if (!more)
			return LANCET_OK;
		if (field.number == DELETED_ROWS && field.wire == PB_VARINT)
			*deleted = field.value;
	}
}

struct fragment_numbers {
	uint64_t id, physical_rows, deleted_rows;
	bool id_damaged, has_files, has_deletion_file, has_overlays, has_spilled;
};

static int
scan_fragment(struct manifest_scan *found, struct pbscan *scan, uint64_t end,
              struct fragment_numbers *numbers, struct lancet_error *err)
{
	struct pb_field field;
	bool more;

	for (;;) {
		TRY(pbscan_next_inside(scan, end, &field, &more, err));
		if (!more)
			return LANCET_OK;
		if (field.number == FRAGMENT_ID && field.wire != PB_VARINT)
			numbers->id_damaged = true;
		if (field.wire == PB_VARINT && field.number == FRAGMENT_ID)
			numbers->id = field.value;
		else if (field.wire == PB_VARINT && field.number == FRAGMENT_PHYSICAL_ROWS)
			numbers->physical_rows = field.value;
		if (field.wire != PB_BYTES)
			continue;
		numbers->has_overlays |= field.number == FRAGMENT_OVERLAYS;
		numbers->has_spilled |= field.number >= FRAGMENT_SPILLED_FIRST &&
		                        field.number <= FRAGMENT_SPILLED_LAST;
		if (field.number != FRAGMENT_FILES && field.number != FRAGMENT_DELETION_FILE)
			continue;
		scan->at = field.offset;
		numbers->has_files |= field.number == FRAGMENT_FILES;
		numbers->has_deletion_file |= field.number == FRAGMENT_DELETION_FILE;
		if (field.number == FRAGMENT_FILES)
			TRY(scan_file(found, scan, field.end, err));
		else
			TRY(scan_deletion_file(scan, field.end, &numbers->deleted_rows, err));
	}
}

static int
add_span(struct manifest_scan *found, struct fragment_span span, struct lancet_error *err)
{
	if (found->count == FRAGMENT_COUNT_MAX)
		return lancet_fail(err, LANCET_LIMIT, "more than %" PRIu32 " fragments",
		                   FRAGMENT_COUNT_MAX);
	if (found->count == found->capacity) {
		size_t capacity = found->capacity == 0 ? 16 : found->capacity * 2;
		struct fragment_span *spans =
			realloc(found->spans, capacity * sizeof(*spans));

		if (spans == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "%zu fragments", capacity);
		found->spans = spans;
		found->capacity = capacity;
	}
	if (found->count > 0 && found->spans[found->count - 1].id > span.id)
		found->unsorted = true;
	found->spans[found->count++] = span;
	return LANCET_OK;
}

static int
add_fragment(struct manifest_scan *found, struct pbscan *scan, const struct pb_field *field,
             uint64_t message_at, struct lancet_error *err)
{
	struct fragment_numbers numbers = { 0 };
	int rc;

	if (field->wire != PB_BYTES)
		return lancet_fail(err, LANCET_CORRUPT,
		                   "fragment at byte %" PRIu64 ": wire type %d", field->start,
		                   (int)field->wire);
	scan->at = field->offset;
	rc = scan_fragment(found, scan, field->end, &numbers, err);
	if (rc != LANCET_OK && rc != LANCET_CORRUPT)
		return rc;
	if (numbers.id_damaged)
		return lancet_fail(err, LANCET_CORRUPT, "fragment at byte %" PRIu64 ": no id",
		                   field->start);
	/* a damaged one answers when it is opened; its neighbours are well */
	scan->at = field->end;
	found->counts_missing |= (numbers.has_files && numbers.physical_rows == 0) ||
	                         (numbers.has_deletion_file && numbers.deleted_rows == 0);
	found->overlay_fragments += numbers.has_overlays;
	found->spilled_fragments += numbers.has_spilled;
	add_saturated(&found->physical_rows, numbers.physical_rows);
	add_saturated(&found->deleted_rows, numbers.deleted_rows);
	return add_span(found,
	                (struct fragment_span){
				.id = numbers.id,
				.offset = (uint32_t)(field->offset - message_at),
				.size = (uint32_t)field->value,
				.physical_rows = saturated_u32(numbers.physical_rows),
				.deleted_rows = saturated_u32(numbers.deleted_rows),
			},
	                err);
}

static int
compare_spans(const void *left, const void *right)
{
	const struct fragment_span *a = left;
	const struct fragment_span *b = right;
	int order = (a->id > b->id) - (a->id < b->id);

	return order != 0 ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

/* Gives back what doubling took too much. */
static void
shrink(struct manifest_scan *found)
{
	struct fragment_span *spans;

	if (found->count == 0 || found->count == found->capacity)
		return;
	spans = realloc(found->spans, found->count * sizeof(*spans));
	if (spans == NULL)
		return;
	found->spans = spans;
	found->capacity = found->count;
}

int
manifest_scan_run(struct manifest_scan *found, struct pbscan *scan, struct lancet_error *err)
{
	uint64_t message_at = scan->at;
	struct pb_field field;
	bool more;

	*found = (struct manifest_scan){ .rest.limit = REST_SIZE_MAX };
	for (;;) {
		TRY(pbscan_next(scan, &field, &more, err));
		if (!more)
			break;
		if (field.number == MANIFEST_FRAGMENT_TREE)
			return lancet_fail(err, LANCET_UNSUPPORTED, "fragment_tree");
		if (field.number == MANIFEST_FRAGMENTS)
			TRY(add_fragment(found, scan, &field, message_at, err));
		else
			TRY(pbrest_add(&found->rest, scan, &field, err));
	}
	if (found->unsorted)
		qsort(found->spans, found->count, sizeof(*found->spans), compare_spans);
	shrink(found);
	return LANCET_OK;
}

void
manifest_scan_release(struct manifest_scan *found)
{
	free(found->spans);
	buf_release(&found->rest);
	*found = (struct manifest_scan){ 0 };
}
