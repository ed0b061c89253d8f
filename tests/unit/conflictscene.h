/* A dataset for one question about conflicts: version 1, which ours was built on, and a version for
 * each transaction committed since. Fragments 0 to 5 have PART_ROWS rows each; fields are 0, 1, 2
 * and 3, below which is 4.
 */
#ifndef TESTS_CONFLICTSCENE_H
#define TESTS_CONFLICTSCENE_H

#include "core/conflict.h"
#include "core/transaction.h"
#include "temptree.h"
#include "txnhistory.h"
#include "txnmake.h"

#define SCENE_THEIRS 3

struct conflict_scene {
	const char *label;
	const char *ours, *theirs[SCENE_THEIRS];
	const char *affected; /* "0:4,5 1:2"; NULL: not known */
	const char *carried;  /* history that a rewrite carries (txnhistory.h) */
	const char *before;   /* history of version 1 */
	const char *history;  /* of the later ones */
	const char *entries;  /* of the later ones: "NAME:FIELDS:FRAGMENTS NAME" */
	const char *live;     /* fragments of the later ones; NULL: as in version 1 */
	const char *deleted;  /* "0:8,9": of the later ones */
	const char *deleted_before;
	const char *bases;   /* of the later ones: "1:name:path" */
	bool base_before;    /* version 1 has it, too */
	bool stable, tagged; /* flags of all versions: stable row ids, tagged history */
	enum conflict_verdict verdict;
	const char *rule;
	uint64_t version; /* that won; 0: the first of theirs */
};

static inline uint32_t
scene_section(struct buf *file, struct buf *section)
{
	uint32_t at = (uint32_t)file->size;

	maker_u32(file, (uint32_t)section->size);
	buf_put_slice(file, buf_slice(section));
	buf_release(section);
	return at;
}

/* The part of "0:8,9 1:2" for the fragment. */
static inline void
scene_offsets(const char *text, const char *fragment, char into[PART_SIZE])
{
	char one[PART_SIZE];
	size_t size = strlen(fragment);

	*into = '\0';
	while (text != NULL && part_next(&text, " ", one))
		if (strncmp(one, fragment, size) == 0 && one[size] == ':')
			memcpy(into, one + size + 1, strlen(one) - size);
}

static inline void
scene_fragments(const struct tree *tree, struct buf *manifest, uint64_t number, const char *live,
	const char *deleted)
{
	char one[PART_SIZE], offsets[PART_SIZE], path[PART_SIZE];

	while (part_next(&live, ",", one)) {
		struct buf vector = { 0 };

		scene_offsets(deleted, one, offsets);
		part_fragment(manifest, 2, one, offsets, number);
		if (*offsets == '\0')
			continue;
		part_set(&vector, offsets);
		snprintf(path, sizeof(path), "_deletions/%.20s-1-%d.bin", one, (int)number);
		tree_put(tree, path, vector.data, vector.size);
		buf_release(&vector);
	}
}

/* Version `number`, made by `transaction`. */
static inline void
scene_version(const struct tree *tree, const struct conflict_scene *scene, uint64_t number,
	const char *transaction)
{
	const char *history = number == 1 ? scene->before : scene->history;
	struct buf file = { 0 }, manifest = { 0 }, section = { 0 }, entry = { 0 }, message = { 0 };
	char name[PART_SIZE];
	uint32_t at;

	if (history != NULL) {
		history_entry(&entry, history);
		part_message(&section, 1, &entry);
	}
	for (const char *rest = number == 1 ? NULL : scene->entries;
		rest != NULL && part_next(&rest, " ", name);)
		text_entry(&section, 1, name);
	at = scene_section(&file, &section);
	text_schema(&manifest, 1, "0,1,2,3,4");
	scene_fragments(tree, &manifest, number,
		number == 1 || scene->live == NULL ? "0,1,2,3,4,5" : scene->live,
		number == 1 ? scene->deleted_before : scene->deleted);
	maker_number(&manifest, 3, number);
	maker_number(&manifest, 6, at);
	for (uint32_t flags = 9; flags <= 10; flags++)
		maker_number(
			&manifest, flags, (scene->stable ? 2u : 0) | (scene->tagged ? 1024u : 0));
	maker_writer(&manifest);
	if (scene->bases != NULL && (number > 1 || scene->base_before))
		text_base(&manifest, 18, scene->bases);
	txn_put(&message, transaction);
	maker_number(&manifest, 23, scene_section(&file, &message));
	maker_frame(&file, buf_slice(&manifest));
	snprintf(name, sizeof(name), "_versions/%llu.manifest", (unsigned long long)number);
	tree_put(tree, name, file.data, file.size);
	buf_release(&manifest);
	buf_release(&file);
}

static inline struct affected_rows *
scene_affected(const char *text)
{
	struct affected_rows *rows = NULL;
	char one[PART_SIZE], offset[PART_SIZE];
	uint64_t addrs[64];
	size_t count = 0;

	if (text == NULL)
		return NULL;
	while (part_next(&text, " ", one)) {
		const char *at = strchr(one, ':') + 1;

		while (part_next(&at, ",", offset))
			addrs[count++] = strtoull(one, NULL, 10) << 32 | strtoull(offset, NULL, 10);
	}
	ck_assert_int_eq(affected_rows_new(addrs, count, &rows, NULL), LANCET_OK);
	return rows;
}

#endif
