/* Bytes of an index section: decoded, grouped, its bitmaps and an inline reuse history held against
 * a few fragments, rendered.
 */
#include "fuzz.h"

#include "core/index_set.h"
#include "core/reuse.h"
#include "core/version.h"
#include "lance/table.pb-c.h"
#include "util/pbscan.h"

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

/* All live fragments are covered or not, and no list has one twice. */
static void
ask_coverage(lancet_version *version, const struct lancet_index *index,
	const struct lancet_index_segment *segment)
{
	struct lancet_error err = { 0 };
	size_t counts[LANCET_RETIRED + 1] = { 0 };
	bool all = true;

	for (int which = LANCET_COVERED; which <= LANCET_RETIRED; which++) {
		uint32_t *ids = NULL;
		int rc = lancet_index_coverage(
			version, index, segment, which, &ids, &counts[which], &err);

		all = all && rc == LANCET_OK;
		for (size_t i = 1; rc == LANCET_OK && i < counts[which]; i++)
			fuzz_expect(ids[i] > ids[i - 1]);
		free(ids);
	}
	if (all)
		fuzz_expect(counts[LANCET_COVERED] + counts[LANCET_UNINDEXED] == FRAGMENTS);
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
	ask_coverage(version, index, segment);
	if (lancet_index_segment_fragments(segment, &ids, &count, &err) != LANCET_OK)
		return;
	for (size_t i = 1; i < count; i++)
		fuzz_expect(ids[i] > ids[i - 1]);
	free(ids);
}

static void
ask_needs(lancet_version *version)
{
	struct lancet_reuse_need *needs = NULL;
	struct lancet_error err = { 0 };
	lancet_reuse *reuse = NULL;
	size_t count = 0;

	if (lancet_reuse_needs(version, &needs, &count, &err) != LANCET_OK)
		return;
	fuzz_expect(lancet_version_reuse(version, &reuse, &err) == LANCET_OK);
	for (size_t i = 0; i < count; i++)
		fuzz_expect(needs[i].transition < lancet_reuse_info(reuse)->transition_count);
	free(needs);
}

static void
ask(lancet_version *version, const struct index_set *set)
{
	const struct lancet_output out = { discard, NULL };
	struct lancet_error err = { 0 };

	for (size_t i = 0; i < set->count; i++) {
		const struct lancet_index *index = &set->indices[i];

		(void)lancet_index_json(version, index, NULL, &out, &err);
		ask_coverage(version, index, NULL);
		for (size_t j = 0; j < index->segment_count; j++)
			ask_segment(version, index, index->segments[j]);
	}
	ask_needs(version);
}

static bool
has_field(struct slice message, uint32_t number)
{
	struct pbmem scan = { .in = message };
	struct pb_field field;
	bool more = true;

	while (pbmem_next(&scan, &field, &more, NULL) == LANCET_OK && more)
		if (field.number == number)
			return true;
	return false;
}

/* There is no dataset that could have the file of external details. */
static bool
has_external_history(const struct index_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		struct lancet_bytes details = set->indices[i].segments[0]->details;

		if (index_is_reuse(set->indices[i].name) &&
			has_field(slice_of(details.data, details.size), 2))
			return true;
	}
	return false;
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
	if (index_section_parse((struct slice){ data, size }, &set, &err) == LANCET_OK) {
		atomic_store(&version.indices, set);
		if (!has_external_history(set))
			ask(&version, set);
	}
	version_reuse_free(atomic_load(&version.reuse));
	version_indices_free(set);
	fuzz_end(&guard);
	return 0;
}
