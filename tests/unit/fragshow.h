/* Shows a fragment's message as the text of fragtext.h. */
#ifndef TESTS_FRAGSHOW_H
#define TESTS_FRAGSHOW_H

#include "core/sequence.h"
#include "fragtext.h"
#include "lance/table.pb-c.h"
#include "util/source.h"

#define FRAG_ROWS_MAX 256

typedef Lance__Table__DataFragment Fragment;

static inline void
frag_show_file(struct buf *out, const char *before, const Lance__Table__DataFile *file)
{
	buf_printf(out, "%s%.*s:", before, (int)file->path.len - 6, (const char *)file->path.data);
	for (size_t i = 0; i < file->n_fields; i++)
		buf_printf(out, "%s%d", i == 0 ? "" : ",", file->fields[i]);
}

/* "0-4,7" of values that go up, "5*3" of equal ones. */
static inline void
frag_show_run(struct buf *out, bool versions, uint64_t first, size_t count)
{
	if (versions)
		buf_printf(out, "%llu*%zu", (unsigned long long)first, count);
	else if (count == 1)
		buf_printf(out, "%llu", (unsigned long long)first);
	else
		buf_printf(out, "%llu-%llu", (unsigned long long)first,
			(unsigned long long)(first + count - 1));
}

static inline void
frag_show_sequence(struct buf *out, const char *key, const Fragment *fragment,
	ProtobufCBinaryData bytes, const struct sequence_ops *ops)
{
	struct source *src = source_memory_new(slice_of(bytes.data, bytes.len), NULL);
	size_t rows = (size_t)fragment->physical_rows, count;
	uint64_t values[FRAG_ROWS_MAX];
	struct sequence *sequence = NULL;
	struct lancet_error err = { 0 };
	bool versions = ops == &row_versions_ops;

	ck_assert_msg(sequence_open(ops, src, rows, &sequence, &err) == LANCET_OK, "%s: %s", key,
		err.text);
	ck_assert_int_eq(sequence_read(sequence, 0, rows, values, &err), LANCET_OK);
	buf_printf(out, " %s=", key);
	for (size_t i = 0; i < rows; i += count) {
		for (count = 1; i + count < rows; count++)
			if (values[i + count] != values[i] + (versions ? 0 : count))
				break;
		buf_put_text(out, i == 0 ? "" : ",");
		frag_show_run(out, versions, values[i], count);
	}
	sequence_free(sequence);
	source_unref(src);
}

static inline void
frag_show_lineage(struct buf *out, const Fragment *fragment)
{
	if (fragment->row_id_sequence_case == 5)
		frag_show_sequence(out, "ids", fragment, fragment->inline_row_ids, &rowids_ops);
	else if (fragment->row_id_sequence_case == 12)
		buf_put_text(out, " ids=column");
	if (fragment->created_at_version_sequence_case == 9)
		frag_show_sequence(out, "made", fragment, fragment->inline_created_at_versions,
			&row_versions_ops);
	else if (fragment->created_at_version_sequence_case == 14)
		buf_put_text(out, " made=column");
	if (fragment->last_updated_at_version_sequence_case == 7)
		frag_show_sequence(out, "changed", fragment,
			fragment->inline_last_updated_at_versions, &row_versions_ops);
	else if (fragment->last_updated_at_version_sequence_case == 13)
		buf_put_text(out, " changed=column");
}

static inline void
frag_show(struct buf *out, const Fragment *fragment)
{
	buf_printf(out, "%llu rows=%llu", (unsigned long long)fragment->id,
		(unsigned long long)fragment->physical_rows);
	for (size_t i = 0; i < fragment->n_files; i++)
		frag_show_file(out, i == 0 ? " files=" : "+", fragment->files[i]);
	frag_show_lineage(out, fragment);
	if (fragment->deletion_file != NULL)
		buf_printf(out, " gone=%llu#%llu",
			(unsigned long long)fragment->deletion_file->num_deleted_rows,
			(unsigned long long)fragment->deletion_file->id);
	for (size_t i = 0; i < fragment->n_overlays; i++) {
		frag_show_file(out, i == 0 ? " over=" : "+", fragment->overlays[i]->data_file);
		buf_printf(
			out, "@%llu", (unsigned long long)fragment->overlays[i]->committed_version);
	}
}

#endif
