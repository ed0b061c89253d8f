/* Bodies of record batches: a walk over schema and array notes what is to be written, then all of
 * it goes out in order.
 *
 * A slice is written as if it had been an array of its own: bitmaps are shifted to begin at bit 0
 * and offsets reduced by the first one, a block at a time, while the bytes of values go out from
 * where they are. Alignment counts from the start of the body.
 */
#include "arrow_ipc.h"

#include "util/flatbuild.h"
#include "util/bits.h"
#include "util/macros.h"

#define BLOCK_SIZE 8192u /* bytes of what has to be made */

/* Bytes that a part takes in the body. */
static uint64_t
part_size(const struct ipc_part *part)
{
	switch (part->kind) {
	case IPC_BITS:
		return part->count / 8 + (part->count % 8 != 0);
	case IPC_OFFSETS_32:
		return part->count * sizeof(int32_t);
	case IPC_OFFSETS_64:
		return part->count * sizeof(int64_t);
	default:
		return part->count;
	}
}

static void
add_part(struct ipc_plan *plan, struct ipc_part part)
{
	uint64_t size = part_size(&part);
	uint64_t place[2] = { plan->body_size, size };

	buf_put(&plan->buffers, place, sizeof(place));
	buf_put(&plan->parts, &part, sizeof(part));
	plan->body_size += size + (0 - size) % IPC_ALIGNMENT;
}

static void
add_bytes(struct ipc_plan *plan, const void *data, uint64_t from, uint64_t size)
{
	add_part(plan, (struct ipc_part){ .kind = IPC_BYTES,
			       .data = size > 0 ? (const uint8_t *)data + from : NULL,
			       .count = size });
}

static void
add_bits(struct ipc_plan *plan, const void *bitmap, int64_t first, int64_t count)
{
	struct ipc_part part = { IPC_BITS, bitmap, (uint64_t)first, (uint64_t)count };

	if (first % 8 == 0)
		add_bytes(plan, bitmap, (uint64_t)first / 8, part_size(&part));
	else
		add_part(plan, part);
}

/* The node of an array and its validity, which is left out where all values are valid. */
static void
add_node(struct ipc_plan *plan, const struct ArrowArray *array, int64_t first, int64_t count)
{
	const void *validity = array->n_buffers > 0 ? array->buffers[0] : NULL;
	int64_t node[2] = { count, array->null_count };

	if (array->n_buffers == 0)
		node[1] = count; /* of the type null */
	else if (validity == NULL || count == 0)
		node[1] = 0;
	else if (array->null_count < 0 || (array->null_count > 0 && count != array->length))
		node[1] = count - (int64_t)bits_count(validity, (uint64_t)(array->offset + first),
					  (uint64_t)count);
	buf_put(&plan->nodes, node, sizeof(node));
	if (array->n_buffers == 0)
		return;
	if (node[1] == 0)
		add_part(plan, (struct ipc_part){ 0 });
	else
		add_bits(plan, validity, array->offset + first, count);
}

/* Offsets of values [first, first + count); the range of items that they lie in. */
static void
add_offsets(struct ipc_plan *plan, const struct ArrowArray *array, bool large, int64_t first,
	int64_t count, int64_t *ret_from, int64_t *ret_to)
{
	uint64_t width = large ? sizeof(int64_t) : sizeof(int32_t);
	struct ipc_part part = { large ? IPC_OFFSETS_64 : IPC_OFFSETS_32, NULL,
		(uint64_t)(array->offset + first), (uint64_t)count + 1 };

	*ret_from = *ret_to = 0;
	if (count > 0) { /* else one zero, whether or not the array has a buffer */
		part.data = array->buffers[1];
		*ret_from = arrow_offset(array, large, array->offset + first);
		*ret_to = arrow_offset(array, large, array->offset + first + count);
	}
	if (count > 0 && *ret_from == 0)
		add_bytes(plan, part.data, part.first * width, part.count * width);
	else
		add_part(plan, part);
}

