/* Slots: one for each key, counted by lookups, reused late and with a new generation. */
#include "unit.h"

#include "fs/slots.h"

#include <pthread.h>

static lancet_dataset *dataset;
static struct slots *slots;

static void
begin(void)
{
	struct slot_key root = { .flavour = SLOT_TREE };

	ck_assert_int_eq(lancet_dataset_open(UNIT_DATA_DIR "/sample.lance", NULL, &dataset, NULL),
		LANCET_OK);
	root.dataset = dataset;
	slots = slots_new(&root);
	ck_assert_ptr_nonnull(slots);
}

static void
finish(void)
{
	slots_free(slots);
	lancet_dataset_unref(dataset);
}

static uint32_t
acquire(uint64_t number, enum slot_flavour flavour, const char *name)
{
	struct slot_key key = { dataset, number, flavour, name };
	uint32_t slot = 0;

	ck_assert_int_eq(slots_acquire(slots, &key, &slot, NULL), LANCET_OK);
	return slot;
}

static uint32_t
generation_of(uint32_t slot)
{
	struct slot_key key;
	uint32_t generation;

	ck_assert(slots_get(slots, slot, &key, &generation));
	lancet_dataset_unref(key.dataset);
	return generation;
}

START_TEST(equal_keys_share_a_slot_and_others_do_not)
{
	uint32_t version, current, tag;

	begin();
	version = acquire(3, SLOT_VERSION, NULL);
	current = acquire(3, SLOT_CURRENT, NULL);
	tag = acquire(0, SLOT_REF, "v1");
	ck_assert_uint_ne(version, 0);
	ck_assert_uint_ne(version, current);
	ck_assert_uint_ne(tag, acquire(0, SLOT_REF, "v2"));
	ck_assert_uint_eq(tag, acquire(0, SLOT_REF, "v1"));
	ck_assert_uint_eq(version, acquire(3, SLOT_VERSION, NULL));
	ck_assert_uint_ne(version, acquire(4, SLOT_VERSION, NULL));
	ck_assert_uint_eq(slots_lookups(slots, version), 2);
	ck_assert_uint_eq(acquire(0, SLOT_TREE, NULL), 0); /* the root's own key */
	finish();
}
END_TEST

START_TEST(a_slot_lives_as_long_as_its_lookups)
{
	struct slot_key key;
	uint32_t slot, generation;

	begin();
	slot = acquire(3, SLOT_VERSION, NULL);
	slots_add(slots, slot, 4);
	slots_release(slots, slot, 3);
	ck_assert_uint_eq(slots_lookups(slots, slot), 2);
	ck_assert(slots_get(slots, slot, &key, &generation));
	ck_assert_uint_eq(key.number, 3);
	ck_assert_int_eq(key.flavour, SLOT_VERSION);
	lancet_dataset_unref(key.dataset);
	slots_release(slots, slot, 2);
	ck_assert(!slots_get(slots, slot, &key, &generation));
	ck_assert_uint_eq(slots_used(slots), 1);
	slots_release(slots, slot, 1); /* more than was counted is nobody's harm */
	slots_release(slots, 0, 1000);
	ck_assert(slots_get(slots, 0, &key, &generation));
	lancet_dataset_unref(key.dataset);
	finish();
}
END_TEST

START_TEST(a_reused_slot_has_a_new_generation)
{
	enum { ROUNDS = 5000 };
	uint32_t first, old;
	bool reused = false;

	begin();
	first = acquire(1, SLOT_VERSION, NULL);
	old = generation_of(first);
	slots_release(slots, first, 1);
	for (uint64_t i = 2; i < ROUNDS && !reused; i++) {
		uint32_t slot = acquire(i, SLOT_VERSION, NULL);

		reused = slot == first;
		if (reused)
			ck_assert_uint_gt(generation_of(slot), old);
		else
			ck_assert_uint_gt(i, 1);
		slots_release(slots, slot, 1);
	}
	ck_assert(reused);
	finish();
}
END_TEST

/* Many at once: the table grows, and finds all of them again. */
START_TEST(a_hundred_thousand_versions_are_found_again)
{
	enum { COUNT = 100000 };
	uint32_t *made = malloc(COUNT * sizeof(*made));

	ck_assert_ptr_nonnull(made);
	begin();
	for (uint64_t i = 0; i < COUNT; i++)
		made[i] = acquire(i + 1, SLOT_VERSION, NULL);
	ck_assert_uint_eq(slots_used(slots), COUNT + 1);
	for (uint64_t i = 0; i < COUNT; i++)
		ck_assert_uint_eq(acquire(i + 1, SLOT_VERSION, NULL), made[i]);
	for (uint64_t i = 0; i < COUNT; i++)
		slots_release(slots, made[i], 2);
	ck_assert_uint_eq(slots_used(slots), 1);
	finish();
	free(made);
}
END_TEST

START_TEST(no_more_than_20_bits_are_given)
{
	struct slot_key key = { .flavour = SLOT_VERSION };
	struct lancet_error err = { 0 };
	uint32_t slot = 77;

	begin();
	key.dataset = dataset;
	for (key.number = 1; key.number < 1u << 20; key.number++)
		ck_assert_int_eq(slots_acquire(slots, &key, &slot, &err), LANCET_OK);
	slot = 77;
	ck_assert_int_eq(slots_acquire(slots, &key, &slot, &err), LANCET_LIMIT);
	ck_assert_uint_eq(slot, 77);
	ck_assert(err.text[0] != '\0');
	slots_release(slots, 500, 1);
	ck_assert_int_eq(slots_acquire(slots, &key, &slot, &err), LANCET_OK);
	ck_assert_uint_eq(slot, 500);
	finish();
}
END_TEST

START_TEST(the_version_of_a_slot_opens_or_was_removed)
{
	struct slot_key key = { .number = 1, .flavour = SLOT_VERSION };
	struct lancet_error err = { 0 };
	lancet_version *version = NULL;

	begin();
	key.dataset = dataset;
	ck_assert_int_eq(slot_version(&key, &version, &err), LANCET_OK);
	ck_assert_uint_eq(lancet_version_info(version)->number, 1);
	lancet_version_unref(version);
	key.number = 4000;
	ck_assert_int_eq(slot_version(&key, &version, &err), LANCET_CLEANED);
	finish();
}
END_TEST

static void *
look_up_and_forget(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < 20000; i++) {
		struct slot_key key = { dataset, i % 7 + 1, SLOT_VERSION, NULL }, got;
		uint32_t slot = 0, generation;

		if (slots_acquire(slots, &key, &slot, NULL) != LANCET_OK ||
			!slots_get(slots, slot, &got, &generation) || got.number != key.number)
			return &slots;
		lancet_dataset_unref(got.dataset);
		slots_release(slots, slot, 1);
	}
	return NULL;
}

START_TEST(threads_share_slots)
{
	pthread_t threads[4];
	void *failed;

	begin();
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, look_up_and_forget, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
		ck_assert_ptr_null(failed);
	}
	ck_assert_uint_eq(slots_used(slots), 1);
	finish();
}
END_TEST

UNIT_MAIN("slots", UNIT_TEST(equal_keys_share_a_slot_and_others_do_not),
	UNIT_TEST(a_slot_lives_as_long_as_its_lookups),
	UNIT_TEST(a_reused_slot_has_a_new_generation),
	UNIT_TEST(a_hundred_thousand_versions_are_found_again),
	UNIT_TEST(no_more_than_20_bits_are_given),
	UNIT_TEST(the_version_of_a_slot_opens_or_was_removed), UNIT_TEST(threads_share_slots))
