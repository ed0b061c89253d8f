/* A draft's fragments, as stored until somebody asks for one to be changed.
 *
 * The list begins as the origin's spans, which are in order of their ids, so an id is found by
 * halving. New fragments go behind; as long as their ids ascend, too, that stays so. Reserved ids
 * may come in any order: those are looked up in a set first, since most that are asked for are not
 * there. Format facts: max_fragment_id, new-fragment id rule.
 */
#include "draft.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dataset.h"
#include "flags.h"
#include "fragment.h"
#include "fragment_stored.h"
#include "lance/table.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "names.h"
#include "transaction.h"
#include "util/macros.h"
#include "util/pbborrow.h"

/* Manifest fields that have no released definition: what they mean can't be kept true. */
enum { MANIFEST_CLUSTERING = 25, MANIFEST_MAX_CLUSTERING_ID = 26 };

int
draft_no_memory(struct lancet_error *err)
{
	return lancet_fail(err, LANCET_NO_MEMORY, "no memory for the new manifest");
}

void *
draft_alloc(struct draft *draft, size_t size)
{
	return arena_zalloc(&draft->arena, 1, size);
}

void *
draft_copy(struct draft *draft, const void *data, size_t size)
{
	return arena_copy(&draft->arena, data, size);
}

static int
check_version(const lancet_version *version, struct lancet_error *err)
{
	const ProtobufCMessage *message = &version->message->base;

	for (unsigned i = 0; i < message->n_unknown_fields; i++)
		if (message->unknown_fields[i].tag == MANIFEST_CLUSTERING ||
			message->unknown_fields[i].tag == MANIFEST_MAX_CLUSTERING_ID)
			return lancet_fail(err, LANCET_UNSUPPORTED, "clustering is declared");
	if (version->info.fragment_count > 0 &&
		version->spans[version->info.fragment_count - 1].id > FRAGMENT_ID_MAX)
		return lancet_fail(err, LANCET_CORRUPT, "fragment id %" PRIu64 " is no row address",
			version->spans[version->info.fragment_count - 1].id);
	return flags_check_writable(version->info.writer_flags, err);
}

/* What this version's marks and flags mean for all that come after it. */
static void
inherit(struct draft *draft, const lancet_version *version)
{
	const struct lancet_version_info *info = &version->info;
	uint64_t last = info->fragment_count == 0 ? 0 : version->spans[info->fragment_count - 1].id;
	uint32_t mark = info->has_max_fragment_id ? info->max_fragment_id : 0;

	if (info->has_max_fragment_id || info->fragment_count > 0) {
		mark = last > mark ? (uint32_t)last : mark;
		draft->has_max_fragment_id = true;
		draft->max_fragment_id =
			mark > draft->max_fragment_id ? mark : draft->max_fragment_id;
	}
	if (info->next_row_id > draft->next_row_id)
		draft->next_row_id = info->next_row_id;
	draft->stable_row_ids |= info->stable_row_ids;
	draft->sticky_reader |= info->reader_flags & FLAGS_STICKY_READER;
	draft->sticky_writer |= info->writer_flags & FLAGS_STICKY_WRITER;
}

static int
fill_version(struct draft *draft, const lancet_version *version, struct lancet_error *err)
{
	int rc;

	if (version == NULL)
		return LANCET_OK;
	rc = check_version(version, err);
	if (rc != LANCET_OK)
		return lancet_wrap(
			err, rc, VERSIONS_DIR "/%s: can't be committed on", version->name);
	inherit(draft, version);
	return LANCET_OK;
}

static int
fill_number(struct draft *draft, struct lancet_error *err)
{
	draft->number = 1;
	if (draft->newest == NULL)
		return LANCET_OK;
	if (draft->newest->info.number >= VERSION_DETACHED_BIT - 1)
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"version %" PRIu64 " is detached: nothing can follow it",
			draft->newest->info.number);
	draft->number = draft->newest->info.number + 1;
	return LANCET_OK;
}

static int
fill_fragments(struct draft *draft, struct lancet_error *err)
{
	const lancet_version *origin = draft->origin;
	size_t count = origin == NULL ? 0 : (size_t)origin->info.fragment_count;

	draft->fragment_capacity = count + 16;
	draft->fragments = calloc(draft->fragment_capacity, sizeof(*draft->fragments));
	if (draft->fragments == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < count; i++) {
		draft->fragments[i].id = origin->spans[i].id;
		draft->fragments[i].stored = (uint32_t)i;
	}
	draft->fragment_count = draft->sorted_count = count;
	return LANCET_OK;
}

static int
fill_head(struct draft *draft, struct lancet_error *err)
{
	Lance__Table__Manifest *head = draft_alloc(draft, sizeof(*head));

	if (head == NULL)
		return draft_no_memory(err);
	if (draft->origin == NULL)
		lance__table__manifest__init(head);
	else
		*head = *draft->origin->message;
	draft->head = head;
	return LANCET_OK;
}

static int
fill_message(struct draft *draft, struct lancet_error *err)
{
	const lancet_transaction *ours;

	if (draft->rebase == NULL)
		return LANCET_OK;
	ours = draft->rebase->ours;
	return pb_unpack_borrowing(&lance__table__transaction__descriptor,
		slice_of(ours->bytes, ours->size), &draft->arena, &draft->message, err);
}

