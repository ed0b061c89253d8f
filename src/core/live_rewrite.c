/* Live files that a standalone copy needs in another form.
 *
 * The manifest without base paths, base ids, branch and flag bit 4; external reuse details without
 * base ids; tag files with branch null and the new manifest's size. Sections keep their order:
 * index section, transaction, manifest, footer. SPEC section 7; format facts: manifest file layout.
 */
#include "live.h"

#include <assert.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flags.h"
#include "pbedit.h"
#include "reuse.h"
#include "util/cursor.h"
#include "util/macros.h"

#define FOOTER_SIZE  16
#define TAG_SIZE_MAX (UINT64_C(1) << 20)
#define PREFIX_SIZE  4 /* a section's length */

struct lancet_rewritten {
	struct splice splice;
};

enum value_slot { SLOT_FLAG_BITS, SLOT_INDEX_SECTION, SLOT_TRANSACTION, SLOT_DETAILS_SIZE, SLOTS };

static const struct pbedit_rule data_file_rules[] = { { 7, PBEDIT_DROP, NULL, 0 }, { 0 } };
static const struct pbedit_rule deletion_rules[] = { { 7, PBEDIT_DROP, NULL, 0 }, { 0 } };
static const struct pbedit_rule overlay_rules[] = {
	{ 1, PBEDIT_INSIDE, data_file_rules, 0 },
	{ 0 },
};
static const struct pbedit_rule fragment_rules[] = {
	{ 2, PBEDIT_INSIDE, data_file_rules, 0 },
	{ 3, PBEDIT_INSIDE, deletion_rules, 0 },
	{ 11, PBEDIT_INSIDE, overlay_rules, 0 },
	{ 0 },
};
static const struct pbedit_rule manifest_rules[] = {
	{ 2, PBEDIT_INSIDE, fragment_rules, 0 },
	{ 6, PBEDIT_SET, NULL, SLOT_INDEX_SECTION },
	{ 9, PBEDIT_CLEAR_BITS, NULL, SLOT_FLAG_BITS },
	{ 10, PBEDIT_CLEAR_BITS, NULL, SLOT_FLAG_BITS },
	{ 18, PBEDIT_DROP, NULL, 0 },
	{ 20, PBEDIT_DROP, NULL, 0 },
	{ 21, PBEDIT_SET, NULL, SLOT_TRANSACTION },
	{ 23, PBEDIT_SET, NULL, SLOT_TRANSACTION },
	{ 0 },
};
static const struct pbedit_rule index_rules[] = { { 9, PBEDIT_DROP, NULL, 0 }, { 0 } };

/* The reuse history: IndexMetadata.index_details (an Any) holds the details, inline or not. */
static const struct pbedit_rule partition_rules[] = { { 3, PBEDIT_DROP, NULL, 0 }, { 0 } };
static const struct pbedit_rule transition_rules[] = {
	{ 4, PBEDIT_INSIDE, partition_rules, 0 },
	{ 0 },
};
static const struct pbedit_rule content_rules[] = {
	{ 2, PBEDIT_INSIDE, transition_rules, 0 },
	{ 0 },
};
static const struct pbedit_rule external_rules[] = {
	{ 3, PBEDIT_SET, NULL, SLOT_DETAILS_SIZE },
	{ 0 },
};
static const struct pbedit_rule details_rules[] = {
	{ 1, PBEDIT_INSIDE, content_rules, 0 },
	{ 2, PBEDIT_INSIDE, external_rules, 0 },
	{ 0 },
};
static const struct pbedit_rule any_rules[] = { { 2, PBEDIT_INSIDE, details_rules, 0 }, { 0 } };
static const struct pbedit_rule reuse_rules[] = {
	{ 6, PBEDIT_INSIDE, any_rules, 0 },
	{ 9, PBEDIT_DROP, NULL, 0 },
	{ 0 },
};

static int
edit_range(struct splice *out, uint64_t offset, uint64_t size, const struct pbedit_rule *rules,
	const uint64_t *values, struct lancet_error *err)
{
	struct pbedit edit;
	int rc = pbedit_init(&edit, out, offset, size, values, err);

	if (rc == LANCET_OK)
		rc = pbedit_message(&edit, offset + size, rules, err);
	pbscan_release(&edit.scan);
	return rc;
}

/* The place of a section's message behind its length, checked against the file. */
static int
find_section(struct source *file, uint64_t offset, uint64_t *ret_size, struct lancet_error *err)
{
	uint8_t prefix[PREFIX_SIZE];

	if (offset > file->size || file->size - offset < PREFIX_SIZE)
		return lancet_fail(
			err, LANCET_CORRUPT, "section at %" PRIu64 ": past the end", offset);
	TRY(source_read_at(file, offset, PREFIX_SIZE, prefix, err));
	*ret_size = load_u32(prefix);
	if (*ret_size > file->size - offset - PREFIX_SIZE)
		return lancet_fail(err, LANCET_CORRUPT,
			"section at %" PRIu64 ": %" PRIu64 " bytes are "
			"too many",
			offset, *ret_size);
	return LANCET_OK;
}

