/* The memory and the buffers of one open page: see v20_node.h.
 *
 * Whatever a node keeps hangs on the page's list and goes when the page is released. Format facts:
 * v2.0 page encodings, Buffer.
 */
#include "v20_node.h"

#include <inttypes.h>

#include "decompress.h"
#include "encodings.h"
#include "util/bits.h"
#include "util/macros.h"
#include "util/source.h"

#define GAP_SIZE  4096u /* bytes: reading over them is cheaper than another request */
#define SPAN_SIZE ((uint64_t)1 << 20)
#define SLACK     16u

void
v20_page_release(struct v20_page *page)
{
	for (struct v20_work *work = page->works; work != NULL; work = work->next) {
		array_release(&work->values);
		array_release(&work->items);
		buf_release(&work->inflated);
		buf_release(&work->ranges);
	}
	arena_release(&page->arena);
	*page = (struct v20_page){ 0 };
}

int
v20_work(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	struct v20_work *work = arena_zalloc(&page->arena, 1, sizeof(*work));

	if (work == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "page");
	work->next = page->works;
	page->works = work;
	node->work = work;
	return LANCET_OK;
}

struct v20_ask
v20_scaled(const struct v20_ask *ask, uint64_t factor)
{
	struct v20_ask scaled = *ask;

	scaled.scale *= factor;
	scaled.total *= factor;
	return scaled;
}

int
v20_read_values(struct v20_page *page, struct v20_node *node, struct v20_node *from,
	const struct v20_ask *ask, struct lancet_error *err)
{
	struct array *values = &node->work->values;

	node->work->budget.limit = page->values_max;
	if (values->field == NULL)
		TRY(array_init(values, from->field, &node->work->budget, err));
	array_reset(values);
	return v20_read(page, from, ask, values, err);
}

int
v20_read_items(struct v20_page *page, struct v20_node *node, struct v20_node *from,
	struct lancet_error *err)
{
	struct v20_work *work = node->work;
	struct row_range range = { 0, from->count };
	struct v20_ask all = { &range, from->count > 0 ? 1 : 0, 1, from->count };

	if (work->has_items)
		return LANCET_OK;
	work->budget.limit = page->values_max;
	if (work->items.field == NULL)
		TRY(array_init(&work->items, from->field, &work->budget, err));
	array_reset(&work->items);
	TRY(v20_read(page, from, &all, &work->items, err));
	work->has_items = true;
	return LANCET_OK;
}

void
v20_name_buffer(struct v20_node *node, const Lance__Encodings__Buffer *buffer)
{
	node->has_buffer = buffer != NULL;
	if (buffer == NULL)
		return;
	node->buffer_index = buffer->buffer_index;
	node->buffer_type = buffer->buffer_type;
}

static int
find_buffer(struct v20_page *page, struct v20_node *node, struct lancet_error *err)
{
	const char *name = node->encoding->name;

	if (!node->has_buffer)
		return lancet_fail(err, LANCET_CORRUPT, "%s: names no buffer", name);
	switch (node->buffer_type) {
	case LANCE__ENCODINGS__BUFFER__TYPE__PAGE:
		if (node->buffer_index >= page->page->buffer_count)
			return lancet_fail(err, LANCET_CORRUPT,
				"%s: buffer %" PRIu32 " of a page that has %zu", name,
				node->buffer_index, page->page->buffer_count);
		node->place = page->page->buffers[node->buffer_index];
		return LANCET_OK;
	case LANCE__ENCODINGS__BUFFER__TYPE__FILE:
		if (page->file == NULL)
			return lancet_fail(err, LANCET_CORRUPT, "%s: global buffer %" PRIu32, name,
				node->buffer_index);
		return datafile_global_buffer(page->file, node->buffer_index, &node->place, err);
	case LANCE__ENCODINGS__BUFFER__TYPE__COLUMN:
		return lancet_fail(err, LANCET_UNSUPPORTED, "%s: a buffer of the column", name);
	default:
		return lancet_fail(
			err, LANCET_CORRUPT, "%s: a buffer of type %d", name, node->buffer_type);
	}
}

int
v20_bind_buffer(
	struct v20_page *page, struct v20_node *node, uint64_t stored, struct lancet_error *err)
{
	uint64_t bits;

	TRY(find_buffer(page, node, err));
	if (node->scheme != V20_RAW)
		return v20_work(page, node, err);
	if (__builtin_mul_overflow(stored, node->packed, &bits) ||
		bits_size(bits) > node->place.size)
		return lancet_fail(err, LANCET_CORRUPT,
			"%s: %" PRIu64 " values of %" PRIu64 " bits in %" PRIu64 " bytes",
			node->encoding->name, stored, node->packed, node->place.size);
	return LANCET_OK;
}

int
v20_fetch(struct v20_page *page, const struct v20_node *node, uint64_t offset, uint64_t size,
	void *into, struct lancet_error *err)
{
	if (offset > node->place.size || size > node->place.size - offset)
		return lancet_fail(err, LANCET_CORRUPT,
			"%s: bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64, node->encoding->name,
			offset, offset + size, node->place.size);
	return source_read_at(page->src, node->place.offset + offset, (size_t)size, into, err);
}

