/* Which fragments a compaction joins or rewrites, as the reference plans.
 *
 * Fragments come in the order of their ids. One that has lost too many rows, or has too many
 * overlays, is rewritten in any case; one with few rows when a neighbour is rewritten, too. All
 * that lie side by side and are covered by the same index segments are a bin, and a large bin is
 * cut where a part has enough rows and enough are left. Format facts: compaction.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "data_schema.h"
#include "fieldnames.h"
#include "fragment_write.h"
#include "rewrite_plan.h"
#include "util/macros.h"
#include "version.h"

#define FILE_BYTES (UINT64_C(90) << 30)

enum candidate {
	NO_CANDIDATE,
	WITH_NEIGHBOURS,
	ALONE,
};

struct member {
	uint64_t ordinal, rows; /* live ones */
};

/* Fragments that may be rewritten together. */
struct bin {
	struct member *members;
	size_t count, capacity;
	bool alone; /* there is one that is rewritten in any case */
	uint32_t coverage;
};

struct planning {
	lancet_version *read;
	const struct lancet_compact_options *options;
	lancet_rewrite *rewrite;
	struct data_schema schema;
	struct bin bin;
	size_t next_chosen;              /* of options->fragments */
	uint64_t fragments, rows, bytes; /* of the tasks */
	bool full;                       /* the limit of sources was reached */
};

/* As the reference computes it: in single precision. */
static bool
has_lost_many(const struct lancet_compact_options *options, const struct lancet_fragment_info *info)
{
	float lost = 0;

	if (!options->materialize_deletions || options->materialize_deletions_threshold >= 1.0)
		return false;
	if (info->physical_rows > 0)
		lost = (float)info->deleted_rows / (float)info->physical_rows;
	return lost > (float)options->materialize_deletions_threshold;
}

static bool
is_lineage(int32_t id)
{
	return id >= FIELD_LAST_UPDATED_AT && id <= FIELD_ROW_ID;
}

/* A file of dropped columns that is kept for its lineage columns alone. */
static bool
is_dead_weight(const struct planning *planning, const struct lancet_data_file *file)
{
	bool lineage = false, dropped = false;
	uint32_t ordinal;

	for (size_t i = 0; i < file->field_count; i++) {
		lineage |= is_lineage(file->fields[i]);
		dropped |= !is_lineage(file->fields[i]);
		if (file->fields[i] >= 0 &&
			data_schema_find(&planning->schema, file->fields[i], &ordinal))
			return false;
	}
	return lineage && dropped;
}

static bool
carries_dead_weight(const struct planning *planning, const struct lancet_fragment_info *info)
{
	for (size_t i = 0; i < info->file_count; i++)
		if (is_dead_weight(planning, &info->files[i]))
			return true;
	return false;
}

static enum candidate
candidate(const struct planning *planning, const struct lancet_fragment_info *info)
{
	const struct lancet_compact_options *options = planning->options;

	if (info->overlay_count > options->max_overlays || carries_dead_weight(planning, info) ||
		has_lost_many(options, info))
		return ALONE;
	return info->physical_rows < options->target_rows ? WITH_NEIGHBOURS : NO_CANDIDATE;
}

/* Fragments that nobody may touch separate their neighbours. */
static bool
is_excluded(struct planning *planning, uint64_t ordinal, uint64_t id)
{
	const struct lancet_compact_options *options = planning->options;
	const char *why;

	if (options->fragments != NULL) {
		while (planning->next_chosen < options->fragment_count &&
			options->fragments[planning->next_chosen] < id)
			planning->next_chosen++;
		if (planning->next_chosen == options->fragment_count ||
			options->fragments[planning->next_chosen] != id)
			return true;
	}
	return !remap_allows(planning->rewrite->remap, ordinal, &why);
}

/* The bytes that are read of a file: none when it has only columns that were dropped. */
static int
count_file(const struct planning *planning, const struct lancet_data_file *file, uint64_t *bytes,
	struct lancet_error *err)
{
	uint32_t ordinal;

	for (size_t i = 0; i < file->field_count; i++) {
		if (file->fields[i] < 0 ||
			!data_schema_find(&planning->schema, file->fields[i], &ordinal))
			continue;
		if (file->size == 0)
			return lancet_fail(err, LANCET_INVALID,
				"the size of %.*s is not recorded: compact without a limit of "
				"bytes",
				file->path.size < 100 ? (int)file->path.size : 100,
				(const char *)file->path.data);
		*bytes += file->size;
		return LANCET_OK;
	}
	return LANCET_OK;
}

