/* What every unit test program shares: UNIT_MAIN lists the tests, output is TAP on stdout.
 *
 *     UNIT_MAIN("cursor", UNIT_TEST(reads_stop_at_the_end),
 *               UNIT_LOOP(varints_are_bounded, varints))
 *
 * UNIT_LOOP runs its test once per row of a table, with the row's index in _i.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include "util/macros.h"

#include "marks.h"
#include <stdlib.h>

#define UNIT_TIMEOUT_SECONDS 60

struct unit_case {
	const TTest *test;
	int runs;
};

#define UNIT_TEST(test)       { test, 1 }
#define UNIT_LOOP(test, rows) { test, (int)ARRAY_SIZE(rows) }
#define UNIT_MAIN(name, ...)                                             \
	int main(void)                                                   \
	{                                                                \
		const struct unit_case cases[] = { __VA_ARGS__ };        \
		return unit_run(name, cases, (int)ARRAY_SIZE(cases));    \
	}

static inline int
unit_run(const char *name, const struct unit_case *cases, int count)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(name);
	SRunner *runner;
	int failed;

	tcase_set_timeout(tcase, UNIT_TIMEOUT_SECONDS);
	for (int i = 0; i < count; i++)
		tcase_add_loop_test(tcase, cases[i].test, 0, cases[i].runs);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_set_tap(runner, "-");
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
