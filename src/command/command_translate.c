/* translate: where the rows of row addresses are now, an answer for each. */
#include "commands.h"

#include <stdlib.h>

#include <lancet/version.h>
#include "addresses.h"
#include "payload.h"
#include "util/macros.h"
#include "values.h"

#define ADDRESSES_MAX (1u << 20) /* of one command */

struct translation {
	lancet_version *version;
	struct buf row_addrs; /* uint64_t */
	struct buf decimal;   /* bool, of each */
};

static int
add_address(
	struct translation *work, struct slice text, const char *where, struct lancet_error *err)
{
	struct address address = { 0 };

	text = address_trim(text);
	if (!address_parse(text, &address))
		return address_refuse(text, where, err);
	if (work->decimal.size == ADDRESSES_MAX)
		return lancet_fail(err, LANCET_LIMIT,
			"more than %u addresses: give them in parts, or use lancet(1)",
			ADDRESSES_MAX);
	buf_put(&work->row_addrs, &address.row_addr, sizeof(address.row_addr));
	buf_put_byte(&work->decimal, address.decimal);
	return LANCET_OK;
}

/* Items up to a separator each; empty ones count only in a list. */
static int
add_all(struct translation *work, struct slice text, uint8_t separator, const char *where,
	struct lancet_error *err)
{
	const uint8_t *at = text.data, *end = at + text.size;

	for (;;) {
		size_t left = (size_t)(end - at);
		const uint8_t *next = left > 0 ? memchr(at, separator, left) : NULL;
		struct slice item = slice_of(at, next != NULL ? (size_t)(next - at) : left);

		if (separator == ',' || address_trim(item).size > 0)
			TRY(add_address(work, item, where, err));
		if (next == NULL)
			return LANCET_OK;
		at = next + 1;
	}
}

static void
put_lines(struct command_run *run, const struct translation *work, const uint64_t *current,
	const uint8_t *fates)
{
	uint8_t bytes[32];

	jsonw_array(&run->json, "lines");
	for (size_t i = 0; i < work->decimal.size; i++) {
		struct buf line = { .data = bytes, .capacity = sizeof(bytes) - 1 };

		address_put(&line, current[i], fates[i], work->decimal.data[i] != 0);
		jsonw_slice(&run->json, NULL, buf_slice(&line));
	}
	jsonw_end(&run->json);
}

/* Those that fail don't keep the others from their answers. */
static int
translate(struct command_run *run, const struct translation *work, struct lancet_error *err)
{
	size_t count = work->decimal.size;
	lancet_autofree uint64_t *current = calloc(count + 1, sizeof(*current));
	lancet_autofree uint8_t *fates = calloc(count + 1, sizeof(*fates));
	int rc;

	TRY(buf_check(&work->row_addrs, "row addresses", err));
	TRY(buf_check(&work->decimal, "row addresses", err));
	if (current == NULL || fates == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%zu row addresses", count);
	rc = lancet_translate(work->version, (const uint64_t *)(const void *)work->row_addrs.data,
		count, current, fates, err);
	put_lines(run, work, current, fates);
	return rc;
}

/* addrs=, or the addresses without a key. */
static const char *
find_list(const struct command_words *words)
{
	if (words->words[0].key == NULL && strcmp(words->words[0].value, "run") != 0)
		return words->words[0].value;
	return value_of(words, "addrs");
}

static int
read_addresses(struct command_run *run, struct translation *work, const char **ret_name,
	struct lancet_error *err)
{
	const char *list = find_list(run->words);
	struct buf text = { 0 };
	int rc;

	for (size_t i = 1; i < run->words->count; i++) {
		if (run->words->words[i].key == NULL)
			return lancet_fail(err, LANCET_INVALID, "%.60s: one list is enough",
				run->words->words[i].value);
	}
	if ((list == NULL) == (value_of(run->words, "file") == NULL))
		return lancet_fail(err, LANCET_INVALID, "give addrs=FRAG:OFFSET,... or file=NAME");
	if (list != NULL)
		return add_all(work, slice_text(list), ',', "addrs=", err);
	rc = payload_read(run, ret_name, &text, err);
	if (rc == LANCET_OK)
		rc = add_all(work, buf_slice(&text), '\n', *ret_name, err);
	buf_release(&text);
	return rc;
}

int
run_translate(struct command_run *run, struct lancet_error *err)
{
	struct translation work = { 0 };
	const char *name = NULL;
	uint64_t number = 0;
	int rc = read_addresses(run, &work, &name, err);

	if (rc == LANCET_OK)
		rc = value_version(run, "version", &number, err);
	if (rc == LANCET_OK)
		rc = lancet_version_open(run->host->dataset, number, &work.version, err);
	if (rc == LANCET_OK) {
		jsonw_u64_text(&run->json, "of_version", number);
		rc = translate(run, &work, err);
	}
	lancet_version_unref(work.version);
	buf_release(&work.row_addrs);
	buf_release(&work.decimal);
	if (rc == LANCET_OK && name != NULL)
		payload_used(run, name);
	return rc;
}
