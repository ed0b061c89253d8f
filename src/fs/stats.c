/* Counters as text; see stats.h. */
#include "stats.h"

#include <inttypes.h>

#include "util/json.h"
#include "util/macros.h"

static const char *const request_names[] = {
	[STATS_LOOKUP] = "lookup",
	[STATS_GETATTR] = "getattr",
	[STATS_SETATTR] = "setattr",
	[STATS_READLINK] = "readlink",
	[STATS_OPEN] = "open",
	[STATS_READ] = "read",
	[STATS_WRITE] = "write",
	[STATS_RELEASE] = "release",
	[STATS_OPENDIR] = "opendir",
	[STATS_READDIR] = "readdir",
	[STATS_RELEASEDIR] = "releasedir",
	[STATS_STATFS] = "statfs",
	[STATS_POLL] = "poll",
	[STATS_CHANGE] = "change",
	[STATS_INTERRUPT] = "interrupt",
};

static void
add(_Atomic uint64_t *counter, uint64_t count)
{
	atomic_fetch_add_explicit(counter, count, memory_order_relaxed);
}

void
stats_command(struct stats *stats, bool failed, bool commits, struct slice result)
{
	struct json_object *object = NULL;
	uint64_t number = 0;

	add(&stats->commands, 1);
	add(&stats->failed_commands, failed);
	/* a result that is too long to be parsed is a plan, and no commit's */
	if (!commits || json_parse(result, &object, NULL) != LANCET_OK)
		return;
	if (json_get_u64(object, "attempts", &number, NULL) == LANCET_OK && number > 0)
		add(&stats->retries, number - 1);
	if (!failed && json_has(object, "version"))
		add(&stats->commits, 1);
	if (failed && json_has(object, "conflicts_with"))
		add(&stats->conflicts, 1);
	json_free(object);
}

static void
print_counter(struct buf *out, const char *name, const char *help, const _Atomic uint64_t *value)
{
	buf_printf(out, "# HELP lancefs_%s %s\n# TYPE lancefs_%s counter\nlancefs_%s %" PRIu64 "\n",
		name, help, name, name, atomic_load_explicit(value, memory_order_relaxed));
}

void
stats_print(const struct stats *stats, struct buf *out)
{
	buf_put_text(out, "# HELP lancefs_requests_total Requests of the kernel, by kind.\n"
			  "# TYPE lancefs_requests_total counter\n");
	for (size_t i = 0; i < ARRAY_SIZE(request_names); i++)
		buf_printf(out, "lancefs_requests_total{kind=\"%s\"} %" PRIu64 "\n",
			request_names[i],
			atomic_load_explicit(&stats->requests[i], memory_order_relaxed));
	print_counter(out, "commands_total", "Commands that ended.", &stats->commands);
	print_counter(
		out, "failed_commands_total", "Commands that failed.", &stats->failed_commands);
	print_counter(out, "commits_total", "Versions made by commands.", &stats->commits);
	print_counter(out, "conflicts_total", "Commits refused because of others' commits.",
		&stats->conflicts);
	print_counter(
		out, "retries_total", "Attempts to commit after the first one.", &stats->retries);
}
