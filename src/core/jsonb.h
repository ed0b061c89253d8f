/* JSONB, the binary form of JSON columns: what its reader and its writer share.
 *
 * A value is a container: a head word (kind and count), a word for each entry (kind and size of its
 * bytes), and these bytes; of an object first all keys, then all values. A number begins with a
 * byte that tells its kind. Words and numbers are big-endian. Format facts: logical types.
 */
#ifndef CORE_JSONB_H
#define CORE_JSONB_H

#define JSONB_HEAD_KIND   0xe0000000u
#define JSONB_HEAD_ARRAY  0x80000000u
#define JSONB_HEAD_OBJECT 0x40000000u
#define JSONB_HEAD_SCALAR 0x20000000u
#define JSONB_HEAD_COUNT  0x1fffffffu

#define JSONB_ENTRY_SIZE   0x0fffffffu
#define JSONB_ENTRY_KIND   0xf0000000u
#define JSONB_ENTRY_NULL   0x00000000u
#define JSONB_ENTRY_STRING 0x10000000u
#define JSONB_ENTRY_NUMBER 0x20000000u
#define JSONB_ENTRY_FALSE  0x30000000u
#define JSONB_ENTRY_TRUE   0x40000000u
#define JSONB_ENTRY_INNER  0x50000000u

#define JSONB_ZERO     0x00
#define JSONB_NAN      0x10
#define JSONB_INFINITY 0x20
#define JSONB_NEGATIVE 0x30 /* infinity */
#define JSONB_SIGNED   0x40
#define JSONB_UNSIGNED 0x50
#define JSONB_DOUBLE   0x60
#define JSONB_DECIMAL  0x70

#endif
