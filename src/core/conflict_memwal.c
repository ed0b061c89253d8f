/* Rules about shards of the MemWAL, whose generations are merged in order: m1, m1*, i6. */
#include "conflict.h"
#include "conflict_rules.h"

#include <inttypes.h>

#include "util/macros.h"

static int
check_shard(struct clash *clash, const struct shard *ours, const struct shard *theirs)
{
	if (theirs->generation >= ours->generation)
		return clash_refuse(clash, "shard",
			"generation %" PRIu64 " of the shard was merged, ours is %" PRIu64,
			theirs->generation, ours->generation);
	return clash_retry(clash, "shard",
		"generation %" PRIu64 " of the shard was merged, ours is %" PRIu64,
		theirs->generation, ours->generation);
}

/* m1, m1*: of several shards the one that refuses counts more. A CreateIndex has shards when it
 * makes the MemWAL entry. */
int
rule_shards(struct clash *clash)
{
	const struct shards *ours = &clash->ours->shards, *theirs = &clash->theirs->shards;
	const struct shard *merged = NULL, *by = NULL;
	size_t i = 0, k = 0;

	while (i < ours->count && k < theirs->count) {
		const struct shard *a = &ours->list[i], *b = &theirs->list[k];
		int order = memcmp(a->id, b->id, sizeof(a->id));

		if (order == 0 && (merged == NULL || b->generation >= a->generation)) {
			merged = a;
			by = b;
		}
		i += order <= 0;
		k += order >= 0;
	}
	return merged == NULL ? LANCET_OK : check_shard(clash, merged, by);
}

/* i6 */
int
rule_index_shards(struct clash *clash)
{
	if (clash->ours->adds_mem_wal)
		return rebase_add_progress(clash);
	return clash_refuse(clash, "mem_wal", "shards of the MemWAL were merged");
}
