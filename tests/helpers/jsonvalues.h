/* Decoded values as JSON, by the conventions of the encodings samples: integers beyond 2^53 are
 * text, binary is lower-case hex, times and decimals are what is stored, maps are lists of pairs,
 * and what no JSON number is able to say is "nan", "inf" or "-inf". */
#ifndef TESTS_JSONVALUES_H
#define TESTS_JSONVALUES_H

#include "file/array.h"
#include "util/jsonw.h"

/* Value `index` of the array, without a key. */
void jsonvalues_put(struct jsonw *w, const struct array *array, uint64_t index);

#endif
