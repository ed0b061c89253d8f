/* Inside of writing a manifest: what its parts share. */
#ifndef CORE_MANIFEST_PARTS_H
#define CORE_MANIFEST_PARTS_H

#include <protobuf-c/protobuf-c.h>

#include "draft.h"
#include "splice.h"

#define SECTION_PREFIX_SIZE 4u /* its length */

struct writing {
	struct draft *draft;
	struct splice *out;
	struct buf run; /* encoded messages that were not put into the splice yet */
	struct lancet_error *err;
};

/* Where the sections are, for the head to say. */
struct manifest_sections {
	bool has_index, has_transaction;
	uint64_t index, transaction; /* offsets of their lengths */
	const char *transaction_file;
};

size_t writing_varint_size(uint64_t value);
void writing_put_message(struct buf *into, const ProtobufCMessage *message);
/* A field whose tag is that one byte. */
void writing_put_field(struct buf *into, uint8_t tag, const ProtobufCMessage *message);
/* Puts what is in `run` into the splice. */
int writing_flush(struct writing *w);
/* Fills a place that was reserved; the second with the size of what was put since the splice had
 * `at` bytes. LIMIT: more than 32 bits can say. */
void writing_set_u32(struct splice *out, size_t place, uint32_t value);
int writing_set_length(struct writing *w, size_t place, uint64_t at, const char *what);

/* manifest_values.c: at the beginning of the file, where it was in the origin's. */
int writing_put_values(struct writing *w);
/* manifest_index.c: nothing when no entry is left. */
int writing_put_index_section(struct writing *w, bool *ret_has);
/* manifest_head.c: what the head keeps, and what is new in it. */
int writing_put_kept_fields(struct writing *w);
int writing_put_new_fields(struct writing *w, const struct manifest_sections *sections);

#endif
