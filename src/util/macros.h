/* Small helpers that every layer may use: cleanup attributes, array length, error propagation. */
#ifndef UTIL_MACROS_H
#define UTIL_MACROS_H

#include <stdlib.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* For loops that are worth vectorising, at every level of optimisation. */
#if defined(__GNUC__) && !defined(__clang__)
#define lancet_hot __attribute__((optimize("O3")))
#else
#define lancet_hot
#endif

/* Returns the callee's code at once when it is not LANCET_OK. */
#define TRY(call)                          \
	do {                               \
		int rc_ = (call);          \
		if (rc_ != LANCET_OK)      \
			return rc_;        \
	} while (0)

/* free() and close() on every path out of a scope. close keeps errno. */
void util_free_pointer(void *pointer_to_pointer);
void util_close_fd(const int *fd);
#define lancet_autofree  __attribute__((cleanup(util_free_pointer)))
#define lancet_autoclose __attribute__((cleanup(util_close_fd)))

/* Moves ownership out of an autofree pointer: the attribute then sees NULL. */
static inline void *
lancet_steal(void *pointer_to_pointer)
{
	void **pp = pointer_to_pointer;
	void *taken = *pp;

	*pp = NULL;
	return taken;
}

/* The same for an autoclose descriptor. */
static inline int
lancet_steal_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#endif
