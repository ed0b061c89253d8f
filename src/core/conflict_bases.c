/* Rules of UpdateBases: b1, and an id that somebody else was given meanwhile. */
#include "conflict.h"
#include "conflict_rules.h"

#include <inttypes.h>

#include "util/macros.h"

/* b1 */
int
rule_bases(struct clash *clash)
{
	const struct touched *ours = clash->ours, *theirs = clash->theirs;
	struct slice common;
	uint64_t id;

	if (numbers_meet(&ours->base_ids, &theirs->base_ids, &id))
		return clash_refuse(clash, "base", "base id %" PRIu64 " is used by both", id);
	if (texts_meet(&ours->base_names, &theirs->base_names, &common))
		return clash_refuse(clash, "base", "a base was added with the name \"%.*s\"",
			(int)(common.size < 80 ? common.size : 80), (const char *)common.data);
	if (texts_meet(&ours->base_paths, &theirs->base_paths, &common))
		return clash_refuse(clash, "base", "a base was added with the path \"%.*s\"",
			(int)(common.size < 80 ? common.size : 80), (const char *)common.data);
	return LANCET_OK;
}

/* A base that was added without an id has got one, which its transaction does not tell: ours would
 * take its place, name and path and all. The reference lets it. */
int
finish_bases(struct clash *clash)
{
	const struct rebase *rebase = clash->rebase;
	const struct lancet_base_path *bases;
	size_t count;

	bases = lancet_version_base_paths(rebase->newest, &count);
	for (size_t i = 0; i < count; i++) {
		uint32_t id = bases[i].id;

		if (numbers_find(&clash->ours->base_ids, id) != SIZE_MAX &&
			version_base_path(rebase->read, id) == NULL)
			return clash_refuse(
				clash, "base", "base id %" PRIu32 " was given to another base", id);
	}
	return LANCET_OK;
}
