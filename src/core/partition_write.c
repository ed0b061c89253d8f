/* Writing the outputs of a partition, their row map, and the proof that they have all rows; see
 * partition_write.h. */
#include "partition_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <uuid/uuid.h>

#include "lance/table.pb-c.h"
#include "remap.h"
#include "rowmap_write.h"
#include "util/macros.h"
#include "version.h"

#define OUTPUTS_MAX  256u /* open at the same time */
#define GROUP_MAX    16u  /* columns side by side */
#define GROUP_PAGE   ((size_t)1 << 20)
#define PAGE_MIN     ((size_t)16 << 10)
#define PAGE_MAX     ((size_t)8 << 20)
#define BATCH_MIN    ((size_t)64 << 10)
#define BATCH_MAX    ((size_t)4 << 20)
#define BATCH_SHARE  16u /* parts of a worker's memory: what is read, sorted and encoded */
#define PAGES_SHARE  4u
#define COLUMN_BYTES ((size_t)2 << 10) /* of an open writer, about */

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t
larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static void
share_memory(struct partition_pass *pass)
{
	size_t memory = pass->crew.memory;
	size_t share = memory / pass->crew.workers, writers;
	struct rlimit limit;

	pass->outputs_max = OUTPUTS_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		pass->outputs_max = smaller(pass->outputs_max, (size_t)limit.rlim_cur / 4);
	pass->outputs_max = smaller(
		pass->outputs_max, memory / 4 / (pass->schema.tree.count * COLUMN_BYTES + 1));
	pass->outputs_max = larger(pass->outputs_max, 1);
	writers = larger(1, smaller(pass->outputs_max, pass->task->output_count));
	pass->batch_bytes = larger(BATCH_MIN, smaller(BATCH_MAX, share / BATCH_SHARE));
	pass->root_group =
		larger(1, smaller(GROUP_MAX, share / PAGES_SHARE / writers / GROUP_PAGE));
	pass->page_bytes = share / PAGES_SHARE / writers / pass->root_group;
	pass->page_bytes = larger(PAGE_MIN, smaller(PAGE_MAX, pass->page_bytes));
}

/* Takes columns until none is left. */
static void *
worker(void *context)
{
	struct partition_pass *pass = context;
	size_t roots = pass->schema.tree.root_count;

	(void)pthread_mutex_lock(&pass->crew.lock);
	while (pass->crew.rc == LANCET_OK && pass->next_root < roots) {
		size_t first = pass->next_root, count = smaller(pass->root_group, roots - first);
		struct lancet_error failure = { 0 };
		int rc;

		pass->next_root += count;
		(void)pthread_mutex_unlock(&pass->crew.lock);
		rc = partition_scatter(pass, first, count, &failure);
		(void)pthread_mutex_lock(&pass->crew.lock);
		rewrite_crew_ended(&pass->crew, rc, &failure);
	}
	(void)pthread_mutex_unlock(&pass->crew.lock);
	return NULL;
}

static int
open_writers(struct partition_pass *pass, struct lancet_error *err)
{
	const struct lineage_out *lineages = pass->task->lineages;

	for (size_t i = 0; i < pass->count; i++)
		TRY(fragment_writer_open(pass->change,
			lineages == NULL ? NULL : &lineages[pass->first + i], pass->page_bytes,
			&pass->writers[i], err));
	return LANCET_OK;
}

static int
end_writers(struct partition_pass *pass, struct lancet_error *err)
{
	struct rewrite_task *task = pass->task;

	for (size_t i = 0; i < pass->count; i++) {
		struct rewrite_output *output = &task->outputs[pass->first + i];
		struct fragment_writer *writer = pass->writers[i];

		pass->writers[i] = NULL;
		TRY(fragment_writer_finish(writer, &output->message, &output->bytes, err));
		if (task->lineages != NULL)
			lineage_out_release(&task->lineages[pass->first + i]);
		TRY(rewrite_check_cancelled(pass->crew.run, err));
	}
	return LANCET_OK;
}

static int
do_pass(struct partition_pass *pass, struct lancet_error *err)
{
	int rc = open_writers(pass, err);

	pass->next_root = 0;
	if (rc == LANCET_OK)
		rc = rewrite_crew_work(&pass->crew, worker, pass, err);
	if (rc == LANCET_OK)
		rc = end_writers(pass, err);
	for (size_t i = 0; i < pass->count; i++) {
		fragment_writer_free(pass->writers[i]);
		pass->writers[i] = NULL;
	}
	return rc;
}

