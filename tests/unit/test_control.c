/* The protocol of control files: lines, results, who may write, what is cancelled. */
#include "controlio.h"

START_TEST(a_line_runs_when_its_newline_arrives)
{
	struct control_handle *handle;

	rig_begin();
	handle = rig_open("quick");
	ck_assert_int_eq(rig_write(handle, "ke"), 2);
	ck_assert_int_eq(rig_write(handle, "y=1 wo"), 6);
	ck_assert_uint_eq(stub.runs, 0);
	ck_assert_int_eq(rig_write(handle, "rd\n"), 3);
	ck_assert_uint_eq(stub.runs, 1);
	ck_assert(rig_says(handle, "\"words\": 2"));
	ck_assert_int_eq(rig_write(handle, ""), 0);
	control_close(handle);
	rig_end();
}
END_TEST

START_TEST(a_write_takes_its_first_line_only)
{
	struct control_handle *handle;

	rig_begin();
	handle = rig_open("quick");
	ck_assert_int_eq(rig_write(handle, "a\nb\nc"), 2);
	ck_assert_uint_eq(stub.runs, 1);
	ck_assert_int_eq(rig_write(handle, "b\nc"), 2);
	ck_assert_int_eq(rig_write(handle, "c"), 1);
	ck_assert_uint_eq(stub.runs, 2);
	control_close(handle);
	ck_assert_uint_eq(stub.runs, 2);
	ck_assert(rig_reported("ctl/quick\tunfinished\t"));
	ck_assert(rig_reported("1 bytes without a newline"));
	rig_end();
}
END_TEST

static const struct {
	size_t first, second; /* bytes of two writes, the second with a newline at its end */
	int want_first, want_second;
} lengths[] = {
	{ 0, COMMAND_LINE_MAX, 0, COMMAND_LINE_MAX },
	{ 0, COMMAND_LINE_MAX + 1, 0, -E2BIG },
	{ 1000, COMMAND_LINE_MAX - 1000, 1000, COMMAND_LINE_MAX - 1000 },
	{ 1000, COMMAND_LINE_MAX - 999, 1000, -E2BIG },
	{ COMMAND_LINE_MAX - 1, 1, COMMAND_LINE_MAX - 1, 1 },
	{ COMMAND_LINE_MAX, 1, -E2BIG, -E2BIG },
	{ 100000, 2, -E2BIG, -E2BIG },
};

START_TEST(lines_have_a_length)
{
	static char bytes[100001];
	struct control_handle *handle;
	struct request request;

	rig_begin();
	handle = rig_open("quick");
	memset(bytes, 'x', sizeof(bytes));
	rig_send(handle, &request, 1234, slice_of(bytes, lengths[_i].first));
	ck_assert_int_eq(request.os_errno != 0 ? -request.os_errno : (int)request.taken,
		lengths[_i].want_first);
	bytes[lengths[_i].second - 1] = '\n';
	rig_send(handle, &request, 1234, slice_of(bytes, lengths[_i].second));
	rig_answered(&request);
	ck_assert_int_eq(request.os_errno != 0 ? -request.os_errno : (int)request.taken,
		lengths[_i].want_second);
	ck_assert_uint_eq(stub.runs, lengths[_i].want_second > 0);
	/* what comes behind is a line again */
	ck_assert_int_eq(rig_write(handle, "a\n"), 2);
	control_close(handle);
	rig_end();
}
END_TEST

