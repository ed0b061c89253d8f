/* The head of a new manifest: all of the message but the fragments.
 *
 * The stored head lies in the gaps between fragments. Fields that every commit sets, or that this
 * one changed, are left out and put at the end; all others keep their bytes, those that this build
 * does not know, too. Format facts: Manifest message.
 */
#include "manifest_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "lance/table.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "util/macros.h"
#include "util/pbscan.h"

#define LIBRARY "lancefs"

enum { MANIFEST_FRAGMENTS = 2 };

/* Fields of the head by number: who sets them. */
static const struct {
	uint32_t number;
	unsigned change; /* enum draft_change; 0: every commit */
} head_fields[] = {
	{ 1, DRAFT_SCHEMA },
	{ 3, 0 }, /* version */
	{ 5, DRAFT_SCHEMA_METADATA },
	{ 6, 0 }, /* index_section */
	{ 7, 0 }, /* timestamp */
	{ 8, 0 }, /* tag */
	{ 9, 0 }, /* flags */
	{ 10, 0 },
	{ 11, 0 }, /* max_fragment_id */
	{ 12, 0 }, /* transaction_file */
	{ 13, 0 }, /* writer_version */
	{ 14, 0 }, /* next_row_id */
	{ 15, DRAFT_DATA_FORMAT },
	{ 16, DRAFT_CONFIG },
	{ 18, DRAFT_BASE_PATHS },
	{ 19, DRAFT_TABLE_METADATA },
	{ 20, DRAFT_BRANCH },
	{ 21, 0 }, /* transaction_section, the old place */
	{ 23, 0 }, /* transaction_section */
	{ 24, DRAFT_FIELD_MARK },
};

static ProtobufCBinaryData
binary(const char *text)
{
	return (ProtobufCBinaryData){ strlen(text), (uint8_t *)(uintptr_t)text };
}

static bool
field_is_kept(const struct draft *draft, const struct pb_field *field)
{
	for (size_t i = 0; i < ARRAY_SIZE(head_fields); i++)
		if (head_fields[i].number == field->number)
			return head_fields[i].change != 0 &&
			       (draft->changed & head_fields[i].change) == 0;
	return true;
}

/* Fields of the stored message from `from` to `until`, where the field of a fragment ends or the
 * message does. */
static int
keep_fields(struct writing *w, struct pbscan *scan, uint64_t from, uint64_t until)
{
	struct pb_field field;
	bool more = true;

	scan->at = w->draft->origin->message_offset + from;
	until += w->draft->origin->message_offset;
	while (scan->at < until) {
		TRY(pbscan_next(scan, &field, &more, w->err));
		if (!more)
			break;
		if (field.number != MANIFEST_FRAGMENTS && field_is_kept(w->draft, &field))
			splice_copy(w->out, field.start, field.end - field.start);
	}
	return LANCET_OK;
}

static int
keep_gaps(struct writing *w, struct pbscan *scan, const struct fragment_span *spans)
{
	const lancet_version *origin = w->draft->origin;
	uint64_t at = 0;

	for (size_t i = 0; i < origin->info.fragment_count; i++) {
		const struct fragment_span *span = &spans[i];

		/* anything else takes more bytes than the head of the fragment's own field */
		if (span->offset - at != 1 + writing_varint_size(span->size))
			TRY(keep_fields(w, scan, at, (uint64_t)span->offset + span->size));
		at = (uint64_t)span->offset + span->size;
	}
	return keep_fields(w, scan, at, origin->message_size);
}

