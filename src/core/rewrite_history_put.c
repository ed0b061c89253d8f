/* The last steps of a reuse history: what is kept of it, whether it holds together, its entry. */
#include "rewrite_history.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "conflict_rules.h"
#include "draft_index.h"
#include "lance/table.pb-c.h"
#include "manifest_parts.h"
#include "names.h"
#include "util/macros.h"
#include "util/pbscan.h"

#define DETAILS_TYPE_URL "/lance.table.FragmentReuseIndexDetails"
#define DETAILS_FILE     "details.binpb"
#define DETAILS_KEY_MAX  80
#define FLAG_TAGGED      (UINT64_C(1) << 10)

/* Field numbers. */
enum { DETAILS_INLINE = 1, DETAILS_EXTERNAL = 2 };
enum { EXTERNAL_PATH = 1, EXTERNAL_SIZE = 3 };

typedef Lance__Table__IndexMetadata Entry;

void
history_put_bytes(struct buf *into, uint32_t number, struct slice bytes)
{
	buf_put_varint(into, number << 3 | PB_BYTES);
	buf_put_varint(into, bytes.size);
	buf_put_slice(into, bytes);
}

/* Records as they are stored that have something that is kept. */
struct kept_records {
	bool *legacy, *transitions;
};

static int
list_kept(const lancet_reuse *reuse, const bool *kept, struct kept_records *ret_records,
	struct lancet_error *err)
{
	struct kept_records records = {
		calloc(reuse->info.legacy_versions + 1, sizeof(bool)),
		calloc(reuse->info.tagged_transitions + 1, sizeof(bool)),
	};

	*ret_records = records;
	if (records.legacy == NULL || records.transitions == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < reuse->info.transition_count; i++) {
		const struct lancet_transition *transition = &reuse->transitions[i].info;

		if (kept[i])
			(transition->legacy ? records.legacy
					    : records.transitions)[transition->record] = true;
	}
	return LANCET_OK;
}

/* Copies the fields of the content but for the records that are dropped. */
static int
copy_kept(struct history *history, const struct kept_records *records, struct lancet_error *err)
{
	struct slice content = history->current.content;
	struct pbmem scan = { .in = content };
	size_t legacy = 0, transitions = 0;
	struct pb_field field;
	bool more;

	for (;;) {
		bool keep = true;

		TRY(pbmem_next(&scan, &field, &more, err));
		if (!more)
			return LANCET_OK;
		if (field.number == CONTENT_LEGACY)
			keep = records->legacy[legacy++];
		else if (field.number == CONTENT_TRANSITION)
			keep = records->transitions[transitions++];
		if (keep)
			buf_put(&history->content, content.data + field.start,
				(size_t)(field.end - field.start));
	}
}

int
history_keep(struct history *history, const bool *kept, struct lancet_error *err)
{
	struct kept_records records = { 0 };
	lancet_reuse *reuse;
	int rc;

	TRY(draft_reuse(history->draft, &reuse, err));
	if (reuse == NULL)
		return LANCET_OK;
	rc = list_kept(reuse, kept, &records, err);
	if (rc == LANCET_OK)
		rc = copy_kept(history, &records, err);
	free(records.legacy);
	free(records.transitions);
	return rc == LANCET_OK ? buf_check(&history->content, "reuse history", err) : rc;
}

int
history_check(struct history *history, struct lancet_error *err)
{
	TRY(reuse_parse(buf_slice(&history->content), history->tagged, &history->reuse, err));
	for (size_t i = 0; i < history->reuse->info.transition_count; i++) {
		const struct lancet_transition *transition = &history->reuse->transitions[i].info;

		if (transition->fault != LANCET_OK)
			return lancet_fail(err, transition->fault, "fragment reuse history: %s",
				transition->fault_text);
	}
	if (!history->reuse->info.interpretable)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"the fragment reuse history has records that are not understood");
	return LANCET_OK;
}

/* A legacy entry names what is made, a tagged one sources, too. */
static int
list_fragments(struct history *history, Entry *entry, struct lancet_error *err)
{
	roaring_bitmap_t *named = roaring_bitmap_create();
	int rc;

	if (named == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < history->reuse->info.transition_count; i++) {
		const struct lancet_transition *transition = &history->reuse->transitions[i].info;

		for (size_t k = 0; k < transition->source_count && !transition->legacy; k++)
			roaring_bitmap_add(named, (uint32_t)transition->sources[k].id);
		for (size_t k = 0; k < transition->destination_count; k++)
			roaring_bitmap_add(named, (uint32_t)transition->destinations[k].id);
	}
	rc = draft_set_bytes(history->draft, named, &entry->fragment_bitmap, err);
	roaring_bitmap_free(named);
	return rc;
}