static void
set_length(struct splice *out, size_t place, uint64_t size_before)
{
	uint32_t length = (uint32_t)(out->size - size_before);
	uint8_t prefix[PREFIX_SIZE] = { (uint8_t)length, (uint8_t)(length >> 8),
		(uint8_t)(length >> 16), (uint8_t)(length >> 24) };

	splice_set(out, place, prefix, sizeof(prefix));
}

/* An entry's name decides by which rules it is copied. */
static int
entry_is_reuse(
	struct pbedit *edit, const struct pb_field *entry, bool *ret_is, struct lancet_error *err)
{
	struct pb_field field;
	struct slice name;
	bool more;

	*ret_is = false;
	edit->scan.at = entry->offset;
	for (;;) {
		TRY(pbscan_next_inside(&edit->scan, entry->end, &field, &more, err));
		if (!more)
			return LANCET_OK;
		if (field.number != 3 || field.wire != PB_BYTES ||
			field.value != strlen(REUSE_INDEX_NAME))
			continue;
		TRY(pbscan_bytes(&edit->scan, field.offset, (size_t)field.value, &name, err));
		*ret_is = slice_equal(name, slice_text(REUSE_INDEX_NAME));
	}
}

static int
edit_entries(struct pbedit *edit, uint64_t end, struct lancet_error *err)
{
	struct pb_field field;
	bool more, reuse;

	for (;;) {
		TRY(pbscan_next_inside(&edit->scan, end, &field, &more, err));
		if (!more)
			return LANCET_OK;
		if (field.number == 1 && field.wire == PB_BYTES) {
			TRY(entry_is_reuse(edit, &field, &reuse, err));
			TRY(pbedit_inside(edit, &field, reuse ? reuse_rules : index_rules, err));
		} else {
			splice_copy(edit->out, field.start, field.end - field.start);
		}
	}
}

static int
rewrite_index_section(struct splice *out, lancet_version *version, const uint64_t *values,
	struct lancet_error *err)
{
	uint64_t size = 0, before = out->size;
	size_t place = splice_reserve(out);
	uint64_t start = version->index_section + PREFIX_SIZE;
	struct pbedit edit;
	int rc;

	TRY(find_section(version->file, version->index_section, &size, err));
	rc = pbedit_init(&edit, out, start, size, values, err);
	if (rc == LANCET_OK)
		rc = edit_entries(&edit, start + size, err);
	pbscan_release(&edit.scan);
	if (rc == LANCET_OK)
		set_length(out, place, before);
	return rc;
}

/* The size that external reuse details have in the copy; 0 without any. */
static int
rewritten_details_size(lancet_live *live, uint64_t *ret_size, struct lancet_error *err)
{
	*ret_size = 0;
	for (size_t i = 0; i < live->files->count; i++) {
		const struct lancet_live_file *file = &live->files->files[i];
		lancet_rewritten *details = NULL;

		if (file->kind != LANCET_LIVE_FRI_DETAILS)
			continue;
		*ret_size = file->size;
		if (file->rewritten) {
			TRY(lancet_rewritten_open(live, i, &details, err));
			*ret_size = lancet_rewritten_size(details);
			lancet_rewritten_free(details);
		}
	}
	return LANCET_OK;
}

static int
rewrite_manifest(lancet_live *live, struct splice *out, struct lancet_error *err)
{
	lancet_version *version = live->version;
	uint64_t values[SLOTS] = { [SLOT_FLAG_BITS] = FLAG_BASE_PATHS };
	uint64_t size = 0, before, position;
	uint8_t footer[8];
	size_t place;

	splice_init(out, version->file);
	TRY(rewritten_details_size(live, &values[SLOT_DETAILS_SIZE], err));
	if (version->has_index_section)
		TRY(rewrite_index_section(out, version, values, err));
	values[SLOT_TRANSACTION] = out->size;
	if (version->has_transaction_section) {
		TRY(find_section(version->file, version->transaction_section, &size, err));
		splice_copy(out, version->transaction_section, PREFIX_SIZE + size);
	}
	position = before = out->size;
	place = splice_reserve(out);
	TRY(edit_range(
		out, version->message_offset, version->message_size, manifest_rules, values, err));
	set_length(out, place, before);
	for (size_t i = 0; i < sizeof(footer); i++)
		footer[i] = (uint8_t)(position >> (8 * i));
	splice_literal(out, footer, sizeof(footer));
	splice_copy(out, version->file->size - FOOTER_SIZE + 8, FOOTER_SIZE - 8);
	return splice_finish(out, err);
}