static int
inflate(struct v20_page *page, struct v20_node *node, struct buf *packed, struct lancet_error *err)
{
	struct buf *into = &node->work->inflated;

	if (!buf_reserve(packed, (size_t)node->place.size))
		return buf_check(packed, "compressed bytes", err);
	packed->size = (size_t)node->place.size;
	TRY(v20_fetch(page, node, 0, node->place.size, packed->data, err));
	into->size = 0;
	return decompress(node->scheme == V20_ZSTD ? DECOMPRESS_ZSTD : DECOMPRESS_LZ4,
		buf_slice(packed), page->inflated_max, page->scratch, into, err);
}

int
v20_inflate(struct v20_page *page, struct v20_node *node, struct slice *ret_bytes,
	struct lancet_error *err)
{
	struct v20_work *work = node->work;
	struct buf *packed;
	int rc;

	if (!work->has_inflated) {
		TRY(codec_take_buffer(page->scratch, &packed, err));
		rc = inflate(page, node, packed, err);
		scratch_give(page->scratch);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "%s", node->encoding->name);
		work->has_inflated = true;
	}
	*ret_bytes = buf_slice(&work->inflated);
	return LANCET_OK;
}

static uint64_t
range_start(const struct v20_ask *ask, size_t range)
{
	return ask->ranges[range].first * ask->scale;
}

static uint64_t
range_end(const struct v20_ask *ask, size_t range)
{
	return (ask->ranges[range].first + ask->ranges[range].count) * ask->scale;
}

static bool
is_near(const struct v20_ask *ask, size_t range, uint64_t bits)
{
	uint64_t end = range_end(ask, range);
	uint64_t next = range_start(ask, range + 1);

	return next <= end || next - end <= GAP_SIZE * 8 / bits;
}

/* Long ranges stand alone: what is copied costs more than a request then. */
size_t
v20_near(const struct v20_ask *ask, size_t first, uint64_t bits)
{
	uint64_t longest = GAP_SIZE * 8 / bits;
	size_t count = 1;

	while (first + count < ask->count && is_near(ask, first + count - 1, bits) &&
		ask->ranges[first + count - 1].count * ask->scale <= longest &&
		ask->ranges[first + count].count * ask->scale <= longest)
		count++;
	return count;
}

/* Items [first, end) of a buffer, in memory. */
struct window {
	struct buf *bytes;
	uint64_t first, end;
};

/* Where the window ends that begins at `first` for item `at` of a range: behind as many ranges as
 * are near and small. */
static uint64_t
window_end(const struct v20_node *node, const struct v20_ask *ask, size_t range, uint64_t first,
	uint64_t align, uint64_t stored)
{
	uint64_t most = SPAN_SIZE * 8 / node->packed;
	uint64_t end = range_end(ask, range);
	uint64_t limit = first + (most < align ? align : most);

	for (; end < limit && range + 1 < ask->count && is_near(ask, range, node->packed); range++)
		end = end > range_end(ask, range + 1) ? end : range_end(ask, range + 1);
	if (end > limit)
		end = limit;
	end += (align - end % align) % align;
	return end < stored ? end : stored;
}

static int
load_window(struct v20_page *page, const struct v20_node *node, const struct v20_ask *ask,
	size_t range, uint64_t at, uint64_t align, uint64_t stored, struct window *window,
	struct lancet_error *err)
{
	uint64_t first = at - at % align;
	uint64_t end = window_end(node, ask, range, first, align, stored);
	uint64_t size = bits_size((end - first) * node->packed);

	window->bytes->size = 0;
	if (!buf_reserve(window->bytes, (size_t)size + SLACK))
		return buf_check(window->bytes, "page", err);
	TRY(v20_fetch(page, node, first * node->packed / 8, size, window->bytes->data, err));
	memset(window->bytes->data + size, 0, SLACK);
	window->first = first;
	window->end = end;
	return LANCET_OK;
}

static int
walk(struct v20_page *page, const struct v20_node *node, const struct v20_ask *ask, uint64_t align,
	uint64_t stored, struct window *window, v20_span_fn fn, void *user,
	struct lancet_error *err)
{
	for (size_t i = 0; i < ask->count; i++) {
		uint64_t at = range_start(ask, i);
		uint64_t end = range_end(ask, i);

		while (at < end) {
			uint64_t stop;

			if (at < window->first || at >= window->end)
				TRY(load_window(
					page, node, ask, i, at, align, stored, window, err));
			stop = end < window->end ? end : window->end;
			TRY(fn(user, window->bytes->data, at - window->first, stop - at, err));
			at = stop;
		}
	}
	return LANCET_OK;
}

int
v20_each_span(struct v20_page *page, const struct v20_node *node, const struct v20_ask *ask,
	uint64_t align, uint64_t stored, v20_span_fn fn, void *user, struct lancet_error *err)
{
	struct window window = { 0 };
	int rc;

	TRY(codec_take_buffer(page->scratch, &window.bytes, err));
	rc = walk(page, node, ask, align, stored, &window, fn, user, err);
	scratch_give(page->scratch);
	return rc;
}
