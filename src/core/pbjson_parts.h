/* What pbjson.h and documents made by hand have in common: maps, unknown fields, times.
 *
 * A key is NULL where jsonw wants none. Each function leaves the document balanced unless it fails.
 */
#ifndef CORE_PBJSON_PARTS_H
#define CORE_PBJSON_PARTS_H

#include <protobuf-c/protobuf-c.h>

#include "jsondoc.h"

struct Lance__File__StringEntry;

/* A map as stored: of equal keys the last one counts. */
int pbjson_map(struct jsondoc *doc, const char *key, struct Lance__File__StringEntry *const *stored,
               size_t count, struct lancet_error *err);
void pbjson_entries(struct jsondoc *doc, const char *key, const struct lancet_entry *entries,
                    size_t count);

/* The "unknown" of a message: what is wanted of it, all when wants is NULL; nothing when there is
 * none. */
typedef bool (*pbjson_wants)(uint32_t number);
int pbjson_unknown(struct jsondoc *doc, const ProtobufCMessage *message, pbjson_wants wants,
                   struct lancet_error *err);

/* RFC 3339; {"seconds", "nanos"} for what is no time of a calendar. */
void pbjson_time(struct jsonw *w, const char *key, int64_t seconds, int32_t nanos);
/* The same of milliseconds since 1970; null when there are none. */
void pbjson_millis(struct jsonw *w, const char *key, bool has_millis, uint64_t millis);
/* The "base" of a file or entry; null when it lies in the dataset itself. */
void pbjson_base(struct jsonw *w, bool has_base, uint32_t base_id);

/* Map entries whose keys are integers. */
#define NUMBERED_TEXT_MAX 21 /* "-9223372036854775808" */

struct numbered {
	uint64_t key; /* sign-extended */
	size_t order; /* as stored */
	const ProtobufCMessage *entry;
	char text[NUMBERED_TEXT_MAX];
};

/* True for a message {integer key = 1; value = 2} whose name says that it is an entry. */
bool is_numbered_entry(const ProtobufCMessageDescriptor *type);
/* Sorts by key; of equal keys the last stored one stays. *count becomes what is left; the caller
 * frees. */
int numbered_sort(ProtobufCMessage *const *stored, size_t *count, struct numbered **ret_numbered,
                  struct lancet_error *err);

#endif
