/* What stage_dir.c and stage_files.c share. */
#ifndef FS_STAGE_PARTS_H
#define FS_STAGE_PARTS_H

#include "stage.h"

#include <pthread.h>

struct stage_file {
	uint64_t number;
	const void *owner;
	char *name;
	bool removed; /* and still open: the name is another's, or nobody's */
	mode_t mode;
	uint64_t size; /* bytes, as counted */
	unsigned opens;
	struct stage_file *next;
};

struct staged {
	struct stage *stage;
	struct stage_file *file;
	int fd;
};

struct stage {
	pthread_mutex_t lock;
	int parent;    /* where the directory is, or will be */
	char name[48]; /* of the directory in it; "" until it is made */
	int directory; /* -1 until it is made; locked, as a sign of life */
	uint64_t bytes, bytes_max;
	uint64_t last_number;
	size_t count;
	struct stage_file *files;
};

/* Under the lock: makes the private directory if there is none yet. */
int stage_make_directory(struct stage *stage, struct lancet_error *err);

#endif
