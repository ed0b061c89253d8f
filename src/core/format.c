#include "format.h"

#include <string.h>

#include "util/macros.h"
#include "util/slice.h"

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

	return file_version_of(major, minor, &format) ? 1u << format : FORMAT_OTHER;
}
