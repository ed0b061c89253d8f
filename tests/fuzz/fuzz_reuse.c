/* An encoded reuse history from any bytes; byte 0 is its index version.
 *
 * Each record must come out once, makers before consumers unless a cycle forbids it, and what has
 * no fault must add up, whatever the others are like.
 */
#include "fuzz.h"

#include "core/reuse.h"

#define COST_BASE     ((size_t)4 << 20)
#define COST_PER_BYTE 192u
#define PAIRS_MAX     256u /* transitions up to which all pairs are compared */

static bool
has(const struct lancet_fragment_digest *list, size_t count, uint64_t fragment)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].id == fragment)
			return true;
	return false;
}

static uint64_t
count_rows(const struct lancet_fragment_digest *list, size_t count)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < count; i++)
		rows += list[i].physical_rows - list[i].deleted_rows;
	return rows;
}

static const struct reuse_transition *
maker_of(const struct lancet_reuse *reuse, uint64_t fragment)
{
	for (size_t i = 0; i < reuse->made_count; i++)
		if (reuse->made_by[i].fragment == fragment)
			return &reuse->transitions[reuse->made_by[i].transition];
	return NULL;
}

static void
check_sound(const struct lancet_reuse *reuse, const struct reuse_transition *transition)
{
	const struct lancet_transition *info = &transition->info;

	fuzz_expect(info->mapping != LANCET_UNKNOWN_MAPPING && info->source_count > 0);
	fuzz_expect(info->legacy || reuse->info.index_version == 1);
	fuzz_expect(count_rows(info->sources, info->source_count) == info->live_rows);
	fuzz_expect(count_rows(info->destinations, info->destination_count) == info->live_rows);
	for (size_t i = 0; i < info->source_count; i++) {
		const struct reuse_transition *maker = maker_of(reuse, info->sources[i].id);

		fuzz_expect(reuse_consumer(reuse, info->sources[i].id) == transition);
		fuzz_expect(maker == NULL || maker < transition);
		fuzz_expect(maker == NULL ||
			    maker - reuse->transitions < (ptrdiff_t)transition->fed_end);
	}
	for (size_t i = 0; i < info->destination_count; i++)
		fuzz_expect(maker_of(reuse, info->destinations[i].id) == transition);
}

/* Two that contradict each other are both at fault, and each record is there once. */
static void
check_pair(const struct lancet_transition *a, const struct lancet_transition *b)
{
	bool clash = false;

	fuzz_expect(a->legacy != b->legacy || a->record != b->record || a->group != b->group);
	for (size_t i = 0; i < a->source_count; i++)
		clash |= a->sources[i].id < UINT32_MAX &&
			 has(b->sources, b->source_count, a->sources[i].id);
	for (size_t i = 0; i < a->destination_count; i++)
		clash |= a->destinations[i].id < UINT32_MAX &&
			 has(b->destinations, b->destination_count, a->destinations[i].id);
	fuzz_expect(!clash || (a->fault == LANCET_CORRUPT && b->fault == LANCET_CORRUPT));
}

static void
check_all(const struct lancet_reuse *reuse)
{
	const struct lancet_reuse_info *info = lancet_reuse_info(reuse);
	size_t faults = 0, corrupt = 0;

	for (size_t i = 0; i < info->transition_count; i++) {
		const struct lancet_transition *transition = lancet_reuse_transition(reuse, i);

		fuzz_expect((transition->fault_text == NULL) == (transition->fault == LANCET_OK));
		fuzz_expect(transition->mapping != LANCET_UNKNOWN_MAPPING || !info->interpretable);
		faults += transition->fault != LANCET_OK;
		corrupt += transition->fault == LANCET_CORRUPT;
		if (transition->fault == LANCET_OK)
			check_sound(reuse, &reuse->transitions[i]);
		for (size_t k = 0; k < i && info->transition_count <= PAIRS_MAX; k++)
			check_pair(lancet_reuse_transition(reuse, k), transition);
	}
	fuzz_expect(faults == info->fault_count);
	fuzz_expect((corrupt != 0) == (reuse->fault.code == LANCET_CORRUPT));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	struct lancet_reuse *reuse = NULL;
	struct lancet_error err = { 0 };

	if (size > 0 && reuse_parse(slice_of(data + 1, size - 1), (int8_t)data[0], &reuse, &err) ==
				LANCET_OK) {
		fuzz_check(&guard);
		check_all(reuse);
	}
	version_reuse_free(reuse);
	fuzz_end(&guard);
	return 0;
}
