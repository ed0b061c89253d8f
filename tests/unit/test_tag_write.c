/* Tags and pins: what their files hold, who wins, failures of every call. */
#include "unit.h"

#include <lancet/reference.h>
#include <lancet/refs.h>
#include "core/refs.h"
#include "storecalls.h"
#include "treedata.h"
#include "util/text.h"

#include <errno.h>

#define TAG(name) "ds/_refs/tags/" name ".json"

/* Reads a file whole. */
static char *
text_of(const struct tree *tree, const char *key)
{
	static char text[4096];
	int fd = open(TREE_PATH(tree, key), O_RDONLY | O_CLOEXEC);
	ssize_t size;

	ck_assert_msg(fd >= 0, "%s", key);
	size = read(fd, text, sizeof(text) - 1);
	ck_assert_int_ge(size, 0);
	(void)close(fd);
	text[size] = '\0';
	return text;
}

/* Puts "TIME" in the place of each time, so that the rest can be compared. */
static char *
without_times(char *text)
{
	char *at = text;

	for (; *at != '\0'; at++) {
		int64_t seconds;
		int32_t nanos;

		if (strlen(at) < 30 || at[29] != 'Z' ||
			!text_to_timestamp(slice_of(at, 30), &seconds, &nanos))
			continue;
		ck_assert_int_ge(seconds, 1700000000);
		memcpy(at, "TIME", 4);
		memmove(at + 4, at + 30, strlen(at + 30) + 1);
	}
	return text;
}

static void
check_file(const struct tree *tree, const char *key, const char *want)
{
	ck_assert_str_eq(without_times(text_of(tree, key)), want);
}

/* As pylance 14.0.2 writes them. */
#define NEW_TAG                                                                                    \
	"{\n  \"branch\": null,\n  \"version\": 2,\n  \"createdAt\": \"TIME\",\n"                  \
	"  \"updatedAt\": \"TIME\",\n  \"manifestSize\": 27,\n  \"metadata\": {}\n}"

START_TEST(a_new_tag_is_written_as_the_reference_does)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset = open_dataset(&tree);
	struct lancet_tag_list tags;

	OK(lancet_tag_create(dataset, "v1.0", 2, &err));
	check_file(&tree, TAG("v1.0"), NEW_TAG);
	OK(lancet_dataset_tags(dataset, &tags, &err));
	ck_assert_uint_eq(tags.count, 1);
	ck_assert_uint_eq(tags.tags[0].version, 2);
	ck_assert_int_eq(tags.tags[0].code, LANCET_OK);
	lancet_tag_list_release(&tags);
	FAILS(lancet_tag_create(dataset, "v1.0", 3, &err), LANCET_EXISTS, "v1.0");
	check_file(&tree, TAG("v1.0"), NEW_TAG);
	FAILS(lancet_tag_create(dataset, "v9", 9, &err), LANCET_NOT_FOUND, "9");
	FAILS(lancet_tag_move(dataset, "v1.0", 9, &err), LANCET_NOT_FOUND, "9");
	FAILS(lancet_tag_move(dataset, "v2", 2, &err), LANCET_NOT_FOUND, "v2");
	FAILS(lancet_tag_delete(dataset, "v2", &err), LANCET_NOT_FOUND, "v2");
	OK(lancet_tag_delete(dataset, "v1.0", &err));
	FAILS(lancet_tag_delete(dataset, "v1.0", &err), LANCET_NOT_FOUND, "v1.0");
	close_dataset(dataset, &tree);
}
END_TEST

static const char *const bad_names[] = { "", ".a", "a.", "a..b", "a b", "a/b", "x.lock", "\xff",
	"a\nb", "../../x", "$x", "\xce\xb2" };

