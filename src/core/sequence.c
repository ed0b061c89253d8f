/* Opening a sequence (one walk over the heads of its elements) and reading by row; see sequence.h.
 */
#include "sequence.h"

#include "sequence_parts.h"
#include "util/macros.h"
#include "util/pbscan.h"

#include <assert.h>
#include <inttypes.h>

#define WHOLE_MAX   (64u * 1024) /* bytes that are held and checked at once */
#define GROUP_MAX   SEQUENCE_GROUP_MAX
#define WINDOW_SIZE (64u * 1024)

/* Bytes of the caller as a source, for as long as the caller keeps them. Never unreferenced. */

static int
borrowed_read_at(
	struct source *src, uint64_t offset, size_t size, void *into, struct lancet_error *err)
{
	(void)err;
	memcpy(into, src->data + offset, size);
	return LANCET_OK;
}

static const struct source_ops borrowed_ops = { .read_at = borrowed_read_at };

static void
borrow(struct source *src, struct slice bytes)
{
	source_init(src, &borrowed_ops, bytes.size);
	src->data = bytes.data;
}

static int
part_add(struct sequence *seq, const struct pb_field *field, struct sequence_part **ret_part,
	struct lancet_error *err)
{
	if (seq->part_count == seq->part_capacity) {
		size_t capacity = seq->part_capacity == 0 ? 1 : seq->part_capacity * 2;
		struct sequence_part *parts = reallocarray(seq->parts, capacity, sizeof(*parts));

		if (parts == NULL)
			return lancet_fail(
				err, LANCET_NO_MEMORY, "%zu parts of a sequence", capacity);
		seq->parts = parts;
		seq->part_capacity = capacity;
	}
	*ret_part = &seq->parts[seq->part_count++];
	**ret_part = (struct sequence_part){
		.offset = field->start,
		.size = field->end - field->start,
		.number = seq->element_count,
	};
	return LANCET_OK;
}

/* The part of short elements that takes this field: the last one while it has room. */
static int
group_for(struct sequence *seq, const struct pb_field *field, struct sequence_part **ret_part,
	struct lancet_error *err)
{
	struct sequence_part *last = seq->part_count == 0 ? NULL : &seq->parts[seq->part_count - 1];

	if (last == NULL || last->lone != NULL || last->offset + last->size != field->start ||
		last->size + (field->end - field->start) > GROUP_MAX)
		return part_add(seq, field, ret_part, err);
	last->size = field->end - last->offset;
	*ret_part = last;
	return LANCET_OK;
}

static int
rows_add(struct sequence *seq, uint64_t length, struct lancet_error *err)
{
	if (length > seq->rows - seq->known_rows)
		return lancet_fail(
			err, LANCET_CORRUPT, "more values than the %" PRIu64 " rows", seq->rows);
	seq->known_rows += length;
	return LANCET_OK;
}

static int
short_element(struct sequence *seq, struct pbscan *scan, const struct pb_field *field,
	struct lancet_error *err)
{
	struct sequence_element element;
	struct source content;
	struct slice bytes;
	struct sequence_part *part = NULL;

	TRY(pbscan_bytes(scan, field->offset, (size_t)field->value, &bytes, err));
	borrow(&content, bytes);
	TRY(seq->ops->parse(&content, 0, bytes.size, &element, err));
	TRY(segment_count(&content, &element.segment, NULL, err));
	if (seq->whole)
		TRY(seq->ops->validate(&content, &element, err));
	TRY(rows_add(seq, element.segment.length, err));
	TRY(group_for(seq, field, &part, err));
	part->length += element.segment.length;
	return LANCET_OK;
}

static int
long_element(struct sequence *seq, const struct pb_field *field, struct lancet_error *err)
{
	lancet_autofree struct sequence_element *element = malloc(sizeof(*element));
	struct sequence_part *part = NULL;

	if (element == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "element of a sequence");
	TRY(seq->ops->parse(seq->src, field->offset, field->value, element, err));
	if (seq->whole)
		TRY(seq->ops->validate(seq->src, element, err));
	if (element->segment.counted)
		TRY(rows_add(seq, element->segment.length, err));
	TRY(part_add(seq, field, &part, err));
	if (element->segment.counted) {
		part->length = element->segment.length;
	} else {
		part->rank_at = seq->rank_count;
		seq->rank_count += segment_rank_count(&element->segment);
		/* at most 8 bits for each byte of the source: no overflow */
		seq->uncounted_span += element->segment.end - element->segment.start;
	}
	part->lone = lancet_steal(&element);
	return LANCET_OK;
}

