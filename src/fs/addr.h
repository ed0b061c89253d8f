/* Node ids are addresses: what a node is, written into 64 bits.
 *
 * 8 bits of kind, then slot 20 | ordinal 26 | item 10 below a fragment, and slot 20 | item 36
 * elsewhere. The root is 1, which no address can be because no kind is 0. Pass-through files have
 * no slot: their item is the 32-bit number of the file.
 */
#ifndef FS_ADDR_H
#define FS_ADDR_H

#include <lancet/error.h>
#include "kinds.h"

#define ADDR_SLOT_BITS          20
#define ADDR_ORDINAL_BITS       26
#define ADDR_FRAGMENT_ITEM_BITS 10
#define ADDR_ITEM_BITS          36

struct addr {
	uint8_t kind; /* enum node_kind_id */
	uint32_t slot;
	uint64_t ordinal; /* 0 outside fragments */
	uint64_t item;
};

/* LANCET_LIMIT when a number doesn't fit its bits. NODE_ROOT gives 1. */
int addr_encode(const struct addr *addr, uint64_t *ret_node, struct lancet_error *err);
/* False for a number that no address gives. */
bool addr_decode(uint64_t node, struct addr *ret_addr);

#endif
