/* Walks the fields of one protobuf message without decoding it, over a source with a window.
 *
 * Long length-delimited fields are skipped by seeking: their bytes are never read unless asked for.
 * So a manifest of hundreds of megabytes with inline lineage costs kilobytes, and the places of its
 * fragments are known afterwards. Groups (wire types 3, 4) are refused as the reference does.
 */
#ifndef UTIL_PBSCAN_H
#define UTIL_PBSCAN_H

#include "source.h"

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb_field {
	uint32_t number;
	enum pb_wire wire;
	uint64_t value;  /* varint or fixed value; for PB_BYTES the length in bytes */
	uint64_t start;  /* offset in the source of the field's tag */
	uint64_t offset; /* PB_BYTES: offset in the source of the first byte of the content */
	uint64_t end;    /* offset in the source just past the field */
};

struct pbscan {
	struct source *src; /* borrowed */
	uint64_t at;        /* next field */
	uint64_t end;       /* end of the message in the source */
	uint8_t *window;
	size_t window_max;  /* bytes read at once */
	uint64_t window_at; /* source offset of window[0] */
	size_t window_size;
	size_t read_size;   /* of the next refill: grows while the walk is sequential */
};

/* Prepares a walk over src[offset, offset + size). window_max 0 means 256 KiB; a source that is in
 * memory needs no window. LANCET_CORRUPT when the range passes the end of the source. */
int pbscan_init(struct pbscan *scan, struct source *src, uint64_t offset, uint64_t size,
                size_t window_max, struct lancet_error *err);
void pbscan_release(struct pbscan *scan);
/* *ret_more is false at the end. LANCET_CORRUPT: bad tag, field 0, wire type 3/4/6/7, overlong
 * varint, or content past the end. */
LANCET_MUST_CHECK int pbscan_next(struct pbscan *scan, struct pb_field *ret_field, bool *ret_more,
                                  struct lancet_error *err);
/* The same for a nested message: the scan was put at its first byte (scan->at), and it ends at
 * `end`. CORRUPT, too, when a field passes that. */
LANCET_MUST_CHECK int pbscan_next_inside(struct pbscan *scan, uint64_t end,
                                         struct pb_field *ret_field, bool *ret_more,
                                         struct lancet_error *err);
/* For loops over all fields: the next one. False at the end, and when *rc, which the loop's body
 * may set, is not LANCET_OK. */
bool pbscan_step(struct pbscan *scan, struct pb_field *ret_field, int *rc,
                 struct lancet_error *err);
/* Bytes of the source within the message, borrowed until the next call on this scan; refills the
 * window when needed. size <= window_max. */
LANCET_MUST_CHECK int pbscan_bytes(struct pbscan *scan, uint64_t offset, size_t size,
                                   struct slice *ret_bytes, struct lancet_error *err);

/* The same walk over bytes in memory. */
struct pbmem { struct slice in; size_t at; };
LANCET_MUST_CHECK int pbmem_next(struct pbmem *scan, struct pb_field *ret_field, bool *ret_more,
                                 struct lancet_error *err);

#endif
