/* Commits that are refused: why, and that nothing was changed by it. */
#include "unit.h"

#include "core/commit_parts.h"
#include "commitrun.h"
#include "lance/transaction.pb-c.h"
#include "maker.h"

/* Commits the change, which must fail so, and leave everything as it was. */
static struct lancet_commit_result
refused(const struct tree *tree, lancet_change *change, int code, const char *word)
{
	struct lancet_commit_result result;
	size_t files = count_all(tree);

	FAILS(lancet_commit(change, NULL, &result, &err), code, word);
	ck_assert_uint_eq(count_all(tree), files);
	ck_assert_uint_eq(result.version, 0);
	ck_assert_uint_eq(result.stored.size, 0);
	lancet_change_free(change);
	return result;
}

static const struct {
	const char *label;
	size_t kept; /* bytes of version 6's manifest, of which it is made */
	size_t zeros;
} torn_heads[] = {
	{ "empty", 0, 0 },
	{ "cut", 700, 0 },
	{ "zeros", 0, 1071 },
	{ "zeros at its end", 512, 559 },
	{ "the version before", 1071, 0 },
};

START_TEST(nothing_is_committed_on_a_torn_head)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_config(dataset, SAMPLE_NEWEST, "k", "v");
	char bytes[1071] = "";
	int fd = open(TREE_PATH(&tree, SAMPLE_CURRENT), O_RDONLY | O_CLOEXEC);
	struct lancet_commit_result result;

	ck_assert_int_eq(read(fd, bytes, torn_heads[_i].kept), (ssize_t)torn_heads[_i].kept);
	(void)close(fd);
	tree_put(&tree, SAMPLE_NEXT, bytes, torn_heads[_i].kept + torn_heads[_i].zeros);
	result = refused(&tree, change, LANCET_CORRUPT, "torn_head=true");
	ck_assert_uint_eq(result.attempts, 0);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(a_version_that_is_gone_is_not_built_on)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *known = change_config(dataset, 5, "k", "v");
	lancet_change *replaced = change_config(dataset, 4, "k", "v");
	lancet_change *unknown = change_config(dataset, 3, "k", "v");

	tree_unlink(&tree, "_versions/18446744073709551610.manifest"); /* 5 */
	(void)refused(&tree, known, LANCET_NOT_FOUND, "version 5, which the transaction has read");
	(void)refused(&tree, replaced, LANCET_NOT_FOUND, "version 5 is gone");
	unknown->message->read_version = 5;
	lancet_version_unref(unknown->read);
	unknown->read = NULL;
	(void)refused(&tree, unknown, LANCET_NOT_FOUND, "make the change anew");
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(a_version_that_is_another_one_now_is_not_built_on)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_config(dataset, SAMPLE_NEWEST, "k", "v");

	tree_rename(&tree, SAMPLE_CURRENT, "kept");
	sample_copy_file(SAMPLE "/" SAMPLE_CURRENT, TREE_PATH(&tree, SAMPLE_CURRENT));
	(void)refused(&tree, change, LANCET_NOT_FOUND, "another one now");
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

static const struct {
	uint64_t read_version;
	int code;
	const char *word;
} odd_versions[] = {
	{ 0, LANCET_INVALID, "read_version is 0" },
	{ UINT64_C(1) << 63 | 5, LANCET_UNSUPPORTED, "detached" },
	{ 7, LANCET_NOT_FOUND, "version 7" },
};

START_TEST(odd_read_versions_are_refused)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_config(dataset, SAMPLE_NEWEST, "k", "v");

	lancet_version_unref(change->read);
	change->read = NULL;
	change->message->read_version = odd_versions[_i].read_version;
	(void)refused(&tree, change, odd_versions[_i].code, odd_versions[_i].word);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

static const char *const odd_uuids[] = {
	"",
	"x",
	"../../../../../../../../../../../etc",
	"0123456789abcdef0123456789abcdef0123",
	"01234567-89ab-cdef-0123-456789abcde/",
};

START_TEST(a_uuid_that_is_none_is_refused)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_config(dataset, SAMPLE_NEWEST, "k", "v");

	change->message->uuid.data = (uint8_t *)(uintptr_t)odd_uuids[_i];
	change->message->uuid.len = strlen(odd_uuids[_i]);
	(void)refused(&tree, change, LANCET_INVALID, "uuid");
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

static const struct {
	uint32_t tag;
	ProtobufCWireType wire_type;
	const char *word;
} reserved_fields[] = {
	{ 15, PROTOBUF_C_WIRE_TYPE_VARINT, "clustering" },
	{ 15, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, "clustering" },
	{ 16, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED, "metadata" },
};

