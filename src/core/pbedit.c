/* Editing protobuf messages as pieces. */
#include "pbedit.h"

#include <inttypes.h>

#include "util/macros.h"

#define VARINT_MAX 10

static size_t
put_varint(uint8_t *into, uint64_t value)
{
	size_t size = 0;

	while (value >= 0x80) {
		into[size++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	into[size++] = (uint8_t)value;
	return size;
}

/* A tag and the varint behind it: a value, or a length. */
static size_t
put_header(uint8_t into[2 * VARINT_MAX], uint32_t number, enum pb_wire wire, uint64_t value)
{
	size_t size = put_varint(into, (uint64_t)number << 3 | wire);

	return size + put_varint(into + size, value);
}

int
pbedit_init(struct pbedit *edit, struct splice *out, uint64_t offset, uint64_t size,
	const uint64_t *values, struct lancet_error *err)
{
	*edit = (struct pbedit){ .out = out, .values = values };
	return pbscan_init(&edit->scan, out->source, offset, size, 0, err);
}

int
pbedit_inside(struct pbedit *edit, const struct pb_field *field, const struct pbedit_rule *rules,
	struct lancet_error *err)
{
	struct splice *out = edit->out;
	uint8_t header[2 * VARINT_MAX];
	bool changed_before = edit->changed;
	size_t count = out->count;
	uint64_t size = out->size;
	size_t place = splice_reserve(out);

	edit->changed = false;
	edit->scan.at = field->offset;
	TRY(pbedit_message(edit, field->end, rules, err));
	if (!edit->changed) { /* one piece for the whole field instead of many */
		splice_rewind(out, count, size);
		splice_copy(out, field->start, field->end - field->start);
	} else {
		splice_set(out, place, header,
			put_header(header, field->number, PB_BYTES, out->size - size));
	}
	edit->changed |= changed_before;
	edit->scan.at = field->end;
	return LANCET_OK;
}

static void
set_value(struct pbedit *edit, const struct pb_field *field, uint64_t value)
{
	uint8_t header[2 * VARINT_MAX];

	if (value == field->value) {
		splice_copy(edit->out, field->start, field->end - field->start);
		return;
	}
	splice_literal(edit->out, header, put_header(header, field->number, PB_VARINT, value));
	edit->changed = true;
}

static int
apply_rule(struct pbedit *edit, const struct pb_field *field, const struct pbedit_rule *rule,
	struct lancet_error *err)
{
	enum pb_wire want = rule->kind == PBEDIT_INSIDE ? PB_BYTES : PB_VARINT;

	if (rule->kind == PBEDIT_DROP) {
		edit->changed = true;
		return LANCET_OK;
	}
	if (field->wire != want)
		return lancet_fail(err, LANCET_CORRUPT, "field %" PRIu32 ": wire type %d",
			field->number, (int)field->wire);
	if (rule->kind == PBEDIT_INSIDE)
		return pbedit_inside(edit, field, rule->inside, err);
	set_value(edit, field,
		rule->kind == PBEDIT_SET ? edit->values[rule->slot]
					 : field->value & ~edit->values[rule->slot]);
	return LANCET_OK;
}

int
pbedit_message(struct pbedit *edit, uint64_t end, const struct pbedit_rule *rules,
	struct lancet_error *err)
{
	struct pb_field field;
	bool more;

	for (;;) {
		const struct pbedit_rule *rule = rules;

		TRY(pbscan_next_inside(&edit->scan, end, &field, &more, err));
		if (!more)
			return LANCET_OK;
		while (rule->field != 0 && rule->field != field.number)
			rule++;
		if (rule->field == 0)
			splice_copy(edit->out, field.start, field.end - field.start);
		else
			TRY(apply_rule(edit, &field, rule, err));
	}
}
