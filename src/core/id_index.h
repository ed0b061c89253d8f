/* Where the row of each stable row id is: a table that is made when searching costs more.
 *
 * A search reads all sequences that may have an id. Once the searches in a version have decoded as
 * many values as it has rows, the next one makes a table of all live rows, four bytes for each id
 * up to the greatest that was ever given. A dataset keeps one, that of the version that was asked
 * last for long enough; there is none where it takes too much of the cache's budget.
 */
#ifndef CORE_ID_INDEX_H
#define CORE_ID_INDEX_H

#include <pthread.h>
#include <sys/stat.h>

#include "version.h"

struct id_index;

/* What a dataset keeps, with its branches. */
struct id_index_slot {
	pthread_mutex_t lock;
	const struct lancet_dataset *dataset; /* with the manifest's number and file: the key */
	uint64_t number;
	struct stat file;
	uint64_t decoded;       /* values, by searches in that version */
	bool making, refused;   /* by a thread; by what the version has */
	struct id_index *index; /* counted, or NULL */
};

void id_index_slot_init(struct id_index_slot *slot);
void id_index_slot_release(struct id_index_slot *slot);

/* The table, if there is one by now, to be given back; else NULL: search. `bytes_max`: that it may
 * take. */
struct id_index *id_index_get(
	struct id_index_slot *slot, struct lancet_version *version, size_t bytes_max);
void id_index_put(struct id_index_slot *slot, struct id_index *index);
/* The address of the live row with the id; UINT64_MAX: there is none. */
uint64_t id_index_address(const struct id_index *index, uint64_t id);
/* A search in the version has decoded so many values. */
void id_index_searched(
	struct id_index_slot *slot, const struct lancet_version *version, uint64_t decoded);

#endif
