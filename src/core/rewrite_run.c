/* Writing the outputs of a rewrite with a few workers, each of which does one part after the other.
 *
 * Whatever fails stops all of them; the files that there are belong to the change.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "lance/table.pb-c.h"
#include "rewrite_write.h"
#include "util/macros.h"
#include "version.h"

#define BATCH_MIN ((size_t)64 << 10)
#define BATCH_MAX ((size_t)8 << 20)
/* What a worker holds, in batches: of the column that it writes what was read, what is gathered and
 * what is encoded; of those beside it what is gathered. */
#define BATCHES_OF_COLUMN 10u
#define BATCHES_OF_OTHERS 4u

struct writing {
	struct rewrite_work work;
	struct rewrite_queue queue;
	pthread_cond_t change; /* with the crew's lock */
};

static int
open_sources(struct rewrite_running *running, struct lancet_error *err)
{
	struct rewrite_task *task = running->task;
	uint64_t rows = 0;

	running->first_rows = calloc(task->output_count, sizeof(*running->first_rows));
	task->lineages = calloc(task->output_count, sizeof(*task->lineages));
	if (running->first_rows == NULL || task->lineages == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "a new fragment");
	for (size_t i = 0; i < task->output_count; i++) {
		running->first_rows[i] = rows;
		rows += task->outputs[i].rows;
	}
	return rewrite_deletions(task, err);
}

static int
find_pieces(const struct rewrite_running *running, size_t number, struct rewrite_piece **ret_pieces,
	size_t *ret_count, struct lancet_error *err)
{
	return rewrite_pieces(running->task, running->first_rows[number],
		running->task->outputs[number].rows, ret_pieces, ret_count, err);
}

/* Row ids and versions of the rows of one output. */
static int
collect_lineage(struct writing *writing, const struct rewrite_part *part, struct lancet_error *err)
{
	const struct rewrite_task *task = part->running->task;
	struct lineage_out *out = &task->lineages[part->number];
	lancet_autofree struct rewrite_piece *pieces = NULL;
	size_t count;

	TRY(lineage_out_init(out, writing->work.kinds, err));
	TRY(find_pieces(part->running, part->number, &pieces, &count, err));
	for (size_t i = 0; i < count; i++) {
		const struct rewrite_source *source = &task->sources[pieces[i].source];
		struct lineage_source *stored;
		int rc;

		TRY(rewrite_crew_step(&writing->work.crew, 0, err));
		TRY(lineage_source_open(source->fragment, &stored, err));
		rc = lineage_out_rows(out, stored, pieces[i].first, pieces[i].end - pieces[i].first,
			source->deletion, err);
		lineage_source_free(stored);
		if (rc != LANCET_OK)
			return lancet_wrap(err, rc, "fragment %" PRIu64,
				lancet_fragment_info(source->fragment)->id);
	}
	return lineage_out_end(out, err);
}

static int
open_file(struct writing *writing, const struct rewrite_part *part, struct rewrite_file **ret_file,
	struct lancet_error *err)
{
	struct rewrite_running *running = part->running;
	struct rewrite_file *file = calloc(1, sizeof(*file));
	int rc;

	if (file == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "a new fragment");
	file->running = running;
	file->number = part->number;
	rc = find_pieces(running, part->number, &file->pieces, &file->piece_count, err);
	if (rc == LANCET_OK)
		rc = fragment_writer_open(writing->work.change,
			writing->work.kinds == 0 ? NULL : &running->task->lineages[part->number],
			writing->work.batch_bytes, &file->writer, err);
	if (rc != LANCET_OK) {
		free(file->pieces);
		free(file);
		return rc;
	}
	*ret_file = file;
	return LANCET_OK;
}

static void
free_file(struct rewrite_file *file)
{
	fragment_writer_free(file->writer);
	free(file->pieces);
	free(file);
}

/* All its columns are written. */
static int
end_file(struct rewrite_file *file, struct lancet_error *err)
{
	struct rewrite_task *task = file->running->task;
	struct rewrite_output *output = &task->outputs[file->number];
	struct fragment_writer *writer = file->writer;

	file->writer = NULL;
	TRY(fragment_writer_finish(writer, &output->message, &output->bytes, err));
	lineage_out_release(&task->lineages[file->number]);
	if (output->message->physical_rows == output->rows)
		return LANCET_OK;
	return lancet_fail(err, LANCET_CORRUPT,
		"a new fragment has %" PRIu64 " rows instead of %" PRIu64,
		output->message->physical_rows, output->rows);
}