static int
count_bytes(const struct planning *planning, const struct rewrite_task *task, uint64_t *bytes,
	struct lancet_error *err)
{
	for (size_t i = 0; i < task->source_count; i++) {
		const struct lancet_fragment_info *info =
			lancet_fragment_info(task->sources[i].fragment);

		for (size_t k = 0; k < info->file_count; k++)
			TRY(count_file(planning, &info->files[k], bytes, err));
		for (size_t k = 0; k < info->overlay_count; k++)
			TRY(count_file(planning, &info->overlays[k].file, bytes, err));
	}
	return LANCET_OK;
}

/* Whether there is room for the sources of the task. The first one that has none ends the plan. */
static int
take_from_limits(struct planning *planning, const struct rewrite_task *task, bool *ret_fits,
	struct lancet_error *err)
{
	const struct lancet_compact_options *options = planning->options;

	planning->fragments += task->source_count;
	for (size_t i = 0; i < task->source_count; i++)
		planning->rows += task->sources[i].live_rows;
	if (options->max_source_bytes != 0)
		TRY(count_bytes(planning, task, &planning->bytes, err));
	*ret_fits =
		(options->max_source_fragments == 0 ||
			planning->fragments <= options->max_source_fragments) &&
		(options->max_source_rows == 0 || planning->rows <= options->max_source_rows) &&
		(options->max_source_bytes == 0 || planning->bytes <= options->max_source_bytes);
	return LANCET_OK;
}

static uint64_t
at_least(uint64_t count, uint64_t all, uint64_t each)
{
	uint64_t due = all / each + (all % each != 0);

	return due > count ? due : count;
}

/* Outputs are alike: as many as have the rows wanted, and none has fewer by more than one row than
 * another. Files get larger than is wished only where rows do, which shows when they are written.
 */
static int
cut_outputs(const struct planning *planning, struct rewrite_task *task, struct lancet_error *err)
{
	uint64_t target = planning->options->target_rows;
	uint64_t file_max = planning->options->max_file_bytes;
	uint64_t live = 0, bytes = 0, count;
	lancet_autofree uint64_t *rows = NULL;

	for (size_t i = 0; i < task->source_count; i++) {
		live += task->sources[i].live_rows;
		bytes += task->sources[i].bytes;
	}
	count = target == 0 || live < target ? 1 : live / target;
	count = at_least(count, live, FRAGMENT_ROWS_MAX);
	count = at_least(count, bytes, file_max == 0 ? FILE_BYTES : file_max);
	count = count < live ? count : live;
	rows = calloc((size_t)count + 1, sizeof(*rows));
	if (rows == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "plan of a rewrite");
	for (uint64_t i = 0; i < count; i++)
		rows[i] = live / count + (i < live % count);
	return rewrite_set_outputs(task, rows, (size_t)count, err);
}

static int
fill_task(const struct planning *planning, struct rewrite_task *task, const struct member *members,
	struct lancet_error *err)
{
	for (size_t i = 0; i < task->source_count; i++)
		TRY(rewrite_source_init(
			&task->sources[i], planning->read, members[i].ordinal, err));
	return cut_outputs(planning, task, err);
}

static int
add_task(struct planning *planning, const struct member *members, size_t count,
	struct lancet_error *err)
{
	struct rewrite_task *task;
	bool fits;

	if (planning->full)
		return LANCET_OK;
	TRY(rewrite_add_task(planning->rewrite, count, &task, err));
	TRY(fill_task(planning, task, members, err));
	TRY(take_from_limits(planning, task, &fits, err));
	if (!fits) {
		rewrite_drop_task(planning->rewrite);
		planning->full = true;
	}
	return LANCET_OK;
}

/* Cuts the bin where a part has rows enough, as long as enough are left for another one. */
static int
add_tasks(struct planning *planning, struct lancet_error *err)
{
	const struct bin *bin = &planning->bin;
	uint64_t target = planning->options->target_rows;
	uint64_t left = 0, rows = 0;
	size_t first = 0;

	for (size_t i = 0; i < bin->count; i++)
		left += bin->members[i].rows;
	for (size_t i = 0; i < bin->count; i++) {
		rows += bin->members[i].rows;
		left -= bin->members[i].rows;
		if (rows < target || left == 0 || left < target)
			continue;
		TRY(add_task(planning, &bin->members[first], i + 1 - first, err));
		first = i + 1;
		rows = 0;
	}
	return add_task(planning, &bin->members[first], bin->count - first, err);
}

