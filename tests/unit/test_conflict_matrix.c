/* The whole conflict matrix: transactions of all operations that touch nothing in common, so that
 * the operations alone decide. Where a rule looks closer, the letter is what it says of these.
 */
#include "unit.h"

#include "conflictrun.h"

#define KINDS 16

/* In the order of the format facts. Each touches a fragment, a field, a name or a key of its own.
 */
static const char *const ours[KINDS] = {
	"Append new=0",
	"Delete updated=0",
	"Overwrite set=a",
	"CreateIndex new=a:0:0",
	"Rewrite group=0>6",
	"Merge keeps schema=0,1,2,3,4",
	"Restore version=1",
	"ReserveFragments count=1",
	"Update updated=0 fields=0",
	"Project keeps schema=0,1,2,3,4",
	"UpdateConfig config=a",
	"DataReplacement file=0:0",
	"DataOverlay cells=0:0:1",
	"UpdateMemWalState shard=a:1",
	"Clone shallow",
	"UpdateBases base=1:a:a",
};

static const char *const theirs[KINDS + 1] = {
	"Append new=0",
	"Delete updated=1",
	"Overwrite set=b",
	"CreateIndex new=b:1:1",
	"Rewrite group=1>7",
	"Merge keeps schema=0,1,2,3,4",
	"Restore version=1",
	"ReserveFragments count=1",
	"Update updated=1 fields=1",
	"Project keeps schema=0,1,2,3,4",
	"UpdateConfig config=b",
	"DataReplacement file=1:1",
	"DataOverlay cells=1:1:1",
	"UpdateMemWalState shard=b:1",
	"Clone shallow",
	"UpdateBases base=2:b:b",
	"Unknown",
};

/* Rows and columns of section 9.3 of the format facts as measured, the last column a committed
 * operation that is not known. Overwrite over Overwrite is R when no key is shared, and an index
 * over UpdateMemWalState is I unless it is that of the MemWAL. */
static const char due[KINDS][KINDS + 2] = {
	/* ADOCRMRRUPUDDMCU? */
	"CCICCCICCCCCCICCI", /* Append */
	"CCICCRICCCCCCICCI", /* Delete */
	"CCRCCCCCCCCCCICCI", /* Overwrite */
	"CCICCCICCCCCCICCI", /* CreateIndex */
	"CCICCRICCCCCCCCCI", /* Rewrite */
	"RRICRRICRICRRICCI", /* Merge */
	"CCCCCCCCCCCCCICCI", /* Restore */
	"CCICCCICCCCCCCCCI", /* ReserveFragments */
	"CCICCRICCCCCCCCCI", /* Update */
	"CCICCRICCRCCCICCI", /* Project */
	"CCCCCCCCCCCCCCCCI", /* UpdateConfig */
	"CCICCRICCCCCCICCI", /* DataReplacement */
	"CCICCRICCCCCCICCI", /* DataOverlay */
	"IIICCIICCICIICICI", /* UpdateMemWalState */
	"CCCCCCCCCCCCCCCCC", /* Clone */
	"CCCCCCCCCCCCCCCCC", /* UpdateBases */
};

START_TEST(operations_alone_decide_most_cells)
{
	static const char letters[] = "CRI";
	const struct conflict_scene scene = { .ours = ours[_i] };
	struct conflict_run run;

	run_open(&run, &scene);
	for (size_t i = 0; i <= KINDS; i++) {
		lancet_transaction *committed = run_transaction(theirs[i]);

		ck_assert_int_eq(rebase_init(&run.rebase, run.ours, run.read, NULL,
					 (struct lancet_bytes){ 0 }, &run.err),
			LANCET_OK);
		ck_assert_msg(conflict_check(&run.rebase, committed, 9, &run.conflict, &run.err) ==
				      LANCET_OK,
			"%s", run.err.text);
		ck_assert_msg(letters[run.conflict.verdict] == due[_i][i], "%s over %s: %c (%s)",
			ours[_i], theirs[i], letters[run.conflict.verdict], run.conflict.text);
		ck_assert_uint_eq(run.conflict.version, 9);
		ck_assert(due[_i][i] == 'C' || run.conflict.rule[0] != '\0');
		rebase_release(&run.rebase);
		lancet_transaction_free(committed);
	}
	run_close(&run);
}
END_TEST

START_TEST(an_unknown_operation_of_ours_is_refused_first)
{
	const struct conflict_scene scene = { .ours = "Unknown" };
	struct conflict_run run;

	run_open(&run, &scene);
	run_ask(&run);
	ck_assert_int_eq(run.rc, LANCET_UNSUPPORTED);
	run_close(&run);
}
END_TEST

/* A known operation beside an unknown one, as nobody of today writes it. */
START_TEST(an_unknown_operation_beside_a_known_one_is_unknown)
{
	const struct conflict_scene scene = { .ours = "Append new=0" };
	lancet_transaction *committed = NULL;
	struct buf bytes = { 0 };
	struct conflict_run run;

	run_open(&run, &scene);
	txn_put(&bytes, "Append new=0");
	maker_bytes(&bytes, 199, "", 0);
	ck_assert_int_eq(transaction_parse(bytes.data, bytes.size, &committed, NULL), LANCET_OK);
	ck_assert_int_eq(rebase_init(&run.rebase, run.ours, run.read, NULL,
				 (struct lancet_bytes){ 0 }, &run.err),
		LANCET_OK);
	ck_assert_int_eq(
		conflict_check(&run.rebase, committed, 2, &run.conflict, &run.err), LANCET_OK);
	ck_assert_int_eq(run.conflict.verdict, CONFLICT_INCOMPATIBLE);
	ck_assert_str_eq(run.conflict.rule, "unknown_operation");
	ck_assert_str_eq(run.conflict.operation, "Unknown");
	lancet_transaction_free(committed);
	run_close(&run);
}
END_TEST

UNIT_MAIN("conflict_matrix", UNIT_LOOP(operations_alone_decide_most_cells, ours),
	UNIT_TEST(an_unknown_operation_of_ours_is_refused_first),
	UNIT_TEST(an_unknown_operation_beside_a_known_one_is_unknown))