START_TEST(names_that_are_none_are_refused)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset = open_dataset(&tree);

	FAILS(lancet_tag_create(dataset, bad_names[_i], 2, &err), LANCET_INVALID, "name for a tag");
	ck_assert_int_ne(access(TREE_PATH(&tree, "ds/_refs"), F_OK), 0);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(a_name_must_fit_a_file_name)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset = open_dataset(&tree);
	char name[300];

	memset(name, 'n', sizeof(name));
	name[251] = '\0'; /* with ".json" 256 bytes */
	FAILS(lancet_tag_create(dataset, name, 2, &err), LANCET_INVALID, "too long");
	name[250] = '\0';
	OK(lancet_tag_create(dataset, name, 2, &err));
	OK(lancet_tag_move(dataset, name, 3, &err));
	OK(lancet_tag_delete(dataset, name, &err));
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(moving_keeps_what_it_does_not_know)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset = open_dataset(&tree);

	tree_text(&tree, TAG("v"),
		"{\"later\": [1, -2, 3.5, true, null, \"\\u0000\\\"x\\u00e9\", {}], \"version\": "
		"1, "
		"\"createdAt\": \"2020-01-01T00:00:00Z\", \"metadata\": {\"k\": \"v\"}, "
		"\"branch\": \"gone\", \"big\": 18446744073709551614}");
	OK(lancet_tag_move(dataset, "v", 3, &err));
	check_file(&tree, TAG("v"),
		"{\n  \"later\": [\n    1,\n    -2,\n    3.5,\n    true,\n    null,\n"
		"    \"\\u0000\\\"x\xc3\xa9\",\n    {}\n  ],\n  \"version\": 3,\n"
		"  \"createdAt\": \"2020-01-01T00:00:00Z\",\n  \"metadata\": {\n    \"k\": \"v\"\n"
		"  },\n  \"branch\": null,\n  \"big\": 18446744073709551614,\n"
		"  \"updatedAt\": \"TIME\",\n  \"manifestSize\": 27\n}");
	tree_text(&tree, TAG("w"), "{\"version\": 1, \"n\": 99999999999999999999}");
	FAILS(lancet_tag_move(dataset, "w", 3, &err), LANCET_UNSUPPORTED, "n: a number");
	tree_text(&tree, TAG("x"), "{\"version\": ");
	FAILS(lancet_tag_move(dataset, "x", 3, &err), LANCET_CORRUPT, "x.json");
	FAILS(lancet_tag_create(dataset, "x", 3, &err), LANCET_EXISTS, "x");
	OK(lancet_tag_delete(dataset, "x", &err));
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(tags_of_a_branch_lie_in_the_root_and_name_it)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset, *branch = NULL;

	tree_manifest(&tree, "ds/tree/a/b/_versions/18446744073709551612.manifest", 3, 5000);
	tree_text(&tree, "ds/_refs/branches/a%2Fb.json", "{\"parentVersion\": 3}");
	dataset = open_dataset(&tree);
	OK(lancet_dataset_branch(
		dataset, (struct lancet_bytes){ (const uint8_t *)"a/b", 3 }, &branch, &err));
	FAILS(lancet_tag_create(branch, "t", 2, &err), LANCET_NOT_FOUND, "2");
	OK(lancet_tag_create(branch, "t", 3, &err));
	ck_assert_ptr_nonnull(strstr(text_of(&tree, TAG("t")), "\"branch\": \"a/b\","));
	OK(lancet_tag_move(dataset, "t", 2, &err));
	ck_assert_ptr_nonnull(strstr(text_of(&tree, TAG("t")), "\"branch\": null,"));
	lancet_dataset_unref(branch);
	close_dataset(dataset, &tree);
}
END_TEST

#define PIN(name) TAG("lancefs-pin-" name)

START_TEST(a_pin_is_a_tag_with_an_end)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset = open_dataset(&tree);
	char *at;
	int64_t seconds = 0;
	int32_t nanos;

	OK(lancet_pin_create(dataset, "p", 2, 3600, &err));
	at = strstr(text_of(&tree, PIN("p")), "\"lancefs.expires\": \"");
	ck_assert_ptr_nonnull(at);
	ck_assert(text_to_timestamp(slice_of(at + 20, 30), &seconds, &nanos));
	ck_assert_int_ge(seconds, time(NULL) + 3590);
	ck_assert_int_le(seconds, time(NULL) + 3600);
	check_file(&tree, PIN("p"),
		"{\n  \"branch\": null,\n  \"version\": 2,\n  \"createdAt\": \"TIME\",\n"
		"  \"updatedAt\": \"TIME\",\n  \"manifestSize\": 27,\n"
		"  \"metadata\": {\n    \"lancefs.expires\": \"TIME\"\n  }\n}");
	OK(lancet_pin_create(dataset, "p", 3, 7200, &err));
	ck_assert_ptr_nonnull(strstr(text_of(&tree, PIN("p")), "\"version\": 3,"));
	FAILS(lancet_pin_create(dataset, "p", 9, 7200, &err), LANCET_NOT_FOUND, "9");
	FAILS(lancet_pin_create(dataset, "q", 2, 0, &err), LANCET_INVALID, "0 seconds");
	FAILS(lancet_pin_create(dataset, "q", 2, UINT64_MAX, &err), LANCET_INVALID, "seconds");
	FAILS(lancet_pin_create(dataset, "a/b", 2, 5, &err), LANCET_INVALID, "name");
	FAILS(lancet_pin_delete(dataset, "q", &err), LANCET_NOT_FOUND, "no pin \"q\"");
	OK(lancet_pin_delete(dataset, "p", &err));
	FAILS(lancet_pin_delete(dataset, "p", &err), LANCET_NOT_FOUND, "no pin \"p\"");
	tree_text(&tree, PIN("own"), "{\"version\": 1, \"metadata\": {}}");
	FAILS(lancet_pin_create(dataset, "own", 2, 5, &err), LANCET_EXISTS, "no pin");
	FAILS(lancet_pin_delete(dataset, "own", &err), LANCET_NOT_FOUND, "no pin");
	check_text(&tree, PIN("own"), "{\"version\": 1, \"metadata\": {}}");
	close_dataset(dataset, &tree);
}
END_TEST

