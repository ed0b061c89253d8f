/* Tags. Format facts: tags.
 *
 * A tag file names a version, of main or of a branch; whether that version exists is not looked
 * at. A file that can't be read or says nothing usable is listed with the reason, so it fails
 * alone.
 */
#include <lancet/refs.h>

#include "dataset.h"
#include "refs.h"
#include "util/json.h"
#include "util/macros.h"

#include <stdlib.h>
#include <string.h>

static void
tag_release(struct lancet_tag *tag)
{
	free(tag->name);
	free(tag->key);
	free(tag->branch);
}

void
lancet_tag_list_release(struct lancet_tag_list *list)
{
	if (list == NULL)
		return;
	for (size_t i = 0; i < list->count; i++)
		tag_release(&list->tags[i]);
	free(list->tags);
	*list = (struct lancet_tag_list){ 0 };
}

static int
tag_parse(struct json_object *root, struct lancet_tag *tag, struct lancet_error *err)
{
	TRY(json_get_u64(root, "version", &tag->version, err));
	if (tag->version == 0)
		return lancet_fail(err, LANCET_CORRUPT, "\"version\" is 0");
	TRY(ref_get_u64(root, "manifestSize", &tag->manifest_size, err));
	TRY(ref_get_text(root, "branch", &tag->branch, err));
	tag->has_branch = tag->branch != NULL;
	if (tag->has_branch && !branch_name_is_valid(slice_text(tag->branch)))
		return lancet_fail(err, LANCET_CORRUPT, "\"branch\" is no name of a branch");
	return LANCET_OK;
}

/* Fills all but the name; what is wrong goes into the tag itself. */
static void
tag_load(struct store *store, const char *key, bool is_valid, struct lancet_tag *tag)
{
	struct json_object *root = NULL;
	struct lancet_error why = { 0 };
	int rc = ref_load(store, key, &root, &tag->file_stat, &why);

	if (rc == LANCET_OK)
		rc = tag_parse(root, tag, &why);
	json_free(root);
	if (rc == LANCET_OK && !is_valid)
		rc = lancet_fail(&why, LANCET_CORRUPT, "not a valid name of a tag");
	if (rc == LANCET_OK)
		return;
	(void)lancet_wrap(&why, rc, "%s", key);
	ref_keep_error(&why, rc, &tag->code, tag->error, sizeof(tag->error));
}

/* The tag of one file. NO_MEMORY only: all else is the tag's own trouble. */
static int
tag_of_stem(struct store *store, const char *stem, struct lancet_tag *ret_tag,
            struct lancet_error *err)
{
	lancet_autofree char *key = ref_key_of_stem(REFS_TAGS, stem);
	struct lancet_tag tag = { 0 };
	bool decoded = false;

	tag.name = ref_stem_name(stem, &decoded);
	if (key == NULL || tag.name == NULL) {
		free(tag.name);
		return lancet_fail(err, LANCET_NO_MEMORY, "tag %s", stem);
	}
	tag_load(store, key, decoded && tag_name_is_valid(slice_text(tag.name)), &tag);
	tag.key = lancet_steal(&key);
	*ret_tag = tag;
	return LANCET_OK;
}

static int
compare_tags(const void *left, const void *right)
{
	return strcmp(((const struct lancet_tag *)left)->name,
	              ((const struct lancet_tag *)right)->name);
}

/* Sorts. Files whose names decode to the same are one entry, which is refused. */
static void
tags_sort(struct lancet_tag_list *list)
{
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(list->tags, list->count, sizeof(*list->tags), compare_tags);
	for (size_t i = 1; i < list->count; i++) {
		struct lancet_tag *last = &list->tags[kept];
		struct lancet_error why = { 0 };

		if (strcmp(last->name, list->tags[i].name) != 0) {
			list->tags[++kept] = list->tags[i];
			continue;
		}
		(void)lancet_fail(&why, LANCET_CORRUPT, REFS_TAGS ": two files give this name");
		ref_keep_error(&why, LANCET_CORRUPT, &last->code, last->error,
		               sizeof(last->error));
		tag_release(&list->tags[i]);
	}
	list->count = kept + 1;
}

