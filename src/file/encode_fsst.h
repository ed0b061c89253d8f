/* Symbols of a page, learnt from some of its values. */
#ifndef FILE_ENCODE_FSST_H
#define FILE_ENCODE_FSST_H

#include "encode_column.h"
#include "fsst_build.h"

/* *ret_symbols is NULL when the values are too few or too short for it. */
int fsst_symbols_learn(const struct encode_column *column, struct fsst_symbols **ret_symbols,
	struct lancet_error *err);
/* Bytes of all values, estimated from those that can be learnt from; and what they become. */
struct fsst_estimate {
	uint64_t before, after;
};
int fsst_symbols_estimate(const struct encode_column *column, const struct fsst_symbols *symbols,
	struct fsst_estimate *ret_estimate, struct lancet_error *err);
/* The message with its table, around Variable. */
void fsst_symbols_message(
	const struct encode_column *column, const struct fsst_symbols *symbols, struct buf *into);

#endif
