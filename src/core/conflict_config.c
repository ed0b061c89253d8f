/* Rules about keys of the configuration and of metadata: v1, v2, v3, k1. */
#include "conflict.h"
#include "conflict_rules.h"

#include <inttypes.h>

#include "util/macros.h"

static int
shared_key(struct clash *clash, const char *rule, struct slice key)
{
	int shown = (int)(key.size < 80 ? key.size : 80);

	return clash_refuse(
		clash, rule, "key \"%.*s\" is changed by both", shown, (const char *)key.data);
}

/* Two deletions of one key agree; anything else does not. */
static bool
config_meets(const struct touched *a, const struct touched *b, struct slice *ret_key)
{
	return texts_meet(&a->config.set, &b->config.all, ret_key) ||
	       texts_meet(&b->config.set, &a->config.all, ret_key);
}

/* A map of ours that starts from nothing would lose what they have just set, without a word: the
 * reference takes it. */
static int
check_lost_keys(struct clash *clash)
{
	struct slice key;

	if (!clash->ours->config.replaces || clash->theirs->config.set.count == 0)
		return LANCET_OK;
	key = clash->theirs->config.set.values[0];
	return clash_refuse(clash, "config_key", "replacing the config would lose key \"%.*s\"",
		(int)(key.size < 80 ? key.size : 80), (const char *)key.data);
}

/* v1 */
int
rule_overwrites(struct clash *clash)
{
	struct slice key;

	if (config_meets(clash->ours, clash->theirs, &key))
		return shared_key(clash, "config_key", key);
	return clash_retry(clash, "overwritten", "the table was overwritten");
}

/* v2 */
int
rule_overwrite_config(struct clash *clash)
{
	struct slice key;

	if (config_meets(clash->ours, clash->theirs, &key))
		return shared_key(clash, "config_key", key);
	return LANCET_OK;
}

/* v3: metadata of a schema that is another one now; maps count even when they are empty. */
int
rule_config_overwrite(struct clash *clash)
{
	struct slice key;

	if (config_meets(clash->ours, clash->theirs, &key))
		return shared_key(clash, "config_key", key);
	if (clash->ours->schema_metadata || clash->ours->metadata_fields.count > 0)
		return clash_refuse(clash, "metadata", "the schema was overwritten");
	return check_lost_keys(clash);
}

static int
check_table(struct clash *clash)
{
	const struct map_changes *ours = &clash->ours->table, *theirs = &clash->theirs->table;
	struct slice key;

	if (!ours->present || !theirs->present)
		return LANCET_OK;
	if (ours->replaces || theirs->replaces)
		return clash_refuse(
			clash, "metadata", "the table metadata are replaced as a whole");
	if (texts_meet(&ours->all, &theirs->all, &key))
		return shared_key(clash, "metadata", key);
	return LANCET_OK;
}

/* k1 */
int
rule_configs(struct clash *clash)
{
	const struct touched *ours = clash->ours, *theirs = clash->theirs;
	struct slice key;
	uint64_t field;

	if (config_meets(ours, theirs, &key))
		return shared_key(clash, "config_key", key);
	TRY(check_table(clash));
	if (ours->schema_metadata && theirs->schema_metadata)
		return clash_refuse(clash, "metadata", "both change the metadata of the schema");
	if (numbers_meet(&ours->metadata_fields, &theirs->metadata_fields, &field))
		return clash_refuse(
			clash, "metadata", "both change the metadata of field %" PRIu64, field);
	return check_lost_keys(clash);
}
