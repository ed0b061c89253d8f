/* Copies a protobuf message with some fields dropped or changed, byte for byte otherwise.
 *
 * What is to change is a table; everything that no row names, unknown fields included, keeps its
 * bytes and place. The result goes into a splice, so nothing is decoded and nothing large is held.
 */
#ifndef CORE_PBEDIT_H
#define CORE_PBEDIT_H

#include "splice.h"
#include "util/pbscan.h"

enum pbedit_kind {
	PBEDIT_DROP,
	PBEDIT_INSIDE,     /* the rules of `inside` for this message field */
	PBEDIT_CLEAR_BITS, /* a varint without the bits of values[slot] */
	PBEDIT_SET,        /* a varint becomes values[slot] */
};

struct pbedit_rule {
	uint32_t field; /* 0 ends a table */
	enum pbedit_kind kind;
	const struct pbedit_rule *inside;
	unsigned slot;
};

struct pbedit {
	struct pbscan scan; /* over the source of `out` */
	struct splice *out;
	const uint64_t *values;
	bool changed; /* something was dropped or got another value */
};

/* One walk over source[offset, offset + size). Release the scan with pbscan_release afterwards. */
int pbedit_init(struct pbedit *edit, struct splice *out, uint64_t offset, uint64_t size,
	const uint64_t *values, struct lancet_error *err);
/* Copies the message at the scan's place, which ends at `end`. */
int pbedit_message(struct pbedit *edit, uint64_t end, const struct pbedit_rule *rules,
	struct lancet_error *err);
/* Copies one field by the rules of its content. */
int pbedit_inside(struct pbedit *edit, const struct pb_field *field,
	const struct pbedit_rule *rules, struct lancet_error *err);

#endif
