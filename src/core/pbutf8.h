/* Whether others can decode a message: text that is not UTF-8 makes a decoder refuse the whole of
 * it, and with a manifest everybody's dataset; so may a field that they know and we don't. */
#ifndef CORE_PBUTF8_H
#define CORE_PBUTF8_H

#include <protobuf-c/protobuf-c.h>

#include <lancet/error.h>

/* With the messages below it: INVALID names the first field that is text (pbtext.h) and not UTF-8,
 * UNSUPPORTED a fragment with fields that are reserved. Content of bytes fields is not looked
 * into. Format facts: DataFragment. */
int pb_check_decodable(const ProtobufCMessage *message, struct lancet_error *err);

#endif