static int
open_source_of(
	const struct lancet_live_file *file, struct source **ret_source, struct lancet_error *err)
{
	struct stat st;

	if (file->base == NULL)
		return lancet_fail(err, LANCET_IO, "%s: its base can't be reached", file->path);
	int rc = store_open_source(file->base->store, file->source_path, ret_source, &st, err);
	if (rc == LANCET_NOT_FOUND)
		return lancet_fail(err, LANCET_IO, "%s: the file is gone", file->source_path);
	return rc;
}

static int
rewrite_details(const struct lancet_live_file *file, struct splice *out, struct lancet_error *err)
{
	static const uint64_t no_values[SLOTS];
	struct source *source = NULL;

	TRY(open_source_of(file, &source, err));
	splice_init(out, source);
	source_unref(source);
	TRY(edit_range(out, 0, out->source->size, content_rules, no_values, err));
	return splice_finish(out, err);
}

static int
manifest_size_of(lancet_live *live, uint64_t *ret_size, struct lancet_error *err)
{
	struct splice manifest = { 0 };
	int rc;

	*ret_size = live->version->file->size;
	if (!live->files->rewritten)
		return LANCET_OK;
	rc = rewrite_manifest(live, &manifest, err);
	*ret_size = manifest.size;
	splice_release(&manifest);
	return rc;
}

/* The same object with branch null and the size of the manifest beside it; other keys stay as they
 * are. */
static int
edit_tag(const char *text, size_t size, uint64_t manifest_size, struct splice *out,
	struct lancet_error *err)
{
	struct json_tokener *tokener = json_tokener_new_ex(16);
	struct json_object *tag = NULL;
	int rc = LANCET_OK;

	if (tokener != NULL)
		tag = json_tokener_parse_ex(tokener, text, (int)size);
	if (tag == NULL || !json_object_is_type(tag, json_type_object)) {
		rc = lancet_fail(err, LANCET_CORRUPT, "not a JSON object");
	} else {
		json_object_object_add(tag, "branch", NULL);
		json_object_object_add(tag, "manifestSize", json_object_new_uint64(manifest_size));
		const char *edited = json_object_to_json_string_ext(
			tag, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
				     JSON_C_TO_STRING_NOSLASHESCAPE);
		splice_literal(out, edited, strlen(edited));
		rc = splice_finish(out, err);
	}
	json_object_put(tag);
	json_tokener_free(tokener);
	return rc;
}

static int
rewrite_tag(lancet_live *live, const struct lancet_live_file *file, struct splice *out,
	struct lancet_error *err)
{
	struct source *source = NULL;
	lancet_autofree uint8_t *text = NULL;
	uint64_t manifest_size;

	TRY(manifest_size_of(live, &manifest_size, err));
	TRY(open_source_of(file, &source, err));
	splice_init(out, source);
	source_unref(source);
	if (out->source->size == 0 || out->source->size > TAG_SIZE_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "%s: %" PRIu64 " bytes", file->path,
			out->source->size);
	TRY(source_load(out->source, 0, (size_t)out->source->size, &text, err));
	int rc = edit_tag((const char *)text, (size_t)out->source->size, manifest_size, out, err);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", file->path);
}

int
lancet_rewritten_open(
	lancet_live *live, size_t index, lancet_rewritten **ret_rewrite, struct lancet_error *err)
{
	const struct lancet_live_file *file = lancet_live_file(live, index);
	lancet_rewritten *rewrite = calloc(1, sizeof(*rewrite));
	int rc;

	if (rewrite == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", file->path);
	assert(file->rewritten);
	if (file->kind == LANCET_LIVE_MANIFEST)
		rc = rewrite_manifest(live, &rewrite->splice, err);
	else if (file->kind == LANCET_LIVE_REF)
		rc = rewrite_tag(live, file, &rewrite->splice, err);
	else
		rc = rewrite_details(file, &rewrite->splice, err);
	if (rc != LANCET_OK) {
		lancet_rewritten_free(rewrite);
		return rc;
	}
	*ret_rewrite = rewrite;
	return LANCET_OK;
}

void
lancet_rewritten_free(lancet_rewritten *rewrite)
{
	if (rewrite == NULL)
		return;
	splice_release(&rewrite->splice);
	free(rewrite);
}

uint64_t
lancet_rewritten_size(const lancet_rewritten *rewrite)
{
	return rewrite->splice.size;
}

int
lancet_rewritten_read(const lancet_rewritten *rewrite, uint64_t offset, size_t size, void *into,
	struct lancet_error *err)
{
	if (offset > rewrite->splice.size || size > rewrite->splice.size - offset)
		return lancet_fail(err, LANCET_INVALID, "%zu bytes at %" PRIu64 " of %" PRIu64,
			size, offset, rewrite->splice.size);
	return splice_read(&rewrite->splice, offset, size, into, err);
}
