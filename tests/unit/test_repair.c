/* Torn manifests are set aside, others are not; fragments that lost a file are found. */
#include "unit.h"

#include "cleanupdata.h"

#include <errno.h>

#define HEAD "_versions/18446744073709551613.manifest" /* version 2 */

/* Version 1 is sound, version 2 is what the test makes of it. */
static struct tree
two_versions(void)
{
	struct tree tree = tree_new();
	const struct data_version first = { "ds", 1, 1, "a", 0, NULL, NULL, 0 };
	const struct data_version second = { "ds", 2, 2, "a b", 0, NULL, NULL, 0 };

	put_version(&tree, &first);
	put_version(&tree, &second);
	return tree;
}

/* What a loss of power makes of a file of `size` bytes. */
enum damage { NONE, EMPTY, SHORT, CUT, ALL_ZERO, NO_MAGIC, NO_PREFIX, BODY, ZERO_SECTOR };

static size_t
damage(enum damage kind, uint8_t *data, size_t size)
{
	switch (kind) {
	case NONE:
		break;
	case EMPTY:
		return 0;
	case SHORT:
		return 7;
	case CUT:
		return size - 1;
	case ALL_ZERO:
		memset(data, 0, size);
		break;
	case NO_MAGIC:
		data[size - 1] ^= 1;
		break;
	case NO_PREFIX:
		memset(data, 0, 4);
		break;
	case BODY:
		data[4] = 0xff; /* no tag of a field */
		break;
	case ZERO_SECTOR:
		memset(data + 512, 0, 512);
		break;
	}
	return size;
}

static const struct {
	enum damage kind;
	int code;
} damages[] = {
	{ NONE, LANCET_NOT_FOUND },
	{ EMPTY, LANCET_OK },
	{ SHORT, LANCET_OK },
	{ CUT, LANCET_OK },
	{ ALL_ZERO, LANCET_OK },
	{ NO_MAGIC, LANCET_OK },
	{ NO_PREFIX, LANCET_OK },
	{ BODY, LANCET_INVALID },
	{ ZERO_SECTOR, LANCET_OK },
};

/* A manifest of version 2 that is longer than a few sectors. */
static size_t
long_manifest(uint8_t into[4096])
{
	Lance__Table__Manifest manifest = LANCE__TABLE__MANIFEST__INIT;
	Lance__Table__DataFragment fragments[300], *places[300];
	struct buf message = { 0 }, file = { 0 };
	size_t size;

	for (size_t i = 0; i < ARRAY_SIZE(fragments); i++) {
		lance__table__data_fragment__init(&fragments[i]);
		fragments[i].id = 70000 + i;
		fragments[i].physical_rows = 70000;
		places[i] = &fragments[i];
	}
	manifest.version = 2;
	manifest.n_fragments = ARRAY_SIZE(fragments);
	manifest.fragments = places;
	maker_pack(&message, &manifest.base);
	maker_frame(&file, buf_slice(&message));
	size = file.size;
	ck_assert_uint_le(size, 4096);
	memcpy(into, file.data, size);
	buf_release(&message);
	buf_release(&file);
	return size;
}