static const struct {
	const char *name, *text;
	bool goes;
} old_pins[] = {
	{ PIN("a"), "{\"version\":1,\"metadata\":{\"lancefs.expires\":\"2020-01-01T00:00:00Z\"}}",
		true },
	{ PIN("b"), "{\"version\":9,\"metadata\":{\"lancefs.expires\":\"2020-01-01\"}}", true },
	{ PIN("c"), "{\"version\":1,\"metadata\":{\"lancefs.expires\":\"9000-01-01T00:00:00Z\"}}",
		false },
	{ PIN("d"), "{\"version\":1,\"metadata\":{\"lancefs.expires\":\"soon\"}}", false },
	{ PIN("e"), "{\"version\":1,\"metadata\":{}}", false },
	{ PIN("f"), "{\"version\":1,\"metadata\":{\"lancefs.expires\":5}}", false },
	{ PIN("g"), "{\"version\":", false },
	{ TAG("h"), "{\"version\":1,\"metadata\":{\"lancefs.expires\":\"2020-01-01T00:00:00Z\"}}",
		false },
};

START_TEST(pins_end_when_their_time_is_over)
{
	struct tree tree = three_versions();
	lancet_dataset *dataset = open_dataset(&tree);
	size_t removed = 77;

	OK(lancet_pins_expire(dataset, &removed, &err));
	ck_assert_uint_eq(removed, 0);
	for (size_t i = 0; i < ARRAY_SIZE(old_pins); i++)
		tree_text(&tree, old_pins[i].name, old_pins[i].text);
	OK(lancet_pins_expire(dataset, &removed, &err));
	ck_assert_uint_eq(removed, 2);
	for (size_t i = 0; i < ARRAY_SIZE(old_pins); i++)
		check_text(&tree, old_pins[i].name, old_pins[i].goes ? NULL : old_pins[i].text);
	OK(lancet_pins_expire(dataset, NULL, &err));
	close_dataset(dataset, &tree);
}
END_TEST

enum { CREATE, MOVE, DELETE, RENEW, ACTIONS };

static int
act(lancet_dataset *dataset, int action, struct lancet_error *err)
{
	switch (action) {
	case CREATE:
		return lancet_tag_create(dataset, "new", 2, err);
	case MOVE:
		return lancet_tag_move(dataset, "old", 3, err);
	case DELETE:
		return lancet_tag_delete(dataset, "old", err);
	default:
		return lancet_pin_create(dataset, "old", 3, 60, err);
	}
}

/* Whole files under their names, whatever fails; nothing but them. */
static void
check_after_fault(lancet_dataset *dataset, int action)
{
	struct lancet_tag_list tags;

	OK(lancet_dataset_tags(dataset, &tags, &err));
	ck_assert_uint_ge(tags.count, action == DELETE ? 1 : 2);
	for (size_t i = 0; i < tags.count; i++)
		ck_assert_msg(tags.tags[i].code == LANCET_OK, "%s", tags.tags[i].error);
	lancet_tag_list_release(&tags);
}

/* Each call fails in its turn, before and after it has taken effect. */
START_TEST(whatever_fails_the_files_are_whole)
{
	int action = _i / 2, flags = _i % 2 == 0 ? 0 : STORE_FAULT_LATE;
	bool failed = true;

	for (uint64_t nth = 1; failed; nth++) {
		struct tree tree = three_versions();
		struct store *local = NULL, *faulty;
		lancet_dataset *dataset = NULL, *sound;
		struct lancet_error why = { 0 };

		tree_text(&tree, TAG("old"), "{\"version\": 1}");
		tree_text(&tree, PIN("old"),
			"{\"version\": 1, \"metadata\": {\"lancefs.expires\": \"2020-01-01\"}}");
		OK(store_local_open(TREE_PATH(&tree, "ds"), NULL, &local, &err));
		faulty = store_fault_flags_new(local, nth + 2, EIO, flags);
		OK(dataset_open_store(faulty, "ds", NULL, &dataset, &err));
		failed = act(dataset, action, &why) != LANCET_OK;
		ck_assert(!failed || why.text[0] != '\0');
		ck_assert_uint_lt(nth, 60);
		sound = open_dataset(&tree);
		check_after_fault(sound, action);
		lancet_dataset_unref(sound);
		lancet_dataset_unref(dataset);
		store_unref(faulty);
		store_unref(local);
		tree_remove(&tree);
	}
}
END_TEST

static const int faults[ACTIONS * 2];

UNIT_MAIN("tag_write", UNIT_TEST(a_new_tag_is_written_as_the_reference_does),
	UNIT_LOOP(names_that_are_none_are_refused, bad_names),
	UNIT_TEST(a_name_must_fit_a_file_name), UNIT_TEST(moving_keeps_what_it_does_not_know),
	UNIT_TEST(tags_of_a_branch_lie_in_the_root_and_name_it),
	UNIT_TEST(a_pin_is_a_tag_with_an_end), UNIT_TEST(pins_end_when_their_time_is_over),
	UNIT_LOOP(whatever_fails_the_files_are_whole, faults))
