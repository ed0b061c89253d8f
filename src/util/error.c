/* Filling, wrapping and mapping of struct lancet_error.
 *
 * Text is formatted beside the error and copied in, so that a caller may pass err->text itself as
 * an argument. Whatever does not fit is cut; the text always ends in a NUL. It quotes names and
 * bytes of datasets, so control characters become '?': it stays one line, and no terminal obeys it.
 */
#include <lancet/error.h>

#include "macros.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	int os_errno;
} codes[] = {
	[LANCET_OK] = { "ok", EIO },
	[LANCET_IO] = { "io", EIO },
	[LANCET_NOT_FOUND] = { "not_found", ENOENT },
	[LANCET_EXISTS] = { "exists", EEXIST },
	[LANCET_CORRUPT] = { "corrupt", EUCLEAN },
	[LANCET_UNSUPPORTED] = { "unsupported", EOPNOTSUPP },
	[LANCET_INVALID] = { "invalid", EINVAL },
	[LANCET_BUSY] = { "busy", EBUSY },
	[LANCET_CONFLICT] = { "conflict", ESTALE },
	[LANCET_PRECONDITION] = { "precondition", ECANCELED },
	[LANCET_CLEANED] = { "cleaned", ESTALE },
	[LANCET_READ_ONLY] = { "read_only", EROFS },
	[LANCET_DENIED] = { "denied", EACCES },
	[LANCET_LIMIT] = { "limit", EFBIG },
	[LANCET_NO_MEMORY] = { "no_memory", ENOMEM },
	[LANCET_CANCELLED] = { "cancelled", ECANCELED },
};

static void
set_text(struct lancet_error *err, const char *text)
{
	size_t size = strlen(text);

	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		err->text[i] = c < 0x20 || c == 0x7f ? '?' : text[i];
	}
	err->text[size] = '\0';
}

int
lancet_fail(struct lancet_error *err, enum lancet_code code, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list args;

	if (err == NULL)
		return code;
	va_start(args, fmt);
	if (vsnprintf(text, sizeof(text), fmt, args) < 0)
		text[0] = '\0';
	va_end(args);
	err->code = code;
	err->os_errno = 0;
	set_text(err, text);
	return code;
}

static enum lancet_code
code_of_errno(int os_errno)
{
	switch (os_errno) {
	case ENOENT:
		return LANCET_NOT_FOUND;
	case EACCES:
	case EPERM:
		return LANCET_DENIED;
	case ENOMEM:
		return LANCET_NO_MEMORY;
	default:
		return LANCET_IO;
	}
}

/* Appends at text + used, which may be what a failed or cut vsnprintf returned. */
LANCET_PRINTF(4, 5)
static void
append(char *text, size_t room, int used, const char *fmt, ...)
{
	va_list args;

	if (used < 0 || (size_t)used >= room)
		return;
	va_start(args, fmt);
	if (vsnprintf(text + used, room - (size_t)used, fmt, args) < 0)
		text[used] = '\0';
	va_end(args);
}

int
lancet_fail_errno(struct lancet_error *err, const char *fmt, ...)
{
	int os_errno = errno;
	enum lancet_code code = code_of_errno(os_errno);
	char text[sizeof(err->text)] = "";
	va_list args;
	int used;

	if (err == NULL)
		return code;
	va_start(args, fmt);
	used = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	errno = os_errno;
	append(text, sizeof(text), used, ": %m"); /* %m is strerror that threads may share */
	err->code = code;
	err->os_errno = os_errno;
	set_text(err, text);
	errno = os_errno;
	return code;
}

int
lancet_wrap(struct lancet_error *err, int code, const char *fmt, ...)
{
	char text[sizeof(err->text)] = "";
	va_list args;
	int used;

	if (err == NULL || code == LANCET_OK)
		return code;
	va_start(args, fmt);
	used = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (err->text[0] != '\0')
		append(text, sizeof(text), used, ": %s", err->text);
	if (err->code == LANCET_OK)
		err->code = (enum lancet_code)code;
	set_text(err, text);
	return code;
}

int
lancet_error_errno(const struct lancet_error *err)
{
	if (err == NULL || (size_t)err->code >= ARRAY_SIZE(codes))
		return EIO;
	if (err->code == LANCET_IO && err->os_errno > 0)
		return err->os_errno;
	return codes[err->code].os_errno;
}

const char *
lancet_code_name(enum lancet_code code)
{
	return (size_t)code < ARRAY_SIZE(codes) ? codes[code].name : "unknown";
}
