/* Where the sequences of new fragments go: inline, or into hidden columns; see lineage_out.h. */
#include "lineage_out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "rowids_blocks.h"
#include "sequence_write.h"
#include "util/macros.h"
#include "util/text.h"
#include "version.h"

#define CONFIG_SPILL  "lance.row_lineage.spill"
#define CONFIG_INLINE "lance.row_lineage.inline_max_bytes"
#define INLINE_MAX    204800u
#define VERSION_ROWS  4096u /* read at once */

struct rule {
	bool spill;
	uint64_t inline_max; /* bytes */
};

static bool
config_get(const lancet_version *version, const char *key, struct slice *ret_value)
{
	size_t count;
	const struct lancet_entry *entries = lancet_version_map(version, LANCET_CONFIG, &count);

	for (size_t i = 0; i < count; i++) {
		if (!slice_equal(
			    slice_of(entries[i].key.data, entries[i].key.size), slice_text(key)))
			continue;
		*ret_value = slice_of(entries[i].value.data, entries[i].value.size);
		return true;
	}
	return false;
}

/* As the reference reads numbers: with a sign and zeros before. */
static bool
read_number(struct slice text, uint64_t *ret_number)
{
	if (text.size > 1 && text.data[0] == '+')
		text = slice_of(text.data + 1, text.size - 1);
	while (text.size > 1 && text.data[0] == '0')
		text = slice_of(text.data + 1, text.size - 1);
	return text_to_u64(text, ret_number);
}

static int
read_rule(const lancet_version *version, bool may_spill, struct rule *ret_rule,
	struct lancet_error *err)
{
	struct lancet_bytes format = version->info.storage_version;
	struct slice value;

	*ret_rule = (struct rule){ .inline_max = INLINE_MAX };
	if (!may_spill || slice_equal(slice_of(format.data, format.size), slice_text("0.1")) ||
		!config_get(version, CONFIG_SPILL, &value) || value.size != 4 ||
		strncasecmp((const char *)value.data, "true", 4) != 0)
		return LANCET_OK;
	ret_rule->spill = true;
	if (config_get(version, CONFIG_INLINE, &value) &&
		!read_number(value, &ret_rule->inline_max))
		return lancet_fail(err, LANCET_INVALID, "config " CONFIG_INLINE ": \"%.*s\"",
			value.size < 60 ? (int)value.size : 60, (const char *)value.data);
	return LANCET_OK;
}

static int
encode_ids(const struct lineage_pack *pack, struct buf *into, struct lancet_error *err)
{
	struct rowids_blocks blocks = { .into = into };
	size_t most = pack->count < ROWIDS_BLOCK ? (size_t)pack->count : ROWIDS_BLOCK;
	lancet_autofree uint64_t *ids = malloc((most + 1) * sizeof(*ids));

	if (ids == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "row ids");
	if (pack->count == 0)
		rowids_put(into, ids, 0);
	for (uint64_t at = 0; at < pack->count && into->failed == LANCET_OK; at += most) {
		uint64_t left = pack->count - at;
		size_t count = left < most ? (size_t)left : most;

		lineage_pack_read(pack, at, count, ids);
		rowids_blocks_put(&blocks, ids, count);
	}
	rowids_blocks_end(&blocks);
	return LANCET_OK;
}

static void
encode_versions(const struct lineage_pack *pack, struct buf *into)
{
	struct version_runs runs = { .bytes = *into };
	uint64_t versions[VERSION_ROWS];

	for (uint64_t at = 0; at < pack->count && runs.bytes.failed == LANCET_OK;
		at += VERSION_ROWS) {
		uint64_t left = pack->count - at;
		size_t count = left < VERSION_ROWS ? (size_t)left : VERSION_ROWS;

		lineage_pack_read(pack, at, count, versions);
		for (size_t i = 0; i < count; i++)
			version_runs_put(&runs, 1, versions[i]);
	}
	version_runs_end(&runs);
	*into = runs.bytes;
}

/* Encodes a sequence; `limit` bytes are enough to know that it is too long, 0: there is no such
 * limit. */
static int
encode(struct lineage_sequence *sequence, unsigned which, size_t limit, struct lancet_error *err)
{
	sequence->encoded.limit = limit;
	if (which == LANCET_ROW_ID)
		TRY(encode_ids(&sequence->pack, &sequence->encoded, err));
	else
		encode_versions(&sequence->pack, &sequence->encoded);
	if (sequence->encoded.failed == LANCET_LIMIT && limit > 0) {
		sequence->spilled = true;
		return LANCET_OK;
	}
	return buf_check(&sequence->encoded, "row lineage", err);
}

static int
place_alone(const struct rule *rule, struct lineage_sequence *sequence, unsigned which,
	struct lancet_error *err)
{
	size_t limit = 0;

	if (rule->spill && rule->inline_max < SIZE_MAX / 2)
		limit = (size_t)rule->inline_max + 1;
	TRY(encode(sequence, which, limit, err));
	if (rule->spill && sequence->encoded.size > rule->inline_max)
		sequence->spilled = true;
	return LANCET_OK;
}

/* All values of the kind are known to be in one place, or not. */
static void
settle(struct lineage_sequence *sequence, bool other_spills)
{
	if (other_spills && !sequence->spilled)
		sequence->spilled =
			sequence->encoded.size > lineage_pack_column_bytes(&sequence->pack);
	if (sequence->spilled)
		buf_release(&sequence->encoded);
	else
		lineage_pack_release(&sequence->pack);
}

int
lineage_place(lancet_version *read, struct lineage_out *outs, size_t count, bool may_spill,
	struct lancet_error *err)
{
	struct rule rule;

	TRY(read_rule(read, may_spill, &rule, err));
	for (unsigned which = 0; which < LINEAGE_KINDS; which++) {
		bool spills = false;

		for (size_t i = 0; i < count; i++) {
			struct lineage_sequence *sequence = &outs[i].sequences[which];

			if (sequence->present)
				TRY(place_alone(&rule, sequence, which, err));
			spills |= sequence->spilled;
		}
		for (size_t i = 0; i < count; i++)
			if (outs[i].sequences[which].present)
				settle(&outs[i].sequences[which], spills);
	}
	return LANCET_OK;
}
