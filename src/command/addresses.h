/* Row addresses as text, for those who ask where their rows are now. */
#ifndef COMMAND_ADDRESSES_H
#define COMMAND_ADDRESSES_H

#include <lancet/transition.h>
#include "util/buf.h"

struct address {
	uint64_t row_addr;
	bool decimal; /* else FRAG:OFFSET */
};

/* False: it is no row address. Blanks around it are not taken. */
bool address_parse(struct slice text, struct address *ret_address);
/* INVALID, with `where` in front. */
int address_refuse(struct slice text, const char *where, struct lancet_error *err);
struct slice address_trim(struct slice text);
/* The answer, in the form of the question: an address, or the word for what became of it. */
void address_put(struct buf *into, uint64_t row_addr, enum lancet_row_fate fate, bool decimal);

#endif
