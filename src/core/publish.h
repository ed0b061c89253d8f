/* Publishing files: whole under their final names, or not at all.
 *
 * Every file is written as DIR/.tmp-UUID beside its final name, synced, and only then named; the
 * directories are synced once all names are given. Several files may go together: those that
 * others will point to (data, deletion and transaction files) in one round, what points to them
 * (a manifest) in the next one, so that whoever sees the manifest finds the rest, after a loss of
 * power too.
 *
 *     publish_init(&publish, store, true);
 *     publish_add(&publish, "data/a.lance", …);      any number of them
 *     publish_add(&publish, "_transactions/b.txn", …);
 *     publish_name_all(&publish, err);               they are there, durably
 *     publish_file(store, "_versions/….manifest", …);
 *     publish_release(&publish);
 *
 * Directories that exist are taken to be durable; missing ones are made, durably.
 */
#ifndef CORE_PUBLISH_H
#define CORE_PUBLISH_H

#include "store_write.h"

enum publish_mode {
	PUBLISH_NEW,     /* EXISTS when the name is taken, which is never replaced */
	PUBLISH_REPLACE, /* in the place of the file that has the name */
};

struct publish_item;

/* Read only, but for publish_*. */
struct publish {
	struct store *store;
	struct publish_item *items;
	size_t count, capacity;
	size_t settled; /* items from the first that are written, synced and closed */
	size_t named;   /* items from the first that have their final names */
	bool durable;
	bool failed; /* a file could not be written: publish_release is all that is left */
};

/* Keeps a reference of the store. `durable` false leaves out every sync. */
void publish_init(struct publish *publish, struct store *store, bool durable);
/* Removes the temporary files of what has not been named; what has been stays. */
void publish_release(struct publish *publish);

/* A file to be written with *ret_writer, which is borrowed, and to be used until the next call
 * with this publish. After a failure of the writer only publish_release makes sense. */
int publish_open(struct publish *publish, const char *key, enum publish_mode mode,
	struct store_writer **ret_writer, struct lancet_error *err);
/* A file of these bytes. */
int publish_add(struct publish *publish, const char *key, const struct slice *parts, size_t count,
	enum publish_mode mode, struct lancet_error *err);
/* Takes over the files of another one of the same store, which is empty then; none of them has been
 * named. Where several threads write, each has a publish of its own until its files are complete.
 */
int publish_take(struct publish *publish, struct publish *from, struct lancet_error *err);
/* Everything added is on disk, under temporary names. */
int publish_sync_all(struct publish *publish, struct lancet_error *err);
/* publish_sync_all; then the final names, in the order of adding; then their directories. It may
 * be called again after more has been added. After a failure `named` tells how far it came: the
 * names that were given stay, though not durably. */
int publish_name_all(struct publish *publish, struct lancet_error *err);
/* Takes back, as far as that is possible, what has been named as PUBLISH_NEW, and forgets it: for
 * files nobody points to because the commit they were made for failed. Never for a manifest. */
void publish_undo(struct publish *publish);

/* One file of these bytes. When it fails the temporary file is removed, as far as that is possible,
 * and nothing else has changed, except when syncing the directory was all that failed (the text
 * says "is there, but"): then the file stays, since others may have seen it. */
int publish_file(struct store *store, const char *key, const struct slice *parts, size_t count,
	enum publish_mode mode, bool durable, struct lancet_error *err);

#endif