/* The content in a file of the entry's own directory; what is put into the details says so. */
static int
put_outside(
	struct history *history, const Entry *entry, struct buf *details, struct lancet_error *err)
{
	struct draft *draft = history->draft;
	struct slice content = buf_slice(&history->content);
	char *key = draft_alloc(draft, DETAILS_KEY_MAX);
	uint8_t *bytes = draft_copy(draft, content.data, content.size);
	struct buf external = { 0 };
	char uuid[37];

	if (key == NULL || bytes == NULL)
		return draft_no_memory(err);
	uuid_format(entry->uuid->uuid.data, uuid);
	(void)snprintf(key, DETAILS_KEY_MAX, "_indices/%s/" DETAILS_FILE, uuid);
	history_put_bytes(&external, EXTERNAL_PATH, slice_text(DETAILS_FILE));
	buf_put_varint(&external, EXTERNAL_SIZE << 3 | PB_VARINT);
	buf_put_varint(&external, content.size);
	history_put_bytes(details, DETAILS_EXTERNAL, buf_slice(&external));
	buf_release(&external);
	return draft_add_file(draft, key, slice_of(bytes, content.size), err);
}

static int
put_details(struct history *history, Entry *entry, struct lancet_error *err)
{
	struct draft *draft = history->draft;
	Google__Protobuf__Any *any = draft_alloc(draft, sizeof(*any));
	struct buf details = { 0 };
	int rc = LANCET_OK;

	if (any == NULL)
		return draft_no_memory(err);
	google__protobuf__any__init(any);
	if (history->content.size > HISTORY_INLINE_MAX)
		rc = put_outside(history, entry, &details, err);
	else
		history_put_bytes(&details, DETAILS_INLINE, buf_slice(&history->content));
	if (rc == LANCET_OK)
		rc = buf_check(&details, "reuse history", err);
	if (rc == LANCET_OK) {
		any->type_url.len = sizeof(DETAILS_TYPE_URL) - 1;
		any->type_url.data = draft_copy(draft, DETAILS_TYPE_URL, any->type_url.len);
		any->value.len = details.size;
		any->value.data = draft_copy(draft, details.data, details.size);
		if (any->type_url.data == NULL || any->value.data == NULL)
			rc = draft_no_memory(err);
	}
	entry->index_details = any;
	buf_release(&details);
	return rc;
}

static int
make_entry(struct history *history, Entry **ret_entry, struct lancet_error *err)
{
	struct draft *draft = history->draft;
	Entry *entry = draft_alloc(draft, sizeof(*entry));

	if (entry == NULL)
		return draft_no_memory(err);
	lance__table__index_metadata__init(entry);
	TRY(index_entry_renew(draft, entry, err));
	entry->name.len = sizeof(REUSE_INDEX_NAME) - 1;
	entry->name.data = draft_copy(draft, REUSE_INDEX_NAME, entry->name.len);
	if (entry->name.data == NULL)
		return draft_no_memory(err);
	entry->dataset_version = draft->number - 1;
	entry->index_version_presence_case =
		LANCE__TABLE__INDEX_METADATA__INDEX_VERSION_PRESENCE_INDEX_VERSION;
	entry->index_version = history->tagged;
	if (history->like != NULL) {
		entry->dataset_version = history->like->dataset_version;
		entry->created_at_presence_case = history->like->created_at_presence_case;
		entry->created_at = history->like->created_at;
		entry->fragment_bitmap = history->like->fragment_bitmap;
	} else {
		TRY(list_fragments(history, entry, err));
	}
	TRY(put_details(history, entry, err));
	*ret_entry = entry;
	return LANCET_OK;
}

int
history_put(struct history *history, struct lancet_error *err)
{
	struct draft *draft = history->draft;
	Entry *entry = NULL;

	for (size_t i = 0; i < draft->index_count; i++)
		if (!draft->indices[i].removed &&
			entry_is_named(draft->indices[i].message, REUSE_INDEX_NAME))
			draft_index_remove(draft, i);
	if (history->content.size == 0)
		return LANCET_OK;
	TRY(make_entry(history, &entry, err));
	if (history->tagged) {
		draft->sticky_reader |= FLAG_TAGGED;
		draft->sticky_writer |= FLAG_TAGGED;
	}
	return draft_index_add(draft, entry, err);
}
