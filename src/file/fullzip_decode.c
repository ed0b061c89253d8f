/* Entries of full-zip pages: control words, lengths and values, one after the other.
 *
 *     control word = repetition level << bits of definition | definition level
 *
 * What has no slot of the leaf has no value; of values with lengths, nulls have neither. Values are
 * decoded in batches, with empty ones for nulls. Format facts: full-zip layout.
 */
#include <inttypes.h>

#include "fullzip_page.h"
#include "util/cursor.h"
#include "util/macros.h"

#define BATCH_SIZE 1024u /* entries */

struct batch {
	const struct fullzip *fullzip;
	const struct layers *layers;
	struct scratch *scratch;
	struct array *rep, *def, *out;
	struct lancet_error *err;
	size_t entries, slots;
	uint16_t reps[BATCH_SIZE], defs[BATCH_SIZE];
	struct slice values[BATCH_SIZE]; /* data NULL: a null without bytes */
};

static uint32_t
load_control(const uint8_t *at, unsigned width)
{
	switch (width) {
	case 1:
		return *at;
	case 2:
		return load_u16(at);
	default:
		return load_u32(at);
	}
}

/* A level that is too large stays so: it is compared with the layers later. */
static uint16_t
clamp(uint32_t level)
{
	return level > UINT16_MAX ? UINT16_MAX : (uint16_t)level;
}

/* Nulls of types that are no text or binary can't be told by an empty value: a struct has parts. */
static int
append_runs(struct batch *batch)
{
	size_t at = 0;

	while (at < batch->slots) {
		bool null = batch->values[at].data == NULL;
		size_t end = at + 1;

		while (end < batch->slots && (batch->values[end].data == NULL) == null)
			end++;
		if (null)
			TRY(array_append_nulls(batch->out, end - at, batch->err));
		else
			TRY(codec_decode_values(batch->fullzip->codec, batch->values + at, end - at,
				batch->scratch, batch->out, batch->err));
		at = end;
	}
	return LANCET_OK;
}

static int
append_values(struct batch *batch)
{
	static const uint8_t none[1];

	if (batch->slots == 0)
		return LANCET_OK;
	if (batch->out->field->kind != FIELD_VARIABLE)
		return append_runs(batch);
	for (size_t i = 0; i < batch->slots; i++) {
		if (batch->values[i].data == NULL)
			batch->values[i].data = none;
	}
	return codec_decode_values(batch->fullzip->codec, batch->values, batch->slots,
		batch->scratch, batch->out, batch->err);
}

static int
flush_batch(struct batch *batch)
{
	if (batch->fullzip->bits_rep > 0)
		TRY(array_append_fixed(
			batch->rep, 16, (const uint8_t *)batch->reps, batch->entries, batch->err));
	if (batch->fullzip->bits_def > 0)
		TRY(array_append_fixed(
			batch->def, 16, (const uint8_t *)batch->defs, batch->entries, batch->err));
	TRY(append_values(batch));
	batch->entries = batch->slots = 0;
	return LANCET_OK;
}

/* Takes the control word of the next entry; its definition level is returned. */
static uint16_t
take_levels(struct batch *batch, struct cursor *c)
{
	const struct fullzip *fullzip = batch->fullzip;
	struct slice bytes = cursor_take(c, fullzip->control);
	uint64_t word, def;

	if (bytes.size == 0)
		return 0;
	word = load_control(bytes.data, fullzip->control);
	def = word & ((UINT64_C(1) << fullzip->bits_def) - 1);
	word >>= fullzip->bits_def;
	batch->reps[batch->entries] =
		clamp((uint32_t)(word & ((UINT64_C(1) << fullzip->bits_rep) - 1)));
	batch->defs[batch->entries] = clamp((uint32_t)def);
	return batch->defs[batch->entries];
}

static void
take_value(struct batch *batch, struct cursor *c, uint16_t def)
{
	const struct fullzip *fullzip = batch->fullzip;
	struct slice *value = &batch->values[batch->slots];
	uint64_t size = fullzip->size;

	if (def > batch->layers->visible_max)
		return;
	batch->slots++;
	*value = (struct slice){ 0 };
	if (fullzip->variable && def > 0)
		return;
	if (fullzip->variable)
		size = size == 4 ? cursor_u32(c) : cursor_u64(c);
	*value = cursor_take(c, size);
	if (value->data == NULL)
		value->data = c->in.data;
}

int
fullzip_decode(const struct fullzip *fullzip, const struct layers *layers, struct slice bytes,
	struct scratch *scratch, struct array *rep, struct array *def, struct array *out,
	struct lancet_error *err)
{
	struct batch batch;
	struct cursor c = { .in = bytes };

	batch.fullzip = fullzip;
	batch.layers = layers;
	batch.scratch = scratch;
	batch.rep = rep;
	batch.def = def;
	batch.out = out;
	batch.err = err;
	batch.entries = batch.slots = 0;
	while (cursor_left(&c) > 0 && !c.bad) {
		take_value(&batch, &c, take_levels(&batch, &c));
		if (++batch.entries == BATCH_SIZE && !c.bad)
			TRY(flush_batch(&batch));
	}
	if (c.bad)
		return lancet_fail(err, LANCET_CORRUPT,
			"an entry passes the end of its rows at byte %zu", c.at);
	return flush_batch(&batch);
}
