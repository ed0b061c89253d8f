/* Feature flags: names, and what is refused by them. */
#include "unit.h"

#include <string.h>

#include "core/flags.h"

#define BIT(n) (UINT64_C(1) << (n))

START_TEST(each_flag_has_its_name)
{
	/* SPEC section 4, by bit */
	static const char *const names[] = {
		"deletion_files", "stable_row_ids", "v2_format", "table_config", "base_paths",
		"no_transaction_files", "data_overlays", "covering_indices", "mixed_file_versions",
		"reuse_with_stable_row_ids", "tagged_reuse_history", "spilled_row_lineage",
		"fragment_tree", "independent_covering", "managed_blobs", "non_reusable_field_ids",
		"zone_seeds", "object_metadata", "bit_18",
	};
	char into[32];

	for (unsigned bit = 0; bit < ARRAY_SIZE(names); bit++)
		ck_assert_str_eq(lancet_flag_name(bit, into), names[bit]);
	ck_assert_str_eq(lancet_flag_name(63, into), "bit_63");
}
END_TEST

static const struct {
	const char *label;
	uint64_t reader, writer;
	int want;
	const char *text; /* part of the refusal */
} words[] = {
	{ "none", 0, 0, LANCET_OK, "" },
	{ "deletions, stable ids, base paths", 1 | 2 | 16, 1 | 2 | 16, LANCET_OK, "" },
	{ "deprecated format", 4, 4, LANCET_OK, "" },
	{ "writer's: config, no transaction files", 0, 8 | 32, LANCET_OK, "" },
	{ "overlays", 64, 64, LANCET_OK, "" },
	{ "covering indices, spilled lineage", 128 | 2048, 128 | 2048, LANCET_OK, "" },
	{ "paired", BIT(8) | BIT(10) | BIT(14), BIT(8) | BIT(10) | BIT(14), LANCET_OK, "" },
	{ "non-reusable field ids", 0, BIT(15), LANCET_OK, "" },
	{ "object metadata for writers", 0, BIT(17), LANCET_OK, "" },
	{ "unknown to writers", 0, BIT(18) | BIT(63), LANCET_OK, "" },
	{ "bit 9", BIT(9), BIT(9), LANCET_UNSUPPORTED, "reuse_with_stable_row_ids" },
	{ "bit 12", BIT(12), BIT(12), LANCET_UNSUPPORTED, "fragment_tree" },
	{ "bit 13", BIT(13), BIT(13), LANCET_UNSUPPORTED, "independent_covering" },
	{ "bit 16", BIT(16), BIT(16), LANCET_UNSUPPORTED, "zone_seeds" },
	{ "bit 17", BIT(17), BIT(17), LANCET_UNSUPPORTED, "object_metadata" },
	{ "bit 18", BIT(18), 0, LANCET_UNSUPPORTED, "bit_18" },
	{ "bit 63", BIT(63) | 1, 1, LANCET_UNSUPPORTED, "bit_63" },
	{ "two at once", BIT(9) | BIT(40), 0, LANCET_UNSUPPORTED,
	  "reuse_with_stable_row_ids, bit_40" },
	{ "all", UINT64_MAX, UINT64_MAX, LANCET_UNSUPPORTED, "fragment_tree" },
	{ "bit 15 for readers", BIT(15), BIT(15), LANCET_CORRUPT, "non_reusable_field_ids" },
	{ "bit 8 for readers alone", BIT(8), 0, LANCET_CORRUPT, "mixed_file_versions" },
	{ "bit 8 for writers alone", 0, BIT(8), LANCET_CORRUPT, "mixed_file_versions" },
	{ "bit 10 for readers alone", BIT(10), 0, LANCET_CORRUPT, "tagged_reuse_history" },
	{ "bit 14 for writers alone", 0, BIT(14), LANCET_CORRUPT, "managed_blobs" },
	{ "bit 16 for writers alone", 0, BIT(16), LANCET_CORRUPT, "zone_seeds" },
};

START_TEST(words_are_read_or_refused_by_name)
{
	struct lancet_error err = { 0 };
	int rc = flags_check_readable(words[_i].reader, words[_i].writer, &err);

	ck_assert_msg(rc == words[_i].want, "%s: %s", words[_i].label, err.text);
	ck_assert_msg(strstr(err.text, words[_i].text) != NULL, "%s: %s", words[_i].label,
	              err.text);
}
END_TEST

UNIT_MAIN("flags", UNIT_TEST(each_flag_has_its_name),
          UNIT_LOOP(words_are_read_or_refused_by_name, words))