static const struct {
	const char *name, *line;
	int want;
	const char *says;
} refusals[] = {
	{ "quick", "\n", -EINVAL, "\"errno\": \"EINVAL\"" },
	{ "quick", "   \t \n", -EINVAL, "\"ok\": false" },
	{ "quick", "'open\n", -EINVAL, "\"command\": \"quick\"" },
	{ "quick", "nokey=1\n", -EINVAL, "nokey" },
	{ "quick", "key=1 key=2\n", -EINVAL, "twice" },
	{ "fail", "run\n", -ESTALE, "\"code\": \"incompatible\"" },
	{ "fail", "run\n", -ESTALE, "it does not fit" },
	{ "wait", "job=99\n", -ENOENT, "job 99" },
	{ "wait", "run\n", -EINVAL, "which job" },
	{ "cancel", "job=99\n", -ENOENT, "job 99" },
	{ "cancel", "job=x\n", -EINVAL, "job=x" },
	{ "use", "version=99\n", -ENOENT, "99" },
	{ "use", "version=2 latest\n", -EINVAL, "one of" },
	{ "use", "force=true\n", -EINVAL, "one of" },
	{ "use", "tag=nope\n", -ENOENT, "nope" },
	{ "use", "newest\n", -EINVAL, "newest" },
	{ "use", "latest force=maybe\n", -EINVAL, "maybe" },
	{ "eat", "file=none\n", -ENOENT, "none" },
	{ "eat", "file=../none\n", -EINVAL, "../none" },
};

START_TEST(refusals_are_the_errno_of_the_write_and_can_be_read)
{
	struct control_handle *handle;

	rig_begin();
	handle = rig_open(refusals[_i].name);
	ck_assert_int_eq(rig_write(handle, refusals[_i].line), refusals[_i].want);
	ck_assert_msg(rig_says(handle, refusals[_i].says), "%s", refusals[_i].line);
	control_close(handle);
	handle = rig_open(refusals[_i].name);
	ck_assert_msg(rig_says(handle, refusals[_i].says), "%s: last", refusals[_i].line);
	control_close(handle);
	ck_assert(rig_reported("\t      1234\t"));
	rig_end();
}
END_TEST

START_TEST(a_nul_is_no_part_of_a_line)
{
	struct control_handle *handle;
	struct request request;

	rig_begin();
	handle = rig_open("quick");
	rig_send(handle, &request, 1234, slice_of("a\0b\n", 4));
	rig_answered(&request);
	ck_assert_int_eq(request.os_errno, EINVAL);
	ck_assert_uint_eq(stub.runs, 0);
	control_close(handle);
	rig_end();
}
END_TEST

START_TEST(a_handle_that_wrote_reads_its_own_result_once)
{
	struct control_handle *fresh, *wrote, *later;
	char some[8];
	size_t got = 0;

	rig_begin();
	fresh = rig_open("quick");
	wrote = rig_open("quick");
	ck_assert(rig_says(wrote, "any words"));
	ck_assert_int_eq(rig_write(wrote, "a b\n"), 4);
	ck_assert_int_eq(control_read(wrote, 77, sizeof(some), some, &got, NULL), LANCET_OK);
	ck_assert_uint_eq(got, sizeof(some));
	ck_assert_mem_eq(some, "{\n  \"for", 8);
	ck_assert(rig_says(wrote, "\"words\": 2"));
	ck_assert_str_eq(rig_read(wrote), "");
	ck_assert_int_eq(rig_write(wrote, "a b c\n"), 6);
	ck_assert(rig_says(wrote, "\"words\": 3"));
	/* a fresh one shows what was there when it was opened, as often as it is read */
	ck_assert(!rig_says(fresh, "\"words\""));
	ck_assert(rig_says(fresh, "any words"));
	later = rig_open("quick");
	ck_assert(rig_says(later, "any words") && rig_says(later, "\"words\": 3"));
	control_close(fresh);
	control_close(wrote);
	control_close(later);
	rig_end();
}
END_TEST

START_TEST(only_the_owner_and_root_may_write)
{
	struct control_handle *handle;
	struct request request, slow;

	rig_begin();
	handle = rig_open("slow");
	rig_send(handle, &request, 4321, slice_text("run\n"));
	ck_assert_int_eq(request.os_errno, EACCES);
	ck_assert_uint_eq(stub.runs, 0);
	stub.hold = true;
	rig_send(handle, &slow, 0, slice_text("run\n"));
	/* nor does it change anything for those who may */
	rig_send(handle, &request, 4321, slice_text("run\n"));
	ck_assert_int_eq(request.os_errno, EACCES);
	rig_send(handle, &request, 1234, slice_text("run\n"));
	ck_assert_int_eq(request.os_errno, EBUSY);
	ck_assert(!slow.answered);
	stub.hold = false;
	rig_answered(&slow);
	ck_assert_int_eq(slow.os_errno, 0);
	ck_assert(rig_says(handle, "\"version\": \"7\""));
	ck_assert_uint_eq(stub.runs, 1);
	control_close(handle);
	rig_end();
}
END_TEST