/* A field of the list that is no element: refused, or passed over as part of a group. */
static int
other_field(struct sequence *seq, const struct pb_field *field, struct lancet_error *err)
{
	struct sequence_part *part = NULL;

	if (seq->ops->strict || field->number == 1)
		return lancet_fail(err, LANCET_CORRUPT,
			"field %" PRIu32 " of wire type %u in the list", field->number,
			(unsigned)field->wire);
	return field->end - field->start > GROUP_MAX ? LANCET_OK
						     : group_for(seq, field, &part, err);
}

static int
walk(struct sequence *seq, struct lancet_error *err)
{
	struct pbscan scan = { 0 };
	struct pb_field field;
	int rc = pbscan_init(&scan, seq->src, 0, seq->src->size, WINDOW_SIZE, err);

	while (pbscan_step(&scan, &field, &rc, err)) {
		if (field.number != 1 || field.wire != PB_BYTES) {
			rc = other_field(seq, &field, err);
			continue;
		}
		rc = field.end - field.start > GROUP_MAX ? long_element(seq, &field, err)
							 : short_element(seq, &scan, &field, err);
		if (rc != LANCET_OK)
			lancet_wrap(err, rc, "%s %" PRIu64, seq->ops->unit, seq->element_count);
		seq->element_count++;
	}
	pbscan_release(&scan);
	return rc;
}

/* Row numbers of the parts, and the one pass over bitmaps that were not counted yet. */
static int
layout_build(struct sequence *seq, uint64_t **ret_layout, struct lancet_error *err)
{
	size_t cells = seq->part_count + 1 + (size_t)seq->rank_count;
	lancet_autofree uint64_t *layout = calloc(cells, sizeof(*layout));
	uint64_t row = 0;

	if (layout == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu row numbers", cells);
	for (size_t i = 0; i < seq->part_count; i++) {
		const struct sequence_part *part = &seq->parts[i];
		uint64_t length = part->length;

		if (part->lone != NULL && !part->lone->segment.counted) {
			struct segment seg = part->lone->segment;
			uint64_t *ranks = layout + seq->part_count + 1 + part->rank_at;
			int rc = segment_count(seq->src, &seg, ranks, err);

			if (rc != LANCET_OK)
				return lancet_wrap(
					err, rc, "%s %" PRIu64, seq->ops->unit, part->number);
			length = seg.length;
		}
		layout[i] = row;
		row += length;
	}
	layout[seq->part_count] = row;
	if (row != seq->rows)
		return lancet_fail(err, LANCET_CORRUPT, "%" PRIu64 " values for %" PRIu64 " rows",
			row, seq->rows);
	*ret_layout = lancet_steal(&layout);
	return LANCET_OK;
}

int
sequence_layout(struct sequence *seq, const uint64_t **ret_layout, struct lancet_error *err)
{
	uint64_t *known = atomic_load_explicit(&seq->layout, memory_order_acquire);
	uint64_t *built = NULL;

	if (known == NULL) {
		TRY(layout_build(seq, &built, err));
		if (atomic_compare_exchange_strong(&seq->layout, &known, built))
			known = built;
		else
			free(built);
	}
	*ret_layout = known;
	return LANCET_OK;
}

static int
load_whole(struct sequence *seq, struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = NULL;
	struct source *memory;

	TRY(source_load(seq->src, 0, (size_t)seq->src->size, &bytes, err));
	memory = source_memory_new(slice_of(bytes, (size_t)seq->src->size), bytes);
	if (memory == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "sequence");
	(void)lancet_steal(&bytes);
	source_unref(seq->src);
	seq->src = memory;
	return LANCET_OK;
}

static int
open_parts(struct sequence *seq, struct lancet_error *err)
{
	const uint64_t *layout;

	seq->whole = seq->src->size <= WHOLE_MAX;
	if (seq->whole && seq->src->data == NULL)
		TRY(load_whole(seq, err));
	TRY(walk(seq, err));
	if (seq->rows - seq->known_rows > seq->uncounted_span)
		return lancet_fail(err, LANCET_CORRUPT, "%s%" PRIu64 " values for %" PRIu64 " rows",
			seq->uncounted_span == 0 ? "" : "at most ",
			seq->known_rows + seq->uncounted_span, seq->rows);
	if (seq->rank_count > 0 && !seq->whole)
		return LANCET_OK;
	return sequence_layout(seq, &layout, err);
}

int
sequence_open(const struct sequence_ops *ops, struct source *src, uint64_t rows,
	struct sequence **ret_sequence, struct lancet_error *err)
{
	struct sequence *seq = calloc(1, sizeof(*seq));
	int rc;

	if (seq == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "sequence");
	seq->ops = ops;
	seq->src = source_ref(src);
	seq->rows = rows;
	rc = open_parts(seq, err);
	if (rc == LANCET_OK)
		*ret_sequence = seq;
	else
		sequence_free(seq);
	return rc;
}

void
sequence_free(struct sequence *seq)
{
	if (seq == NULL)
		return;
	for (size_t i = 0; i < seq->part_count; i++)
		free(seq->parts[i].lone);
	free(seq->parts);
	free(atomic_load(&seq->layout));
	source_unref(seq->src);
	free(seq);
}

uint64_t
sequence_decoded(const struct sequence *seq)
{
	return atomic_load_explicit(&seq->decoded, memory_order_relaxed);
}

static int
visit_group(const struct sequence *seq, const struct sequence_part *part, sequence_visit_fn visit,
	void *user, struct lancet_error *err)
{
	uint8_t bytes[GROUP_MAX];
	struct source content;
	struct pbmem scan = { .in = { bytes, (size_t)part->size } };
	struct sequence_element element;
	struct pb_field field;
	bool more, go_on = true;

	assert(part->size <= GROUP_MAX);
	TRY(source_read_at(seq->src, part->offset, (size_t)part->size, bytes, err));
	borrow(&content, scan.in);
	for (uint64_t number = part->number; go_on; number++) {
		int rc;

		do
			TRY(pbmem_next(&scan, &field, &more, err));
		while (more && field.number != 1);
		if (!more)
			return LANCET_OK;
		rc = seq->ops->parse(&content, field.offset, field.value, &element, err);
		if (rc == LANCET_OK)
			rc = segment_count(&content, &element.segment, NULL, err);
		if (rc == LANCET_OK)
			go_on = visit(user, &content, &element, NULL, &rc, err);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "%s %" PRIu64, seq->ops->unit, number);
	}
	return LANCET_OK;
}

