/* Node ids: what goes in comes out, what doesn't fit is refused, and nothing else is an address. */
#include "unit.h"

#include "fs/addr.h"

static const struct {
	const char *label;
	struct addr addr;
	int want;
} addresses[] = {
	{ "summary", { NODE_SUMMARY, 5, 0, 0 }, LANCET_OK },
	{ "last slot", { NODE_CONFIG_VALUE, (1u << 20) - 1, 0, 7 }, LANCET_OK },
	{ "last item", { NODE_LIVE_FILE, 1, 0, (UINT64_C(1) << 36) - 1 }, LANCET_OK },
	{ "item of 37 bits", { NODE_LIVE_FILE, 1, 0, UINT64_C(1) << 36 }, LANCET_LIMIT },
	{ "pass-through", { NODE_PASS, 0, 0, UINT32_MAX }, LANCET_OK },
	{ "fragment", { NODE_FRAGMENT, 3, (UINT64_C(1) << 26) - 1, 0 }, LANCET_OK },
	{ "overlay", { NODE_OVERLAY, 3, 9, 1023 }, LANCET_OK },
	{ "ordinal of 27 bits", { NODE_FRAGMENT, 3, UINT64_C(1) << 26, 0 }, LANCET_LIMIT },
	{ "item of 11 bits", { NODE_OVERLAY, 3, 9, 1024 }, LANCET_LIMIT },
	{ "ordinal outside fragments", { NODE_SEGMENT_FILE, 3, 1, 0 }, LANCET_LIMIT },
	{ "last kind below a fragment", { NODE_FRAGMENT_LAST, 3, 70000, 1 }, LANCET_OK },
};

START_TEST(an_address_comes_back_or_is_a_limit)
{
	struct lancet_error err = { 0 };
	struct addr back;
	uint64_t node = 0;
	const struct addr *addr = &addresses[_i].addr;

	ck_assert_msg(
		addr_encode(addr, &node, &err) == addresses[_i].want, "%s", addresses[_i].label);
	if (addresses[_i].want != LANCET_OK) {
		ck_assert(err.text[0] != '\0');
		ck_assert_uint_eq(node, 0);
		return;
	}
	ck_assert(addr_decode(node, &back));
	ck_assert_uint_eq(back.kind, addr->kind);
	ck_assert_uint_eq(back.slot, addr->slot);
	ck_assert_uint_eq(back.ordinal, addr->ordinal);
	ck_assert_uint_eq(back.item, addr->item);
}
END_TEST

START_TEST(the_root_is_one)
{
	struct addr root = { .kind = NODE_ROOT }, back;
	uint64_t node = 0;

	ck_assert_int_eq(addr_encode(&root, &node, NULL), LANCET_OK);
	ck_assert_uint_eq(node, 1);
	ck_assert(addr_decode(1, &back));
	ck_assert_uint_eq(back.kind, NODE_ROOT);
}
END_TEST

START_TEST(other_numbers_are_no_addresses)
{
	struct addr back;

	ck_assert(!addr_decode(0, &back));
	ck_assert(!addr_decode(2, &back));
	ck_assert(!addr_decode((uint64_t)NODE_ROOT << 56, &back));
	ck_assert(!addr_decode((uint64_t)NODE_KIND_COUNT << 56, &back));
	ck_assert(!addr_decode(UINT64_MAX, &back));
}
END_TEST

/* Exactly the bits of the layout, so that ids of one mount can be read in a log. */
START_TEST(the_layout_is_kind_slot_ordinal_item)
{
	struct addr addr = { NODE_OVERLAY, 0xabcde, 0x2345678, 0x3ff };
	uint64_t node = 0;

	ck_assert_int_eq(addr_encode(&addr, &node, NULL), LANCET_OK);
	ck_assert_uint_eq(node, (uint64_t)NODE_OVERLAY << 56 | UINT64_C(0xabcde) << 36 |
					UINT64_C(0x2345678) << 10 | 0x3ff);
}
END_TEST

UNIT_MAIN("addr", UNIT_LOOP(an_address_comes_back_or_is_a_limit, addresses),
	UNIT_TEST(the_root_is_one), UNIT_TEST(other_numbers_are_no_addresses),
	UNIT_TEST(the_layout_is_kind_slot_ordinal_item))
