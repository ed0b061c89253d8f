/* A version made up for one question about its indices: live fragments, index entries and a reuse
 * history (scenehistory.h). Of the rows of fragment n, n % 10 are deleted.
 */
#ifndef TESTS_SCENE_H
#define TESTS_SCENE_H

#include "scenehistory.h"

#include "core/index_set.h"
#include "core/reuse.h"
#include "core/version.h"

#define SCENE_SEGMENTS 5

struct scene_text {
	const char *label, *live;
	int index_version;
	const char *legacy, *tagged; /* both NULL: no history */
	struct slice more;           /* bytes behind the encoded history */
	struct {
		const char *name, *type; /* "BTree" stands for "/lance.table.BTreeIndexDetails" */
		const char *bitmap;      /* NULL: none; "!": damaged */
		uint64_t dataset_version;
		const char *file; /* the only one that is listed; NULL: no list */
	} segments[SCENE_SEGMENTS];
};

struct scene {
	lancet_version version;
	struct fragment_span spans[SCENE_NUMBERS];
};

static inline void
put_text(struct buf *b, unsigned field, const char *prefix, const char *text, const char *suffix)
{
	put_head(b, field, strlen(prefix) + strlen(text) + strlen(suffix));
	buf_put_text(b, prefix);
	buf_put_text(b, text);
	buf_put_text(b, suffix);
}

/* IndexMetadata { name #3, dataset_version #4, fragment_bitmap #5, index_details #6 Any, files #10
 * } */
static inline void
put_segment(struct buf *section, const struct scene_text *text, size_t i)
{
	struct buf entry = { 0 }, bitmap = { 0 }, any = { 0 }, file = { 0 };
	const char *at = text->segments[i].bitmap;

	put_text(&entry, 3, "", text->segments[i].name, "");
	put_number(&entry, 4, text->segments[i].dataset_version);
	if (at != NULL && *at == '!') {
		buf_put_text(&bitmap, "damaged");
	} else if (at != NULL) {
		struct scene_side ids = scene_side(&at, "");

		put_roaring(&bitmap, 0, 0, &ids);
	}
	put_message(&entry, 5, &bitmap);
	if (text->segments[i].type != NULL) {
		put_text(&any, 1, "/lance.table.", text->segments[i].type, "IndexDetails");
		put_message(&entry, 6, &any);
	}
	if (text->segments[i].file != NULL) {
		put_text(&file, 1, "", text->segments[i].file, "");
		put_message(&entry, 10, &file);
	}
	put_message(section, 1, &entry);
}

static inline void
put_history(struct buf *section, const struct scene_text *text)
{
	struct buf entry = { 0 }, any = { 0 }, details = { 0 }, content = { 0 };

	if (text->legacy != NULL)
		put_legacy(&content, text->legacy);
	if (text->tagged != NULL)
		put_tagged(&content, text->tagged);
	buf_put_slice(&content, text->more);
	put_message(&details, 1, &content);
	put_text(&any, 1, "/lance.table.", "FragmentReuse", "IndexDetails");
	put_message(&any, 2, &details);
	put_text(&entry, 3, "", REUSE_INDEX_NAME, "");
	put_message(&entry, 6, &any);
	put_number(&entry, 7, (uint64_t)text->index_version);
	put_message(section, 1, &entry);
}

static inline void
scene_make(struct scene *scene, const struct scene_text *text)
{
	const char *at = text->live;
	struct scene_side live = scene_side(&at, "");
	struct index_set *set = NULL;
	struct buf section = { 0 };

	*scene = (struct scene){ .version.spans = scene->spans };
	for (size_t i = 0; i < live.count; i++)
		scene->spans[i] = (struct fragment_span){ .id = live.ids[i],
			.physical_rows = live.rows[i],
			.deleted_rows = live.ids[i] % 10 };
	scene->version.info.fragment_count = live.count;
	for (size_t i = 0; i < SCENE_SEGMENTS && text->segments[i].name != NULL; i++)
		put_segment(&section, text, i);
	if (text->legacy != NULL || text->tagged != NULL)
		put_history(&section, text);
	ck_assert_int_eq(section.failed, LANCET_OK);
	ck_assert_int_eq(index_section_parse(buf_slice(&section), &set, NULL), LANCET_OK);
	atomic_store(&scene->version.indices, set);
	buf_release(&section);
}

static inline void
scene_release(struct scene *scene)
{
	version_indices_free(atomic_load(&scene->version.indices));
	version_reuse_free(atomic_load(&scene->version.reuse));
}

/* The index of that name, its number. */
static inline const struct lancet_index *
scene_index(struct scene *scene, const char *name)
{
	const struct index_set *set = atomic_load(&scene->version.indices);

	for (size_t i = 0; i < set->count; i++)
		if (slice_equal(slice_of(set->indices[i].name.data, set->indices[i].name.size),
			    slice_text(name)))
			return &set->indices[i];
	ck_abort_msg("no index %s", name);
	return NULL;
}

#endif