static void
end_task(struct rewrite_running *running)
{
	struct rewrite_task *task = running->task;

	for (size_t i = 0; i < task->source_count; i++) {
		lancet_deletion_unref(task->sources[i].deletion);
		task->sources[i].deletion = NULL;
	}
	rewrite_free_lineages(task);
	free(running->first_rows);
	*running = (struct rewrite_running){ 0 };
}

/* The functions below do a part without the lock, and tell of it with it. */

static int
do_open(struct writing *writing, const struct rewrite_part *part, struct lancet_error *err)
{
	int rc = open_sources(part->running, err);

	(void)pthread_mutex_lock(&writing->work.crew.lock);
	part->running->opened = rc == LANCET_OK;
	return rc;
}

static int
do_lineage(struct writing *writing, const struct rewrite_part *part, struct lancet_error *err)
{
	struct rewrite_running *running = part->running;
	const struct rewrite_task *task = running->task;
	int rc = collect_lineage(writing, part, err);
	bool last;

	(void)pthread_mutex_lock(&writing->work.crew.lock);
	last = rc == LANCET_OK && ++running->lineages_done == task->output_count;
	if (!last)
		return rc;
	(void)pthread_mutex_unlock(&writing->work.crew.lock);
	rc = lineage_place(
		writing->work.rewrite->read, task->lineages, task->output_count, true, err);
	(void)pthread_mutex_lock(&writing->work.crew.lock);
	running->placed = rc == LANCET_OK;
	return rc;
}

static int
do_file(struct writing *writing, const struct rewrite_part *part, struct lancet_error *err)
{
	struct rewrite_file *file = NULL;
	int rc = open_file(writing, part, &file, err);

	(void)pthread_mutex_lock(&writing->work.crew.lock);
	if (rc == LANCET_OK)
		rewrite_queue_add(part->running, file);
	return rc;
}

static int
do_columns(struct writing *writing, const struct rewrite_part *part, struct lancet_error *err)
{
	struct rewrite_file *file = part->file;
	const struct rewrite_unit unit = {
		.task = part->running->task,
		.pieces = file->pieces,
		.piece_count = file->piece_count,
		.first = part->first,
		.count = part->count,
		.writer = fragment_writer_file(file->writer),
	};
	int rc = rewrite_unit_write(&writing->work, &unit, err);
	bool last;

	(void)pthread_mutex_lock(&writing->work.crew.lock);
	last = rewrite_queue_written(&writing->queue, file);
	/* A file that somebody failed at is dropped with the queue, unless nobody knows it. */
	if (!last)
		return rc;
	(void)pthread_mutex_unlock(&writing->work.crew.lock);
	if (rc == LANCET_OK)
		rc = rewrite_crew_step(&writing->work.crew, 0, err);
	if (rc == LANCET_OK)
		rc = end_file(file, err);
	free_file(file);
	(void)pthread_mutex_lock(&writing->work.crew.lock);
	if (rc == LANCET_OK && ++part->running->files_done == part->running->task->output_count)
		end_task(part->running);
	return rc;
}

static int
do_part(struct writing *writing, const struct rewrite_part *part, struct lancet_error *err)
{
	switch (part->kind) {
	case REWRITE_OPEN:
		return do_open(writing, part, err);
	case REWRITE_LINEAGE:
		return do_lineage(writing, part, err);
	case REWRITE_FILE:
		return do_file(writing, part, err);
	default:
		return do_columns(writing, part, err);
	}
}

static void *
worker(void *context)
{
	struct writing *writing = context;

	(void)pthread_mutex_lock(&writing->work.crew.lock);
	while (writing->work.crew.rc == LANCET_OK) {
		struct rewrite_part part = rewrite_queue_take(&writing->queue);
		struct lancet_error failure = { 0 };
		int rc;

		if (part.kind == REWRITE_END)
			break;
		if (part.kind == REWRITE_WAIT) {
			(void)pthread_cond_wait(&writing->change, &writing->work.crew.lock);
			continue;
		}
		(void)pthread_mutex_unlock(&writing->work.crew.lock);
		rc = do_part(writing, &part, &failure);
		rewrite_crew_ended(&writing->work.crew, rc, &failure);
		(void)pthread_cond_broadcast(&writing->change);
	}
	(void)pthread_mutex_unlock(&writing->work.crew.lock);
	return NULL;
}

