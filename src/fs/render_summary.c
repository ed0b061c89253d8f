/* summary and schema: what a version is, in lines for people and shells. SPEC section 3. */
#include "render.h"

#include <inttypes.h>
#include <string.h>

#include "util/macros.h"
#include "util/text.h"

static void
put_escaped(struct buf *out, struct lancet_bytes text)
{
	buf_put_cell(out, 0, slice_of(text.data, text.size));
}

static void
put_flags(struct buf *out, const char *key, uint64_t flags)
{
	char name[32];

	buf_printf(out, "%s:", key);
	for (unsigned bit = 0; bit < 64; bit++)
		if (flags >> bit & 1)
			buf_printf(out, " %s", lancet_flag_name(bit, name));
	buf_put_text(out, flags == 0 ? " -\n" : "\n");
}

static void
put_timestamp(struct buf *out, const struct lancet_version_info *info)
{
	char text[31] = "-";

	if (info->has_timestamp &&
		!text_timestamp(info->timestamp_seconds, info->timestamp_nanos, text))
		buf_printf(out, "timestamp: absurd (%" PRId64 " s, %" PRId32 " ns)\n",
			info->timestamp_seconds, info->timestamp_nanos);
	else
		buf_printf(out, "timestamp: %s\n", text);
}

/* A transaction that can't be read is an error of its own file; here it only leaves the word open.
 */
static void
put_operation(struct buf *out, lancet_version *version)
{
	lancet_transaction *transaction = NULL;
	const char *operation = "-";

	if (lancet_version_has_transaction(version))
		operation = lancet_transaction_open(version, &transaction, NULL) == LANCET_OK
				    ? lancet_transaction_operation(transaction)
				    : "unreadable";
	buf_printf(out, "operation: %s\n", operation);
	lancet_transaction_free(transaction);
}

static void
put_writer(struct buf *out, const struct lancet_version_info *info)
{
	buf_put_text(out, "writer: ");
	if (!info->has_writer)
		buf_put_text(out, "-");
	put_escaped(out, info->writer_library);
	if (info->writer_version.size > 0) {
		buf_put_byte(out, ' ');
		put_escaped(out, info->writer_version);
	}
	buf_put_byte(out, '\n');
}

/* Only a version with base paths can have files elsewhere; then its files decide. What can't be
 * told to be complete is not relocatable. */
static void
put_relocatable(struct buf *out, lancet_version *version)
{
	bool relocatable = true;
	lancet_live *live = NULL;

	if (lancet_version_info(version)->base_path_count > 0) {
		relocatable = lancet_live_open(version, &live, NULL) == LANCET_OK &&
			      lancet_live_relocatable(live);
		lancet_live_unref(live);
	}
	buf_printf(out, "relocatable: %s\n", relocatable ? "true" : "false");
}

static void
put_tags(struct buf *out, const struct node_ref *ref)
{
	struct lancet_bytes branch = lancet_dataset_branch_name(ref->dataset);
	struct lancet_tag_list tags = { 0 };
	bool any = false;

	buf_put_text(out, "tags:");
	if (lancet_dataset_tags(ref->dataset, &tags, NULL) != LANCET_OK) {
		buf_put_text(out, " unreadable\n");
		return;
	}
	for (size_t i = 0; i < tags.count; i++) {
		const struct lancet_tag *tag = &tags.tags[i];
		struct slice on = slice_text(tag->has_branch ? tag->branch : "");

		if (tag->code != LANCET_OK || tag->version != ref->number ||
			!slice_equal(on, slice_of(branch.data, branch.size)))
			continue;
		buf_put_byte(out, ' ');
		buf_put_cell(out, 0, slice_text(tag->name));
		any = true;
	}
	buf_put_text(out, any ? "\n" : " -\n");
	lancet_tag_list_release(&tags);
}

int
render_summary(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	const struct lancet_version_info *info = lancet_version_info(ref->version);
	uint64_t physical, deleted;

	TRY(lancet_version_rows(ref->version, &physical, &deleted, err));
	buf_printf(out, "version: %" PRIu64 "\n", info->number);
	put_timestamp(out, info);
	put_operation(out, ref->version);
	put_writer(out, info);
	buf_printf(out, "rows: %" PRIu64 "\n", physical - deleted);
	buf_printf(out, "deleted_rows: %" PRIu64 "\n", deleted);
	buf_printf(out, "fragments: %" PRIu64 "\n", info->fragment_count);
	buf_printf(out, "data_files: %" PRIu64 "\n", info->data_files);
	buf_printf(out, "bytes: %" PRIu64 "\n", info->data_bytes);
	buf_put_text(out, "storage_version: ");
	put_escaped(out, info->storage_version);
	buf_printf(out, "%s\n", info->storage_version.size == 0 ? "-" : "");
	buf_printf(out, "stable_row_ids: %s\n", info->stable_row_ids ? "true" : "false");
	put_flags(out, "reader_flags", info->reader_flags);
	put_flags(out, "writer_flags", info->writer_flags);
	put_relocatable(out, ref->version);
	buf_put_text(out, "branch: ");
	put_escaped(out, info->branch);
	buf_printf(out, "%s\n", info->branch.size == 0 ? "main" : "");
	put_tags(out, ref);
	return LANCET_OK;
}

int
render_schema(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	const struct lancet_field *fields;
	size_t count;

	TRY(lancet_version_fields(ref->version, &fields, &count, err));
	for (size_t i = 0; i < count; i++) {
		buf_fill(out, ' ', 2 * (size_t)fields[i].depth);
		buf_printf(out, "%" PRId32 " ", fields[i].id);
		put_escaped(out, fields[i].name);
		buf_put_byte(out, ' ');
		put_escaped(out, fields[i].logical_type);
		buf_put_text(out, fields[i].nullable ? " nullable\n" : " required\n");
	}
	return LANCET_OK;
}

int
render_error(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	struct lancet_error why = { 0 };
	lancet_version *version = NULL;
	int rc = lancet_version_open(ref->dataset, ref->number, &version, &why);

	lancet_version_unref(version);
	if (rc == LANCET_OK)
		return lancet_fail(
			err, LANCET_NOT_FOUND, "version %" PRIu64 " can be read now", ref->number);
	buf_printf(out, "version %" PRIu64 " can't be read: %s\n", ref->number, why.text);
	if (rc == LANCET_UNSUPPORTED)
		buf_put_text(out, "It needs a newer lancefs, or the program that wrote it.\n");
	else
		buf_put_text(out,
			"The bytes of its manifest are in manifest.raw. Other versions are not "
			"affected: `latest` is the newest one that can be read. If this is the "
			"newest manifest and its writer is gone, rename the file in _versions/ so "
			"that it ends in .torn; then the number can be committed again.\n");
	return LANCET_OK;
}