START_TEST(a_parked_write_holds_nobody_up)
{
	struct control_handle *first, *second, *quick;
	struct request slow, queued;

	rig_begin();
	stub.hold = true;
	first = rig_open("slow");
	second = rig_open("slow");
	quick = rig_open("quick");
	rig_send(first, &slow, 1234, slice_text("run\n"));
	rig_send(second, &queued, 1234, slice_text("run\n"));
	ck_assert_int_eq(rig_write(quick, "a\n"), 2);
	ck_assert(!slow.answered && !queued.answered);
	ck_assert_ptr_nonnull(slow.caller);
	stub.hold = false;
	rig_answered(&slow);
	rig_answered(&queued);
	ck_assert_uint_eq(slow.taken, 4);
	control_close(first);
	control_close(second);
	control_close(quick);
	rig_end();
}
END_TEST

/* Whose process can't be seen, any signal asks for the end. */
START_TEST(a_signal_cancels_what_runs_and_what_waits)
{
	struct control_handle *first, *second;
	struct request running, queued;

	rig_begin();
	stub.hold = true;
	first = rig_open("slow");
	second = rig_open("slow");
	rig_send(first, &running, 1234, slice_text("run\n"));
	rig_send(second, &queued, 1234, slice_text("run\n"));
	caller_interrupted(queued.caller);
	rig_answered(&queued);
	ck_assert_int_eq(queued.os_errno, ECANCELED);
	ck_assert(!running.answered);
	caller_interrupted(running.caller);
	rig_answered(&running);
	ck_assert_int_eq(running.os_errno, ECANCELED);
	ck_assert_uint_eq(stub.runs, 1);
	ck_assert(rig_says(first, "cancelled in the middle"));
	ck_assert(rig_says(second, "before its turn"));
	control_close(first);
	control_close(second);
	rig_end();
}
END_TEST

START_TEST(waiting_gives_the_end_of_a_job)
{
	struct control_handle *slow, *wait, *gone, *cancel;
	struct request waits, leaves;

	rig_begin();
	stub.hold = true;
	slow = rig_open("slow");
	wait = rig_open("wait");
	gone = rig_open("wait");
	cancel = rig_open("cancel");
	ck_assert_int_eq(rig_write(slow, "async=true\n"), 11);
	ck_assert(rig_says(slow, "\"job\": 1"));
	rig_send(wait, &waits, 1234, slice_text("job=1\n"));
	rig_send(gone, &leaves, 1234, slice_text("job=1\n"));
	caller_interrupted(leaves.caller);
	rig_answered(&leaves);
	ck_assert_int_eq(leaves.os_errno, ECANCELED);
	ck_assert(!waits.answered);
	ck_assert_int_eq(rig_write(cancel, "job=1\n"), 6);
	rig_answered(&waits);
	ck_assert_int_eq(waits.os_errno, ECANCELED);
	ck_assert(rig_says(wait, "\"state\": \"cancelled\""));
	ck_assert_int_eq(rig_write(cancel, "job=1\n"), -EINVAL);
	/* after the end, at once */
	stub.hold = false;
	ck_assert_int_eq(rig_write(slow, "async=true\n"), 11);
	ck_assert_int_eq(rig_write(wait, "job=2\n"), 6);
	ck_assert(rig_says(wait, "\"version\": \"7\""));
	control_close(slow);
	control_close(wait);
	control_close(gone);
	control_close(cancel);
	rig_end();
}
END_TEST

