/* An open file that is more than the bytes which were there when it was opened: one that is
 * written, or that changes. */
#ifndef FS_HANDLE_H
#define FS_HANDLE_H

#include <stddef.h>
#include <stdint.h>

#include <lancet/error.h>

/* Functions may be NULL. read is safe from many threads. */
struct node_handle_ops {
	int (*read)(void *state, uint64_t offset, size_t size, void *into, size_t *ret_got,
		struct lancet_error *err);
	/* Which events of poll(2) are there. `wake`, when there is one, is kept and woken when
	 * there are new ones; it takes the place of the one before. */
	unsigned (*poll)(void *state, void *wake);
	void (*close)(void *state);
};

struct node_handle {
	const struct node_handle_ops *ops;
	void *state;
	int fd; /* a real file whose bytes are read, of the state; else -1 */
};

#endif
