/* Values of one block from arrays, and constants. */
#include "predicate_rows.h"

#include "util/bits.h"
#include "util/macros.h"
#include "util/number.h"

/* Bit i: value first + i is valid. */
static void
load_validity(const struct machine *machine, const struct array *array, uint64_t valid[BLOCK_WORDS])
{
	uint64_t bits[BLOCK_WORDS] = { 0 };

	if (array->null_count == 0)
		return;
	bits_copy((uint8_t *)bits, 0, array->validity.data, machine->first, machine->count);
	for (size_t i = 0; i < BLOCK_WORDS; i++)
		valid[i] &= bits[i];
}

#define WIDEN(type)                                                                                \
	do {                                                                                       \
		const type *from_ = (const type *)(const void *)values;                            \
		for (unsigned i = 0; i < count; i++)                                               \
			into[i] = from_[i];                                                        \
	} while (0)

static lancet_hot void
widen(const uint8_t *values, uint32_t bits, bool is_signed, unsigned count, int64_t *into)
{
	switch (bits) {
	case 8:
		if (is_signed)
			WIDEN(int8_t);
		else
			WIDEN(uint8_t);
		break;
	case 16:
		if (is_signed)
			WIDEN(int16_t);
		else
			WIDEN(uint16_t);
		break;
	case 32:
		if (is_signed)
			WIDEN(int32_t);
		else
			WIDEN(uint32_t);
		break;
	default:
		memcpy(into, values, count * sizeof(*into));
	}
}

static lancet_hot void
widen_reals(const uint8_t *values, uint32_t bits, unsigned count, double *into)
{
	const float *floats = (const float *)(const void *)values;
	const uint16_t *halves = (const uint16_t *)(const void *)values;

	if (bits == 64)
		memcpy(into, values, count * sizeof(*into));
	for (unsigned i = 0; bits == 32 && i < count; i++)
		into[i] = (double)floats[i];
	for (unsigned i = 0; bits == 16 && i < count; i++)
		into[i] = number_of_half(halves[i]);
}

/* Values [first, first + count) of an array of this type into a register. */
static void
load_range(const struct value_type *type, const struct array *array, uint64_t first, unsigned count,
	void *into)
{
	const struct field *field = array->field;
	const uint8_t *values = array->data.data;
	struct wide *wides = into;
	struct slice *slices = into;
	int64_t *numbers = into;

	if (values != NULL && field->kind == FIELD_FIXED)
		values += first * (field->bits / 8);
	switch (type->class) {
	case VALUE_FLOAT:
		widen_reals(values, field->bits, count, into);
		break;
	case VALUE_DECIMAL:
		for (unsigned i = 0; i < count; i++)
			wides[i] = wide_load(values + (size_t)i * (field->bits / 8), field->bits);
		break;
	case VALUE_TEXT:
	case VALUE_BINARY:
		for (unsigned i = 0; i < count; i++)
			slices[i] = field->kind == FIELD_VARIABLE
					    ? array_bytes(array, first + i)
					    : slice_of(values + (size_t)i * (field->bits / 8),
						      field->bits / 8);
		break;
	case VALUE_BOOL:
		for (unsigned i = 0; i < count; i++)
			numbers[i] = array_bit(array, first + i);
		break;
	default:
		widen(values, field->bits, field->is_signed, count, numbers);
	}
}

/* Values of a dictionary, one by one; what is null has key 0, which need not be there. */
static void
load_keys(const struct value_type *type, const struct array *array, const struct machine *machine,
	uint64_t valid[BLOCK_WORDS], uint8_t *into)
{
	const struct array *items = &array->children[0];
	size_t size = type->class == VALUE_DECIMAL ? sizeof(struct wide)
		      : type->class == VALUE_TEXT || type->class == VALUE_BINARY
			      ? sizeof(struct slice)
			      : sizeof(int64_t);

	for (unsigned i = 0; i < machine->count; i++) {
		uint64_t key = array_unsigned(array, machine->first + i);

		if (!row_in(valid, i))
			key = UINT64_MAX;
		if (key < items->length && array_is_valid(items, key)) {
			load_range(type, items, key, 1, into + i * size);
			continue;
		}
		memset(into + i * size, 0, size);
		valid[i / 64] &= ~(UINT64_C(1) << i % 64);
	}
}

static bool
has_values(const struct value_type *type)
{
	return type->class != VALUE_NULL && type->class != VALUE_OTHER;
}

int
load_column(struct machine *machine, const struct expression *column, size_t index,
	struct vector *ret_vector)
{
	const struct array *array = machine->columns[column->root];
	uint8_t *into = NULL;

	memcpy(ret_vector->valid, machine->all, sizeof(ret_vector->valid));
	load_validity(machine, array, ret_vector->valid);
	for (unsigned i = 1; i < column->path_size; i++) {
		array = &array->children[column->fields[i] - column->fields[i - 1]->children];
		load_validity(machine, array, ret_vector->valid);
	}
	ret_vector->type = column->type;
	ret_vector->values.any = NULL;
	if (column->type.class == VALUE_NULL)
		memset(ret_vector->valid, 0, sizeof(ret_vector->valid));
	if (!has_values(&column->type))
		return LANCET_OK;
	into = machine_register(machine, index);
	if (into == NULL)
		return LANCET_NO_MEMORY;
	ret_vector->values.any = into;
	if (array->field->kind == FIELD_DICTIONARY)
		load_keys(&column->type, array, machine, ret_vector->valid, into);
	else
		load_range(&column->type, array, machine->first, machine->count, into);
	return LANCET_OK;
}

int
load_constant(struct machine *machine, const struct expression *constant, size_t index,
	struct vector *ret_vector)
{
	const struct value *value = &constant->value;
	union {
		void *any;
		int64_t *numbers;
		double *reals;
		struct wide *wides;
		struct slice *bytes;
	} into = { machine_register(machine, index) };

	if (into.any == NULL)
		return LANCET_NO_MEMORY;
	ret_vector->type = constant->type;
	ret_vector->values.any = into.any;
	if (constant->is_null)
		memset(ret_vector->valid, 0, sizeof(ret_vector->valid));
	else
		memcpy(ret_vector->valid, machine->all, sizeof(ret_vector->valid));
	for (unsigned i = 0; i < machine->count && !constant->is_null; i++) {
		switch (constant->type.class) {
		case VALUE_FLOAT:
			into.reals[i] = value->real;
			break;
		case VALUE_DECIMAL:
			into.wides[i] = value->wide;
			break;
		case VALUE_TEXT:
		case VALUE_BINARY:
			into.bytes[i] = value->bytes;
			break;
		default:
			into.numbers[i] = value->number;
		}
	}
	return LANCET_OK;
}
