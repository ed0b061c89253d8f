/* Keys that two merge inserts added, as far as their filters tell: u2. Filters that can't be
 * compared may have a key in common. */
#include "conflict.h"
#include "conflict_rules.h"

#include <stdlib.h>

#include "lance/transaction.pb-c.h"
#include "util/macros.h"

typedef Lance__Table__Transaction__KeyExistenceFilter Filter;
typedef Lance__Table__Transaction__ExactKeySetFilter Exact;
typedef Lance__Table__Transaction__BloomFilter Bloom;

#define EXACT LANCE__TABLE__TRANSACTION__KEY_EXISTENCE_FILTER__DATA_EXACT
#define BLOOM LANCE__TABLE__TRANSACTION__KEY_EXISTENCE_FILTER__DATA_BLOOM

static bool
same_key(const Filter *a, const Filter *b)
{
	return a->n_field_ids == b->n_field_ids &&
	       (a->n_field_ids == 0 || memcmp(a->field_ids, b->field_ids,
					       a->n_field_ids * sizeof(*a->field_ids)) == 0);
}

static bool
put_hashes(struct numbers *hashes, const Exact *exact, struct arena *arena)
{
	if (!numbers_reserve(hashes, exact->n_key_hashes, arena))
		return false;
	for (size_t i = 0; i < exact->n_key_hashes; i++)
		numbers_put(hashes, exact->key_hashes[i]);
	numbers_sort(hashes);
	return true;
}

static int
exact_meet(const Exact *a, const Exact *b, bool *ret_meet, struct lancet_error *err)
{
	struct arena arena = { 0 };
	struct numbers ours, theirs;
	bool fits = put_hashes(&ours, a, &arena) && put_hashes(&theirs, b, &arena);

	if (fits)
		*ret_meet = numbers_meet(&ours, &theirs, NULL);
	arena_release(&arena);
	return fits ? LANCET_OK : touched_no_memory(err);
}

/* Of other sizes, bits mean other keys. */
static bool
blooms_meet(const Bloom *a, const Bloom *b)
{
	if (a->bitmap.len != b->bitmap.len || a->num_bits != b->num_bits ||
		a->number_of_items != b->number_of_items ||
		memcmp(&a->probability, &b->probability, sizeof(a->probability)) != 0)
		return true;
	for (size_t i = 0; i < a->bitmap.len; i++)
		if ((a->bitmap.data[i] & b->bitmap.data[i]) != 0)
			return true;
	return false;
}

int
clash_inserted_keys(struct clash *clash)
{
	const Filter *ours = clash->ours->message->update->inserted_rows;
	const Filter *theirs = clash->theirs->message->update->inserted_rows;
	bool meet = true;

	if (ours == NULL)
		return LANCET_OK;
	if (theirs == NULL)
		return clash_retry(
			clash, "inserted_keys", "it does not say which keys it added, if any");
	if (!same_key(ours, theirs))
		return clash_retry(clash, "inserted_keys", "keys are of other fields");
	if (ours->data_case == EXACT && theirs->data_case == EXACT)
		TRY(exact_meet(ours->exact, theirs->exact, &meet, clash->err));
	else if (ours->data_case == BLOOM && theirs->data_case == BLOOM)
		meet = blooms_meet(ours->bloom, theirs->bloom);
	if (!meet)
		return LANCET_OK;
	return clash_retry(clash, "inserted_keys", "both may have added the same key");
}
