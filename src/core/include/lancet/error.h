/* Errors of liblancet: a code, the system call's errno where there was one, and one line of text.
 *
 * Every function that can fail returns an enum lancet_code and takes a struct lancet_error as its
 * last parameter. Callers may pass NULL when the code is enough. On failure out-parameters stay
 * untouched. There is no thread-local state.
 */
#ifndef LANCET_ERROR_H
#define LANCET_ERROR_H

#if defined(__GNUC__)
#define LANCET_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define LANCET_MUST_CHECK        __attribute__((warn_unused_result))
#define LANCET_API               __attribute__((visibility("default")))
#else
#define LANCET_PRINTF(fmt, args)
#define LANCET_MUST_CHECK
#define LANCET_API
#endif

enum lancet_code {
	LANCET_OK = 0,
	LANCET_IO,           /* the storage failed; os_errno keeps the system call's errno */
	LANCET_NOT_FOUND,    /* no version, fragment, column, ref or name like that */
	LANCET_EXISTS,       /* what is to be made is there already */
	LANCET_CORRUPT,      /* bytes on disk contradict the format; text names the place */
	LANCET_UNSUPPORTED,  /* a feature (named in text) that this build does not read or write */
	LANCET_INVALID,      /* the caller's argument makes no sense */
	LANCET_BUSY,         /* race lost, or still referenced */
	LANCET_CONFLICT,     /* can't be rebased onto the commits made meanwhile */
	LANCET_PRECONDITION, /* a demanded precondition no longer holds */
	LANCET_CLEANED,      /* the version was removed under an open path */
	LANCET_READ_ONLY,    /* the mount or the dataset can't be written */
	LANCET_DENIED,       /* the caller has no permission */
	LANCET_LIMIT,        /* a named limit of ours was reached */
	LANCET_NO_MEMORY,
	LANCET_CANCELLED,
};

struct lancet_error {
	enum lancet_code code; /* set once, by the frame that saw the fault */
	int os_errno;          /* 0, or what the failing system call said */
	char text[480];        /* "outer: inner: fault"; never allocated, NUL-terminated */
};

/* Fills err (NULL is fine) and returns code, so that `return lancet_fail(…)` is one statement. */
LANCET_API int lancet_fail(struct lancet_error *err, enum lancet_code code, const char *fmt, ...)
	LANCET_PRINTF(3, 4);

/* As lancet_fail, from errno: ENOENT becomes LANCET_NOT_FOUND, EACCES and EPERM LANCET_DENIED,
 * ENOMEM LANCET_NO_MEMORY, all else LANCET_IO. strerror's text is appended. */
LANCET_API int lancet_fail_errno(struct lancet_error *err, const char *fmt, ...)
	LANCET_PRINTF(2, 3);

/* Prefixes err's text with a name that the inner frame did not have; returns code unchanged. */
LANCET_API int lancet_wrap(struct lancet_error *err, int code, const char *fmt, ...)
	LANCET_PRINTF(3, 4);

/* The errno a Unix caller sees for this error (SPEC section 5), > 0. A missing file that a manifest
 * names is reported by the code that knows it with LANCET_IO and os_errno EIO. */
LANCET_API int lancet_error_errno(const struct lancet_error *err);

/* A fixed lower-case word for a code, such as "corrupt". */
LANCET_API const char *lancet_code_name(enum lancet_code code);

#endif
