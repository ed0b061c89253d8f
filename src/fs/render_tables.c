/* fragments.tsv and files.tsv, rendered a block of lines at a time. SPEC section 4. */
#include "render.h"

#include "lines.h"
#include "util/macros.h"
#include "util/text.h"

static const struct column_spec fragment_columns[] = {
	{ "fragment", 10 },
	{ "physical_rows", 10 },
	{ "deleted_rows", 10 },
	{ "live_rows", 10 },
	{ "data_files", 10 },
	{ "overlays", 10 },
	{ "bytes", 20 },
	{ "row_ids", 7 },
	{ "created_at", 7 },
	{ "last_updated_at", 7 },
};

/* Recorded sizes; a file without one is looked at, and a lost one counts nothing. */
static uint64_t
fragment_bytes(lancet_version *version, const struct lancet_fragment_info *info)
{
	uint64_t total = 0;

	for (size_t i = 0; i < info->file_count; i++) {
		const lancet_base *base;
		lancet_autofree char *path = NULL;
		struct stat st;

		if (info->files[i].size != 0)
			total += info->files[i].size;
		else if (lancet_data_file_path(version, &info->files[i], &base, &path, NULL) ==
				 LANCET_OK &&
			 lancet_base_stat(base, path, &st, NULL) == LANCET_OK)
			total += (uint64_t)st.st_size;
	}
	return total;
}

static void
put_fragment(struct buf *out, lancet_version *version, uint64_t ordinal)
{
	static const size_t count = ARRAY_SIZE(fragment_columns);
	const struct column_spec *columns = fragment_columns;
	struct lancet_fragment_span span;
	lancet_fragment *fragment = NULL;

	lancet_version_span(version, ordinal, &span);
	line_put_number(out, columns, count, 0, span.id);
	/* A damaged fragment keeps its line; its own files say what is wrong. */
	if (lancet_fragment_open(version, ordinal, &fragment, NULL) != LANCET_OK) {
		for (size_t i = 1; i < count; i++)
			line_put_text(out, columns, count, i, "-");
		return;
	}
	const struct lancet_fragment_info *info = lancet_fragment_info(fragment);
	line_put_number(out, columns, count, 1, info->physical_rows);
	line_put_number(out, columns, count, 2, info->deleted_rows);
	line_put_number(out, columns, count, 3, info->physical_rows - info->deleted_rows);
	line_put_number(out, columns, count, 4, info->file_count);
	line_put_number(out, columns, count, 5, info->overlay_count);
	line_put_number(out, columns, count, 6, fragment_bytes(version, info));
	for (size_t i = 0; i < 3; i++)
		line_put_text(out, columns, count, 7 + i,
			lancet_placement_name(info->lineage[i].placement));
	lancet_fragment_unref(fragment);
}

static int
render_fragments(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	(void)err;
	for (uint64_t i = first; i < first + count; i++)
		put_fragment(out, records->state, i);
	return LANCET_OK;
}

static void
release_version(struct records *records)
{
	lancet_version_unref(records->state);
}

int
records_fragments_tsv(
	const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	struct buf header = { 0 };

	line_put_header(&header, fragment_columns, ARRAY_SIZE(fragment_columns));
	TRY(buf_check(&header, "fragments.tsv", err));
	*ret_records = (struct records){
		.header = header,
		.count = lancet_version_info(ref->version)->fragment_count,
		.width = line_size(fragment_columns, ARRAY_SIZE(fragment_columns)),
		.render = render_fragments,
		.release = release_version,
		.state = lancet_version_ref(ref->version),
	};
	return LANCET_OK;
}

int
measure_fragments_tsv(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	(void)err;
	*ret_size = (lancet_version_info(ref->version)->fragment_count + 1) *
		    line_size(fragment_columns, ARRAY_SIZE(fragment_columns));
	return LANCET_OK;
}

static const struct column_spec file_columns[] = {
	{ "kind", 11 },
	{ "fragment", 10 },
	{ "bytes", 20 },
	{ "base", 10 },
	{ "path", 0 },
};

/* Recorded, or as the file is; what is rewritten has the size that a copy of it gets. */
static bool
file_bytes(lancet_live *live, size_t index, uint64_t *ret_bytes)
{
	const struct lancet_live_file *file = lancet_live_file(live, index);
	lancet_rewritten *rewrite = NULL;
	struct stat st;

	if (file->rewritten) {
		if (lancet_rewritten_open(live, index, &rewrite, NULL) != LANCET_OK)
			return false;
		*ret_bytes = lancet_rewritten_size(rewrite);
		lancet_rewritten_free(rewrite);
		return true;
	}
	*ret_bytes = file->size;
	if (file->size != UINT64_MAX)
		return true;
	if (file->base == NULL ||
		lancet_base_stat(file->base, file->source_path, &st, NULL) != LANCET_OK)
		return false;
	*ret_bytes = (uint64_t)st.st_size;
	return true;
}

static void
put_file(struct buf *out, lancet_live *live, size_t index)
{
	static const size_t count = ARRAY_SIZE(file_columns);
	const struct column_spec *columns = file_columns;
	const struct lancet_live_file *file = lancet_live_file(live, index);
	uint64_t bytes;

	line_put_text(out, columns, count, 0, lancet_live_kind_name(file->kind));
	if (file->has_fragment)
		line_put_number(out, columns, count, 1, file->fragment);
	else
		line_put_text(out, columns, count, 1, "-");
	if (file_bytes(live, index, &bytes))
		line_put_number(out, columns, count, 2, bytes);
	else
		line_put_text(out, columns, count, 2, "-");
	if (file->has_base)
		line_put_number(out, columns, count, 3, file->base_id);
	else
		line_put_text(out, columns, count, 3, "-");
	buf_put_cell(out, 0, slice_text(file->path));
	buf_put_byte(out, '\n');
}

static int
render_files(const struct records *records, uint64_t first, size_t count, struct buf *out,
	struct lancet_error *err)
{
	(void)err;
	for (uint64_t i = first; i < first + count; i++)
		put_file(out, records->state, i);
	return LANCET_OK;
}

static void
release_live(struct records *records)
{
	lancet_live_unref(records->state);
}

int
records_files_tsv(const struct node_ref *ref, struct records *ret_records, struct lancet_error *err)
{
	struct buf header = { 0 };
	lancet_live *live = NULL;

	TRY(lancet_live_open(ref->version, &live, err));
	line_put_header(&header, file_columns, ARRAY_SIZE(file_columns));
	if (buf_check(&header, "files.tsv", err) != LANCET_OK) {
		buf_release(&header);
		lancet_live_unref(live);
		return LANCET_NO_MEMORY;
	}
	*ret_records = (struct records){
		.header = header,
		.count = lancet_live_count(live),
		.render = render_files,
		.release = release_live,
		.state = live,
	};
	return LANCET_OK;
}
