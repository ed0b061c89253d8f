/* A treemap of surviving rows from any bytes, held against digests that were derived from the same
 * bytes container by container.
 *
 * Byte 0 chooses the order of the sources and whether a digest is wrong, byte 1 the deleted rows
 * behind the last survivor of each source, the next eight cut the survivors into destinations, and
 * the rest is the treemap. What opens must send each survivor to where counting by hand sends it.
 */
#include "fuzz.h"

#include "core/survivors.h"
#include "util/cursor.h"
#include "util/roaringx.h"

#define SOURCES_MAX      64u
#define DESTINATIONS_MAX 64u
#define CUTS             8u
#define SAMPLES          40u
#define ROWS_MAX         UINT32_MAX /* of a fragment */

struct input {
	uint8_t options, spare_rows;
	struct slice cuts, treemap;
	struct lancet_fragment_digest sources[SOURCES_MAX];
	struct lancet_fragment_digest destinations[DESTINATIONS_MAX];
	struct slice bitmaps[SOURCES_MAX]; /* of each source */
	struct lancet_transition transition;
	bool sound; /* it must open */
};

/* One bitmap, walked to its end. */
static bool
derive_source(struct input *in, struct cursor *c, uint32_t key)
{
	size_t source = in->transition.source_count;
	struct slice rest = cursor_take(c, cursor_left(c));
	struct roaringx_container container;
	struct roaringx_walk w;
	uint64_t rows;

	if (roaringx_walk(&w, rest, NULL) != LANCET_OK)
		return false;
	while (w.next < w.count) {
		if (roaringx_walk_next(&w, &container, NULL) != LANCET_OK)
			return false;
	}
	c->at -= cursor_left(&w.c);
	rows = w.value_end + in->spare_rows < ROWS_MAX ? w.value_end + in->spare_rows : ROWS_MAX;
	if (w.value_end > rows || source == SOURCES_MAX)
		return false;
	in->bitmaps[source] = slice_of(rest.data, w.c.at);
	in->sources[source] = (struct lancet_fragment_digest){ key, rows, rows - w.cardinality };
	in->transition.source_rows += rows;
	in->transition.live_rows += w.cardinality;
	in->transition.source_count++;
	return true;
}

static void
derive_sources(struct input *in)
{
	struct cursor c = { .in = in->treemap };
	uint64_t count = cursor_u64(&c);
	uint64_t next = 0; /* the least key that may follow */

	for (uint64_t i = 0; i < count; i++) {
		uint32_t key = cursor_u32(&c);

		if (c.bad || key < next || !derive_source(in, &c, key))
			return;
		next = (uint64_t)key + 1;
	}
	in->sound = !c.bad && cursor_left(&c) == 0;
}

static void
reverse_sources(struct input *in)
{
	size_t count = in->transition.source_count;

	for (size_t i = 0, j = count; i + 1 < j; i++) {
		struct lancet_fragment_digest source = in->sources[i];
		struct slice bitmap = in->bitmaps[i];

		j--;
		in->sources[i] = in->sources[j];
		in->bitmaps[i] = in->bitmaps[j];
		in->sources[j] = source;
		in->bitmaps[j] = bitmap;
	}
}

static void
derive_destinations(struct input *in)
{
	uint64_t left = in->transition.live_rows;
	size_t count = 0;

	for (; left > 0 || count < CUTS; count++) {
		uint64_t rows = in->cuts.data[count % CUTS] * (left / 256 + 1);

		if (rows > left || count == DESTINATIONS_MAX - 1)
			rows = left;
		in->destinations[count] = (struct lancet_fragment_digest){ 1000 + count, rows, 0 };
		left -= rows;
	}
	in->transition.destination_count = count;
}

static bool
derive(struct input *in, const uint8_t *data, size_t size)
{
	struct cursor c = { .in = { data, size } };

	*in = (struct input){ .options = cursor_u8(&c), .spare_rows = cursor_u8(&c) };
	in->cuts = cursor_take(&c, CUTS);
	in->treemap = cursor_take(&c, cursor_left(&c));
	if (c.bad)
		return false;
	derive_sources(in);
	if ((in->options & 1) != 0)
		reverse_sources(in);
	derive_destinations(in);
	if ((in->options & 2) != 0 && in->transition.source_count > 0) {
		in->sources[0].deleted_rows ^= 1;
		in->sound = false;
	}
	in->transition.sources = in->sources;
	in->transition.destinations = in->destinations;
	return true;
}