static int
do_passes(struct partition_pass *pass, struct lancet_error *err)
{
	size_t outputs = pass->task->output_count;

	TRY(data_schema_init(&pass->schema, pass->rewrite->read, NULL, 0, FIELD_BLOB_BYTES, err));
	share_memory(pass);
	pass->crew.total = pass->task->live_rows * pass->schema.tree.root_count;
	pass->writers = calloc(pass->outputs_max, sizeof(*pass->writers));
	if (pass->writers == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "new fragments");
	for (; pass->first < outputs; pass->first += pass->count) {
		pass->count = smaller(pass->outputs_max, outputs - pass->first);
		TRY(do_pass(pass, err));
	}
	return LANCET_OK;
}

static int
write_outputs(lancet_rewrite *rewrite, struct rewrite_task *task,
	const struct lancet_rewrite_run *run, lancet_change *change, struct lancet_error *err)
{
	struct partition_pass pass = {
		.rewrite = rewrite,
		.task = task,
		.change = change,
	};
	int rc;

	rewrite_crew_init(&pass.crew, run);
	rc = do_passes(&pass, err);
	rewrite_crew_release(&pass.crew);
	free(pass.writers);
	data_schema_release(&pass.schema);
	return rc;
}

/* The files have the rows that the labels say, and these are all that are not deleted. */
static int
check_rows(const struct rewrite_task *task, struct lancet_error *err)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < task->output_count; i++) {
		const struct rewrite_output *output = &task->outputs[i];

		if (output->message->physical_rows != output->rows)
			return lancet_fail(err, LANCET_CORRUPT,
				"a new fragment has %" PRIu64 " rows instead of %" PRIu64,
				output->message->physical_rows, output->rows);
		rows += output->rows;
	}
	if (rows == task->live_rows)
		return LANCET_OK;
	return lancet_fail(err, LANCET_CORRUPT,
		"the new fragments have %" PRIu64 " rows, the old ones %" PRIu64, rows,
		task->live_rows);
}

static int
read_labels(void *context, uint64_t first, size_t count, uint16_t *into, struct lancet_error *err)
{
	const struct rewrite_task *task = context;

	return row_labels_read(task->labels, first, count, into, err);
}

static int
prove_map(const struct rewrite_task *task, lancet_change *change,
	const struct rowmap_labels *labels, struct lancet_error *err)
{
	lancet_autofree struct lancet_fragment_digest *destinations =
		calloc(task->output_count + 1, sizeof(*destinations));
	const struct lancet_transition transition = {
		.mapping = LANCET_STABLE_PARTITION,
		.destinations = destinations,
		.destination_count = task->output_count,
		.source_rows = labels->rows,
		.live_rows = task->live_rows,
		.map_bytes = task->map_size,
	};
	char key[ROWMAP_KEY_SIZE];
	struct source *file;
	struct stat st;
	int rc;

	if (destinations == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "row map");
	for (size_t i = 0; i < task->output_count; i++)
		destinations[i].physical_rows = task->outputs[i].rows;
	rowmap_key(task->map_id, key);
	TRY(store_open_source(change->files.store, key, &file, &st, err));
	rc = rowmap_prove(file, &transition, labels, err);
	source_unref(file);
	return rc;
}

/* A map has its name before it is looked at, as all readers will find it. */
static int
write_map(lancet_rewrite *rewrite, struct rewrite_task *task, lancet_change *change,
	struct lancet_error *err)
{
	struct rowmap_labels labels = {
		.read = read_labels,
		.context = task,
		.rows = rewrite_source_rows(task),
		.destinations = (uint32_t)task->output_count,
	};
	enum file_version version;
	uuid_t uuid;

	uuid_generate_random(uuid);
	uuid_unparse_lower(uuid, task->map_id);
	TRY(fragment_write_version(rewrite->read, &version, err));
	TRY(rowmap_write(change, task->map_id, version, &labels, &task->map_size, err));
	TRY(fragment_writers_name(change, err));
	return prove_map(task, change, &labels, err);
}

int
partition_write(lancet_rewrite *rewrite, struct rewrite_task *task,
	const struct lancet_rewrite_run *run, lancet_change *change, struct lancet_error *err)
{
	TRY(partition_lineage(rewrite, task, run, err));
	TRY(write_outputs(rewrite, task, run, change, err));
	rewrite_free_lineages(task);
	TRY(check_rows(task, err));
	if (!remap_records(rewrite->remap, rewrite, task))
		return LANCET_OK;
	TRY(rewrite_check_cancelled(run, err));
	return write_map(rewrite, task, change, err);
}
