/* Which part of a rewrite's work comes next.
 *
 * What was begun is brought to an end first, since it holds memory: columns of open files, then
 * other files of the same task. Where the row ids and versions of a task's outputs go is decided
 * for all of them together, so these come before its first file; meanwhile another task may be
 * written.
 */
#include "rewrite_write.h"

static bool
take_columns(
	struct rewrite_queue *queue, struct rewrite_running *running, struct rewrite_part *part)
{
	struct rewrite_file *file = running->files;

	if (file == NULL)
		return false;
	part->kind = REWRITE_COLUMNS;
	part->file = file;
	part->first = file->next_root;
	part->count = queue->root_count - file->next_root;
	if (part->count > queue->root_group)
		part->count = queue->root_group;
	file->next_root += part->count;
	file->busy++;
	if (file->next_root == queue->root_count)
		running->files = file->next;
	return true;
}

static bool
take_file(struct rewrite_queue *queue, struct rewrite_running *running, struct rewrite_part *part)
{
	(void)queue;
	if (!running->placed || running->files_taken == running->task->output_count)
		return false;
	part->kind = REWRITE_FILE;
	part->number = running->files_taken++;
	return true;
}

static bool
take_lineage(
	struct rewrite_queue *queue, struct rewrite_running *running, struct rewrite_part *part)
{
	if (!queue->lineage || running->lineages_taken == running->task->output_count)
		return false;
	part->kind = REWRITE_LINEAGE;
	part->number = running->lineages_taken++;
	return true;
}

/* Tasks without rows, and those that have writers of their own, have no parts. */
static struct rewrite_task *
next_task(struct rewrite_queue *queue)
{
	while (queue->next < queue->count) {
		struct rewrite_task *task = &queue->tasks[queue->next++];

		if (task->order == NULL && task->output_count > 0)
			return task;
	}
	return NULL;
}

static struct rewrite_part
open_task(struct rewrite_queue *queue)
{
	bool waiting = false;

	for (size_t i = 0; i < REWRITE_RUNNING; i++) {
		struct rewrite_running *running = &queue->running[i];
		struct rewrite_task *task;

		if (running->task != NULL) {
			waiting = true;
			continue;
		}
		task = next_task(queue);
		if (task == NULL)
			continue;
		*running = (struct rewrite_running){ .task = task, .placed = !queue->lineage };
		return (struct rewrite_part){ .kind = REWRITE_OPEN, .running = running };
	}
	return (struct rewrite_part){ .kind = waiting ? REWRITE_WAIT : REWRITE_END };
}

struct rewrite_part
rewrite_queue_take(struct rewrite_queue *queue)
{
	bool (*const takes[])(
		struct rewrite_queue *, struct rewrite_running *, struct rewrite_part *) = {
		take_columns,
		take_file,
		take_lineage,
	};

	for (size_t k = 0; k < sizeof(takes) / sizeof(takes[0]); k++) {
		for (size_t i = 0; i < REWRITE_RUNNING; i++) {
			struct rewrite_part part = { .running = &queue->running[i] };

			if (part.running->task != NULL && part.running->opened &&
				takes[k](queue, part.running, &part))
				return part;
		}
	}
	return open_task(queue);
}

void
rewrite_queue_add(struct rewrite_running *running, struct rewrite_file *file)
{
	struct rewrite_file **end = &running->files;

	while (*end != NULL)
		end = &(*end)->next;
	file->next = NULL;
	*end = file;
}

bool
rewrite_queue_written(const struct rewrite_queue *queue, struct rewrite_file *file)
{
	file->busy--;
	return file->busy == 0 && file->next_root == queue->root_count;
}
