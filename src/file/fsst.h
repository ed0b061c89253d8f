/* The symbol table of FSST, and expansion by it: shared by the page encodings of all versions. */
#ifndef FILE_FSST_H
#define FILE_FSST_H

#include "array.h"

struct fsst_table {
	bool stored; /* values are not compressed at all */
	struct {
		uint64_t bytes; /* first one lowest; zero for codes without a symbol */
		uint32_t size;  /* 1 to 8; 0 for codes without a symbol */
	} symbols[256];         /* by code; 255 is the escape */
};

/* CORRUPT: not 2312 bytes, another magic, symbols of a size that is not 1 to 8. */
int fsst_table_parse(struct slice bytes, struct fsst_table *ret_table, struct lancet_error *err);
/* Appends the values of `from`, an array of FIELD_VARIABLE, expanded, with its nulls. CORRUPT: a
 * code that has no symbol, or an escape at the end of a value. */
int fsst_append(const struct fsst_table *table, const struct array *from, struct array *out,
	struct lancet_error *err);

#endif
