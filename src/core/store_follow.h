/* Where a path really leads: the check behind symbolic links that a store may follow. */
#ifndef CORE_STORE_FOLLOW_H
#define CORE_STORE_FOLLOW_H

#include <lancet/error.h>

/* Directories that links may lead to, each held open by an O_PATH descriptor. */
struct store_follow {
	int *fds;
	int count;
};

/* `paths` is NULL or NULL-ended. INVALID: a path that is not absolute; NOT_FOUND and others: one
 * that is no directory or can't be opened. */
int store_follow_init(struct store_follow *follow, const char *const *paths,
                      struct lancet_error *err);
void store_follow_release(struct store_follow *follow);

/* Opens key below root_fd with open(2) flags, following links freely, but only what then turns
 * out to lie below root_fd or one of the directories. Nothing outside is opened for reading even
 * briefly. Returns the descriptor, or -1 and errno; EXDEV when it lies elsewhere. */
int store_follow_open(const struct store_follow *follow, int root_fd, const char *key, int flags);

#endif
