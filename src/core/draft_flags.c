/* The feature flags of a draft, each from what it announces.
 *
 * Most are of fragments. Unchanged ones are not looked at: what the origin holds was counted when
 * it was opened, so that only what was taken from it has to be asked. Format facts: feature flags,
 * data files.
 */
#include "draft_parts.h"

#include <inttypes.h>

#include "conflict_rules.h"
#include "flags.h"
#include "format.h"
#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "util/pbscan.h"

#define MANAGED_BLOBS_KEY "lance.blob.managed"

enum {
	FRAGMENT_OVERLAYS = 11,
	FRAGMENT_SPILLED_ROW_IDS = 12,
	FRAGMENT_SPILLED_LAST_UPDATED_AT = 13,
	FRAGMENT_SPILLED_CREATED_AT = 14,
};

/* What the fragments of the draft have. */
struct traits {
	uint64_t overlays, spilled; /* fragments */
	bool deletion_files, unchanged;
	unsigned formats;
};

static bool
is_kept(const struct draft_fragment *fragment)
{
	return !fragment->removed && fragment->message == NULL;
}

bool
draft_is_spilled(const struct Lance__Table__DataFragment *message, enum lancet_lineage which)
{
	switch (which) {
	case LANCET_ROW_ID:
		return (int)message->row_id_sequence_case == FRAGMENT_SPILLED_ROW_IDS;
	case LANCET_CREATED_AT:
		return (int)message->created_at_version_sequence_case ==
		       FRAGMENT_SPILLED_CREATED_AT;
	default:
		return (int)message->last_updated_at_version_sequence_case ==
		       FRAGMENT_SPILLED_LAST_UPDATED_AT;
	}
}

static void
count_message(struct traits *traits, const Lance__Table__DataFragment *message)
{
	traits->deletion_files |= message->deletion_file != NULL;
	traits->overlays += message->n_overlays > 0;
	traits->spilled += draft_is_spilled(message, LANCET_ROW_ID) ||
			   draft_is_spilled(message, LANCET_CREATED_AT) ||
			   draft_is_spilled(message, LANCET_LAST_UPDATED_AT);
	for (size_t i = 0; i < message->n_files; i++)
		traits->formats |= format_bit(message->files[i]->file_major_version,
			message->files[i]->file_minor_version);
	for (size_t i = 0; i < message->n_overlays; i++)
		traits->formats |= format_bit(message->overlays[i]->data_file->file_major_version,
			message->overlays[i]->data_file->file_minor_version);
}

/* Takes a stored fragment that is not kept out of the counts of its version. */
static int
discount(struct traits *traits, struct pbscan *scan, const lancet_version *origin, size_t ordinal,
	struct lancet_error *err)
{
	const struct fragment_span *span = &origin->spans[ordinal];
	uint64_t end = origin->message_offset + span->offset + span->size;
	bool overlays = false, spilled = false, more = true;
	struct pb_field field;

	scan->at = origin->message_offset + span->offset;
	for (;;) {
		int rc = pbscan_next_inside(scan, end, &field, &more, err);

		if (rc != LANCET_OK && rc != LANCET_CORRUPT)
			return rc;
		if (rc != LANCET_OK || !more)
			break;
		if (field.wire != PB_BYTES)
			continue;
		overlays |= field.number == FRAGMENT_OVERLAYS;
		spilled |= field.number >= FRAGMENT_SPILLED_ROW_IDS &&
			   field.number <= FRAGMENT_SPILLED_CREATED_AT;
	}
	traits->overlays -= overlays && traits->overlays > 0;
	traits->spilled -= spilled && traits->spilled > 0;
	return LANCET_OK;
}

