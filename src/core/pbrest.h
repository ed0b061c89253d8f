/* Decoding a message without some of its fields: the others are spliced together first.
 *
 * Protobuf fields may be cut out of a message and the rest is still a message. So the large parts
 * of a manifest stay on disk while protobuf-c decodes what is small.
 */
#ifndef CORE_PBREST_H
#define CORE_PBREST_H

#include "util/pbunpack.h"
#include "util/buf.h"
#include "util/pbscan.h"

/* Appends the bytes of one field, tag included. The sticky failure of `rest` is looked at by
 * pbrest_decode; what is returned is the source's. */
int pbrest_add(struct buf *rest, struct pbscan *scan, const struct pb_field *field,
               struct lancet_error *err);
/* pb_unpack of what was added. */
int pbrest_decode(const struct buf *rest, const ProtobufCMessageDescriptor *type,
                  struct arena *arena, void *ret_message, struct lancet_error *err);

#endif