int
sequence_visit(const struct sequence *seq, size_t index, const uint64_t *layout,
	sequence_visit_fn visit, void *user, struct lancet_error *err)
{
	const struct sequence_part *part = &seq->parts[index];
	struct sequence_element element;
	const uint64_t *ranks = NULL;
	int rc = LANCET_OK;

	if (part->lone == NULL)
		return visit_group(seq, part, visit, user, err);
	element = *part->lone;
	if (!element.segment.counted) {
		element.segment.counted = true;
		element.segment.length = layout[index + 1] - layout[index];
		ranks = layout + seq->part_count + 1 + part->rank_at;
	}
	(void)visit(user, seq->src, &element, ranks, &rc, err);
	return rc == LANCET_OK ? rc
			       : lancet_wrap(err, rc, "%s %" PRIu64, seq->ops->unit, part->number);
}

/* Rows of one part that a read wants; moves on as elements give them. */
struct wanted {
	const struct sequence *seq;
	uint64_t first; /* from the start of the next element */
	size_t count;
	uint64_t *values;
	uint64_t decoded;
};

static bool
read_element(void *user, struct source *src, const struct sequence_element *element,
	const uint64_t *ranks, int *rc, struct lancet_error *err)
{
	struct wanted *w = user;
	uint64_t length = element->segment.length;
	size_t count;

	if (w->first >= length) {
		w->first -= length;
		return true;
	}
	count = length - w->first < w->count ? (size_t)(length - w->first) : w->count;
	*rc = w->seq->ops->read(src, element, ranks, w->first, count, w->values, &w->decoded, err);
	w->first = 0;
	w->values += count;
	w->count -= count;
	return *rc == LANCET_OK && w->count > 0;
}

/* The last part that starts at or before the row; parts without rows are thereby passed over. */
static size_t
find_part(const struct sequence *seq, const uint64_t *layout, uint64_t row)
{
	size_t low = 0;
	size_t high = seq->part_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (layout[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

int
sequence_read(struct sequence *seq, uint64_t first, size_t count, uint64_t *values,
	struct lancet_error *err)
{
	const uint64_t *layout;

	if (first > seq->rows || count > seq->rows - first)
		return lancet_fail(err, LANCET_INVALID,
			"rows %" PRIu64 " to %" PRIu64 " of %" PRIu64, first, first + count,
			seq->rows);
	if (count == 0)
		return LANCET_OK;
	TRY(sequence_layout(seq, &layout, err));
	for (size_t i = find_part(seq, layout, first); count > 0; i++) {
		uint64_t left = layout[i + 1] - first;
		size_t here = left < count ? (size_t)left : count;
		struct wanted w = { seq, first - layout[i], here, values, 0 };
		int rc = LANCET_OK;

		if (here > 0)
			rc = sequence_visit(seq, i, layout, read_element, &w, err);
		if (rc == LANCET_OK && w.count > 0)
			rc = lancet_fail(err, LANCET_CORRUPT, "sequence changed while it was read");
		atomic_fetch_add_explicit(&seq->decoded, w.decoded, memory_order_relaxed);
		if (rc != LANCET_OK)
			return rc;
		first += here;
		values += here;
		count -= here;
	}
	return LANCET_OK;
}
