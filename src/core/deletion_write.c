/* Writing deletion files. What several writers made for one fragment and one version differs in its
 * random id alone. */
#include "deletion_write.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>

#include "lance/table.pb-c.h"
#include "names.h"
#include "util/macros.h"

int
deletion_name(uint64_t read_version, const roaring_bitmap_t *deleted,
	Lance__Table__DeletionFile *ret_file, struct lancet_error *err)
{
	uint64_t id;

	assert(!roaring_bitmap_is_empty(deleted));
	if (getrandom(&id, sizeof(id), 0) != (ssize_t)sizeof(id))
		return lancet_fail_errno(err, "random id of a deletion file");
	lance__table__deletion_file__init(ret_file);
	ret_file->file_type = LANCE__TABLE__DELETION_FILE__DELETION_FILE_TYPE__BITMAP;
	ret_file->read_version = read_version;
	ret_file->id = id;
	ret_file->num_deleted_rows = roaring_bitmap_get_cardinality(deleted);
	return LANCET_OK;
}

int
deletion_write(struct publish *publish, uint64_t fragment, const Lance__Table__DeletionFile *file,
	const roaring_bitmap_t *deleted, struct lancet_error *err)
{
	size_t size = roaring_bitmap_portable_size_in_bytes(deleted);
	lancet_autofree char *bytes = malloc(size);
	char key[DELETION_PATH_MAX];
	struct slice part;

	if (bytes == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "deletion file of %zu bytes", size);
	part = slice_of(bytes, roaring_bitmap_portable_serialize(deleted, bytes));
	deletion_path_format(fragment, file->read_version, file->id, true, key);
	return publish_add(publish, key, &part, 1, PUBLISH_NEW, err);
}
