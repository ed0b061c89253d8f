/* The simulator: the log is replayed over names and files, then every choice that a crash has made
 * is a digit of a number, and states are counted through.
 */
#include "powerloss_parts.h"

#include "core/store_write.h"
#include "temptree.h"
#include "util/macros.h"

#include <fts.h>

static void *
grow(void *array, size_t count, size_t size)
{
	void *grown = realloc(array, (count + 1) * size);

	ck_assert_ptr_nonnull(grown);
	return grown;
}

static size_t
name_find(struct powerloss *loss, const char *key)
{
	struct value value = { .kind = NOTHING };
	char path[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < loss->name_count; i++) {
		if (strcmp(loss->names[i].key, key) == 0)
			return i;
	}
	ck_assert_int_lt(snprintf(path, sizeof(path), "%s/%s", loss->start, key), PATH_MAX);
	if (lstat(path, &st) == 0)
		value = (struct value){ .kind = START, .start_key = key };
	loss->names = grow(loss->names, loss->name_count, sizeof(*loss->names));
	loss->names[loss->name_count] = (struct name){ .key = key, .live = value, .kept = value };
	return loss->name_count++;
}

/* Adds a change that no directory sync has confirmed. */
static void
change(struct powerloss *loss, const struct effect *effects, int count)
{
	struct pending *pending;

	loss->pending = grow(loss->pending, loss->pending_count, sizeof(*loss->pending));
	pending = &loss->pending[loss->pending_count++];
	pending->count = count;
	for (int i = 0; i < count; i++) {
		pending->effects[i] = effects[i];
		loss->names[effects[i].name].live = effects[i].value;
	}
}

static void
set(struct powerloss *loss, const char *key, struct value value)
{
	change(loss, &(struct effect){ name_find(loss, key), value }, 1);
}

static bool
same_dir(const char *a, const char *b)
{
	size_t size = store_dir_size(a);

	return size == store_dir_size(b) && memcmp(a, b, size) == 0;
}

static void
replay_rename(struct powerloss *loss, const char *from, const char *to, bool at_once)
{
	size_t old = name_find(loss, from), new = name_find(loss, to);
	struct effect effects[] = { { new, loss->names[old].live }, { old, { .kind = NOTHING } } };

	if (at_once && same_dir(from, to)) {
		change(loss, effects, 2);
	} else {
		change(loss, &effects[0], 1);
		change(loss, &effects[1], 1);
	}
}

static void
replay_sync_dir(struct powerloss *loss, const char *dir)
{
	size_t left = 0, size = strlen(dir);

	for (size_t i = 0; i < loss->pending_count; i++) {
		const struct pending *pending = &loss->pending[i];
		const char *key = loss->names[pending->effects[0].name].key;

		if (store_dir_size(key) != size || memcmp(key, dir, size) != 0) {
			loss->pending[left++] = *pending;
			continue;
		}
		for (int k = 0; k < pending->count; k++)
			loss->names[pending->effects[k].name].kept = pending->effects[k].value;
	}
	loss->pending_count = left;
}

static void
replay_put(struct file *file, const struct store_logged *call)
{
	file->bytes = grow(file->bytes, file->size + call->size, 1);
	memcpy(file->bytes + file->size, call->bytes, call->size);
	file->size += call->size;
}

static void
replay(struct powerloss *loss, const struct store_logged *call)
{
	switch (call->change) {
	case STORE_CREATE:
		ck_assert_uint_eq(call->file, loss->file_count);
		loss->files = grow(loss->files, loss->file_count, sizeof(*loss->files));
		loss->files[loss->file_count] = (struct file){ 0 };
		set(loss, call->key, (struct value){ .kind = WRITTEN, .file = loss->file_count++ });
		break;
	case STORE_PUT:
		replay_put(&loss->files[call->file], call);
		break;
	case STORE_SYNC:
		loss->files[call->file].synced = loss->files[call->file].size;
		break;
	case STORE_LINK:
		replay_rename(loss, call->key, call->to, false);
		break;
	case STORE_RENAME:
		replay_rename(loss, call->key, call->to, true);
		break;
	case STORE_REMOVE:
	case STORE_REMOVE_DIR:
		set(loss, call->key, (struct value){ .kind = NOTHING });
		break;
	case STORE_MAKE_DIR:
		set(loss, call->key, (struct value){ .kind = DIRECTORY });
		break;
	case STORE_SYNC_DIR:
		replay_sync_dir(loss, call->key);
		break;
	}
}

static void
variant_add(struct file *file, int kind, size_t size)
{
	ck_assert_uint_lt(file->variant_count, VARIANTS_MAX);
	file->variants[file->variant_count].kind = kind;
	file->variants[file->variant_count++].size = size;
}

/* The first sectors' ends, the one in the middle, and the last ones. */
static void
find_cuts(struct file *file)
{
	size_t first = file->synced / SECTOR + 1, last = (file->size - 1) / SECTOR;
	size_t cuts[] = { first, first + 1, (first + last) / 2, last - 1, last };

	for (size_t i = 0, before = 0; i < ARRAY_SIZE(cuts); i++) {
		if (cuts[i] <= before || cuts[i] < first || cuts[i] > last)
			continue;
		variant_add(file, CUT, cuts[i] * SECTOR);
		before = cuts[i];
	}
}

static void
find_variants(struct file *file)
{
	variant_add(file, WHOLE, file->size);
	if (file->synced == file->size)
		return;
	variant_add(file, CUT, file->synced);
	variant_add(file, ZEROS, file->size);
	if (file->synced / SECTOR == (file->size - 1) / SECTOR)
		return;
	find_cuts(file);
	variant_add(file, EVEN_ZEROS, file->size);
	variant_add(file, ODD_ZEROS, file->size);
}

