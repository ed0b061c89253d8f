/* Arrow schemas and arrays put together by hand; nothing is allocated, nothing to be released. */
#ifndef TESTS_ARROWS_H
#define TESTS_ARROWS_H

#include <lancet/arrow.h>

#include <string.h>

#define ARROWS_CHILDREN 32

struct arrows {
	struct ArrowSchema schema;
	struct ArrowArray array;
	const void *buffers[3];
	struct ArrowSchema *schemas[ARROWS_CHILDREN];
	struct ArrowArray *arrays[ARROWS_CHILDREN];
};

/* Buffers: validity, then as many as the type has; the count is told. */
static inline void
arrows_init(struct arrows *a, const char *format, const char *name, int64_t length, int64_t buffers)
{
	*a = (struct arrows){ .schema = { .format = format,
				      .name = name,
				      .flags = ARROW_FLAG_NULLABLE,
				      .children = a->schemas },
		.array = { .length = length,
			.null_count = -1,
			.n_buffers = buffers,
			.buffers = a->buffers,
			.children = a->arrays } };
}

static inline void
arrows_add(struct arrows *a, struct arrows *child)
{
	a->schemas[a->schema.n_children++] = &child->schema;
	a->arrays[a->array.n_children++] = &child->array;
}

/* A batch is a struct with the columns. */
static inline void
arrows_batch(struct arrows *a, int64_t length)
{
	arrows_init(a, "+s", "", length, 1);
	a->schema.flags = 0;
	a->array.null_count = 0;
}

/* Text collected by a lancet_output sink; `fails` is what the sink returns once `room` is full. */
struct arrows_sink {
	uint8_t bytes[65536];
	size_t size, room;
	int fails;
};

static inline int
arrows_write(void *context, const void *data, size_t size)
{
	struct arrows_sink *sink = context;

	if (size > (sink->room != 0 ? sink->room : sizeof(sink->bytes)) - sink->size)
		return sink->fails;
	memcpy(sink->bytes + sink->size, data, size);
	sink->size += size;
	return 0;
}

#endif
