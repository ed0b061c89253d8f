/* The live files of a version as callers hold them.
 *
 * The files are found once and stay with the version. Tags are no part of a version: a tag may be
 * made or moved while it is cached, so the list of tag files is made anew whenever `_refs/tags`
 * changed. The slot of a version keeps the newest list; that one reference counts none on the
 * version, which owns the slot.
 */
#include "live.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lancet/refs.h>
#include "util/macros.h"

#define TAGS_DIR        "_refs/tags"
#define SETTLED_SECONDS 2 /* covers file systems whose times have whole seconds */

/* What `_refs/tags` looked like; all zero when it is not there. */
struct tags_stamp {
	dev_t dev;
	ino_t ino;
	struct timespec mtime, ctime;
	bool settled; /* it had not changed just before: later changes get other times */
};

struct live_slot {
	struct live_files files;
	pthread_mutex_t lock; /* of what is below; never held over I/O */
	struct lancet_live *newest;
	struct tags_stamp stamp;
};

static void
live_files_release(struct live_files *files)
{
	arena_release(&files->arena);
	free(files->files);
}

static void
live_drop(struct lancet_live *live)
{
	if (live == NULL || __atomic_sub_fetch(&live->refs, 1, __ATOMIC_ACQ_REL) != 0)
		return;
	live_files_release(&live->tags);
	free(live);
}

static void
slot_free(struct live_slot *slot)
{
	if (slot == NULL)
		return;
	live_drop(slot->newest);
	live_files_release(&slot->files);
	pthread_mutex_destroy(&slot->lock);
	free(slot);
}

void
version_live_free(void *live)
{
	slot_free(live);
}

/* The version's slot, made on first use; the loser of a race frees its own. */
static int
slot_get(lancet_version *version, struct live_slot **ret_slot, struct lancet_error *err)
{
	void *seen = atomic_load_explicit(&version->live, memory_order_acquire);
	struct live_slot *slot;
	int rc;

	if (seen != NULL) {
		*ret_slot = seen;
		return LANCET_OK;
	}
	slot = calloc(1, sizeof(*slot));
	if (slot == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "live files: out of memory");
	pthread_mutex_init(&slot->lock, NULL);
	rc = live_files_find(&slot->files, version, err);
	if (rc != LANCET_OK) {
		slot_free(slot);
		return lancet_wrap(err, rc, "live files");
	}
	if (!atomic_compare_exchange_strong(&version->live, &seen, slot)) {
		slot_free(slot);
		slot = seen;
	}
	*ret_slot = slot;
	return LANCET_OK;
}

static void
stamp_tags(lancet_version *version, struct tags_stamp *ret_stamp)
{
	const struct lancet_base *root = dataset_base(dataset_root(version->dataset));
	struct stat st;

	*ret_stamp = (struct tags_stamp){ .settled = true };
	if (store_stat(root->store, TAGS_DIR, &st, NULL) != LANCET_OK)
		return;
	*ret_stamp = (struct tags_stamp){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.mtime = st.st_mtim,
		.ctime = st.st_ctim,
		.settled = st.st_mtim.tv_sec < time(NULL) - SETTLED_SECONDS,
	};
}

static bool
stamps_match(const struct tags_stamp *a, const struct tags_stamp *b)
{
	return a->settled && b->settled && a->dev == b->dev && a->ino == b->ino &&
	       a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec &&
	       a->ctime.tv_sec == b->ctime.tv_sec && a->ctime.tv_nsec == b->ctime.tv_nsec;
}

static int
add_tag(struct live_files *tags, lancet_version *version, const struct lancet_tag *tag,
	bool rewritten, struct lancet_error *err)
{
	return live_add(tags,
		&(struct lancet_live_file){
			.kind = LANCET_LIVE_REF,
			.rewritten = rewritten,
			.base = dataset_base(dataset_root(version->dataset)),
			.path = tag->key,
			.source_path = tag->key,
			.size = rewritten ? UINT64_MAX : (uint64_t)tag->file_stat.st_size,
		},
		err);
}

