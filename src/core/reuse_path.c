/* Where the row map of a stable partition lies. Format facts: row map file, base paths. */
#include "reuse.h"

#include <inttypes.h>
#include <stdio.h>

#include "util/macros.h"
#include "version.h"

#define UUID_DIGITS    32u
#define UUID_TEXT_SIZE 36u

static bool
is_hex(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') ||
	       (byte >= 'A' && byte <= 'F');
}

bool
reuse_map_id_is_valid(struct lancet_bytes id)
{
	bool hyphens = id.size == UUID_TEXT_SIZE;

	if (!hyphens && id.size != UUID_DIGITS)
		return false;
	for (size_t i = 0; i < id.size; i++) {
		bool hyphen = hyphens && (i == 8 || i == 13 || i == 18 || i == 23);

		if (hyphen ? id.data[i] != '-' : !is_hex(id.data[i]))
			return false;
	}
	return true;
}

int
lancet_row_map_path(lancet_version *version, const struct lancet_transition *transition,
	const lancet_base **ret_base, char **ret_path, struct lancet_error *err)
{
	struct lancet_bytes id = transition->map_id;
	const lancet_base *base;
	char *path;

	if (transition->mapping != LANCET_STABLE_PARTITION)
		return lancet_fail(err, LANCET_NOT_FOUND, "%s: has no row map",
			lancet_mapping_name(transition->mapping));
	if (!reuse_map_id_is_valid(id))
		return lancet_fail(
			err, LANCET_CORRUPT, "row map: its id of %zu bytes is no UUID", id.size);
	TRY(lancet_version_base(version, transition->has_base, transition->base_id, &base, err));
	if (asprintf(&path, "_fri/%.*s/stable_partition.lance", (int)id.size,
		    (const char *)id.data) < 0)
		return lancet_fail(err, LANCET_NO_MEMORY, "row map: out of memory");
	*ret_base = base;
	*ret_path = path;
	return LANCET_OK;
}
