/* Files of a version, except its maps, fragments, indices and dataset/. SPEC section 3.
 *
 * A version that can't be read, damaged or refused, holds `error` and `manifest.raw` instead of all
 * others.
 */
#include "place.h"

#include "rawfile.h"
#include "render.h"
#include "util/macros.h"
#include "util/text.h"

static bool
is_unreadable(const struct node_ref *ref)
{
	return ref->version == NULL;
}

static bool
has_transaction(const struct node_ref *ref)
{
	return lancet_version_has_transaction(ref->version);
}

static int
measure_manifest(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	(void)err;
	*ret_size = lancet_version_manifest_size(ref->version);
	return LANCET_OK;
}

static int
read_manifest(const struct raw_bytes *raw, uint64_t offset, size_t size, void *into,
	struct lancet_error *err)
{
	return lancet_version_manifest_read(raw->state, offset, size, into, err);
}

static void
release_manifest(struct raw_bytes *raw)
{
	lancet_version_unref(raw->state);
}

static int
raw_manifest(const struct node_ref *ref, struct raw_bytes *ret_raw, struct lancet_error *err)
{
	(void)err;
	*ret_raw = (struct raw_bytes){
		.size = lancet_version_manifest_size(ref->version),
		.read = read_manifest,
		.release = release_manifest,
		.state = lancet_version_ref(ref->version),
	};
	return LANCET_OK;
}

static int
measure_manifest_file(const struct node_ref *ref, uint64_t *ret_size, struct lancet_error *err)
{
	struct stat st;

	TRY(lancet_dataset_manifest_stat(ref->dataset, ref->number, &st, err));
	*ret_size = (uint64_t)st.st_size;
	return LANCET_OK;
}

static int
raw_manifest_file(const struct node_ref *ref, struct raw_bytes *ret_raw, struct lancet_error *err)
{
	struct stat st;
	int fd = -1;

	TRY(lancet_dataset_manifest_fd(ref->dataset, ref->number, &fd, &st, err));
	return raw_of_fd(fd, (uint64_t)st.st_size, ret_raw, err);
}

static int
render_transaction_pb(const struct node_ref *ref, struct buf *out, struct lancet_error *err)
{
	lancet_transaction *transaction = NULL;
	struct lancet_bytes bytes;

	TRY(lancet_transaction_open(ref->version, &transaction, err));
	bytes = lancet_transaction_bytes(transaction);
	buf_put(out, bytes.data, bytes.size);
	lancet_transaction_free(transaction);
	return LANCET_OK;
}

/* files.tsv names the tag files, which come and go. */
static int
stamp_files(const struct node_ref *ref, uint64_t *ret_stamp, struct lancet_error *err)
{
	uint64_t stamp = TEXT_HASH_SEED;
	lancet_live *live = NULL;

	TRY(lancet_live_open(ref->version, &live, err));
	for (size_t i = lancet_live_ref_start(live); i < lancet_live_count(live); i++) {
		const struct lancet_live_file *file = lancet_live_file(live, i);

		stamp = text_hash(stamp, slice_text(file->path));
		stamp = text_hash(stamp, slice_of(&file->size, sizeof(file->size)));
	}
	lancet_live_unref(live);
	*ret_stamp = stamp;
	return LANCET_OK;
}

const struct node_kind rows_version[] = {
	{ .id = NODE_ERROR,
		.name = "error",
		.shape = SHAPE_TEXT,
		.parent = NODE_VERSION,
		.present = is_unreadable,
		.render = render_error },
	{ .id = NODE_MANIFEST_RAW,
		.name = "manifest.raw",
		.shape = SHAPE_RAW,
		.parent = NODE_VERSION,
		.present = is_unreadable,
		.measure = measure_manifest_file,
		.raw = raw_manifest_file },
	/* summary and files.tsv name the version's tags, so the kernel asks again each time */
	{ .id = NODE_SUMMARY,
		.name = "summary",
		.shape = SHAPE_TEXT,
		.parent = NODE_VERSION,
		.needs_version = true,
		.live = true,
		.render = render_summary },
	{ .id = NODE_MANIFEST_JSON,
		.name = "manifest.json",
		.shape = SHAPE_TEXT,
		.parent = NODE_VERSION,
		.needs_version = true,
		.render = render_manifest_json },
	{ .id = NODE_MANIFEST_PB,
		.name = "manifest.pb",
		.shape = SHAPE_RAW,
		.parent = NODE_VERSION,
		.needs_version = true,
		.measure = measure_manifest,
		.raw = raw_manifest },
	{ .id = NODE_SCHEMA,
		.name = "schema",
		.shape = SHAPE_TEXT,
		.parent = NODE_VERSION,
		.needs_version = true,
		.render = render_schema },
	{ .id = NODE_SCHEMA_JSON,
		.name = "schema.json",
		.shape = SHAPE_TEXT,
		.parent = NODE_VERSION,
		.needs_version = true,
		.render = render_schema_json },
	{ .id = NODE_TRANSACTION_JSON,
		.name = "transaction.json",
		.shape = SHAPE_TEXT,
		.parent = NODE_VERSION,
		.needs_version = true,
		.present = has_transaction,
		.render = render_transaction_json },
	{ .id = NODE_TRANSACTION_PB,
		.name = "transaction.pb",
		.shape = SHAPE_TEXT,
		.parent = NODE_VERSION,
		.needs_version = true,
		.present = has_transaction,
		.render = render_transaction_pb },
	{ .id = NODE_FRAGMENTS_TSV,
		.name = "fragments.tsv",
		.shape = SHAPE_RECORDS,
		.parent = NODE_VERSION,
		.needs_version = true,
		.measure = measure_fragments_tsv,
		.records = records_fragments_tsv },
	{ .id = NODE_FILES_TSV,
		.name = "files.tsv",
		.shape = SHAPE_RECORDS,
		.parent = NODE_VERSION,
		.needs_version = true,
		.live = true,
		.stamp = stamp_files,
		.records = records_files_tsv },
	{ .id = NODE_NONE },
};
