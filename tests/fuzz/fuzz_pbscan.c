/* pbscan over any bytes: memory, a windowed source and pbmem must tell the same story. */
#include "fuzz.h"

#include "util/pbscan.h"

#define WINDOW 64
#define DEPTH  8

struct hidden_source {
	struct source base;
	const uint8_t *bytes;
};

static int
hidden_read_at(struct source *src, uint64_t offset, size_t size, void *into,
               struct lancet_error *err)
{
	(void)err;
	memcpy(into, ((struct hidden_source *)src)->bytes + offset, size);
	return LANCET_OK;
}

static void
hidden_release(struct source *src)
{
	(void)src;
}

static const struct source_ops hidden_ops = { hidden_read_at, hidden_release };

/* Walks the message and those that its contents may be; returns the number of fields seen. */
static size_t
walk_memory(struct slice in, int depth)
{
	struct pbmem mem = { .in = in };
	struct pb_field field;
	bool more = true;
	size_t fields = 0;

	while (pbmem_next(&mem, &field, &more, NULL) == LANCET_OK && more) {
		fuzz_expect(field.end > field.start && field.end <= in.size);
		fuzz_expect(field.number != 0);
		if (field.wire == PB_BYTES) {
			fuzz_expect(field.end - field.offset == field.value);
			if (depth < DEPTH && field.value != 0)
				(void)walk_memory(slice_of(in.data + field.offset,
				                           (size_t)field.value), depth + 1);
		}
		fields++;
	}
	return fields;
}

static size_t
walk_source(struct source *src, const uint8_t *bytes)
{
	struct pbscan scan;
	struct pb_field field;
	bool more = true;
	size_t fields = 0;

	if (pbscan_init(&scan, src, 0, src->size, WINDOW, NULL) != LANCET_OK)
		abort();
	while (pbscan_next(&scan, &field, &more, NULL) == LANCET_OK && more) {
		size_t size = field.value < WINDOW / 2 ? (size_t)field.value : WINDOW / 2;
		struct slice content;

		fields++;
		if (field.wire != PB_BYTES ||
		    pbscan_bytes(&scan, field.offset, size, &content, NULL) != LANCET_OK)
			continue;
		fuzz_expect(slice_equal(content, slice_of(bytes + field.offset, size)));
	}
	pbscan_release(&scan);
	return fields;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(4096);
	struct hidden_source hidden = { .bytes = data };
	struct source *memory = source_memory_new(slice_of(data, size), NULL);
	size_t fields = walk_memory(slice_of(data, size), 0);
	size_t windowed;

	source_init(&hidden.base, &hidden_ops, size);
	windowed = walk_source(&hidden.base, data);
	fuzz_expect(windowed == fields || windowed == 0); /* 0: there was no memory for a window */
	if (memory != NULL)
		fuzz_expect(walk_source(memory, data) == fields);
	fuzz_check(&guard);
	source_unref(memory);
	fuzz_end(&guard);
	return 0;
}
