/* Changes of columns of the sample, put together here. Files they name are those that are there:
 * columns of a file can be those of several fields and fragments.
 */
#ifndef TESTS_COMMITCOLUMNS_H
#define TESTS_COMMITCOLUMNS_H

#include "commitmessages.h"

#define PRICE       2 /* field and column */
#define COLUMN_MADE 3 /* field */

#define MANY(change, type, count) ((type *)arena_zalloc(&(change)->arena, count, sizeof(type)))

typedef Lance__Table__DataFile DataFile;
typedef Lance__Table__DataFragment Fragment;

/* The prices in the file of a fragment, as values of a field. */
static inline DataFile *
prices_of(lancet_change *change, const Fragment *image, int32_t field)
{
	DataFile *file = MADE(change, DataFile);

	*file = *image->files[0];
	file->fields = MADE(change, int32_t);
	file->fields[0] = field;
	file->column_indices = MADE(change, int32_t);
	file->column_indices[0] = PRICE;
	file->n_fields = file->n_column_indices = 1;
	return file;
}

/* Whether fragment 3 has so many files and overlays. */
static inline bool
fragment_has(lancet_version *made, size_t files, size_t overlays)
{
	const struct lancet_fragment_info *info;
	lancet_fragment *fragment;
	uint64_t ordinal;
	bool has;

	if (lancet_version_find_fragment(made, 3, &ordinal, NULL) != LANCET_OK ||
		lancet_fragment_open(made, ordinal, &fragment, NULL) != LANCET_OK)
		return false;
	info = lancet_fragment_info(fragment);
	has = info->file_count == files && info->overlay_count == overlays;
	lancet_fragment_unref(fragment);
	return has;
}

/* Adds a column "cost": fragment 3 has the prices for it, the others have nulls. */
static inline int
case_merge(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	size_t count = read->message->n_fields;
	Lance__Table__Transaction__Merge *merge;
	Lance__File__Field *field;
	Fragment **one, *last;
	DataFile *stored;

	TRY(change_new(read, ret_change, err));
	merge = MADE(*ret_change, Lance__Table__Transaction__Merge);
	lance__table__transaction__merge__init(merge);
	merge->fragments = MANY(*ret_change, Fragment *, 4);
	for (; merge->n_fragments < 4; merge->n_fragments++) {
		TRY(message_image(*ret_change, merge->n_fragments, &one, err));
		merge->fragments[merge->n_fragments] = one[0];
	}
	last = merge->fragments[3];
	stored = last->files[0];
	last->files = MANY(*ret_change, DataFile *, 2);
	last->files[0] = stored;
	last->files[last->n_files++] = prices_of(*ret_change, last, COLUMN_MADE);
	field = MADE(*ret_change, Lance__File__Field);
	*field = *read->message->fields[PRICE];
	field->id = COLUMN_MADE;
	field->name = maker_text("cost");
	merge->schema = MANY(*ret_change, Lance__File__Field *, count + 1);
	memcpy(merge->schema, read->message->fields, count * sizeof(*merge->schema));
	merge->schema[count] = field;
	merge->n_schema = count + 1;
	(*ret_change)->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_MERGE;
	(*ret_change)->message->merge = merge;
	return LANCET_OK;
}

static inline bool
case_merge_holds(lancet_version *made)
{
	return made->message->n_fields == 4 && fragment_has(made, 2, 0);
}

/* The prices of fragment 3 are in a file beside the one of its other columns. */
static inline int
case_replacement(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	Lance__Table__Transaction__DataReplacement *replacement;
	Lance__Table__Transaction__DataReplacementGroup *group;
	Fragment **image;

	TRY(change_new(read, ret_change, err));
	TRY(message_image(*ret_change, 3, &image, err));
	group = MADE(*ret_change, Lance__Table__Transaction__DataReplacementGroup);
	lance__table__transaction__data_replacement_group__init(group);
	group->fragment_id = 3;
	group->new_file = prices_of(*ret_change, image[0], PRICE);
	replacement = MADE(*ret_change, Lance__Table__Transaction__DataReplacement);
	lance__table__transaction__data_replacement__init(replacement);
	replacement->replacements =
		MADE(*ret_change, Lance__Table__Transaction__DataReplacementGroup *);
	replacement->replacements[0] = group;
	replacement->n_replacements = 1;
	(*ret_change)->message->operation_case =
		LANCE__TABLE__TRANSACTION__OPERATION_DATA_REPLACEMENT;
	(*ret_change)->message->data_replacement = replacement;
	return LANCET_OK;
}

static inline bool
case_replacement_holds(lancet_version *made)
{
	return made->message->n_fields == 3 && fragment_has(made, 2, 0);
}

#endif
