/* Labels that somebody wrote into a file; see partition.h.
 *
 * There is one for each physical row of the sources: two bytes, little-endian, 65535 for none, or a
 * line with a number, or "-" for none. A row that is deleted needs none, and what it has is not
 * looked at: so labels stay right when rows are deleted after they were made.
 */
#include "partition.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/macros.h"

#define READ_SIZE  65536u /* bytes */
#define ROWS       8192u  /* at once */
#define LABEL_LAST 65534u

struct label_file {
	int fd;
	uint64_t offset; /* of what is read next */
	size_t at, end;  /* of the bytes in hand */
	uint64_t row;    /* of the next label */
	bool text;
	uint8_t bytes[READ_SIZE];
};

static int
fill(struct label_file *file, struct lancet_error *err)
{
	ssize_t got;

	do
		got = pread(file->fd, file->bytes, READ_SIZE, (off_t)file->offset);
	while (got < 0 && errno == EINTR);
	if (got < 0 && errno == ESPIPE)
		return lancet_fail(err, LANCET_INVALID,
			"labels: no regular file, which may have to be read again");
	if (got < 0)
		return lancet_fail_errno(err, "labels");
	file->at = 0;
	file->end = (size_t)got;
	file->offset += (uint64_t)got;
	return LANCET_OK;
}

/* The next byte, or -1 at the end. */
static int
next_byte(struct label_file *file, int *ret_byte, struct lancet_error *err)
{
	if (file->at == file->end)
		TRY(fill(file, err));
	*ret_byte = file->end == 0 ? -1 : file->bytes[file->at++];
	return LANCET_OK;
}

static bool
is_text_byte(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || byte == '-' || byte == '\n' || byte == '\r';
}

/* Text when there is nothing else in all of it; labels of two bytes that look so are far from 0. */
static int
guess_format(struct label_file *file, struct lancet_error *err)
{
	file->text = true;
	do {
		TRY(fill(file, err));
		for (size_t i = 0; i < file->end && file->text; i++)
			file->text = is_text_byte(file->bytes[i]);
	} while (file->end > 0 && file->text);
	file->at = file->end = 0;
	file->offset = 0;
	return LANCET_OK;
}

static int
too_few(const struct label_file *file, uint64_t rows, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID,
		"%" PRIu64 " labels for %" PRIu64 " rows: one is due for each row, deleted ones "
		"included",
		file->row, rows);
}

static int
read_two_bytes(
	struct label_file *file, uint64_t rows, uint16_t *ret_label, struct lancet_error *err)
{
	int low, high;

	TRY(next_byte(file, &low, err));
	if (low < 0)
		return too_few(file, rows, err);
	TRY(next_byte(file, &high, err));
	if (high < 0)
		return lancet_fail(err, LANCET_INVALID,
			"labels end in the middle of the one of row %" PRIu64, file->row);
	*ret_label = (uint16_t)(low | high << 8);
	return LANCET_OK;
}

static int
bad_line(const struct label_file *file, struct lancet_error *err)
{
	return lancet_fail(err, LANCET_INVALID,
		"line %" PRIu64 " of the labels: give a number up to %u, or - for a deleted row",
		file->row + 1, LABEL_LAST);
}

static int
read_line(struct label_file *file, uint64_t rows, uint16_t *ret_label, struct lancet_error *err)
{
	uint32_t number = 0;
	size_t digits = 0;
	int byte;

	TRY(next_byte(file, &byte, err));
	if (byte < 0)
		return too_few(file, rows, err);
	if (byte == '-') {
		*ret_label = LANCET_NO_LABEL;
		TRY(next_byte(file, &byte, err));
	} else {
		for (; byte >= '0' && byte <= '9' && number <= LABEL_LAST; digits++) {
			number = number * 10 + (uint32_t)(byte - '0');
			TRY(next_byte(file, &byte, err));
		}
		if (digits == 0 || number > LABEL_LAST)
			return bad_line(file, err);
		*ret_label = (uint16_t)number;
	}
	if (byte == '\r')
		TRY(next_byte(file, &byte, err));
	return byte == '\n' || byte < 0 ? LANCET_OK : bad_line(file, err);
}

static int
read_label(struct label_file *file, uint64_t rows, uint16_t *ret_label, struct lancet_error *err)
{
	int rc = file->text ? read_line(file, rows, ret_label, err)
			    : read_two_bytes(file, rows, ret_label, err);

	file->row++;
	return rc;
}

static int
label_rows(struct label_file *file, const struct rewrite_source *source, uint64_t first,
	size_t count, uint64_t rows, struct row_labels *labels, struct lancet_error *err)
{
	uint16_t numbers[ROWS];
	uint8_t deleted[ROWS];

	lancet_deletion_marks(source->deletion, first, count, deleted);
	for (size_t i = 0; i < count; i++) {
		TRY(read_label(file, rows, &numbers[i], err));
		if (deleted[i])
			numbers[i] = LANCET_NO_LABEL;
		else if (numbers[i] == LANCET_NO_LABEL)
			return lancet_fail(err, LANCET_INVALID,
				"label %" PRIu64 ": none, and row %" PRIu64 " of fragment %" PRIu64
				" is not deleted",
				file->row, first + i, lancet_fragment_info(source->fragment)->id);
	}
	return partition_put(labels, numbers, count, err);
}

static int
label_source(struct label_file *file, struct rewrite_source *source, uint64_t all_rows,
	struct row_labels *labels, const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	uint64_t rows = lancet_fragment_info(source->fragment)->physical_rows;

	TRY(rewrite_deletion(source, err));
	for (uint64_t first = 0; first < rows; first += ROWS) {
		size_t count = rows - first < ROWS ? (size_t)(rows - first) : ROWS;

		TRY(rewrite_check_cancelled(run, err));
		TRY(label_rows(file, source, first, count, all_rows, labels, err));
	}
	return LANCET_OK;
}

static int
set_places(struct row_labels *labels, struct lancet_error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < PARTITION_NUMBERS; i++)
		count += labels->rows[i] > 0;
	labels->ends = calloc(count + 1, sizeof(*labels->ends));
	if (labels->ends == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "labels");
	count = 0;
	for (size_t i = 0; i < PARTITION_NUMBERS; i++) {
		if (labels->rows[i] == 0)
			continue;
		buf_printf(&labels->texts, "%zu", i);
		labels->ends[count] = labels->texts.size;
		labels->places[i] = (uint16_t)count++;
	}
	return buf_check(&labels->texts, "labels", err);
}

static int
label_all(struct label_file *file, enum lancet_label_format format, struct rewrite_task *task,
	const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	uint64_t rows = rewrite_source_rows(task);
	int byte;

	file->text = format == LANCET_LABELS_TEXT;
	if (format == LANCET_LABELS_AUTO)
		TRY(guess_format(file, err));
	for (size_t i = 0; i < task->source_count; i++)
		TRY(label_source(file, &task->sources[i], rows, task->labels, run, err));
	TRY(next_byte(file, &byte, err));
	if (byte >= 0)
		return lancet_fail(err, LANCET_INVALID,
			"more labels than there are rows, which are %" PRIu64, rows);
	return set_places(task->labels, err);
}

int
partition_by_file(int fd, enum lancet_label_format format, struct rewrite_task *task,
	const struct lancet_rewrite_run *run, struct lancet_error *err)
{
	lancet_autofree struct label_file *file = calloc(1, sizeof(*file));

	if (file == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "labels");
	file->fd = fd;
	return label_all(file, format, task, run, err);
}
