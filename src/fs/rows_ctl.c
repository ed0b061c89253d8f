/* ctl/: control files, jobs, staged files, errors, stats. SPEC sections 3 and 5.
 *
 * A control file has another node each time it is looked up: the kernel locks a file while it is
 * written, and two who write commands must not wait for each other. Its inode number stays.
 */
#include "place.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "control.h"
#include "rows_ctl.h"
#include "stagefile.h"
#include "util/macros.h"
#include "util/text.h"

#define ROW_BITS    8
#define SERIAL_BITS (ADDR_ITEM_BITS - ROW_BITS)

static bool
has_control(const struct node_ref *ref)
{
	return ctl_of(ref) != NULL;
}

static size_t
row_of(uint64_t item)
{
	return item & ((1u << ROW_BITS) - 1);
}

static const struct command *
command_of(const struct node_ref *ref)
{
	return controls_at(control_options(ctl_of(ref))->commands, row_of(ref->item));
}

static int
list_controls(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	const struct command *table = control_options(ctl_of(ref))->commands;
	const struct command *command;

	(void)err;
	for (size_t i = 0; (command = controls_at(table, i)) != NULL; i++) {
		struct node_child child = { command->name, NODE_CONTROL, 0, i };

		TRY(sink(context, &child));
	}
	return LANCET_OK;
}

static int
find_control(const struct node_ref *ref, const char *name, struct node_child *ret_child,
	struct lancet_error *err)
{
	static _Atomic uint64_t serial;
	size_t row = 0;

	if (!controls_find(control_options(ctl_of(ref))->commands, name, &row))
		return lancet_fail(err, LANCET_NOT_FOUND, "%s: no such control file", name);
	*ret_child = (struct node_child){ .kind = NODE_CONTROL,
		.item = (atomic_fetch_add(&serial, 1) + 1) % (UINT64_C(1) << SERIAL_BITS)
				<< ROW_BITS |
			row };
	return LANCET_OK;
}

static int
label_control(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	const struct command *command = command_of(ref);

	if (command == NULL)
		return lancet_fail(err, LANCET_CLEANED, "there is no such control file");
	snprintf(into, NODE_NAME_SIZE, "%s", command->name);
	return LANCET_OK;
}

int
ctl_attributes(const struct node_ref *ref, struct stat *st, struct lancet_error *err)
{
	(void)err;
	st->st_mode = S_ISDIR(st->st_mode) ? S_IFDIR | 0700 : S_IFREG | 0600;
	st->st_uid = control_options(ctl_of(ref))->owner;
	return LANCET_OK;
}

static int
read_control(void *state, uint64_t offset, size_t size, void *into, size_t *ret_got,
	struct lancet_error *err)
{
	return control_read(state, offset, size, into, ret_got, err);
}

static void
close_control(void *state)
{
	control_close(state);
}

static const struct node_handle_ops control_ops = {
	.read = read_control,
	.close = close_control,
};

struct control_handle *
tree_control_handle(const struct tree_file *file)
{
	const struct node_handle *handle = tree_file_handle(file);

	return handle != NULL && handle->ops == &control_ops ? handle->state : NULL;
}

static int
open_control(const struct node_ref *ref, bool to_write, struct node_handle *ret_handle,
	struct lancet_error *err)
{
	struct control_handle *handle = NULL;

	(void)to_write;
	TRY(control_open(ctl_of(ref), ref->dataset, row_of(ref->item), &handle, err));
	*ret_handle = (struct node_handle){ &control_ops, handle, -1 };
	return LANCET_OK;
}

static int
render_errors(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	(void)err;
	report_print(control_report(ctl_of(ref)), out);
	return LANCET_OK;
}

static int
render_stats(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct control *control = ctl_of(ref);
	size_t counts[JOB_CANCELLED + 1];

	(void)err;
	stats_print(control_stats(control), out);
	buf_printf(out,
		"# HELP lancefs_errors_total Failures of requests and commands.\n"
		"# TYPE lancefs_errors_total counter\nlancefs_errors_total %" PRIu64 "\n"
		"# HELP lancefs_cache_bytes Rendered text that is kept.\n"
		"# TYPE lancefs_cache_bytes gauge\nlancefs_cache_bytes{kind=\"text\"} %" PRIu64
		"\n# HELP lancefs_jobs Jobs that are listed, by state.\n"
		"# TYPE lancefs_jobs gauge\n",
		report_count(control_report(control)), textcache_used(ref->tree->texts));
	jobs_count(control_jobs(control), counts);
	for (int state = JOB_QUEUED; state <= JOB_CANCELLED; state++)
		buf_printf(out, "lancefs_jobs{state=\"%s\"} %zu\n", job_state_name(state),
			counts[state]);
	return LANCET_OK;
}

