/* Preconditions as users write them, and as they are stored. */
#include "unit.h"

#include "storecalls.h"
#include "worldmake.h"

static const struct {
	const char *text, *word;
	int want;
} texts[] = {
	{ "", "COLUMNS@", LANCET_INVALID },
	{ "a", "COLUMNS@", LANCET_INVALID },
	{ "@4:0", "without a name", LANCET_INVALID },
	{ "a,@4:0", "without a name", LANCET_INVALID },
	{ "a,a@4:0", "named twice", LANCET_INVALID },
	{ "b@4:0", "b", LANCET_NOT_FOUND },
	{ "s.z@4:0", "s.z", LANCET_NOT_FOUND },
	{ "a@", "FRAGMENT:OFFSETS", LANCET_INVALID },
	{ "a@4", "FRAGMENT:OFFSETS", LANCET_INVALID },
	{ "a@x:0", "FRAGMENT:OFFSETS", LANCET_INVALID },
	{ "a@4:0;", "FRAGMENT:OFFSETS", LANCET_INVALID },
	{ "a@9:0", "fragment 9", LANCET_NOT_FOUND },
	{ "a@4:0;4:1", "named twice", LANCET_INVALID },
	{ "a@4:", "no row offset", LANCET_INVALID },
	{ "a@4:1,", "no row offset", LANCET_INVALID },
	{ "a@4:x", "\"x\" is no", LANCET_INVALID },
	{ "a@4:2-1", "\"2-1\" is no", LANCET_INVALID },
	{ "a@4:-1", "\"-1\" is no", LANCET_INVALID },
	{ "a@4:10", "has 10 rows", LANCET_INVALID },
	{ "a@4:0-18446744073709551615", "has 10 rows", LANCET_INVALID },
	{ "a@4:**", "no row offset", LANCET_INVALID },
};

START_TEST(a_text_that_says_nothing_is_refused)
{
	struct arena arena = { 0 };
	struct world read;
	struct slice *list;
	size_t count;

	world_init(&read, 3);
	world_open(&read);
	FAILS(preconditions_encode(read.version, texts[_i].text, &arena, &list, &count, &err),
		texts[_i].want, texts[_i].word);
	arena_release(&arena);
	world_release(&read);
}
END_TEST

START_TEST(a_text_is_encoded_as_the_message)
{
	/* field_ids #1 { 3, 0 }; rows #2: { fragment 4, whole #2 }, { 5, offsets #3 { 1, 3, 4, 5 }
	 * } */
	static const uint8_t want[40] =
		"\x0a\x02\x03\x00\x12\x04\x08\x04\x10\x01\x12\x1c\x08\x05\x1a"
		"\x18\x3a\x30\0\0\1\0\0\0\0\0\3\0\x10\0\0\0\1\0\3\0\4\0\5";
	struct arena arena = { 0 };
	struct world read;
	struct slice *list;
	size_t count;

	world_init(&read, 3);
	world_open(&read);
	OK(preconditions_encode(read.version, "s.y,a@5:1,3-5;4:*", &arena, &list, &count, &err));
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(list[0].size, sizeof(want));
	ck_assert_mem_eq(list[0].data, want, sizeof(want));
	arena_release(&arena);
	world_release(&read);
}
END_TEST

#define NO_ROWS "\x12\x0c\x08\x04\x1a\x08\x3a\x30\0\0\0\0\0\0"
#define ROW_1   "\x12\x16\x08\x04\x1a\x12\x3a\x30\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\1\0"
#define WHOLE   "\x12\x04\x08\x04\x10\x01"