static int
discount_changed(const struct draft *draft, struct traits *traits, struct lancet_error *err)
{
	const lancet_version *origin = draft->origin;
	struct pbscan scan;
	int rc;

	TRY(pbscan_init(&scan, origin->file, origin->message_offset, origin->message_size, 0, err));
	rc = LANCET_OK;
	for (size_t i = 0; i < draft->fragment_count && rc == LANCET_OK; i++)
		if (draft->fragments[i].stored != UINT32_MAX && !is_kept(&draft->fragments[i]))
			rc = discount(traits, &scan, origin, draft->fragments[i].stored, err);
	pbscan_release(&scan);
	return rc;
}

static int
find_traits(const struct draft *draft, struct traits *traits, struct lancet_error *err)
{
	const lancet_version *origin = draft->origin;

	for (size_t i = 0; i < draft->fragment_count; i++) {
		if (!is_kept(&draft->fragments[i]))
			continue;
		traits->unchanged = true;
		traits->deletion_files |=
			origin->spans[draft->fragments[i].stored].deleted_rows > 0;
	}
	if (traits->unchanged) {
		traits->overlays = origin->overlay_fragments;
		traits->spilled = origin->spilled_fragments;
		traits->formats = origin->formats;
		if (traits->overlays > 0 || traits->spilled > 0)
			TRY(discount_changed(draft, traits, err));
	}
	for (size_t i = 0; i < draft->fragment_count; i++)
		if (!draft->fragments[i].removed && draft->fragments[i].message != NULL)
			count_message(traits, draft->fragments[i].message);
	return LANCET_OK;
}

/* The format that the dataset is said to have; the one it is in, when none is said. */
static int
declared_format(struct draft *draft, enum file_version *ret_format, struct lancet_error *err)
{
	Lance__Table__Manifest__DataStorageFormat *stored = draft->head->data_format;
	struct lancet_bytes name = { NULL, 0 };

	if (stored != NULL)
		name = (struct lancet_bytes){ stored->version.data, stored->version.len };
	if (name.size == 0 && draft->origin != NULL)
		name = draft->origin->info.storage_version;
	if (!format_of_name(name, ret_format))
		return lancet_fail(err, LANCET_UNSUPPORTED, "data format \"%.*s\" is not known",
			name.size > 40 ? 40 : (int)name.size, (const char *)name.data);
	return LANCET_OK;
}

static int
declare_format(struct draft *draft, enum file_version format, struct lancet_error *err)
{
	Lance__Table__Manifest__DataStorageFormat *declared = draft_alloc(draft, sizeof(*declared));
	const char *name = file_version_name(format);

	if (declared == NULL)
		return draft_no_memory(err);
	lance__table__manifest__data_storage_format__init(declared);
	declared->file_format = (ProtobufCBinaryData){ 5, (uint8_t *)(uintptr_t) "lance" };
	declared->version = (ProtobufCBinaryData){ strlen(name), (uint8_t *)(uintptr_t)name };
	draft->head->data_format = declared;
	draft->changed |= DRAFT_DATA_FORMAT;
	return LANCET_OK;
}

/* Files of the format before 2.0 are never mixed with others. A dataset that is said to be of that
 * format and has only newer files was converted by an old writer, which forgot to say so. */
static int
check_formats(struct draft *draft, unsigned formats, struct lancet_error *err)
{
	const unsigned legacy = 1u << FILE_LEGACY;
	enum file_version declared, format;

	TRY(declared_format(draft, &declared, err));
	if (formats & FORMAT_OTHER)
		return lancet_fail(
			err, LANCET_UNSUPPORTED, "a data file is of a version that is not known");
	if ((formats & legacy) != 0 && (declared != FILE_LEGACY || formats != legacy))
		return lancet_fail(err, LANCET_INVALID,
			"data files of version 0.1 can't be mixed with others: rewrite them first");
	format = declared;
	if (declared == FILE_LEGACY && formats != 0 && formats != legacy)
		for (format = FILE_2_0; (formats >> format & 1) == 0;)
			format++;
	if (format != declared || draft->head->data_format == NULL ||
		draft->head->data_format->version.len == 0)
		TRY(declare_format(draft, format, err));
	if (format != FILE_LEGACY && (formats & ~(1u << format)) != 0)
		draft->sticky_writer |= FLAG_MIXED_FILE_VERSIONS;
	return LANCET_OK;
}