static void
list_start(struct powerloss *loss)
{
	char *paths[] = { strdup(loss->start), NULL };
	size_t prefix = strlen(loss->start) + 1;
	FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *entry;

	ck_assert_ptr_nonnull(tree);
	while ((entry = fts_read(tree)) != NULL) {
		if (entry->fts_level == 0 || entry->fts_info == FTS_DP)
			continue;
		loss->start_keys =
			grow(loss->start_keys, loss->start_count, sizeof(*loss->start_keys));
		loss->start_keys[loss->start_count++] = strdup(entry->fts_path + prefix);
	}
	(void)fts_close(tree);
	free(paths[0]);
}

static size_t
digit_count(const struct powerloss *loss)
{
	return loss->pending_count + loss->file_count;
}

/* How many values a digit has. */
static size_t
digit_base(const struct powerloss *loss, size_t digit)
{
	return digit < loss->pending_count ? 2
					   : loss->files[digit - loss->pending_count].variant_count;
}

struct powerloss *
powerloss_open(const struct store_log *log, size_t prefix, const char *start, const char *into,
	size_t states_max)
{
	struct powerloss *loss = calloc(1, sizeof(*loss));
	size_t states = 1;

	ck_assert_ptr_nonnull(loss);
	ck_assert_uint_le(prefix, log->count);
	loss->start = start;
	loss->into = into;
	for (size_t i = 0; i < prefix; i++)
		replay(loss, &log->calls[i]);
	for (size_t i = 0; i < loss->file_count; i++)
		find_variants(&loss->files[i]);
	list_start(loss);
	loss->digits = calloc(digit_count(loss) + 1, sizeof(*loss->digits));
	ck_assert_ptr_nonnull(loss->digits);
	for (size_t i = 0; i < digit_count(loss) && states <= states_max; i++)
		states *= digit_base(loss, i);
	loss->counts_through = states <= states_max;
	loss->states_max = loss->counts_through ? states : states_max;
	loss->random = UINT64_C(88172645463325252) + prefix;
	return loss;
}

void
powerloss_free(struct powerloss *loss)
{
	for (size_t i = 0; i < loss->file_count; i++)
		free(loss->files[i].bytes);
	for (size_t i = 0; i < loss->start_count; i++)
		free(loss->start_keys[i]);
	free(loss->files);
	free(loss->start_keys);
	free(loss->names);
	free(loss->pending);
	free(loss->digits);
	free(loss->seen);
	free(loss);
}

/* xorshift */
static size_t
random_below(struct powerloss *loss, size_t limit)
{
	loss->random ^= loss->random << 13;
	loss->random ^= loss->random >> 7;
	loss->random ^= loss->random << 17;
	return (size_t)(loss->random >> 11) % limit;
}

/* Everything kept (lost 0) or lost (1), except for one digit. */
static void
choose_all_but(struct powerloss *loss, size_t lost, size_t except)
{
	for (size_t i = 0; i < digit_count(loss); i++) {
		size_t digit = i == except ? 1 - lost : lost;

		loss->digits[i] = digit < digit_base(loss, i) ? digit : 0;
	}
}

static void
choose(struct powerloss *loss, size_t state)
{
	size_t count = digit_count(loss);

	if (loss->counts_through) {
		for (size_t i = 0; i < count; i++) {
			loss->digits[i] = state % digit_base(loss, i);
			state /= digit_base(loss, i);
		}
	} else if (state < 2) {
		choose_all_but(loss, state, SIZE_MAX);
	} else if (state - 2 < 2 * count) {
		choose_all_but(loss, (state - 2) % 2, (state - 2) / 2);
	} else {
		for (size_t i = 0; i < count; i++)
			loss->digits[i] = random_below(loss, digit_base(loss, i));
	}
}

/* Names and files as the digits have it. */
static void
show(struct powerloss *loss)
{
	for (size_t i = 0; i < loss->name_count; i++)
		loss->names[i].shown = loss->names[i].kept;
	for (size_t i = 0; i < loss->pending_count; i++) {
		const struct pending *pending = &loss->pending[i];

		for (int k = 0; k < pending->count && loss->digits[i] == 0; k++)
			loss->names[pending->effects[k].name].shown = pending->effects[k].value;
	}
	for (size_t i = 0; i < loss->file_count; i++)
		loss->files[i].chosen = loss->digits[loss->pending_count + i];
}

/* Folds a number into a signature (FNV). */
static void
sign(uint64_t *signature, uint64_t number)
{
	*signature = (*signature ^ number) * UINT64_C(0x100000001b3);
}

/* Whether the state that is shown was not made before; files that no name leads to don't count. */
static bool
is_new(struct powerloss *loss)
{
	uint64_t signature = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < loss->name_count; i++) {
		const struct value *value = &loss->names[i].shown;

		sign(&signature, value->kind);
		if (value->kind == START)
			sign(&signature, (uint64_t)(uintptr_t)value->start_key);
		if (value->kind == WRITTEN) {
			sign(&signature, value->file);
			sign(&signature, loss->files[value->file].chosen);
		}
	}
	for (size_t i = 0; i < loss->seen_count; i++) {
		if (loss->seen[i] == signature)
			return false;
	}
	loss->seen = grow(loss->seen, loss->seen_count, sizeof(*loss->seen));
	loss->seen[loss->seen_count++] = signature;
	return true;
}

bool
powerloss_next(struct powerloss *loss)
{
	while (loss->state < loss->states_max) {
		choose(loss, loss->state++);
		show(loss);
		if (!is_new(loss))
			continue;
		powerloss_make(loss);
		return true;
	}
	return false;
}
