/* Protobuf messages from JSON, by their descriptors: the way back from pbjson.h.
 *
 * Ids and 64-bit numbers may be JSON numbers or decimal text, wherever pbjson.h writes the one or
 * the other. A key that the message has no field for, two arms of one oneof, a null, a number that
 * does not fit: INVALID, with the place ("body.groups[1].old_fragments[0].idd"). "decoded" of an
 * Any may stand for its "value"; where both are there they have to say the same.
 */
#ifndef CORE_PBFROMJSON_H
#define CORE_PBFROMJSON_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

#include <lancet/error.h>
#include "util/arena.h"
#include "util/slice.h"

struct json_object;

#define PBFROM_PLACE_MAX 300u

struct pbfrom {
	struct arena *arena; /* of all that is made; its limit holds */
	struct lancet_error *err;
	char place[PBFROM_PLACE_MAX]; /* of the value at hand, cut when it is long */
	size_t place_size;
};

/* A message of the type, in from->arena. LIMIT: it takes more than the arena may have. */
int pbfrom_message(struct pbfrom *from, struct json_object *json,
	const ProtobufCMessageDescriptor *type, ProtobufCMessage **ret_message);

/* Going down to a member or item, and back: what is returned is given to pbfrom_leave. */
size_t pbfrom_enter(struct pbfrom *from, const char *key);
size_t pbfrom_enter_item(struct pbfrom *from, size_t index);
void pbfrom_leave(struct pbfrom *from, size_t place_size);
/* INVALID, with the place. */
int pbfrom_fail(struct pbfrom *from, const char *fmt, ...) LANCET_PRINTF(2, 3);
int pbfrom_no_memory(struct pbfrom *from);

/* Single values, wherever they stand. */
int pbfrom_text(struct pbfrom *from, struct json_object *json, ProtobufCBinaryData *ret_text);
int pbfrom_base64(struct pbfrom *from, struct json_object *json, ProtobufCBinaryData *ret_bytes);
int pbfrom_u64(struct pbfrom *from, struct json_object *json, uint64_t max, uint64_t *ret_value);
int pbfrom_i64(struct pbfrom *from, struct json_object *json, int64_t min, int64_t max,
	int64_t *ret_value);
int pbfrom_bool(struct pbfrom *from, struct json_object *json, bool *ret_value);
/* Fails unless the value is of the type (of json-c: json_type_object …), which is called `what`. */
int pbfrom_want(struct pbfrom *from, struct json_object *json, int type, const char *what);

struct Lance__File__StringEntry;

/* Maps, unknown fields, and messages with a form of their own (pbfromjson_parts.c). */
int pbfrom_map(struct pbfrom *from, struct json_object *json,
	struct Lance__File__StringEntry ***ret_entries, size_t *ret_count);
/* Sets the unknown fields of a message, which has none; their numbers are at least `min`. */
int pbfrom_unknown(
	struct pbfrom *from, struct json_object *json, uint32_t min, ProtobufCMessage *message);
/* *ret_done false: the message is made as any other. */
int pbfrom_special(
	struct pbfrom *from, struct json_object *json, ProtobufCMessage *message, bool *ret_done);
/* Decimal text as a key of a map, by the type of a field. */
int pbfrom_number_key(struct pbfrom *from, const char *key, const ProtobufCFieldDescriptor *field,
	void *ret_member);

#endif
