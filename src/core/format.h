/* What manifests say of the format of data files: two numbers for a file, a text for the dataset.
 */
#ifndef CORE_FORMAT_H
#define CORE_FORMAT_H

#include <lancet/bytes.h>
#include "file/datafile.h"

/* A set of formats has a bit for each enum file_version, and this one for all others. */
#define FORMAT_OTHER (1u << 31)

/* False: not a known one. file_version_of does the same for the numbers of a file. */
bool format_of_name(struct lancet_bytes name, enum file_version *ret_format);
unsigned format_bit(uint64_t major, uint64_t minor);

#endif