/* Encoded conditions. */
static const struct {
	const char *bytes;
	size_t size;
	int want;
	const char *word; /* NULL: it declares no cells */
} encoded[] = {
	{ "\x0a\x01\x00" WHOLE, 9, LANCET_OK, "" },
	{ "\x08\x00" WHOLE, 8, LANCET_OK, "" },
	{ "\x0a\x01\x00" ROW_1, 27, LANCET_OK, "" },
	{ "", 0, LANCET_OK, NULL },
	{ "\x0a\x01\x00", 3, LANCET_OK, NULL },
	{ WHOLE, 6, LANCET_OK, NULL },
	{ "\x0a\x01\x00" NO_ROWS, 17, LANCET_OK, NULL },
	{ "\x0a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" WHOLE, 18, LANCET_CORRUPT,
		"negative" },
	{ "\x0a\x02\x03\x03" WHOLE, 10, LANCET_CORRUPT, "named twice" },
	{ "\x0a\x01\x00" WHOLE WHOLE, 15, LANCET_CORRUPT, "named twice" },
	{ "\x0a\x01\x00\x12\x04\x08\x09\x10\x01", 9, LANCET_CORRUPT, "fragment 9" },
	{ "\x0a\x01\x00\x12\x04\x08\x04\x10\x00", 9, LANCET_CORRUPT, "no rows are named" },
	{ "\x0a\x01\x00\x12\x02\x08\x04", 7, LANCET_CORRUPT, "no rows are named" },
	{ "\x0a\x01\x00\x12\x04\x08\x04\x1a\x00", 9, LANCET_CORRUPT, "fragment 4" },
	{ "\x0a\x01\x00\x12\x16\x08\x04\x1a\x12\x3a\x30\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\x0a\0", 27,
		LANCET_CORRUPT, "fragment 4" },
	{ "\x0a\x01\x00\x12\x16\x08\x04\x1a\x12\x3a\x31\0\0\1\0\0\0\0\0\0\0\x10\0\0\0\1\0", 27,
		LANCET_CORRUPT, "fragment 4" },
	{ "\x0a\x01\x00\x12\x06\x08\x04\x10\x01\x20\x01", 11, LANCET_UNSUPPORTED,
		"never evaluated" },
	{ "\x0a\x01\x00" WHOLE "\x18\x01", 11, LANCET_UNSUPPORTED, "never evaluated" },
	{ "\x0a\x05\x00", 3, LANCET_UNSUPPORTED, "never evaluated" },
	{ "\x12\x03\x04\x00\x00", 5, LANCET_UNSUPPORTED, "never evaluated" },
};

START_TEST(an_encoded_condition_is_validated)
{
	struct preconditions *conditions = NULL;
	struct slice list = slice_of(encoded[_i].bytes, encoded[_i].size);
	lancet_transaction *transaction = world_transaction(&list, 1);
	struct world read;

	world_init(&read, 3);
	world_open(&read);
	if (encoded[_i].want == LANCET_OK)
		OK(preconditions_open(transaction, read.version, &conditions, &err));
	else
		FAILS(preconditions_open(transaction, read.version, &conditions, &err),
			encoded[_i].want, encoded[_i].word);
	ck_assert((conditions != NULL) ==
		  (encoded[_i].want == LANCET_OK && encoded[_i].word != NULL));
	preconditions_free(conditions);
	lancet_transaction_free(transaction);
	world_release(&read);
}
END_TEST

START_TEST(a_field_that_was_never_there_is_corrupt)
{
	static const uint8_t bytes[] = "\x0a\x01\x2a" WHOLE;
	struct slice list = slice_of(bytes, sizeof(bytes) - 1);
	lancet_transaction *transaction = world_transaction(&list, 1);
	struct preconditions *conditions = NULL;
	struct precondition_failure failure;
	struct world read, current;

	world_init(&read, 3);
	world_init(&current, 4);
	world_open(&read);
	world_open(&current);
	OK(preconditions_open(transaction, read.version, &conditions, &err));
	FAILS(preconditions_check(conditions, current.version, &failure, &err), LANCET_CORRUPT,
		"field 42");
	preconditions_free(conditions);
	lancet_transaction_free(transaction);
	world_release(&read);
	world_release(&current);
}
END_TEST

/* All of several must hold, and those without cells are passed over. */
START_TEST(conditions_are_a_conjunction)
{
	static const char a[] = "\x0a\x01\x00" WHOLE, y[] = "\x0a\x01\x03" WHOLE;
	const struct slice list[] = { slice_of("", 0), slice_of(a, 9), slice_of(y, 9) };
	lancet_transaction *transaction = world_transaction(list, 3);
	struct preconditions *conditions = NULL;
	struct precondition_failure failure;
	struct world read, current;

	world_init(&read, 3);
	world_init(&current, 4);
	current.files[1].path = maker_text("t.lance");
	world_open(&read);
	world_open(&current);
	OK(preconditions_open(transaction, read.version, &conditions, &err));
	FAILS(preconditions_check(conditions, current.version, &failure, &err), LANCET_PRECONDITION,
		"precondition 2: field \"s.y\", fragment 4: rewritten since version 3");
	ck_assert_uint_eq(failure.fragment, 4);
	preconditions_free(conditions);
	lancet_transaction_free(transaction);
	world_release(&read);
	world_release(&current);
}
END_TEST

UNIT_MAIN("precondition_text", UNIT_LOOP(a_text_that_says_nothing_is_refused, texts),
	UNIT_TEST(a_text_is_encoded_as_the_message),
	UNIT_LOOP(an_encoded_condition_is_validated, encoded),
	UNIT_TEST(a_field_that_was_never_there_is_corrupt), UNIT_TEST(conditions_are_a_conjunction))
