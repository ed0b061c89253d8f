/* Verbs; see verbs.h. */
#include "verbs.h"

#include <string.h>

#include "keys.h"
#include "util/macros.h"

static int
refuse_verb(const char *word, const struct verb *verbs, size_t count, struct lancet_error *err)
{
	struct buf known = { .limit = 200 };
	int rc;

	for (size_t i = 0; i < count; i++)
		buf_printf(&known, "%s%s", i > 0 ? ", " : "", verbs[i].name);
	rc = lancet_fail(err, LANCET_INVALID, "%.40s: no such verb; there are: %.*s", word,
		(int)known.size, (const char *)known.data);
	buf_release(&known);
	return rc;
}

int
verb_run(struct command_run *run, const struct verb *verbs, size_t count, struct lancet_error *err)
{
	const struct command_words *words = run->words;
	const struct verb *verb = verbs;

	while (verb < verbs + count && strcmp(verb->name, words->words[0].value) != 0)
		verb++;
	if (verb == verbs + count)
		return refuse_verb(words->words[0].value, verbs, count, err);
	for (size_t i = 1; i < words->count; i++) {
		if (!keys_have(verb->keys, words->words[i].key))
			return lancet_fail(err, LANCET_INVALID,
				"%s: %.60s=: no such key; there are: %s", verb->name,
				words->words[i].key, verb->keys);
	}
	return verb->run(run, err);
}