static bool
has_shape(const struct ArrowArray *array, const struct ArrowSchema *schema,
	const struct arrow_type *type, int64_t first, int64_t count)
{
	return array->n_buffers == arrow_type_buffers(type) &&
	       array->n_children == schema->n_children &&
	       (array->dictionary != NULL) == (schema->dictionary != NULL) && first >= 0 &&
	       count >= 0 && first <= array->length && count <= array->length - first;
}

static int add_values(struct ipc_plan *plan, const struct ArrowSchema *schema,
	const struct ArrowArray *array, const struct arrow_type *type, int64_t first, int64_t count,
	struct lancet_error *err);

int
ipc_plan_add(struct ipc_plan *plan, const struct ArrowSchema *schema,
	const struct ArrowArray *array, int64_t first, int64_t count, struct lancet_error *err)
{
	struct arrow_type type;

	TRY(arrow_type_of(schema, &type, err));
	if (!has_shape(array, schema, &type, first, count))
		return lancet_fail(err, LANCET_INVALID, "column %s: not an array of its type",
			schema->name != NULL ? schema->name : "");
	add_node(plan, array, first, count);
	return add_values(plan, schema, array, &type, first, count, err);
}

/* What comes behind the validity: buffers, then the children. */
static int
add_values(struct ipc_plan *plan, const struct ArrowSchema *schema, const struct ArrowArray *array,
	const struct arrow_type *type, int64_t first, int64_t count, struct lancet_error *err)
{
	int64_t at = array->offset + first, from, to;

	switch (type->kind) {
	case ARROW_NULL:
		return LANCET_OK;
	case ARROW_BOOL:
		add_bits(plan, array->buffers[1], at, count);
		return LANCET_OK;
	case ARROW_FIXED_BINARY:
		add_bytes(plan, array->buffers[1], (uint64_t)at * (uint64_t)type->size,
			(uint64_t)count * (uint64_t)type->size);
		return LANCET_OK;
	case ARROW_TEXT:
	case ARROW_BINARY:
		add_offsets(plan, array, type->large, first, count, &from, &to);
		add_bytes(plan, array->buffers[2], (uint64_t)from, (uint64_t)(to - from));
		return LANCET_OK;
	case ARROW_LIST:
	case ARROW_MAP:
		add_offsets(plan, array, type->large, first, count, &from, &to);
		return ipc_plan_add(
			plan, schema->children[0], array->children[0], from, to - from, err);
	case ARROW_FIXED_LIST:
		return ipc_plan_add(plan, schema->children[0], array->children[0], at * type->size,
			count * type->size, err);
	case ARROW_STRUCT:
		for (int64_t i = 0; i < schema->n_children; i++)
			TRY(ipc_plan_add(
				plan, schema->children[i], array->children[i], at, count, err));
		return LANCET_OK;
	default:
		add_bytes(plan, array->buffers[1], (uint64_t)at * (type->bits / 8),
			(uint64_t)count * (type->bits / 8));
		return LANCET_OK;
	}
}

void
ipc_plan_release(struct ipc_plan *plan)
{
	buf_release(&plan->nodes);
	buf_release(&plan->buffers);
	buf_release(&plan->parts);
	*plan = (struct ipc_plan){ 0 };
}

/* The RecordBatch table, referred to at `at`. */
static void
put_batch(const struct ipc_plan *plan, int64_t rows, struct buf *out, size_t at)
{
	struct flatfield fields[] = { { 0, 8, (uint64_t)rows, 0 }, FLAT_REFERENCE(1),
		FLAT_REFERENCE(2) };

	flatbuild_refer(out, at, flatbuild_table(out, fields, ARRAY_SIZE(fields)));
	flatbuild_refer(out, fields[1].at,
		flatbuild_vector(out, plan->nodes.data, plan->nodes.size / 16, 16, 8));
	flatbuild_refer(out, fields[2].at,
		flatbuild_vector(out, plan->buffers.data, plan->buffers.size / 16, 16, 8));
}