static int
note_indices(struct draft *draft, struct lancet_error *err)
{
	for (size_t i = 0; i < draft->index_count; i++) {
		const Lance__Table__IndexMetadata *message = draft->indices[i].message;

		if (draft->indices[i].removed)
			continue;
		if (message->n_covering_fields > 0)
			draft->writer_flags |= FLAG_COVERING_INDICES;
		if (!entry_is_named(message, REUSE_INDEX_NAME))
			continue;
		if (draft->stable_row_ids)
			return lancet_fail(err, LANCET_UNSUPPORTED,
				"a fragment reuse index in a dataset with stable row ids");
		if (message->index_version_presence_case != 0 && message->index_version != 0)
			draft->sticky_writer |= FLAG_TAGGED_REUSE;
	}
	return LANCET_OK;
}

static bool
blobs_are_managed(const Lance__Table__Manifest *head)
{
	bool managed = false;

	for (size_t i = 0; i < head->n_schema_metadata; i++) {
		const Lance__File__StringEntry *entry = head->schema_metadata[i];

		if (slice_equal(slice_of(entry->key.data, entry->key.len),
			    slice_text(MANAGED_BLOBS_KEY)))
			managed = slice_equal(
				slice_of(entry->value.data, entry->value.len), slice_text("true"));
	}
	return managed;
}

/* Field ids are given out once, when the dataset says so: the mark follows the schema. */
static int
set_field_mark(struct draft *draft, struct lancet_error *err)
{
	Lance__Table__Manifest *head = draft->head;

	if (head->max_allocated_field_id_presence_case == 0) {
		if (draft->sticky_writer & FLAG_NON_REUSABLE_FIELD_IDS)
			return lancet_fail(err, LANCET_CORRUPT,
				"field ids are not reusable, but none is said to be the last one");
		return LANCET_OK;
	}
	draft->sticky_writer |= FLAG_NON_REUSABLE_FIELD_IDS;
	for (size_t i = 0; i < head->n_fields; i++)
		if (head->fields[i]->id > head->max_allocated_field_id) {
			head->max_allocated_field_id = head->fields[i]->id;
			draft->changed |= DRAFT_FIELD_MARK;
		}
	return LANCET_OK;
}

int
draft_set_flags(struct draft *draft, struct lancet_error *err)
{
	const uint64_t writer_only = FLAG_TABLE_CONFIG | FLAG_NON_REUSABLE_FIELD_IDS;
	const Lance__Table__Manifest *head = draft->head;
	struct traits traits = { 0 };

	draft->writer_flags = 0;
	TRY(find_traits(draft, &traits, err));
	TRY(check_formats(draft, traits.formats, err));
	TRY(note_indices(draft, err));
	TRY(set_field_mark(draft, err));
	if (blobs_are_managed(head))
		draft->sticky_writer |= FLAG_MANAGED_BLOBS;
	draft->writer_flags |= traits.deletion_files ? FLAG_DELETION_FILES : 0;
	draft->writer_flags |= draft->stable_row_ids ? FLAG_STABLE_ROW_IDS : 0;
	draft->writer_flags |= head->n_config > 0 ? FLAG_TABLE_CONFIG : 0;
	draft->writer_flags |= head->n_base_paths > 0 ? FLAG_BASE_PATHS : 0;
	draft->writer_flags |= traits.overlays > 0 ? FLAG_DATA_OVERLAYS : 0;
	draft->writer_flags |= traits.spilled > 0 ? FLAG_SPILLED_LINEAGE : 0;
	draft->writer_flags |= draft->sticky_writer | draft->sticky_reader;
	draft->reader_flags = draft->writer_flags & ~writer_only;
	return flags_check_writable(draft->writer_flags, err);
}
