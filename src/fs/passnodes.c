/* The table of passnodes.h: chunks that never move, chained by hash, with the paths in blocks
 * behind them.
 *
 * Nothing is ever removed, so what was handed out stays valid without the lock.
 */
#include "passnodes.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "inode.h"
#include "util/arena.h"

#define CHUNK_BITS  12
#define CHUNK_FILES (1u << CHUNK_BITS)
#define BUCKETS_MIN 256u
#define NO_FILE     UINT32_MAX
#define BLOCK_SIZE  512
#define LOST_MODE   0444

struct pass_node {
	const lancet_base *base;
	const char *path;
	uint64_t inode; /* its hash too */
	uint64_t recorded_size;
	int64_t seconds;
	uint32_t nanos;
	uint32_t next; /* in its bucket */
};

struct passnodes {
	pthread_rwlock_t lock;
	struct pass_node **chunks;
	uint32_t chunk_count;
	uint32_t count;
	uint32_t *buckets;
	uint32_t bucket_count; /* a power of two */
	struct arena paths;
};

static struct pass_node *
node_at(const struct passnodes *nodes, uint32_t number)
{
	return &nodes->chunks[number >> CHUNK_BITS][number & (CHUNK_FILES - 1)];
}

struct passnodes *
passnodes_new(void)
{
	struct passnodes *nodes = calloc(1, sizeof(*nodes));

	if (nodes == NULL)
		return NULL;
	nodes->bucket_count = BUCKETS_MIN;
	nodes->buckets = malloc(BUCKETS_MIN * sizeof(*nodes->buckets));
	if (nodes->buckets == NULL || pthread_rwlock_init(&nodes->lock, NULL) != 0) {
		free(nodes->buckets);
		free(nodes);
		return NULL;
	}
	memset(nodes->buckets, 0xff, BUCKETS_MIN * sizeof(*nodes->buckets));
	return nodes;
}

void
passnodes_free(struct passnodes *nodes)
{
	if (nodes == NULL)
		return;
	for (uint32_t i = 0; i < nodes->chunk_count; i++)
		free(nodes->chunks[i]);
	free(nodes->chunks);
	free(nodes->buckets);
	arena_release(&nodes->paths);
	pthread_rwlock_destroy(&nodes->lock);
	free(nodes);
}

static bool
same_file(const struct pass_node *node, const struct pass_file *file, uint64_t inode)
{
	return node->inode == inode && strcmp(node->path, file->path) == 0 &&
	       strcmp(lancet_base_identity(node->base), lancet_base_identity(file->base)) == 0;
}

static uint32_t
find(const struct passnodes *nodes, const struct pass_file *file, uint64_t inode)
{
	uint32_t number = nodes->buckets[inode & (nodes->bucket_count - 1)];

	while (number != NO_FILE && !same_file(node_at(nodes, number), file, inode))
		number = node_at(nodes, number)->next;
	return number;
}

/* Doubles the buckets; a failure costs only time. */
static void
grow_buckets(struct passnodes *nodes)
{
	size_t count = (size_t)nodes->bucket_count * 2;
	uint32_t *buckets = count > UINT32_MAX / 2 ? NULL : malloc(count * sizeof(*buckets));

	if (buckets == NULL)
		return;
	memset(buckets, 0xff, count * sizeof(*buckets));
	free(nodes->buckets);
	nodes->buckets = buckets;
	nodes->bucket_count = (uint32_t)count;
	for (uint32_t i = 0; i < nodes->count; i++) {
		uint32_t *bucket = &buckets[node_at(nodes, i)->inode & (count - 1)];

		node_at(nodes, i)->next = *bucket;
		*bucket = i;
	}
}

static bool
make_room(struct passnodes *nodes)
{
	uint32_t chunk = nodes->count >> CHUNK_BITS;
	struct pass_node **chunks = nodes->chunks;

	if (chunk < nodes->chunk_count)
		return true;
	if ((chunk & (chunk - 1)) == 0) { /* grows at powers of two */
		chunks = realloc(chunks, ((size_t)chunk * 2 + 1) * sizeof(*chunks));
		if (chunks == NULL)
			return false;
		nodes->chunks = chunks;
	}
	chunks[chunk] = malloc(CHUNK_FILES * sizeof(**chunks));
	if (chunks[chunk] == NULL)
		return false;
	nodes->chunk_count++;
	return true;
}