/* The tag files of this version, in byte order as lancet_dataset_tags lists them. */
static int
find_tags(struct lancet_live *live, struct lancet_error *err)
{
	lancet_version *version = live->version;
	struct lancet_bytes branch = lancet_dataset_branch_name(version->dataset);
	struct lancet_tag_list found = { 0 };
	int rc;

	TRY(lancet_dataset_tags(version->dataset, &found, err));
	rc = LANCET_OK;
	for (size_t i = 0; rc == LANCET_OK && i < found.count; i++) {
		const struct lancet_tag *tag = &found.tags[i];
		struct slice on = slice_text(tag->has_branch ? tag->branch : "");
		bool rewritten = live->files->rewritten || tag->has_branch;

		if (tag->code == LANCET_OK && tag->version == version->info.number &&
			slice_equal(on, slice_of(branch.data, branch.size)))
			rc = add_tag(&live->tags, version, tag, rewritten, err);
	}
	lancet_tag_list_release(&found);
	return rc;
}

static int
live_make(lancet_version *version, const struct live_files *files, struct lancet_live **ret_live,
	struct lancet_error *err)
{
	struct lancet_live *live = calloc(1, sizeof(*live));
	int rc;

	if (live == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "live files: out of memory");
	live->refs = 1;
	live->version = version;
	live->files = files;
	rc = find_tags(live, err);
	if (rc != LANCET_OK) {
		live_drop(live);
		return rc;
	}
	*ret_live = live;
	return LANCET_OK;
}

lancet_live *
lancet_live_ref(lancet_live *live)
{
	__atomic_add_fetch(&live->refs, 1, __ATOMIC_RELAXED);
	lancet_version_ref(live->version);
	return live;
}

void
lancet_live_unref(lancet_live *live)
{
	if (live == NULL)
		return;
	lancet_version *version = live->version;
	live_drop(live);
	lancet_version_unref(version);
}

int
lancet_live_open(lancet_version *version, lancet_live **ret_live, struct lancet_error *err)
{
	struct lancet_live *live = NULL, *old = NULL;
	struct live_slot *slot = NULL;
	struct tags_stamp stamp;

	TRY(slot_get(version, &slot, err));
	stamp_tags(version, &stamp);
	pthread_mutex_lock(&slot->lock);
	if (slot->newest != NULL && stamps_match(&slot->stamp, &stamp))
		live = lancet_live_ref(slot->newest);
	pthread_mutex_unlock(&slot->lock);
	if (live == NULL) {
		TRY(live_make(version, &slot->files, &live, err));
		lancet_live_ref(live); /* the caller's; the first one becomes the slot's */
		pthread_mutex_lock(&slot->lock);
		old = slot->newest;
		slot->newest = live;
		slot->stamp = stamp;
		pthread_mutex_unlock(&slot->lock);
		live_drop(old);
	}
	*ret_live = live;
	return LANCET_OK;
}

size_t
lancet_live_count(const lancet_live *live)
{
	return live->files->count + live->tags.count;
}

size_t
lancet_live_ref_start(const lancet_live *live)
{
	return live->files->count;
}

const struct lancet_live_file *
lancet_live_file(const lancet_live *live, size_t index)
{
	size_t files = live->files->count;

	return index < files ? &live->files->files[index] : &live->tags.files[index - files];
}

const char *
lancet_live_kind_name(enum lancet_live_kind kind)
{
	static const char *const names[] = {
		[LANCET_LIVE_DATA] = "data",
		[LANCET_LIVE_OVERLAY] = "overlay",
		[LANCET_LIVE_DELETION] = "deletion",
		[LANCET_LIVE_INDEX] = "index",
		[LANCET_LIVE_ROW_MAP] = "row_map",
		[LANCET_LIVE_FRI_DETAILS] = "fri_details",
		[LANCET_LIVE_TRANSACTION] = "transaction",
		[LANCET_LIVE_MANIFEST] = "manifest",
		[LANCET_LIVE_REF] = "ref",
		[LANCET_LIVE_BLOB] = "data",
	};

	return names[kind];
}

bool
lancet_live_relocatable(const lancet_live *live)
{
	return !live->files->elsewhere;
}