/* pylance can't decode a transaction whose wire type of field 15 is another one than its own. */
START_TEST(fields_of_fragments_that_are_reserved_are_refused)
{
	static uint8_t zero[1];
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_delete(dataset, SAMPLE_NEWEST, "3:1");
	ProtobufCMessageUnknownField field = { .tag = reserved_fields[_i].tag,
		.wire_type = reserved_fields[_i].wire_type,
		.len = 1,
		.data = zero };
	ProtobufCMessage *image = &change->message->delete_->updated_fragments[0]->base;

	image->unknown_fields = &field;
	image->n_unknown_fields = 1;
	(void)refused(&tree, change, LANCET_UNSUPPORTED, reserved_fields[_i].word);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(names_of_two_schemes_are_refused)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_config(dataset, SAMPLE_NEWEST, "k", "v");

	tree_rename(&tree, "_versions/18446744073709551614.manifest", "_versions/1.manifest");
	(void)refused(&tree, change, LANCET_CORRUPT, "both naming schemes");
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(who_won_is_said)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	struct lancet_commit_result result;
	lancet_change *same_row = change_delete(dataset, SAMPLE_NEWEST, "3:1");
	lancet_change *same_key = change_config(dataset, SAMPLE_NEWEST, "k", "w");

	(void)commit_now(change_delete(dataset, SAMPLE_NEWEST, "3:1,2"));
	(void)commit_now(change_config(dataset, SAMPLE_NEWEST, "k", "v"));
	result = refused(&tree, same_row, LANCET_BUSY, "make the change anew on version 8");
	ck_assert(result.conflict_version == 7 && result.rebased_over == 8);
	ck_assert_str_eq(result.conflict_operation, "Delete");
	ck_assert_str_eq(result.conflict_rule, "same_rows");
	ck_assert_str_eq(result.operation, "Delete");
	result = refused(&tree, same_key, LANCET_CONFLICT, "version 8 (UpdateConfig)");
	ck_assert_uint_eq(result.conflict_version, 8);
	ck_assert_str_eq(result.conflict_operation, "UpdateConfig");
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

static bool
always(void *context)
{
	++*(int *)context;
	return true;
}

START_TEST(a_cancelled_commit_is_not_made)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_config(dataset, SAMPLE_NEWEST, "k", "v");
	int asked = 0;
	const struct lancet_commit_options options = { .cancelled = always, .context = &asked };
	struct lancet_commit_result result;

	FAILS(lancet_commit(change, &options, &result, &err), LANCET_CANCELLED, "");
	ck_assert(asked == 1 && result.attempts == 0);
	lancet_change_free(change);
	ck_assert_uint_eq(count_files(&tree, "_versions", ".manifest"), SAMPLE_NEWEST);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

START_TEST(storage_that_can_not_publish_is_refused_first)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_change *change = change_config(dataset, SAMPLE_NEWEST, "k", "v");
	struct lancet_commit_result result;

	link_errno = ENOSYS;
	result = refused(&tree, change, LANCET_UNSUPPORTED, "neither link(2) nor RENAME_NOREPLACE");
	ck_assert_uint_eq(result.attempts, 0);
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

/* The sample's own transactions are months old. */
START_TEST(a_token_counts_for_a_day)
{
	struct tree tree = sample_new();
	lancet_dataset *dataset = sample_open(&tree);
	lancet_version *version = NULL;
	struct lancet_commit_result result =
		commit_now(change_config(dataset, SAMPLE_NEWEST, "k", "v"));

	OK(commit_find_uuid(dataset, slice_text(result.uuid), &version, &err));
	ck_assert_uint_eq(version->info.number, 7);
	lancet_version_unref(version);
	FAILS(commit_find_uuid(
		      dataset, slice_text("767fa0f5-92a7-4e9d-b7be-db307be26347"), &version, &err),
		LANCET_NOT_FOUND, "24 hours");
	lancet_dataset_unref(dataset);
	tree_remove(&tree);
}
END_TEST

UNIT_MAIN("commit_refused", UNIT_LOOP(nothing_is_committed_on_a_torn_head, torn_heads),
	UNIT_TEST(a_version_that_is_gone_is_not_built_on),
	UNIT_TEST(a_version_that_is_another_one_now_is_not_built_on),
	UNIT_LOOP(odd_read_versions_are_refused, odd_versions),
	UNIT_LOOP(a_uuid_that_is_none_is_refused, odd_uuids),
	UNIT_LOOP(fields_of_fragments_that_are_reserved_are_refused, reserved_fields),
	UNIT_TEST(names_of_two_schemes_are_refused), UNIT_TEST(who_won_is_said),
	UNIT_TEST(a_cancelled_commit_is_not_made),
	UNIT_TEST(storage_that_can_not_publish_is_refused_first),
	UNIT_TEST(a_token_counts_for_a_day))