START_TEST(a_torn_head_is_set_aside)
{
	struct tree tree = two_versions();
	uint8_t data[4096];
	size_t size = damage(damages[_i].kind, data, long_manifest(data));
	lancet_dataset *dataset;
	uint64_t version = 0, latest = 0;
	char *name = NULL;

	tree_put(&tree, "ds/" HEAD, data, size);
	dataset = open_dataset(&tree);
	if (damages[_i].code == LANCET_OK) {
		OK(lancet_repair_torn_head(dataset, &version, &name, &err));
		ck_assert_uint_eq(version, 2);
		ck_assert_str_eq(name, "18446744073709551613.manifest.torn");
		free(name);
		OK(lancet_dataset_latest(dataset, &latest, &err));
		ck_assert_uint_eq(latest, 1);
		FAILS(lancet_repair_torn_head(dataset, &version, &name, &err), LANCET_NOT_FOUND,
			"version 1 is fine");
	} else {
		FAILS(lancet_repair_torn_head(dataset, &version, &name, &err), damages[_i].code,
			damages[_i].code == LANCET_INVALID ? "it stays" : "fine");
	}
	ck_assert_int_eq(exists(&tree, "ds/" HEAD), damages[_i].code != LANCET_OK);
	ck_assert_int_eq(exists(&tree, "ds/" HEAD ".torn"), damages[_i].code == LANCET_OK);
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(what_was_set_aside_before_stays)
{
	struct tree tree = two_versions();
	lancet_dataset *dataset = open_dataset(&tree);
	uint64_t version = 0;
	char *name = NULL;

	tree_text(&tree, "ds/" HEAD, "third");
	tree_text(&tree, "ds/" HEAD ".torn", "first");
	tree_text(&tree, "ds/" HEAD ".torn.1", "second");
	OK(lancet_repair_torn_head(dataset, &version, &name, &err));
	ck_assert_str_eq(name, "18446744073709551613.manifest.torn.2");
	free(name);
	check_text(&tree, "ds/" HEAD ".torn", "first");
	check_text(&tree, "ds/" HEAD ".torn.1", "second");
	check_text(&tree, "ds/" HEAD ".torn.2", "third");
	close_dataset(dataset, &tree);
}
END_TEST

START_TEST(a_head_of_a_later_release_stays)
{
	struct tree tree = two_versions();
	lancet_dataset *dataset = open_dataset(&tree);
	uint64_t version = 0;
	char *name = NULL;

	tree_manifest_flags(&tree, "ds/" HEAD, 2, 1, UINT64_C(1) << 30);
	FAILS(lancet_repair_torn_head(dataset, &version, &name, &err), LANCET_UNSUPPORTED,
		"bit_30");
	tree_text(&tree, "ds/_versions/2.manifest", "");
	FAILS(lancet_repair_torn_head(dataset, &version, &name, &err), LANCET_CORRUPT,
		"two manifests");
	ck_assert(exists(&tree, "ds/" HEAD) && exists(&tree, "ds/_versions/2.manifest"));
	close_dataset(dataset, &tree);
}
END_TEST

static const int flags[] = { 0, STORE_FAULT_LATE, STORE_FAULT_STAYS };

/* The bytes are under one of the two names, whatever fails. */
START_TEST(whatever_fails_the_bytes_stay)
{
	bool failed = true;

	for (uint64_t nth = 1; failed; nth++) {
		struct tree tree = two_versions();
		struct store *local = NULL, *faulty;
		lancet_dataset *dataset = NULL;
		struct lancet_error why = { 0 };
		uint64_t version;
		char *name = NULL;

		tree_text(&tree, "ds/" HEAD, "torn");
		OK(store_local_open(TREE_PATH(&tree, "ds"), NULL, &local, &err));
		faulty = store_fault_flags_new(local, nth + 2, EIO, flags[_i]);
		OK(dataset_open_store(faulty, "ds", NULL, &dataset, &err));
		failed = lancet_repair_torn_head(dataset, &version, &name, &why) != LANCET_OK;
		ck_assert(!failed || (why.text[0] != '\0' && name == NULL));
		free(name);
		ck_assert(exists(&tree, "ds/" HEAD) || exists(&tree, "ds/" HEAD ".torn"));
		ck_assert_uint_lt(nth, 40);
		lancet_dataset_unref(dataset);
		store_unref(faulty);
		store_unref(local);
		tree_remove(&tree);
	}
}
END_TEST

UNIT_MAIN("repair", UNIT_LOOP(a_torn_head_is_set_aside, damages),
	UNIT_TEST(what_was_set_aside_before_stays), UNIT_TEST(a_head_of_a_later_release_stays),
	UNIT_LOOP(whatever_fails_the_bytes_stay, flags))
