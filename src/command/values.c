/* Values of words; see values.h. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

#include "util/macros.h"
#include "util/text.h"

const char *
value_of(const struct command_words *words, const char *key)
{
	for (size_t i = 0; i < words->count; i++) {
		if (words->words[i].key != NULL && strcmp(words->words[i].key, key) == 0)
			return words->words[i].value;
	}
	return NULL;
}

int
value_needed(const struct command_words *words, const char *key, const char **ret_value,
	struct lancet_error *err)
{
	const char *value = value_of(words, key);

	if (value == NULL || *value == '\0')
		return lancet_fail(err, LANCET_INVALID, "give %s=", key);
	*ret_value = value;
	return LANCET_OK;
}

static int
refuse(const char *key, const char *value, const char *wanted, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID, "%s=%.60s: not %s", key, value, wanted);
}

int
value_u64(const struct command_words *words, const char *key, uint64_t max, uint64_t *value,
	struct lancet_error *err)
{
	const char *text = value_of(words, key);
	uint64_t number;

	if (text == NULL)
		return LANCET_OK;
	if (!text_to_u64(slice_text(text), &number))
		return refuse(key, text, "a number", err);
	if (number > max)
		return lancet_fail(err, LANCET_INVALID, "%s=%.60s: at most %llu", key, text,
			(unsigned long long)max);
	*value = number;
	return LANCET_OK;
}

int
value_bool(
	const struct command_words *words, const char *key, bool *value, struct lancet_error *err)
{
	const char *text = value_of(words, key);

	if (text == NULL)
		return LANCET_OK;
	if (strcmp(text, "true") == 0)
		*value = true;
	else if (strcmp(text, "false") == 0)
		*value = false;
	else
		return refuse(key, text, "true or false", err);
	return LANCET_OK;
}

int
value_seconds(const struct command_words *words, const char *key, uint64_t *value,
	struct lancet_error *err)
{
	static const struct {
		char letter;
		uint64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
	const char *text = value_of(words, key);
	uint64_t number;

	if (text == NULL)
		return LANCET_OK;
	/* A number alone is refused: 14 might mean days, and seconds would then remove too much. */
	for (size_t i = 0; i < ARRAY_SIZE(units) && *text != '\0'; i++) {
		size_t digits = strlen(text) - 1;

		if (text[digits] != units[i].letter)
			continue;
		if (!text_to_u64(slice_of(text, digits), &number) ||
			number > UINT64_MAX / units[i].seconds)
			break;
		*value = number * units[i].seconds;
		return LANCET_OK;
	}
	return refuse(key, text, "a time such as 90s, 30m, 12h, 14d or 2w", err);
}

/* "FIRST" or "FIRST-LAST", appended to the list. */
static int
add_range(const char *key, struct slice range, struct buf *list, struct lancet_error *err)
{
	const uint8_t *dash = range.size > 0 ? memchr(range.data, '-', range.size) : NULL;
	size_t size = dash != NULL ? (size_t)(dash - range.data) : range.size;
	uint64_t first, last;

	if (!text_to_u64(slice_of(range.data, size), &first))
		return lancet_fail(err, LANCET_INVALID, "%s=: \"%.*s\" is no number or range", key,
			(int)(range.size < 40 ? range.size : 40), (const char *)range.data);
	last = first;
	if (dash != NULL &&
		(!text_to_u64(slice_of(dash + 1, range.size - size - 1), &last) || last < first))
		return lancet_fail(err, LANCET_INVALID, "%s=: \"%.*s\" is no range", key,
			(int)(range.size < 40 ? range.size : 40), (const char *)range.data);
	if (last - first >= VALUES_LIST_MAX - list->size / sizeof(first))
		return lancet_fail(
			err, LANCET_LIMIT, "%s=: more than %u numbers", key, VALUES_LIST_MAX);
	for (uint64_t number = first; number - first <= last - first; number++) {
		buf_put(list, &number, sizeof(number));
		if (number == UINT64_MAX)
			break;
	}
	return buf_check(list, key, err);
}

int
value_list(const struct command_words *words, const char *key, uint64_t **ret_list,
	size_t *ret_count, struct lancet_error *err)
{
	const char *at = value_of(words, key);
	struct buf list = { 0 };
	int rc = LANCET_OK;

	while (at != NULL && rc == LANCET_OK) {
		size_t size = strcspn(at, ",");

		rc = add_range(key, slice_of(at, size), &list, err);
		at = at[size] == ',' ? at + size + 1 : NULL;
	}
	if (rc != LANCET_OK) {
		buf_release(&list);
		return rc;
	}
	*ret_list = (uint64_t *)(void *)list.data;
	*ret_count = list.size / sizeof(uint64_t);
	return LANCET_OK;
}

int
value_version(const struct command_run *run, const char *key, uint64_t *ret_version,
	struct lancet_error *err)
{
	const char *text = value_of(run->words, key);
	uint64_t number;

	if (text == NULL || strcmp(text, "latest") == 0)
		return lancet_dataset_latest(run->host->dataset, ret_version, err);
	if (!text_to_u64(slice_text(text), &number) || number == 0)
		return refuse(key, text, "the number of a version, or latest", err);
	*ret_version = number;
	return LANCET_OK;
}
