/* DataReplacement: columns of fragments get other files with values for all rows.
 *
 * A file of just these columns is replaced; columns of other files are put out of use there, and
 * the new file is added. Format facts: DataReplacement.
 */
#include "operation.h"

#include <inttypes.h>

#include "draft_columns.h"
#include "draft_lineage.h"
#include "draft_prune.h"
#include "format.h"
#include "fragment_checks.h"
#include "lance/transaction.pb-c.h"
#include "pbsame.h"
#include "util/macros.h"

typedef Lance__Table__DataFile DataFile;
typedef Lance__Table__DataFragment Fragment;
typedef Lance__Table__Transaction__DataReplacement Message;
typedef Lance__Table__Transaction__DataReplacementGroup Group;

static bool
same_fields(const DataFile *a, const DataFile *b)
{
	return a->n_fields == b->n_fields &&
	       (a->n_fields == 0 ||
		       memcmp(a->fields, b->fields, a->n_fields * sizeof(*a->fields)) == 0);
}

static int
check_group(const struct draft *draft, const Message *message, const Group *group,
	const struct numbers *field_ids, struct lancet_error *err)
{
	const DataFile *first = message->replacements[0]->new_file;
	size_t place;

	TRY(checks_place(draft, group->fragment_id, &place, err));
	if (group->new_file == NULL)
		return lancet_fail(
			err, LANCET_INVALID, "fragment %" PRIu64 ": no file", group->fragment_id);
	TRY(checks_file(draft, group->new_file, field_ids, err));
	if (!same_fields(group->new_file, first))
		return lancet_fail(err, LANCET_INVALID,
			"fragment %" PRIu64 ": other fields are replaced than in fragment %" PRIu64,
			group->fragment_id, message->replacements[0]->fragment_id);
	return LANCET_OK;
}

/* Those of the new files, which all have the same. */
static int
list_fields(struct draft *draft, struct numbers *ret_fields, struct lancet_error *err)
{
	const DataFile *file = draft->message->data_replacement->replacements[0]->new_file;

	if (!numbers_reserve(ret_fields, file->n_fields, &draft->arena))
		return draft_no_memory(err);
	for (size_t i = 0; i < file->n_fields; i++) {
		if (file->fields[i] < 0)
			return lancet_fail(err, LANCET_INVALID,
				"field id %" PRId32 " can't be replaced", file->fields[i]);
		numbers_put(ret_fields, (uint64_t)file->fields[i]);
	}
	numbers_sort(ret_fields);
	if (ret_fields->count != file->n_fields)
		return lancet_fail(err, LANCET_INVALID, "a field is replaced twice");
	return LANCET_OK;
}

int
op_data_replacement_check(struct draft *draft, struct lancet_error *err)
{
	const Message *message = draft->message->data_replacement;
	struct numbers field_ids, fields;

	if (message->n_replacements == 0)
		return lancet_fail(err, LANCET_INVALID, "nothing is replaced");
	TRY(checks_fields(draft, NULL, 0, &field_ids, err));
	for (size_t i = 0; i < message->n_replacements; i++)
		TRY(check_group(draft, message, message->replacements[i], &field_ids, err));
	return list_fields(draft, &fields, err);
}

/* The place of a file of just these columns; n_files when there is none. */
static size_t
find_file(const Fragment *fragment, const DataFile *file)
{
	size_t at = 0;

	while (at < fragment->n_files &&
		!(same_fields(fragment->files[at], file) &&
			fragment->files[at]->file_major_version == file->file_major_version &&
			fragment->files[at]->file_minor_version == file->file_minor_version))
		at++;
	return at;
}

static int
add_file(struct draft *draft, Fragment *fragment, DataFile *file, struct lancet_error *err)
{
	DataFile **files = draft_alloc(draft, (fragment->n_files + 1) * sizeof(*files));

	if (files == NULL)
		return draft_no_memory(err);
	for (size_t i = 0; i < fragment->n_files; i++)
		files[i] = fragment->files[i];
	files[fragment->n_files++] = file;
	fragment->files = files;
	return LANCET_OK;
}

static bool
has_legacy_file(const Fragment *fragment)
{
	enum file_version format;

	for (size_t i = 0; i < fragment->n_files; i++)
		if (file_version_of(fragment->files[i]->file_major_version,
			    fragment->files[i]->file_minor_version, &format) &&
			format == FILE_LEGACY)
			return true;
	return false;
}

static int
put_beside(struct draft *draft, Fragment *fragment, const struct numbers *fields, DataFile *file,
	struct lancet_error *err)
{
	size_t covered = columns_count(fragment, fields);

	if (covered != 0 && covered != fields->count)
		return lancet_fail(err, LANCET_INVALID,
			"fragment %" PRIu64 " has %zu of the %zu fields replaced: it must have all "
			"or none",
			fragment->id, covered, fields->count);
	if (covered != 0 && has_legacy_file(fragment))
		return lancet_fail(err, LANCET_UNSUPPORTED,
			"fragment %" PRIu64 ": columns of files of version 0.1 can't be replaced",
			fragment->id);
	columns_bury_files(fragment, fields);
	return add_file(draft, fragment, file, err);
}

static int
replace(struct draft *draft, const Group *group, const struct numbers *fields,
	struct lancet_error *err)
{
	Fragment *fragment;
	size_t place, at;

	TRY(checks_place(draft, group->fragment_id, &place, err));
	TRY(draft_edit(draft, place, &fragment, err));
	at = find_file(fragment, group->new_file);
	if (at == fragment->n_files)
		TRY(put_beside(draft, fragment, fields, group->new_file, err));
	else if (pbsame_file(fragment->files[at], group->new_file))
		return lancet_fail(err, LANCET_INVALID,
			"fragment %" PRIu64 " has the new file already", group->fragment_id);
	else
		fragment->files[at] = group->new_file;
	columns_bury_overlays(fragment, fields, draft->message->read_version);
	return lineage_stamp(draft, fragment, err);
}

int
op_data_replacement_apply(struct draft *draft, struct lancet_error *err)
{
	const Message *message = draft->message->data_replacement;
	struct numbers fields, fragments;

	TRY(list_fields(draft, &fields, err));
	if (!numbers_reserve(&fragments, message->n_replacements, &draft->arena))
		return draft_no_memory(err);
	for (size_t i = 0; i < message->n_replacements; i++) {
		TRY(replace(draft, message->replacements[i], &fields, err));
		numbers_put(&fragments, message->replacements[i]->fragment_id);
	}
	numbers_sort(&fragments);
	return draft_uncover(draft, &fields, &fragments, err);
}
