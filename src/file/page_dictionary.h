/* The dictionary of one page: what its values' indices stand for. Format facts: dictionary in a
 * mini-block page.
 */
#ifndef FILE_PAGE_DICTIONARY_H
#define FILE_PAGE_DICTIONARY_H

#include "codec.h"

struct page_reader;

struct page_dictionary {
	const struct codec *codec;
	uint64_t count;
	size_t buffer; /* of the page */
	bool loaded;
	struct array_budget budget;
	struct array items; /* of the leaf's field, or of the values of a dictionary field */
};

void page_dictionary_release(struct page_dictionary *dictionary);
/* Appends the items of the indices (FIXED, of any width) to out, an array of the leaf's field. An
 * index under a null is not looked at: where bit i of `validity` is 0; NULL = none is. CORRUPT:
 * an index beyond the items. The items are read when they are first needed. */
int page_dictionary_append(struct page_reader *reader, struct page_dictionary *dictionary,
	const struct array *indices, const uint8_t *validity, struct array *out,
	struct lancet_error *err);

#endif
