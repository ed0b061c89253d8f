/* Writing the row map of a stable partition, and proving that it says what it should.
 *
 * The file has the labels of all physical rows of the sources, and for each block of them how many
 * rows of each destination there are up to its end; see rowmap.h for reading it. Format facts: row
 * map file.
 */
#ifndef CORE_ROWMAP_WRITE_H
#define CORE_ROWMAP_WRITE_H

#include <lancet/transition.h>
#include "file/datafile.h"

#define ROWMAP_KEY_SIZE (sizeof("_fri//stable_partition.lance") + 36) /* with its NUL */

struct lancet_change;

/* Where labels come from. */
struct rowmap_labels {
	/* Labels [first, first + count), LANCET_NO_LABEL for deleted rows. */
	int (*read)(void *context, uint64_t first, size_t count, uint16_t *into,
		struct lancet_error *err);
	void *context;
	uint64_t rows;         /* physical rows of all sources */
	uint32_t destinations; /* 1 to 65535 */
};

/* The key of the map with this id. */
void rowmap_key(const char *map_id, char into[ROWMAP_KEY_SIZE]);
/* Rows of a block: 65536, or more where the counts would get larger than they are worth. */
uint32_t rowmap_choose_block(uint64_t rows, uint32_t destinations);
/* Adds the file to those of the change, where it is named with the others. CORRUPT: a label that
 * is no destination. */
int rowmap_write(struct lancet_change *change, const char *map_id, enum file_version version,
	const struct rowmap_labels *labels, uint64_t *ret_size, struct lancet_error *err);
/* Reads the map that has its name by now, and compares all of its labels and counts. Each row has
 * one place at most, so that with the rows of the destinations, which the transition has, this says
 * that none is lost or doubled. CORRUPT: anything that differs. */
int rowmap_prove(struct source *file, const struct lancet_transition *transition,
	const struct rowmap_labels *labels, struct lancet_error *err);

#endif
