/* Files below one base, and the stored text of a base path. Format facts: base_paths.
 *
 * Whoever asks for a file has its name from a manifest, so one that is not there was lost: EIO.
 */
#include "dataset.h"

#include "util/macros.h"

#include <errno.h>
#include <string.h>

#define FILE_SCHEME "file"
#define LOCAL_HOST  "localhost"

const char *
lancet_base_identity(const lancet_base *base)
{
	return base->identity;
}

int
base_fail_lost(int rc, struct lancet_error *err)
{
	if (rc != LANCET_NOT_FOUND)
		return rc;
	if (err != NULL) {
		err->code = LANCET_IO;
		err->os_errno = EIO;
	}
	return LANCET_IO;
}

int
lancet_base_open(const lancet_base *base, const char *path, int *ret_fd, struct stat *ret_stat,
                 struct lancet_error *err)
{
	return base_fail_lost(store_open_fd(base->store, path, ret_fd, ret_stat, err), err);
}

int
lancet_base_stat(const lancet_base *base, const char *path, struct stat *ret_stat,
                 struct lancet_error *err)
{
	TRY(store_key_check(slice_text(path), err)); /* "" is no file */
	return base_fail_lost(store_stat(base->store, path, ret_stat, err), err);
}

/* The bytes of "SCHEME" before "://", or 0. */
static size_t
scheme_size(struct slice uri)
{
	for (size_t i = 0; i + 3 <= uri.size; i++) {
		if (memcmp(uri.data + i, "://", 3) == 0)
			return i;
		if (uri.data[i] == '/')
			break;
	}
	return 0;
}

/* The path of a file URI, percent-decoded into `into`. */
static int
uri_parse(struct slice uri, size_t scheme, struct buf *into, struct lancet_error *err)
{
	struct slice rest = slice_of(uri.data + scheme + 3, uri.size - scheme - 3);
	const uint8_t *slash = rest.size == 0 ? NULL : memchr(rest.data, '/', rest.size);
	struct slice host;

	if (!slice_equal(slice_of(uri.data, scheme), slice_text(FILE_SCHEME)))
		return lancet_fail(err, LANCET_UNSUPPORTED, "%.*s: not a local path",
		                   (int)(uri.size > 200 ? 200 : uri.size), (const char *)uri.data);
	if (slash == NULL)
		return lancet_fail(err, LANCET_CORRUPT, "file URI without a path");
	host = slice_of(rest.data, (size_t)(slash - rest.data));
	if (host.size != 0 && !slice_equal(host, slice_text(LOCAL_HOST)))
		return lancet_fail(err, LANCET_UNSUPPORTED, "file URI of another host");
	if (!percent_decode(slice_of(slash, rest.size - host.size), into))
		return lancet_fail(err, LANCET_CORRUPT, "file URI with a malformed escape");
	return LANCET_OK;
}

/* Appends the parts of `path` that are neither empty nor ".". */
static void
put_parts(struct slice path, struct buf *into)
{
	size_t start = 0;

	for (size_t i = 0; i <= path.size; i++) {
		struct slice part = slice_of(path.data + start, i - start);

		if (i < path.size && path.data[i] != '/')
			continue;
		start = i + 1;
		if (part.size == 0 || slice_equal(part, slice_text(".")))
			continue;
		buf_put_byte(into, '/');
		buf_put_slice(into, part);
	}
	if (into->size == 0)
		buf_put_byte(into, '/');
}

int
base_path_parse(struct slice stored, char into[PATH_MAX], struct lancet_error *err)
{
	struct buf decoded = { 0 }, plain = { .limit = PATH_MAX - 1 };
	size_t scheme;
	int rc = LANCET_OK;

	if (stored.size == 0)
		return lancet_fail(err, LANCET_CORRUPT, "path is empty");
	if (memchr(stored.data, '\0', stored.size) != NULL)
		return lancet_fail(err, LANCET_CORRUPT, "path holds a NUL byte");
	scheme = scheme_size(stored);
	if (scheme != 0)
		rc = uri_parse(stored, scheme, &decoded, err);
	else if (stored.data[0] != '/')
		rc = lancet_fail(err, LANCET_CORRUPT, "path is not absolute");
	if (rc == LANCET_OK)
		put_parts(scheme != 0 ? buf_slice(&decoded) : stored, &plain);
	if (rc == LANCET_OK && decoded.failed != LANCET_OK)
		rc = buf_check(&decoded, "path", err);
	if (rc == LANCET_OK && plain.failed == LANCET_LIMIT)
		rc = lancet_fail(err, LANCET_CORRUPT, "path of more than %d bytes", PATH_MAX - 1);
	if (rc == LANCET_OK)
		rc = buf_check(&plain, "path", err);
	if (rc == LANCET_OK) {
		memcpy(into, plain.data, plain.size);
		into[plain.size] = '\0';
	}
	buf_release(&decoded);
	buf_release(&plain);
	return rc;
}
