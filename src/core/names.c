/* Names of manifests and deletion files, UUIDs. Format facts: manifest names.
 *
 * Parsing is the inverse of formatting: a name that formatting would not give for the number in
 * it is stray, so a version is only ever listed under a name that opening it would try.
 */
#include "names.h"

#include "util/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MANIFEST_SUFFIX  ".manifest"
#define V2_NAME_SIZE     29 /* 20 digits and the suffix */

/* The digits at `text` up to `end`; false when empty, not all digits, or past 64 bits. */
static bool
digits_parse(const char *text, const char *end, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (text == end)
		return false;
	for (; text < end; text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (*text < '0' || *text > '9' || value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	*ret_value = value;
	return true;
}

bool
manifest_name_parse(const char *name, enum manifest_scheme *ret_scheme, uint64_t *ret_version)
{
	const char *dot = strchr(name, '.');
	enum manifest_scheme scheme = MANIFEST_V1;
	char again[MANIFEST_NAME_MAX];
	uint64_t version;

	if (dot == NULL)
		return false;
	if (name[0] == 'd')
		scheme = MANIFEST_DETACHED;
	else if (strlen(name) == V2_NAME_SIZE)
		scheme = MANIFEST_V2;
	if (!digits_parse(name + (scheme == MANIFEST_DETACHED), dot, &version))
		return false;
	if (scheme == MANIFEST_V2)
		version = UINT64_MAX - version;
	if (version == 0 || (scheme == MANIFEST_DETACHED) != (version >= VERSION_DETACHED_BIT))
		return false;
	manifest_name_format(scheme, version, again);
	if (strcmp(name, again) != 0)
		return false;
	*ret_scheme = scheme;
	*ret_version = version;
	return true;
}

void
manifest_name_format(enum manifest_scheme scheme, uint64_t version, char into[MANIFEST_NAME_MAX])
{
	switch (scheme) {
	case MANIFEST_V1:
		(void)snprintf(into, MANIFEST_NAME_MAX, "%" PRIu64 MANIFEST_SUFFIX, version);
		break;
	case MANIFEST_V2:
		(void)snprintf(into, MANIFEST_NAME_MAX, "%020" PRIu64 MANIFEST_SUFFIX,
		               UINT64_MAX - version);
		break;
	case MANIFEST_DETACHED:
		(void)snprintf(into, MANIFEST_NAME_MAX, "d%" PRIu64 MANIFEST_SUFFIX, version);
		break;
	}
}

void
deletion_path_format(uint64_t fragment, uint64_t read_version, uint64_t id, bool is_bitmap,
                     char into[DELETION_PATH_MAX])
{
	(void)snprintf(into, DELETION_PATH_MAX, "_deletions/%" PRIu64 "-%" PRIu64 "-%" PRIu64 ".%s",
	               fragment, read_version, id, is_bitmap ? "bin" : "arrow");
}

static bool
uuid_has_hyphen_at(size_t i)
{
	return i == 8 || i == 13 || i == 18 || i == 23;
}

void
uuid_format(const uint8_t uuid[16], char into[37])
{
	static const char hex[] = "0123456789abcdef";
	size_t at = 0;

	for (size_t i = 0; i < 16; i++) {
		if (uuid_has_hyphen_at(at))
			into[at++] = '-';
		into[at++] = hex[uuid[i] >> 4];
		into[at++] = hex[uuid[i] & 15];
	}
	into[at] = '\0';
}

static int
hex_value(uint8_t byte)
{
	if (byte >= '0' && byte <= '9')
		return byte - '0';
	if (byte >= 'a' && byte <= 'f')
		return byte - 'a' + 10;
	if (byte >= 'A' && byte <= 'F')
		return byte - 'A' + 10;
	return -1;
}

bool
percent_decode(struct slice text, struct buf *into)
{
	size_t size = into->size;

	for (size_t i = 0; i < text.size; i++) {
		uint8_t byte = text.data[i];

		if (byte == '%') {
			int high = i + 2 < text.size ? hex_value(text.data[i + 1]) : -1;
			int low = i + 2 < text.size ? hex_value(text.data[i + 2]) : -1;

			if (high < 0 || low < 0 || (high | low) == 0) {
				into->size = size;
				return false;
			}
			byte = (uint8_t)(high << 4 | low);
			i += 2;
		}
		buf_put_byte(into, byte);
	}
	return true;
}

static bool
is_ref_byte(uint8_t byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
	       (byte >= 'A' && byte <= 'Z') || byte == '.' || byte == '-' || byte == '_';
}

void
ref_name_encode(struct slice name, struct buf *into)
{
	for (size_t i = 0; i < name.size; i++) {
		if (is_ref_byte(name.data[i]))
			buf_put_byte(into, name.data[i]);
		else
			buf_printf(into, "%%%02X", name.data[i]);
	}
}

/* One tag name or one segment of a branch name, from letters beyond ASCII too. */
static bool
segment_is_valid(struct slice segment)
{
	for (size_t i = 0; i < segment.size; i++) {
		if (segment.data[i] < 0x80 && !is_ref_byte(segment.data[i]))
			return false;
		if (i > 0 && segment.data[i] == '.' && segment.data[i - 1] == '.')
			return false;
	}
	return segment.size > 0 && !slice_equal(segment, slice_text("."));
}

static bool
ends_with(struct slice text, const char *end)
{
	size_t size = strlen(end);

	return text.size >= size && memcmp(text.data + text.size - size, end, size) == 0;
}

bool
tag_name_is_valid(struct slice name)
{
	return segment_is_valid(name) && name.data[0] != '.' && !ends_with(name, ".") &&
	       !ends_with(name, ".lock") && text_is_utf8(name);
}

bool
branch_name_is_valid(struct slice name)
{
	size_t start = 0;

	for (size_t i = 0; i <= name.size; i++) {
		if (i < name.size && name.data[i] != '/')
			continue;
		if (!segment_is_valid(slice_of(name.data + start, i - start)))
			return false;
		start = i + 1;
	}
	return !slice_equal(name, slice_text("main")) && !ends_with(name, ".lock") &&
	       text_is_utf8(name);
}