/* Drops what was begun when it failed. */
static void
drop_running(struct writing *writing)
{
	for (size_t i = 0; i < REWRITE_RUNNING; i++) {
		struct rewrite_running *running = &writing->queue.running[i];

		while (running->files != NULL) {
			struct rewrite_file *file = running->files;

			running->files = file->next;
			free_file(file);
		}
		if (running->task != NULL)
			end_task(running);
	}
}

static void
share_memory(struct rewrite_work *work)
{
	size_t share = work->crew.memory / work->crew.workers;
	size_t batch = share / (BATCHES_OF_COLUMN + BATCHES_OF_OTHERS);

	batch = batch > BATCH_MAX ? BATCH_MAX : batch;
	batch = batch < BATCH_MIN ? BATCH_MIN : batch;
	work->batch_bytes = batch;
	work->root_group = 1;
	if (share > BATCHES_OF_COLUMN * batch)
		work->root_group +=
			(share - BATCHES_OF_COLUMN * batch) / (BATCHES_OF_OTHERS * batch);
}

static int
init(struct writing *writing, struct lancet_error *err)
{
	struct rewrite_work *work = &writing->work;
	lancet_rewrite *rewrite = work->rewrite;
	uint64_t rows = 0;

	TRY(fragment_write_version(rewrite->read, &work->version, err));
	TRY(data_schema_init(&work->schema, rewrite->read, NULL, 0, FIELD_BLOB_BYTES, err));
	share_memory(work);
	for (size_t i = 0; i < rewrite->task_count; i++)
		if (rewrite->tasks[i].order == NULL)
			rows += rewrite->tasks[i].live_rows;
	work->kinds = lineage_kinds(rewrite->read);
	work->crew.total = rows * work->schema.tree.root_count;
	writing->queue = (struct rewrite_queue){ .tasks = rewrite->tasks,
		.count = rewrite->task_count,
		.root_count = work->schema.tree.root_count,
		.root_group = work->root_group,
		.lineage = work->kinds != 0 };
	return LANCET_OK;
}

static int
write_ordered(lancet_rewrite *rewrite, const struct lancet_rewrite_run *run, lancet_change *change,
	struct lancet_error *err)
{
	struct writing writing = { .work = { .rewrite = rewrite, .change = change } };
	int rc;

	rewrite_crew_init(&writing.work.crew, run);
	(void)pthread_cond_init(&writing.change, NULL);
	rc = init(&writing, err);
	if (rc == LANCET_OK) {
		rc = rewrite_crew_work(&writing.work.crew, worker, &writing, err);
		drop_running(&writing);
	}
	data_schema_release(&writing.work.schema);
	(void)pthread_cond_destroy(&writing.change);
	rewrite_crew_release(&writing.work.crew);
	return rc;
}

static int
write_others(lancet_rewrite *rewrite, const struct lancet_rewrite_run *run, lancet_change *change,
	struct lancet_error *err)
{
	for (size_t i = 0; i < rewrite->task_count; i++) {
		struct rewrite_task *task = &rewrite->tasks[i];

		if (task->order != NULL)
			TRY(task->order->write(rewrite, task, run, change, err));
	}
	return LANCET_OK;
}

int
rewrite_write(lancet_rewrite *rewrite, const struct lancet_rewrite_run *run, lancet_change *change,
	struct lancet_error *err)
{
	int rc = write_ordered(rewrite, run, change, err);

	if (rc == LANCET_OK)
		rc = write_others(rewrite, run, change, err);
	rewrite->totals.written_bytes = 0;
	for (size_t i = 0; i < rewrite->task_count; i++)
		for (size_t k = 0; k < rewrite->tasks[i].output_count; k++)
			rewrite->totals.written_bytes += rewrite->tasks[i].outputs[k].bytes;
	return rc;
}
