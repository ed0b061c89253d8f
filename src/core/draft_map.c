#include "draft_map.h"

#include <stdlib.h>

#include "lance/table.pb-c.h"
#include "util/macros.h"
#include "util/text.h"

typedef Lance__File__StringEntry StringEntry;

/* An entry or a change, in the order of their coming. */
struct slot {
	struct slice key, value;
	StringEntry *stored; /* NULL: a change */
	size_t order;        /* the first one's of its key, once they are merged */
	bool deletes;
};

static int
compare_keys(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;
	int order = slice_compare(a->key, b->key);

	return order != 0 ? order : (a->order > b->order) - (a->order < b->order);
}

static int
compare_orders(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return (a->order > b->order) - (a->order < b->order);
}

static int
check_text(struct slice text, const char *what, struct lancet_error *err)
{
	if (text_is_utf8(text))
		return LANCET_OK;
	return lancet_fail(err, LANCET_INVALID, "a %s is not UTF-8", what);
}

static int
fill_slots(struct slot *slots, StringEntry *const *list, size_t count,
	const struct map_change *changes, size_t change_count, struct lancet_error *err)
{
	for (size_t i = 0; i < count; i++)
		slots[i] = (struct slot){ .key = slice_of(list[i]->key.data, list[i]->key.len),
			.stored = list[i],
			.order = i };
	for (size_t i = 0; i < change_count; i++) {
		TRY(check_text(changes[i].key, "key", err));
		if (!changes[i].deletes)
			TRY(check_text(changes[i].value, "value", err));
		slots[count + i] = (struct slot){ .key = changes[i].key,
			.value = changes[i].value,
			.order = count + i,
			.deletes = changes[i].deletes };
	}
	return LANCET_OK;
}

/* Leaves the last one of each key, at the place of the first. */
static size_t
merge_slots(struct slot *slots, size_t count)
{
	size_t kept = 0;

	qsort(slots, count, sizeof(*slots), compare_keys);
	for (size_t first = 0, end; first < count; first = end) {
		struct slot last;

		for (end = first + 1; end < count && slice_equal(slots[first].key, slots[end].key);
			end++)
			;
		last = slots[end - 1];
		last.order = slots[first].order;
		if (!last.deletes)
			slots[kept++] = last;
	}
	qsort(slots, kept, sizeof(*slots), compare_orders);
	return kept;
}

static StringEntry *
make_entry(struct draft *draft, const struct slot *slot)
{
	StringEntry *entry = draft_alloc(draft, sizeof(*entry));
	uint8_t *key = draft_copy(draft, slot->key.data, slot->key.size);
	uint8_t *value = draft_copy(draft, slot->value.data, slot->value.size);

	if (entry == NULL || key == NULL || value == NULL)
		return NULL;
	lance__file__string_entry__init(entry);
	entry->key = (ProtobufCBinaryData){ slot->key.size, key };
	entry->value = (ProtobufCBinaryData){ slot->value.size, value };
	return entry;
}

int
draft_map_change(struct draft *draft, struct Lance__File__StringEntry ***list, size_t *count,
	const struct map_change *changes, size_t change_count, bool replace,
	struct lancet_error *err)
{
	size_t old = replace ? 0 : *count, kept;
	lancet_autofree struct slot *slots = calloc(old + change_count + 1, sizeof(*slots));
	StringEntry **made;

	if (slots == NULL)
		return draft_no_memory(err);
	TRY(fill_slots(slots, *list, old, changes, change_count, err));
	kept = merge_slots(slots, old + change_count);
	made = draft_alloc(draft, (kept + 1) * sizeof(*made));
	if (made == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < kept; i++) {
		made[i] = slots[i].stored != NULL ? slots[i].stored : make_entry(draft, &slots[i]);
		if (made[i] == NULL)
			return draft_no_memory(err);
	}
	*list = made;
	*count = kept;
	return LANCET_OK;
}

int
draft_map_put(struct draft *draft, StringEntry ***list, size_t *count, StringEntry *const *entries,
	size_t entry_count, bool replace, struct lancet_error *err)
{
	struct map_change *changes = draft_alloc(draft, (entry_count + 1) * sizeof(*changes));

	if (changes == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < entry_count; i++)
		changes[i] = (struct map_change){
			.key = slice_of(entries[i]->key.data, entries[i]->key.len),
			.value = slice_of(entries[i]->value.data, entries[i]->value.len),
		};
	return draft_map_change(draft, list, count, changes, entry_count, replace, err);
}