struct staged_list {
	node_sink sink;
	void *context;
};

static int
add_staged(void *context, const char *name, uint64_t number)
{
	const struct staged_list *list = context;
	struct node_child child = { name, NODE_STAGED, 0, number };

	return list->sink(list->context, &child);
}

static int
list_staged(const struct node_ref *ref, node_sink sink, void *context, struct lancet_error *err)
{
	struct staged_list list = { sink, context };

	(void)err;
	return stage_list(control_stage(ctl_of(ref)), ref->dataset, add_staged, &list);
}

static int
find_staged(const struct node_ref *ref, const char *name, struct node_child *ret_child,
	struct lancet_error *err)
{
	uint64_t number = 0;

	TRY(stage_find(control_stage(ctl_of(ref)), ref->dataset, name, &number, err));
	*ret_child = (struct node_child){ .kind = NODE_STAGED, .item = number };
	return LANCET_OK;
}

static int
label_staged(const struct node_ref *ref, char into[NODE_NAME_SIZE], struct lancet_error *err)
{
	if (!stage_name(control_stage(ctl_of(ref)), ref->item, into))
		return lancet_fail(err, LANCET_CLEANED, "the staged file is gone");
	return LANCET_OK;
}

static int
open_staged(const struct node_ref *ref, bool to_write, struct node_handle *ret_handle,
	struct lancet_error *err)
{
	return stagefile_open(control_stage(ctl_of(ref)), ref->item, to_write, ret_handle, err);
}

static int
measure_staged(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	struct stat st;

	TRY(stage_stat(control_stage(ctl_of(ref)), ref->item, &st, err));
	*ret_size = (uint64_t)st.st_size;
	return LANCET_OK;
}

static int
staged_attributes(const struct node_ref *ref, struct stat *st, struct lancet_error *err)
{
	struct stat real;

	TRY(stage_stat(control_stage(ctl_of(ref)), ref->item, &real, err));
	TRY(ctl_attributes(ref, st, err));
	st->st_mode = real.st_mode;
	st->st_mtim = real.st_mtim;
	st->st_blocks = real.st_blocks;
	return LANCET_OK;
}

static const uint8_t ctl_rows[] = { NODE_CTL_ERRORS, NODE_CTL_STATS, NODE_JOBS, NODE_STAGE,
	NODE_NONE };

const struct node_kind rows_ctl[] = {
	{ .id = NODE_CTL,
		.name = "ctl",
		.shape = SHAPE_DIR,
		.parent = NODE_ROOT,
		.live = true,
		.live_list = true,
		.rows = ctl_rows,
		.present = has_control,
		.list = list_controls,
		.find = find_control,
		.attributes = ctl_attributes },
	{ .id = NODE_CONTROL,
		.shape = SHAPE_HANDLE,
		.parent = NODE_CTL,
		.live = true,
		.computed = true,
		.label = label_control,
		.open = open_control,
		.attributes = ctl_attributes },
	{ .id = NODE_CTL_ERRORS,
		.name = "errors",
		.shape = SHAPE_TEXT,
		.parent = NODE_CTL,
		.live = true,
		.computed = true,
		.render = render_errors,
		.attributes = ctl_attributes },
	{ .id = NODE_CTL_STATS,
		.name = "stats",
		.shape = SHAPE_TEXT,
		.parent = NODE_CTL,
		.live = true,
		.computed = true,
		.render = render_stats,
		.attributes = ctl_attributes },
	{ .id = NODE_STAGE,
		.name = "stage",
		.shape = SHAPE_DIR,
		.parent = NODE_CTL,
		.live = true,
		.live_list = true,
		.list = list_staged,
		.find = find_staged,
		.attributes = ctl_attributes },
	{ .id = NODE_STAGED,
		.shape = SHAPE_HANDLE,
		.parent = NODE_STAGE,
		.live = true,
		.label = label_staged,
		.open = open_staged,
		.measure = measure_staged,
		.attributes = staged_attributes },
	{ .id = NODE_NONE },
};