/* Counts the members below an offset container by container, value by value. */
static uint64_t
count_below(struct slice bitmap, uint32_t offset, bool *ret_member)
{
	struct roaringx_container container = { 0 };
	struct roaringx_walk w;
	uint64_t below = 0;
	int rc = roaringx_walk(&w, bitmap, NULL);

	*ret_member = false;
	while (rc == LANCET_OK && w.next < w.count) {
		const uint8_t *at;
		uint32_t low = offset & 0xffff;

		rc = roaringx_walk_next(&w, &container, NULL);
		at = container.contents.data;
		if (container.key != offset >> 16) {
			below += container.key < offset >> 16 ? container.cardinality : 0;
			continue;
		}
		for (size_t i = 0; container.kind == ROARINGX_ARRAY && i < container.cardinality;
			i++) {
			below += load_u16(at + i * 2) < low;
			*ret_member = *ret_member || load_u16(at + i * 2) == low;
		}
		for (size_t i = 0; container.kind == ROARINGX_RUNS && i < container.contents.size;
			i += 4) {
			uint32_t start = load_u16(at + i);
			uint32_t length = load_u16(at + i + 2) + 1u;

			below += low <= start ? 0 : low - start < length ? low - start : length;
			*ret_member = *ret_member || (low >= start && low - start < length);
		}
		for (uint32_t i = 0; container.kind == ROARINGX_BITSET && i <= low; i++) {
			bool member = (at[i / 8] >> i % 8 & 1) != 0;

			below += i < low && member;
			*ret_member = i == low ? member : *ret_member;
		}
	}
	return below;
}

/* Where a row goes; *ret_addr is its own address. */
static uint64_t
follow(const struct input *in, uint64_t row, uint64_t *ret_addr, uint64_t *ret_survivor)
{
	uint64_t survivor = 0;
	size_t source = 0;
	bool member;

	for (; row >= in->sources[source].physical_rows; source++) {
		row -= in->sources[source].physical_rows;
		survivor += in->sources[source].physical_rows - in->sources[source].deleted_rows;
	}
	*ret_addr = in->sources[source].id << 32 | row;
	survivor += count_below(in->bitmaps[source], (uint32_t)row, &member);
	*ret_survivor = survivor;
	for (size_t i = 0; member; i++) {
		if (survivor < in->destinations[i].physical_rows)
			return (in->destinations[i].id << 32) + survivor;
		survivor -= in->destinations[i].physical_rows;
	}
	return LANCET_NO_ROW;
}

static void
check(const struct input *in, const struct reuse_survivors *survivors)
{
	uint64_t rows[SAMPLES];
	uint64_t located[SAMPLES];
	uint64_t step = in->transition.source_rows / SAMPLES + 1;
	size_t count = 0;

	for (uint64_t row = 0; row < in->transition.source_rows && count < SAMPLES; row += step)
		rows[count++] = row;
	survivors_locate(survivors, rows, count, located);
	for (size_t i = 0; i < count; i++) {
		uint64_t addr;
		uint64_t selected;
		uint64_t survivor;

		fuzz_expect(located[i] == follow(in, rows[i], &addr, &survivor));
		if (located[i] == LANCET_NO_ROW)
			continue;
		survivors_select(survivors, survivor, 1, &selected);
		fuzz_expect(selected == addr);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(65536 + 16 * size);
	struct reuse_survivors *survivors = NULL;
	struct lancet_error err = { 0 };
	struct input in;
	int rc;

	if (derive(&in, data, size)) {
		rc = survivors_open(in.treemap, &in.transition, &survivors, &err);
		fuzz_expect(rc == LANCET_OK || rc == LANCET_NO_MEMORY || rc == LANCET_CORRUPT);
		fuzz_expect(!(in.sound && rc == LANCET_CORRUPT) && (in.sound || rc != LANCET_OK));
		fuzz_expect((rc == LANCET_OK) == (err.text[0] == '\0'));
		fuzz_check(&guard);
		if (rc == LANCET_OK)
			check(&in, survivors);
		survivors_free(survivors);
	}
	fuzz_end(&guard);
	return 0;
}