/* Under the write lock. */
static int
insert(struct passnodes *nodes, const struct pass_file *file, uint64_t inode, uint32_t *ret_number,
	struct lancet_error *err)
{
	const char *path;
	struct pass_node *node;
	uint32_t *bucket;

	if (nodes->count == NO_FILE)
		return lancet_fail(err, LANCET_LIMIT,
			"%" PRIu32 " files were shown, no more can be", nodes->count);
	path = make_room(nodes) ? arena_copy(&nodes->paths, file->path, strlen(file->path) + 1)
				: NULL;
	if (path == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "%s: out of memory", file->path);
	if (nodes->count >= nodes->bucket_count)
		grow_buckets(nodes);
	bucket = &nodes->buckets[inode & (nodes->bucket_count - 1)];
	node = node_at(nodes, nodes->count);
	*node = (struct pass_node){
		.base = file->base,
		.path = path,
		.inode = inode,
		.recorded_size = file->recorded_size,
		.seconds = file->recorded_time.tv_sec,
		.nanos = (uint32_t)file->recorded_time.tv_nsec,
		.next = *bucket,
	};
	*bucket = nodes->count;
	*ret_number = nodes->count++;
	return LANCET_OK;
}

int
passnodes_intern(struct passnodes *nodes, const struct pass_file *file, uint32_t *ret_number,
	struct lancet_error *err)
{
	uint64_t inode = inode_file(lancet_base_identity(file->base), file->path);
	uint32_t number;
	int rc = LANCET_OK;

	pthread_rwlock_rdlock(&nodes->lock);
	number = find(nodes, file, inode);
	pthread_rwlock_unlock(&nodes->lock);
	if (number == NO_FILE) {
		pthread_rwlock_wrlock(&nodes->lock);
		number = find(nodes, file, inode);
		if (number == NO_FILE)
			rc = insert(nodes, file, inode, &number, err);
		pthread_rwlock_unlock(&nodes->lock);
	}
	if (rc == LANCET_OK)
		*ret_number = number;
	return rc;
}

bool
passnodes_get(struct passnodes *nodes, uint64_t number, struct pass_file *ret_file)
{
	const struct pass_node *node;
	bool found;

	pthread_rwlock_rdlock(&nodes->lock);
	found = number < nodes->count;
	if (found) {
		node = node_at(nodes, (uint32_t)number);
		*ret_file = (struct pass_file){
			.base = node->base,
			.path = node->path,
			.inode = node->inode,
			.recorded_size = node->recorded_size,
			.recorded_time = { node->seconds, (long)node->nanos },
		};
	}
	pthread_rwlock_unlock(&nodes->lock);
	return found;
}

static void
lost_stat(const struct pass_file *file, struct stat *st)
{
	uint64_t size = file->recorded_size == UINT64_MAX ? 0 : file->recorded_size;

	*st = (struct stat){
		.st_mode = S_IFREG | LOST_MODE,
		.st_uid = (uid_t)-1, /* whoever asked knows better */
		.st_gid = (gid_t)-1,
		.st_size = size > INT64_MAX ? INT64_MAX : (off_t)size,
		.st_mtim = file->recorded_time,
		.st_blksize = 4096,
	};
	st->st_blocks = st->st_size / BLOCK_SIZE + (st->st_size % BLOCK_SIZE != 0);
}

int
pass_file_stat(const struct pass_file *file, struct stat *ret_stat, bool *ret_lost,
	struct lancet_error *err)
{
	struct lancet_error why = { 0 };
	struct stat st;
	int rc = lancet_base_stat(file->base, file->path, &st, &why);
	bool lost = rc == LANCET_IO || rc == LANCET_NOT_FOUND || rc == LANCET_CORRUPT;

	if (rc != LANCET_OK && !lost) {
		if (err != NULL)
			*err = why;
		return rc;
	}
	if (lost)
		lost_stat(file, &st);
	st.st_ino = (ino_t)file->inode;
	st.st_nlink = 1;
	st.st_ctim = st.st_mtim;
	st.st_atim = st.st_mtim;
	*ret_stat = st;
	*ret_lost = lost;
	return LANCET_OK;
}
