/* Packing and unpacking of node ids; the layout is in addr.h. */
#include "addr.h"

#include <assert.h>
#include <inttypes.h>

#define KIND_SHIFT    56
#define SLOT_SHIFT    36
#define ORDINAL_SHIFT 10
#define ROOT_NODE     UINT64_C(1)
#define MASK(bits)    ((UINT64_C(1) << (bits)) - 1)

static_assert(SLOT_SHIFT + ADDR_SLOT_BITS == KIND_SHIFT, "slot ends where the kind begins");
static_assert(ADDR_ITEM_BITS == SLOT_SHIFT, "items fill what is below the slot");
static_assert(ORDINAL_SHIFT == ADDR_FRAGMENT_ITEM_BITS, "ordinals begin where items end");
static_assert(ADDR_ORDINAL_BITS + ADDR_FRAGMENT_ITEM_BITS == ADDR_ITEM_BITS, "both layouts agree");
static_assert(NODE_KIND_COUNT <= 256, "a kind has 8 bits");
static_assert(NODE_NONE == 0, "an address is never a small number");

static int
too_big(const char *what, uint64_t value, unsigned bits, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_LIMIT, "%s %" PRIu64 ": at most %" PRIu64 " can be shown",
		what, value, MASK(bits) + 1);
}

int
addr_encode(const struct addr *addr, uint64_t *ret_node, struct lancet_error *err)
{
	bool below = kind_is_below_fragment(addr->kind);
	unsigned item_bits = below ? ADDR_FRAGMENT_ITEM_BITS : ADDR_ITEM_BITS;
	unsigned ordinal_bits = below ? ADDR_ORDINAL_BITS : 0;

	assert(addr->kind != NODE_NONE && addr->kind < NODE_KIND_COUNT);
	assert(addr->slot <= MASK(ADDR_SLOT_BITS));
	if (addr->kind == NODE_ROOT) {
		*ret_node = ROOT_NODE;
		return LANCET_OK;
	}
	if (addr->ordinal > MASK(ordinal_bits))
		return too_big("ordinal", addr->ordinal, ordinal_bits, err);
	if (addr->item > MASK(item_bits))
		return too_big("item", addr->item, item_bits, err);
	*ret_node = (uint64_t)addr->kind << KIND_SHIFT | (uint64_t)addr->slot << SLOT_SHIFT |
		    (below ? addr->ordinal << ORDINAL_SHIFT : 0) | addr->item;
	return LANCET_OK;
}

bool
addr_decode(uint64_t node, struct addr *ret_addr)
{
	struct addr addr = { .kind = (uint8_t)(node >> KIND_SHIFT),
		.slot = (uint32_t)(node >> SLOT_SHIFT & MASK(ADDR_SLOT_BITS)) };

	if (node == ROOT_NODE) {
		*ret_addr = (struct addr){ .kind = NODE_ROOT };
		return true;
	}
	if (addr.kind == NODE_NONE || addr.kind == NODE_ROOT || addr.kind >= NODE_KIND_COUNT)
		return false;
	if (kind_is_below_fragment(addr.kind)) {
		addr.ordinal = node >> ORDINAL_SHIFT & MASK(ADDR_ORDINAL_BITS);
		addr.item = node & MASK(ADDR_FRAGMENT_ITEM_BITS);
	} else {
		addr.item = node & MASK(ADDR_ITEM_BITS);
	}
	*ret_addr = addr;
	return true;
}
