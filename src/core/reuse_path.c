/* Where the row map of a stable partition lies. Format facts: row map file, base paths. */
#include "reuse.h"

#include <stdio.h>
#include <string.h>

#include "util/macros.h"
#include "version.h"

#define UUID_DIGITS    32u
#define UUID_TEXT_SIZE 36u
#define URN            "urn:uuid:"

static bool
is_hex(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f') ||
	       (byte >= 'A' && byte <= 'F');
}

static bool
is_plain_uuid(struct slice text)
{
	bool hyphens = text.size == UUID_TEXT_SIZE;

	if (!hyphens && text.size != UUID_DIGITS)
		return false;
	for (size_t i = 0; i < text.size; i++) {
		bool hyphen = hyphens && (i == 8 || i == 13 || i == 18 || i == 23);

		if (hyphen ? text.data[i] != '-' : !is_hex(text.data[i]))
			return false;
	}
	return true;
}

bool
reuse_map_id_is_valid(struct lancet_bytes id)
{
	struct slice text = slice_of(id.data, id.size);

	if (text.size == UUID_TEXT_SIZE + 2 && text.data[0] == '{' &&
		text.data[text.size - 1] == '}')
		text = slice_of(text.data + 1, UUID_TEXT_SIZE);
	else if (text.size == UUID_TEXT_SIZE + sizeof(URN) - 1 &&
		 memcmp(text.data, URN, sizeof(URN) - 1) == 0)
		text = slice_of(text.data + sizeof(URN) - 1, UUID_TEXT_SIZE);
	return is_plain_uuid(text);
}

int
reuse_map_path(struct lancet_bytes id, char **ret_path, struct lancet_error *err)
{
	struct slice text = slice_of(id.data, id.size);
	char *path;

	TRY(store_key_check(text, err));
	if (text.size > 255 || memchr(text.data, '/', text.size) != NULL)
		return lancet_fail(err, LANCET_CORRUPT, "row map id of %zu bytes", text.size);
	if (asprintf(&path, "_fri/%.*s/stable_partition.lance", (int)text.size,
		    (const char *)text.data) < 0)
		return lancet_fail(err, LANCET_NO_MEMORY, "row map: out of memory");
	*ret_path = path;
	return LANCET_OK;
}

int
lancet_row_map_path(lancet_version *version, const struct lancet_transition *transition,
	const lancet_base **ret_base, char **ret_path, struct lancet_error *err)
{
	struct lancet_bytes id = transition->map_id;
	const lancet_base *base;

	if (transition->mapping != LANCET_STABLE_PARTITION)
		return lancet_fail(err, LANCET_NOT_FOUND, "%s: has no row map",
			lancet_mapping_name(transition->mapping));
	if (!reuse_map_id_is_valid(id))
		return lancet_fail(
			err, LANCET_CORRUPT, "row map: its id of %zu bytes is no UUID", id.size);
	TRY(lancet_version_base(version, transition->has_base, transition->base_id, &base, err));
	TRY(reuse_map_path(id, ret_path, err));
	*ret_base = base;
	return LANCET_OK;
}
