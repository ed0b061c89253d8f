/* Decoding without copying long bytes: they stay where they are. */
#ifndef UTIL_PBBORROW_H
#define UTIL_PBBORROW_H

#include "pbunpack.h"

#define PB_BORROWED_MIN ((size_t)4096) /* bytes of a field that is borrowed */

/* As pb_unpack, and the same message, but long values of fields of type bytes point into `bytes`,
 * which must outlive the message. */
int pb_unpack_borrowing(const ProtobufCMessageDescriptor *type, struct slice bytes,
	struct arena *arena, void *ret_message, struct lancet_error *err);

#endif
