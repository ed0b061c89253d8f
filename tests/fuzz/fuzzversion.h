/* Versions and transactions of an input's bytes. */
#ifndef TESTS_FUZZVERSION_H
#define TESTS_FUZZVERSION_H

#include "fuzzdataset.h"

#include <string.h>
#include <sys/stat.h>

#include "core/transaction.h"
#include "core/version.h"
#include "util/buf.h"
#include "util/source.h"

static inline void
fuzz_put_u32(struct buf *into, size_t value)
{
	for (unsigned i = 0; i < 4; i++)
		buf_put_byte(into, (uint8_t)(value >> 8 * i));
}

/* Version `number` of the dataset, in a whole manifest file; NULL when it can't be opened. */
static inline lancet_version *
fuzz_version_load(const struct buf *file, uint64_t number)
{
	const struct stat st = { 0 };
	lancet_version *version = NULL;
	struct source *source;
	char name[32];

	if (file->failed != LANCET_OK)
		return NULL;
	source = source_memory_new(buf_slice(file), NULL);
	if (source == NULL)
		return NULL;
	(void)snprintf(name, sizeof(name), "%u.manifest", (unsigned)number);
	if (version_load(fuzz_dataset(), number, source, &st, name, &version, NULL) != LANCET_OK)
		version = NULL;
	source_unref(source);
	return version;
}

/* The same of a section (empty: none) and a message, put into `file`; number < 128. */
static inline lancet_version *
fuzz_version_open(struct slice section, struct slice message, uint8_t number, struct buf *file)
{
	size_t at;

	fuzz_put_u32(file, section.size);
	buf_put_slice(file, section);
	at = file->size;
	fuzz_put_u32(file, message.size + (section.size > 0 ? 4 : 2));
	buf_put_slice(file, message);
	if (section.size > 0)
		buf_put(file, "\x30\x00", 2);
	buf_put_byte(file, 0x18);
	buf_put_byte(file, number);
	fuzz_put_u32(file, at);
	buf_put(file, "\0\0\0\0\0\0\2\0LANC", 12);
	return fuzz_version_load(file, number);
}

/* NULL: it can't be decoded. */
static inline lancet_transaction *
fuzz_transaction(struct slice bytes)
{
	lancet_transaction *transaction = NULL;
	uint8_t *copy = malloc(bytes.size + 1);

	if (copy == NULL)
		return NULL;
	memcpy(copy, bytes.data, bytes.size);
	if (transaction_parse(copy, bytes.size, &transaction, NULL) != LANCET_OK)
		free(copy);
	return transaction;
}

#endif