int
ipc_plan_message(const struct ipc_plan *plan, enum ipc_header header, int64_t rows, uint32_t id,
	struct buf *out, struct lancet_error *err)
{
	struct flatfield message[] = { { 0, 2, IPC_VERSION, 0 }, { 1, 1, header, 0 },
		FLAT_REFERENCE(2), { 3, 8, plan->body_size, 0 } };
	struct flatfield dictionary[] = { { 0, 8, id, 0 }, FLAT_REFERENCE(1), { 2, 1, 0, 0 } };
	size_t at;

	flatbuild_begin(out);
	flatbuild_refer(out, 0, flatbuild_table(out, message, ARRAY_SIZE(message)));
	at = message[2].at;
	if (header == IPC_DICTIONARY) {
		flatbuild_refer(out, at, flatbuild_table(out, dictionary, ARRAY_SIZE(dictionary)));
		at = dictionary[1].at;
	}
	put_batch(plan, rows, out, at);
	TRY(buf_check(&plan->nodes, "batch", err));
	TRY(buf_check(&plan->buffers, "batch", err));
	TRY(buf_check(&plan->parts, "batch", err));
	return buf_check(out, "batch", err);
}

/* `count` bits from bit `first` on, to begin at bit 0; the bits behind them are 0. */
static void
shift_bits(const uint8_t *bitmap, uint64_t first, uint64_t count, uint8_t *into)
{
	const uint8_t *from = bitmap + first / 8;
	unsigned shift = first % 8, left = count % 8;
	uint64_t whole = count / 8;

	for (uint64_t i = 0; i < whole; i++)
		into[i] = (uint8_t)((from[i] | from[i + 1] << 8) >> shift);
	if (left == 0)
		return;
	into[whole] = from[whole] >> shift;
	if (shift + left > 8)
		into[whole] |= (uint8_t)(from[whole + 1] << (8 - shift));
	into[whole] &= (uint8_t)((1u << left) - 1);
}

/* Elements [done, done + count) of a part, made in `into`. */
static void
make_block(const struct ipc_part *part, uint64_t done, uint64_t count, uint64_t *into)
{
	uint64_t first = part->first + done;

	if (part->data == NULL) {
		memset(into, 0, BLOCK_SIZE);
	} else if (part->kind == IPC_BITS) {
		shift_bits(part->data, first, count, (uint8_t *)into);
	} else if (part->kind == IPC_OFFSETS_32) {
		const int32_t *offsets = part->data;

		for (uint64_t i = 0; i < count; i++)
			((int32_t *)into)[i] = offsets[first + i] - offsets[part->first];
	} else {
		const int64_t *offsets = part->data;

		for (uint64_t i = 0; i < count; i++)
			((int64_t *)into)[i] = offsets[first + i] - offsets[part->first];
	}
}

static int
write_part(const struct ipc_part *part, ipc_put put, void *context)
{
	uint64_t block[BLOCK_SIZE / sizeof(uint64_t)];
	uint64_t step = part->kind == IPC_BITS         ? BLOCK_SIZE * 8
			: part->kind == IPC_OFFSETS_32 ? BLOCK_SIZE / sizeof(int32_t)
						       : BLOCK_SIZE / sizeof(int64_t);

	if (part->kind == IPC_BYTES)
		return part->count == 0 ? LANCET_OK : put(context, part->data, part->count);
	for (uint64_t done = 0; done < part->count; done += step) {
		struct ipc_part piece = *part;

		piece.count = part->count - done < step ? part->count - done : step;
		make_block(part, done, piece.count, block);
		TRY(put(context, block, part_size(&piece)));
	}
	return LANCET_OK;
}

int
ipc_plan_write(const struct ipc_plan *plan, ipc_put put, void *context)
{
	static const uint8_t zeros[IPC_ALIGNMENT];
	const struct ipc_part *parts = (const void *)plan->parts.data;

	for (size_t i = 0; i < plan->parts.size / sizeof(*parts); i++) {
		uint64_t padding = (0 - part_size(&parts[i])) % IPC_ALIGNMENT;

		TRY(write_part(&parts[i], put, context));
		if (padding > 0)
			TRY(put(context, zeros, padding));
	}
	return LANCET_OK;
}
