/* General compression, for encodings that need to know how many bytes there are below it. */
#ifndef FILE_GENERAL_H
#define FILE_GENERAL_H

#include "codec.h"

/* Appends to `into` the bytes that were compressed; `codec` is an opened general codec. LIMIT: more
 * than size_max bytes in `into`. CORRUPT: damaged, or more than the compressed bytes can stand for.
 */
int general_expand(const struct codec *codec, struct slice in, uint64_t size_max,
	struct scratch *scratch, struct buf *into, struct lancet_error *err);

#endif