static int
end_bin(struct planning *planning, struct lancet_error *err)
{
	struct bin *bin = &planning->bin;

	if (bin->count > 1 || (bin->count == 1 && bin->alone))
		TRY(add_tasks(planning, err));
	bin->count = 0;
	bin->alone = false;
	return LANCET_OK;
}

static int
put_in_bin(struct planning *planning, uint64_t ordinal, uint64_t rows, bool alone,
	struct lancet_error *err)
{
	uint32_t coverage = remap_coverage(planning->rewrite->remap, ordinal);
	struct bin *bin = &planning->bin;

	if (bin->count > 0 && bin->coverage != coverage)
		TRY(end_bin(planning, err));
	if (bin->count == bin->capacity) {
		size_t capacity = 2 * bin->capacity + 64;
		struct member *members = realloc(bin->members, capacity * sizeof(*members));

		if (members == NULL)
			return lancet_fail(err, LANCET_NO_MEMORY, "plan of a rewrite");
		bin->members = members;
		bin->capacity = capacity;
	}
	bin->members[bin->count++] = (struct member){ ordinal, rows };
	bin->coverage = coverage;
	bin->alone |= alone;
	return LANCET_OK;
}

static int
plan_fragment(struct planning *planning, uint64_t ordinal, struct lancet_error *err)
{
	const struct lancet_fragment_info *info;
	struct lancet_fragment_span span;
	lancet_fragment *fragment;
	enum candidate kind;
	uint64_t rows;

	lancet_version_span(planning->read, ordinal, &span);
	if (is_excluded(planning, ordinal, span.id))
		return end_bin(planning, err);
	TRY(lancet_fragment_open(planning->read, ordinal, &fragment, err));
	info = lancet_fragment_info(fragment);
	kind = candidate(planning, info);
	rows = info->physical_rows - info->deleted_rows;
	lancet_fragment_unref(fragment);
	if (kind == NO_CANDIDATE)
		return end_bin(planning, err);
	return put_in_bin(planning, ordinal, rows, kind == ALONE, err);
}

/* All ids that are asked for are there. */
static int
check_chosen(lancet_version *read, const struct lancet_compact_options *options,
	struct lancet_error *err)
{
	uint64_t ordinal;

	for (size_t i = 0; options->fragments != NULL && i < options->fragment_count; i++)
		TRY(rewrite_find_chosen(read, options->fragments, i, &ordinal, err));
	return LANCET_OK;
}

static int
plan(struct planning *planning, struct lancet_error *err)
{
	lancet_version *read = planning->read;
	uint64_t count = lancet_version_info(read)->fragment_count;

	TRY(check_chosen(read, planning->options, err));
	TRY(remap_plan_make(
		read, planning->options->index_remap, false, &planning->rewrite->remap, err));
	TRY(data_schema_init(&planning->schema, read, NULL, 0, FIELD_BLOB_BYTES, err));
	for (uint64_t i = 0; i < count && !planning->full; i++)
		TRY(plan_fragment(planning, i, err));
	TRY(end_bin(planning, err));
	if (planning->rewrite->task_count > 0)
		TRY(rewrite_check_writable(read, err));
	rewrite_count(planning->rewrite);
	return LANCET_OK;
}

int
lancet_compact_plan(lancet_version *read, const struct lancet_compact_options *options,
	lancet_rewrite **ret_rewrite, struct lancet_error *err)
{
	struct planning planning = { .read = read, .options = options };
	struct lancet_compact_options defaults;
	int rc;

	if (options == NULL) {
		TRY(lancet_compact_defaults(read, &defaults, err));
		planning.options = &defaults;
	}
	TRY(rewrite_new(read, &planning.rewrite, err));
	planning.rewrite->binary_copy = planning.options->binary_copy;
	rc = plan(&planning, err);
	data_schema_release(&planning.schema);
	free(planning.bin.members);
	if (rc != LANCET_OK) {
		lancet_rewrite_free(planning.rewrite);
		return rc;
	}
	*ret_rewrite = planning.rewrite;
	return LANCET_OK;
}
