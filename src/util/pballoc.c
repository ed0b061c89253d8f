/* protobuf-c's allocator over an arena: nothing is freed alone. */
#include "pballoc.h"

static void *
pb_alloc(void *data, size_t size)
{
	return arena_alloc(data, size);
}

static void
pb_free_nothing(void *data, void *pointer)
{
	(void)data;
	(void)pointer;
}

ProtobufCAllocator
pb_allocator(struct arena *a)
{
	return (ProtobufCAllocator){
		.alloc = pb_alloc,
		.free = pb_free_nothing,
		.allocator_data = a,
	};
}
