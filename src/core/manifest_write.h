/* A manifest file, from a draft. Format facts: manifest file layout.
 *
 * The file is made of ranges of the origin's file and of new bytes, and streamed: nothing large is
 * held.
 */
#ifndef CORE_MANIFEST_WRITE_H
#define CORE_MANIFEST_WRITE_H

#include "draft.h"
#include "dataset.h"
#include "publish.h"
#include "splice.h"

/* Encoded transactions up to this size are in the manifest, too. */
#define TRANSACTION_INLINE_MAX 20971520u

/* The file's name below the dataset's directory: the naming scheme of newest, V2 without one. */
void manifest_write_key(const struct draft *draft, char into[MANIFEST_PATH_MAX]);

/* Puts the file together. `transaction` is the encoded message (inlined when it is not too long)
 * and `transaction_file` the name of its file ("" without). LIMIT: over 4 GiB. Afterwards
 * splice_read and file->size serve the bytes; splice_release in any case. */
int manifest_write_prepare(struct draft *draft, struct slice transaction,
	const char *transaction_file, struct splice *file, struct lancet_error *err);

/* Publishes the file under its name, never in the place of another: EXISTS when the version is
 * there already. As publish_file: what is named stays, and draft->published says so. */
int manifest_write_publish(struct draft *draft, const struct splice *file, struct store *store,
	bool durable, struct lancet_error *err);

/* Rewrites latest_version_hint.json, best effort and not durably: failures don't matter. */
void manifest_write_hint(struct store *store, uint64_t version);

#endif
