/* What the metadata of a field wishes of its encoding. Format facts: keys that writers read. */
#ifndef FILE_ENCODE_WISH_H
#define FILE_ENCODE_WISH_H

#include "field.h"

enum wish_structure { WISH_ANY, WISH_MINIBLOCK, WISH_FULLZIP };
enum wish_compression { WISH_AUTO, WISH_NONE, WISH_LZ4, WISH_ZSTD };

enum wish_structure encode_wish_structure(const struct field *field);
/* `none` means that nothing is to be compressed by general means or symbols. */
enum wish_compression encode_wish_compression(const struct field *field);
/* 0: no wish, which is the library's default. */
int encode_wish_level(const struct field *field);

#endif
