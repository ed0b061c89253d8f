/* Bytes of an index section: decoded, grouped, its bitmaps held against a few fragments, rendered.
 */
#include "fuzz.h"

#include "core/index_set.h"
#include "core/version.h"
#include "lance/table.pb-c.h"

#define FRAGMENTS     64
#define IDS_MAX       ((size_t)1 << 24) /* what one bitmap may name */
#define COST_BASE     (IDS_MAX * sizeof(uint32_t) + ((size_t)2 << 20))
#define COST_PER_BYTE 128u

/* CRoaring 0.2 asserts that run containers get their memory. */
const char fuzz_needs_memory = 1;

static int
discard(void *context, const void *data, size_t size)
{
	(void)context;
	(void)data;
	(void)size;
	return LANCET_OK;
}

static void
ask_segment(lancet_version *version, const struct lancet_index *index,
            const struct lancet_index_segment *segment)
{
	const struct lancet_output out = { discard, NULL };
	struct lancet_error err = { 0 };
	uint32_t *ids;
	size_t count;

	(void)lancet_index_json(version, index, segment, &out, &err);
	if (lancet_index_segment_fragments(segment, &ids, &count, &err) != LANCET_OK)
		return;
	for (size_t i = 1; i < count; i++)
		fuzz_expect(ids[i] > ids[i - 1]);
	free(ids);
}

static void
ask(lancet_version *version, const struct index_set *set)
{
	const struct lancet_output out = { discard, NULL };
	struct lancet_error err = { 0 };
	uint32_t *ids;
	size_t count;

	for (size_t i = 0; i < set->count; i++) {
		const struct lancet_index *index = &set->indices[i];

		(void)lancet_index_json(version, index, NULL, &out, &err);
		for (size_t j = 0; j < index->segment_count; j++)
			ask_segment(version, index, index->segments[j]);
		if (lancet_index_unindexed(version, index, &ids, &count, &err) != LANCET_OK)
			continue;
		fuzz_expect(count <= FRAGMENTS);
		free(ids);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	struct fragment_span spans[FRAGMENTS];
	struct lancet_version version = { .spans = spans };
	struct index_set *set = NULL;
	struct lancet_error err = { 0 };
	Lance__Table__Manifest message;

	for (unsigned i = 0; i < FRAGMENTS; i++)
		spans[i] = (struct fragment_span){ .id = (uint64_t)i * i, .physical_rows = i };
	lance__table__manifest__init(&message);
	version.info.fragment_count = FRAGMENTS;
	version.message = &message;
	if (index_section_parse((struct slice){ data, size }, &set, &err) == LANCET_OK)
		ask(&version, set);
	version_indices_free(set);
	fuzz_end(&guard);
	return 0;
}