int
draft_init(struct draft *draft, lancet_version *newest, lancet_version *origin,
	const struct rebase *rebase, struct lancet_error *err)
{
	int rc;

	*draft = (struct draft){ .rebase = rebase };
	draft->newest = newest == NULL ? NULL : lancet_version_ref(newest);
	draft->origin = origin == NULL ? NULL : lancet_version_ref(origin);
	rc = fill_version(draft, newest, err);
	if (rc == LANCET_OK && origin != newest)
		rc = fill_version(draft, origin, err);
	if (rc == LANCET_OK)
		rc = fill_number(draft, err);
	if (rc == LANCET_OK)
		rc = fill_fragments(draft, err);
	if (rc == LANCET_OK)
		rc = fill_head(draft, err);
	if (rc == LANCET_OK)
		rc = fill_message(draft, err);
	if (rc != LANCET_OK)
		draft_release(draft);
	return rc;
}

void
draft_release(struct draft *draft)
{
	free(draft->fragments);
	free(draft->indices);
	if (draft->unsorted != NULL)
		roaring_bitmap_free(draft->unsorted);
	arena_release(&draft->arena);
	lancet_version_unref(draft->origin);
	lancet_version_unref(draft->newest);
	*draft = (struct draft){ 0 };
}

static size_t
first_not_below(const struct draft *draft, uint64_t id)
{
	size_t low = 0, high = draft->sorted_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (draft->fragments[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t
draft_find(const struct draft *draft, uint64_t id)
{
	for (size_t i = first_not_below(draft, id);
		i < draft->sorted_count && draft->fragments[i].id == id; i++)
		if (!draft->fragments[i].removed)
			return i;
	if (draft->unsorted == NULL || id > FRAGMENT_ID_MAX ||
		!roaring_bitmap_contains(draft->unsorted, (uint32_t)id))
		return SIZE_MAX;
	for (size_t i = draft->sorted_count; i < draft->fragment_count; i++)
		if (draft->fragments[i].id == id && !draft->fragments[i].removed)
			return i;
	return SIZE_MAX;
}

int
draft_edit(struct draft *draft, size_t place, struct Lance__Table__DataFragment **ret_message,
	struct lancet_error *err)
{
	struct draft_fragment *fragment = &draft->fragments[place];

	assert(place < draft->fragment_count && !fragment->removed);
	if (fragment->message == NULL)
		TRY(fragment_stored(
			draft->origin, fragment->stored, &draft->arena, &fragment->message, err));
	*ret_message = fragment->message;
	return LANCET_OK;
}

int
draft_look(const struct draft *draft, size_t place, struct arena *arena,
	const struct Lance__Table__DataFragment **ret_message, struct lancet_error *err)
{
	const struct draft_fragment *fragment = &draft->fragments[place];
	Lance__Table__DataFragment *message = fragment->message;

	assert(place < draft->fragment_count && !fragment->removed);
	if (message == NULL)
		TRY(fragment_stored(draft->origin, fragment->stored, arena, &message, err));
	*ret_message = message;
	return LANCET_OK;
}

void
draft_remove(struct draft *draft, size_t place)
{
	assert(place < draft->fragment_count);
	draft->fragments[place].removed = true;
}

/* The id of a new fragment. */
static int
choose_id(struct draft *draft, uint64_t wanted, uint64_t *ret_id, struct lancet_error *err)
{
	if (wanted != 0) {
		if (!draft->has_max_fragment_id || wanted > draft->max_fragment_id)
			return lancet_fail(err, LANCET_INVALID,
				"fragment id %" PRIu64 " of a new fragment was never reserved: "
				"reserve it, or leave it 0",
				wanted);
		if (draft_find(draft, wanted) != SIZE_MAX)
			return lancet_fail(err, LANCET_INVALID,
				"fragment id %" PRIu64 " of a new fragment is in use", wanted);
		*ret_id = wanted;
		return LANCET_OK;
	}
	if (draft->has_max_fragment_id && draft->max_fragment_id >= FRAGMENT_ID_MAX)
		return lancet_fail(err, LANCET_LIMIT, "no fragment id is left");
	*ret_id = draft->has_max_fragment_id ? draft->max_fragment_id + 1 : 0;
	draft->has_max_fragment_id = true;
	draft->max_fragment_id = (uint32_t)*ret_id;
	return LANCET_OK;
}

static int
reserve(struct draft *draft, struct lancet_error *err)
{
	size_t capacity = 2 * draft->fragment_capacity;
	struct draft_fragment *fragments;

	if (draft->fragment_count < draft->fragment_capacity)
		return LANCET_OK;
	fragments = realloc(draft->fragments, capacity * sizeof(*fragments));
	if (fragments == NULL)
		return draft_no_memory(err);
	draft->fragments = fragments;
	draft->fragment_capacity = capacity;
	return LANCET_OK;
}

/* Counts the last fragment to those in order, or notes its id. */
static int
note_order(struct draft *draft, struct lancet_error *err)
{
	const struct draft_fragment *last = &draft->fragments[draft->fragment_count - 1];

	if (draft->sorted_count == draft->fragment_count - 1 &&
		(draft->fragment_count == 1 || last[-1].id < last->id)) {
		draft->sorted_count++;
		return LANCET_OK;
	}
	if (draft->unsorted == NULL)
		draft->unsorted = roaring_bitmap_create();
	if (draft->unsorted == NULL)
		return draft_no_memory(err);
	roaring_bitmap_add(draft->unsorted, (uint32_t)last->id);
	return LANCET_OK;
}

int
draft_add(struct draft *draft, const struct Lance__Table__DataFragment *message,
	struct Lance__Table__DataFragment **ret_message, struct lancet_error *err)
{
	Lance__Table__DataFragment *copy = draft_copy(draft, message, sizeof(*message));

	if (copy == NULL)
		return draft_no_memory(err);
	TRY(reserve(draft, err));
	TRY(choose_id(draft, message->id, &copy->id, err));
	draft->fragments[draft->fragment_count++] =
		(struct draft_fragment){ .id = copy->id, .stored = UINT32_MAX, .message = copy };
	TRY(note_order(draft, err));
	*ret_message = copy;
	return LANCET_OK;
}
