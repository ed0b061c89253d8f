#include "draft_columns.h"

#include "lance/table.pb-c.h"

typedef Lance__Table__DataFile DataFile;
typedef Lance__Table__DataFragment Fragment;

static bool
is_listed(const struct numbers *fields, int32_t id)
{
	return id >= 0 && numbers_find(fields, (uint64_t)id) != SIZE_MAX;
}

static void
bury(DataFile *file, const struct numbers *fields)
{
	for (size_t i = 0; i < file->n_fields; i++)
		if (is_listed(fields, file->fields[i]))
			file->fields[i] = FIELD_TOMBSTONE;
}

static bool
has_column(const DataFile *file)
{
	for (size_t i = 0; i < file->n_fields; i++)
		if (file->fields[i] != FIELD_TOMBSTONE)
			return true;
	return false;
}

void
columns_bury_overlays(Fragment *fragment, const struct numbers *fields, uint64_t committed_version)
{
	size_t kept = 0;

	for (size_t i = 0; i < fragment->n_overlays; i++) {
		Lance__Table__DataOverlayFile *overlay = fragment->overlays[i];

		if (overlay->committed_version <= committed_version && overlay->data_file != NULL) {
			bury(overlay->data_file, fields);
			if (!has_column(overlay->data_file))
				continue;
		}
		fragment->overlays[kept++] = overlay;
	}
	fragment->n_overlays = kept;
}

void
columns_bury_files(Fragment *fragment, const struct numbers *fields)
{
	for (size_t i = 0; i < fragment->n_files; i++)
		bury(fragment->files[i], fields);
}

size_t
columns_count(const Fragment *fragment, const struct numbers *fields)
{
	size_t count = 0;

	for (size_t i = 0; i < fragment->n_files; i++)
		for (size_t k = 0; k < fragment->files[i]->n_fields; k++)
			count += is_listed(fields, fragment->files[i]->fields[k]);
	return count;
}
