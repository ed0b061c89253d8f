/* Whether the text of a message is UTF-8: one that is not makes a decoder refuse the whole message,
 * and with a manifest everybody's dataset. */
#ifndef CORE_PBUTF8_H
#define CORE_PBUTF8_H

#include <protobuf-c/protobuf-c.h>

#include <lancet/error.h>

/* Of all fields that are text (pbtext.h), in the messages below it, too. INVALID names the first
 * one that is not. Content of bytes fields is not looked into. */
int pb_check_text(const ProtobufCMessage *message, struct lancet_error *err);

#endif