static int
compare_offsets(const void *left, const void *right)
{
	const struct fragment_span *a = left, *b = right;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* The spans as they lie in the file; *ret_copy when that is not their order. */
static int
spans_by_offset(const lancet_version *origin, const struct fragment_span **ret_spans,
	struct fragment_span **ret_copy, struct lancet_error *err)
{
	size_t count = (size_t)origin->info.fragment_count, i = 1;

	*ret_spans = origin->spans;
	while (i < count && origin->spans[i - 1].offset < origin->spans[i].offset)
		i++;
	if (i >= count)
		return LANCET_OK;
	*ret_copy = malloc(count * sizeof(**ret_copy));
	if (*ret_copy == NULL)
		return draft_no_memory(err);
	memcpy(*ret_copy, origin->spans, count * sizeof(**ret_copy));
	qsort(*ret_copy, count, sizeof(**ret_copy), compare_offsets);
	*ret_spans = *ret_copy;
	return LANCET_OK;
}

int
writing_put_kept_fields(struct writing *w)
{
	const lancet_version *origin = w->draft->origin;
	lancet_autofree struct fragment_span *copy = NULL;
	const struct fragment_span *spans;
	struct pbscan scan;
	int rc;

	if (origin == NULL)
		return LANCET_OK;
	TRY(spans_by_offset(origin, &spans, &copy, w->err));
	TRY(pbscan_init(
		&scan, origin->file, origin->message_offset, origin->message_size, 0, w->err));
	rc = keep_gaps(w, &scan, spans);
	pbscan_release(&scan);
	return rc;
}

/* What has to be encoded of the head's own fields. */
static void
set_changed(const struct draft *draft, Lance__Table__Manifest *into)
{
	const Lance__Table__Manifest *head = draft->head;
	unsigned changed = draft->origin == NULL ? ~0u : draft->changed;

	if (changed & DRAFT_SCHEMA) {
		into->fields = head->fields;
		into->n_fields = head->n_fields;
	}
	if (changed & DRAFT_SCHEMA_METADATA) {
		into->schema_metadata = head->schema_metadata;
		into->n_schema_metadata = head->n_schema_metadata;
	}
	if (changed & DRAFT_CONFIG) {
		into->config = head->config;
		into->n_config = head->n_config;
	}
	if (changed & DRAFT_TABLE_METADATA) {
		into->table_metadata = head->table_metadata;
		into->n_table_metadata = head->n_table_metadata;
	}
	if (changed & DRAFT_BASE_PATHS) {
		into->base_paths = head->base_paths;
		into->n_base_paths = head->n_base_paths;
	}
	if (changed & DRAFT_DATA_FORMAT)
		into->data_format = head->data_format;
	if (changed & DRAFT_BRANCH) {
		into->branch_presence_case = head->branch_presence_case;
		into->branch = head->branch;
	}
	if (changed & DRAFT_FIELD_MARK) {
		into->max_allocated_field_id_presence_case =
			head->max_allocated_field_id_presence_case;
		into->max_allocated_field_id = head->max_allocated_field_id;
	}
}

static void
set_sections(const struct manifest_sections *sections, Lance__Table__Manifest *into)
{
	if (sections->has_index) {
		into->index_section_presence_case =
			LANCE__TABLE__MANIFEST__INDEX_SECTION_PRESENCE_INDEX_SECTION;
		into->index_section = sections->index;
	}
	if (sections->has_transaction) {
		into->transaction_section_presence_case =
			LANCE__TABLE__MANIFEST__TRANSACTION_SECTION_PRESENCE_TRANSACTION_SECTION;
		into->transaction_section = sections->transaction;
	}
	into->transaction_file = binary(sections->transaction_file);
}

int
writing_put_new_fields(struct writing *w, const struct manifest_sections *sections)
{
	const struct draft *draft = w->draft;
	Lance__Table__Manifest__WriterVersion writer;
	Google__Protobuf__Timestamp time;
	Lance__Table__Manifest message;

	lance__table__manifest__writer_version__init(&writer);
	writer.library = binary(LIBRARY);
	writer.version = binary(PACKAGE_VERSION);
	google__protobuf__timestamp__init(&time);
	time.seconds = draft->timestamp_seconds;
	time.nanos = draft->timestamp_nanos;
	lance__table__manifest__init(&message);
	message.version = draft->number;
	message.timestamp = &time;
	message.writer_version = &writer;
	message.reader_feature_flags = draft->reader_flags;
	message.writer_feature_flags = draft->writer_flags;
	message.next_row_id = draft->next_row_id;
	if (draft->has_max_fragment_id) {
		message.max_fragment_id_presence_case =
			LANCE__TABLE__MANIFEST__MAX_FRAGMENT_ID_PRESENCE_MAX_FRAGMENT_ID;
		message.max_fragment_id = draft->max_fragment_id;
	}
	if (draft->message != NULL)
		message.tag = draft->message->tag;
	set_sections(sections, &message);
	set_changed(draft, &message);
	writing_put_message(&w->run, &message.base);
	return writing_flush(w);
}