START_TEST(the_end_is_told_to_who_waits)
{
	struct control_handle *first, *second, *late;
	struct request running, queued;

	rig_begin();
	stub.hold = true;
	first = rig_open("slow");
	second = rig_open("slow");
	late = rig_open("quick");
	rig_send(first, &running, 1234, slice_text("run\n"));
	rig_send(second, &queued, 1234, slice_text("run\n"));
	control_stop(rig.control);
	rig_answered(&queued);
	ck_assert_int_eq(queued.os_errno, ECANCELED);
	ck_assert_int_eq(rig_write(late, "a\n"), -EBUSY);
	ck_assert(!running.answered);
	stub.hold = false;
	rig_answered(&running);
	ck_assert_int_eq(running.os_errno, 0);
	control_close(first);
	control_close(second);
	control_close(late);
	rig_end();
}
END_TEST

static void
stage(const char *name, const char *text)
{
	struct staged *staged = NULL;

	ck_assert_int_eq(
		stage_create(control_stage(rig.control), rig.dataset, name, 0600, &staged, NULL),
		LANCET_OK);
	ck_assert_int_eq(staged_write(staged, 0, text, strlen(text), NULL), LANCET_OK);
	staged_close(staged);
}

static bool
is_staged(const char *name)
{
	uint64_t number;

	return stage_find(control_stage(rig.control), rig.dataset, name, &number, NULL) ==
	       LANCET_OK;
}

START_TEST(a_payload_goes_when_it_was_used)
{
	struct control_handle *handle;

	rig_begin();
	stage("rows", "content");
	stage("broken", "bad");
	handle = rig_open("eat");
	ck_assert_int_eq(rig_write(handle, "file=rows\n"), 10);
	ck_assert_str_eq(stub.seen, "content");
	ck_assert(!is_staged("rows"));
	memset(stub.seen, 0, sizeof(stub.seen));
	ck_assert_int_eq(rig_write(handle, "file=broken\n"), -EUCLEAN);
	ck_assert(is_staged("broken"));
	control_close(handle);
	rig_end();
}
END_TEST

START_TEST(ends_are_counted_and_settled)
{
	struct control_handle *slow, *fail, *quick, *use;

	rig_begin();
	slow = rig_open("slow");
	fail = rig_open("fail");
	quick = rig_open("quick");
	use = rig_open("use");
	ck_assert_int_eq(rig_write(slow, "run\n"), 4);
	ck_assert_int_eq(rig.effect, CONTROL_CHANGES);
	ck_assert_int_eq(rig_write(fail, "run\n"), -ESTALE);
	ck_assert_int_eq(rig_write(quick, "\n"), -EINVAL);
	ck_assert_uint_eq(rig.settled, 2);
	ck_assert_int_eq(rig_write(use, "version=2\n"), 10);
	ck_assert_int_eq(rig.effect, CONTROL_MOVES);
	ck_assert_uint_eq(tree_current(rig.tree), 2);
	ck_assert_uint_eq(control_stats(rig.control)->commands, 4);
	ck_assert_uint_eq(control_stats(rig.control)->failed_commands, 2);
	ck_assert_uint_eq(control_stats(rig.control)->commits, 1);
	ck_assert_uint_eq(report_count(control_report(rig.control)), 2);
	control_close(slow);
	control_close(fail);
	control_close(quick);
	control_close(use);
	rig_end();
}
END_TEST

UNIT_MAIN("control", UNIT_TEST(a_line_runs_when_its_newline_arrives),
	UNIT_TEST(a_write_takes_its_first_line_only), UNIT_LOOP(lines_have_a_length, lengths),
	UNIT_LOOP(refusals_are_the_errno_of_the_write_and_can_be_read, refusals),
	UNIT_TEST(a_nul_is_no_part_of_a_line),
	UNIT_TEST(a_handle_that_wrote_reads_its_own_result_once),
	UNIT_TEST(only_the_owner_and_root_may_write), UNIT_TEST(a_parked_write_holds_nobody_up),
	UNIT_TEST(a_signal_cancels_what_runs_and_what_waits),
	UNIT_TEST(waiting_gives_the_end_of_a_job), UNIT_TEST(the_end_is_told_to_who_waits),
	UNIT_TEST(a_payload_goes_when_it_was_used), UNIT_TEST(ends_are_counted_and_settled))
