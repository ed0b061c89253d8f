#include "format.h"

#include <string.h>

#include "util/macros.h"
#include "util/slice.h"

static const struct {
	uint32_t major, minor;
	enum file_version format;
} known[] = {
	{ 0, 0, FILE_LEGACY },
	{ 0, 1, FILE_LEGACY },
	{ 0, 2, FILE_LEGACY },
	{ 0, 3, FILE_2_0 },
	{ 2, 0, FILE_2_0 },
	{ 2, 1, FILE_2_1 },
	{ 2, 2, FILE_2_2 },
	{ 2, 3, FILE_2_3 },
};

bool
format_of_file(uint64_t major, uint64_t minor, enum file_version *ret_format)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].major == major && known[i].minor == minor) {
			*ret_format = known[i].format;
			return true;
		}
	return false;
}

bool
format_of_name(struct lancet_bytes name, enum file_version *ret_format)
{
	for (int format = FILE_LEGACY; format <= FILE_2_3; format++)
		if (slice_equal(slice_of(name.data, name.size),
			    slice_text(file_version_name((enum file_version)format)))) {
			*ret_format = (enum file_version)format;
			return true;
		}
	return false;
}

unsigned
format_bit(uint64_t major, uint64_t minor)
{
	enum file_version format;

	return format_of_file(major, minor, &format) ? 1u << format : FORMAT_OTHER;
}