int
lancet_dataset_tags(lancet_dataset *dataset, struct lancet_tag_list *ret_tags,
                    struct lancet_error *err)
{
	struct store *store = dataset_base(dataset_root(dataset))->store;
	struct lancet_tag_list list = { 0 };
	struct ref_stems stems;
	int rc;

	TRY(ref_stems_list(store, REFS_TAGS, &stems, err));
	list.tags = calloc(stems.count + 1, sizeof(*list.tags));
	rc = list.tags != NULL ? LANCET_OK
	                       : lancet_fail(err, LANCET_NO_MEMORY, "%zu tags", stems.count);
	for (size_t i = 0; i < stems.count && rc == LANCET_OK; i++) {
		rc = tag_of_stem(store, stems.stems[i], &list.tags[list.count], err);
		if (rc != LANCET_OK)
			break;
		/* deleted since the directory was read */
		if (list.tags[list.count].code == LANCET_NOT_FOUND)
			tag_release(&list.tags[list.count]);
		else
			list.count++;
	}
	ref_stems_release(&stems);
	if (rc != LANCET_OK) {
		lancet_tag_list_release(&list);
		return rc;
	}
	tags_sort(&list);
	*ret_tags = list;
	return LANCET_OK;
}

/* The way of finding names that no writer spells so: look at all of them. */
static int
tag_from_list(struct lancet_dataset *dataset, struct slice name, struct lancet_tag_list *ret_one,
              struct lancet_error *err)
{
	struct lancet_tag_list list;
	struct lancet_tag one;
	size_t at = 0;

	TRY(lancet_dataset_tags(dataset, &list, err));
	while (at < list.count && !slice_equal(slice_text(list.tags[at].name), name))
		at++;
	if (at == list.count) {
		lancet_tag_list_release(&list);
		return lancet_fail(err, LANCET_NOT_FOUND, "no tag \"%.*s\"",
		                   (int)(name.size > 255 ? 255 : name.size),
		                   (const char *)name.data);
	}
	one = list.tags[at];
	list.tags[at] = list.tags[0];
	list.tags[0] = one;
	for (size_t i = 1; i < list.count; i++)
		tag_release(&list.tags[i]);
	list.count = 1;
	*ret_one = list;
	return LANCET_OK;
}

int
lancet_dataset_tag(lancet_dataset *dataset, struct lancet_bytes name,
                   struct lancet_tag_list *ret_one, struct lancet_error *err)
{
	struct store *store = dataset_base(dataset_root(dataset))->store;
	struct slice text = slice_of(name.data, name.size);
	lancet_autofree char *key = NULL;
	struct lancet_tag_list list = { 0 };
	struct stat st;

	if (!tag_name_is_valid(text))
		return tag_from_list(dataset, text, ret_one, err);
	key = ref_key_of_name(REFS_TAGS, text);
	list.tags = calloc(1, sizeof(*list.tags));
	if (key == NULL || list.tags == NULL) {
		free(list.tags);
		return lancet_fail(err, LANCET_NO_MEMORY, "a tag");
	}
	if (store_stat(store, key, &st, NULL) != LANCET_OK) {
		free(list.tags);
		return tag_from_list(dataset, text, ret_one, err);
	}
	list.count = 1;
	list.tags[0].name = strndup((const char *)name.data, name.size);
	if (list.tags[0].name == NULL) {
		lancet_tag_list_release(&list);
		return lancet_fail(err, LANCET_NO_MEMORY, "a tag");
	}
	tag_load(store, key, true, &list.tags[0]);
	list.tags[0].key = lancet_steal(&key);
	*ret_one = list;
	return LANCET_OK;
}
