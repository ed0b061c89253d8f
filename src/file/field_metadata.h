/* The metadata of a field: sorted entries, and what readers have to know from them. */
#ifndef FILE_FIELD_METADATA_H
#define FILE_FIELD_METADATA_H

#include "field.h"

/* Whether a stored field is a blob of v2: a struct in manifests and files, never read as one. */
bool field_metadata_is_blob_v2(const struct Lance__File__Field *stored);
/* Copies the entries into the arena, sorted; of equal keys the last one counts. An extension name
 * that is stored beside them becomes one. */
int field_metadata_fill(struct field *field, const struct Lance__File__Field *stored,
	struct arena *arena, struct lancet_error *err);
/* Sets `packed` and `blob` from the entries and the type. UNSUPPORTED: a blob of another type. */
int field_metadata_flags(struct field *field, struct lancet_error *err);
/* Instead of what was stored: the entries that the reference shows with these. */
int field_metadata_blob_v2(struct field *field, struct arena *arena, struct lancet_error *err);
int field_metadata_bfloat16(struct field *field, struct arena *arena, struct lancet_error *err);

#endif
