/* Where raw bytes come from: a descriptor, or a live file that the library makes. */
#ifndef FS_RAWFILE_H
#define FS_RAWFILE_H

#include "node.h"

/* Takes the descriptor, on failure too. size as fstat told. */
int raw_of_fd(int fd, uint64_t size, struct raw_bytes *ret_raw, struct lancet_error *err);
/* The rewritten file at `index`; keeps a reference to live. */
int raw_of_live(
	lancet_live *live, size_t index, struct raw_bytes *ret_raw, struct lancet_error *err);

#endif
