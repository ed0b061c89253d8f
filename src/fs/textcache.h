/* Rendered texts by node, least recently used out first, and the sizes of more texts than are kept.
 *
 * stat renders a text for its length and open then finds it. Keys are node id and slot generation,
 * so a reused slot never meets an old text. The lock is held for a look-up only. Texts in use live
 * on by their count.
 */
#ifndef FS_TEXTCACHE_H
#define FS_TEXTCACHE_H

#include "util/buf.h"

struct text {
	int refs; /* atomic */
	size_t size;
	uint8_t *data;
};

struct textcache;

struct text_key {
	uint64_t node;
	uint64_t generation;
};

/* Takes the bytes of buf, which is empty afterwards. NULL when there is no memory. */
struct text *text_new(struct buf *bytes);
struct text *text_ref(struct text *text);
void text_unref(struct text *text); /* NULL is fine */

struct textcache *textcache_new(uint64_t budget /* bytes */);
void textcache_free(struct textcache *cache);
/* A counted text, or NULL. */
struct text *textcache_get(struct textcache *cache, struct text_key key);
/* Keeps a reference as long as there is room. */
void textcache_put(struct textcache *cache, struct text_key key, struct text *text);

uint64_t textcache_used(struct textcache *cache); /* bytes */

/* The size of a file, when it was remembered and not yet displaced by another. */
bool textcache_size(struct textcache *cache, struct text_key key, uint64_t *ret_size);
void textcache_remember(struct textcache *cache, struct text_key key, uint64_t size);

#endif
