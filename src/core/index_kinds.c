/* Kinds of indices whose files can be used after the fragments under them were rewritten.
 *
 * Such a file holds row addresses that are translated as they are read. What is not known here
 * counts as a kind that can't. Format facts: coverage seen by readers.
 */
#include "index_reach.h"

#include <stdio.h>
#include <strings.h>

#include "util/macros.h"

static bool
ends_with(struct lancet_bytes text, const char *end)
{
	size_t size = strlen(end);

	return text.size >= size &&
	       strncasecmp((const char *)text.data + text.size - size, end, size) == 0;
}

/* Type URLs are compared without regard to case. */
static bool
is_kind(const struct lancet_index_segment *segment, const char *name)
{
	char end[64];

	snprintf(end, sizeof(end), ".%s", name);
	return ends_with(segment->type_url, end);
}

static bool
lists(const struct lancet_index_segment *segment, const char *name)
{
	size_t size = strlen(name);

	for (size_t i = 0; i < segment->file_count; i++)
		if (segment->files[i].path.size == size &&
			memcmp(segment->files[i].path.data, name, size) == 0)
			return true;
	return false;
}

bool
segment_translates(const struct lancet_index_segment *segment)
{
	static const char *const kinds[] = { "BTreeIndexDetails", "BitmapIndexDetails",
		"LabelListIndexDetails", "NGramIndexDetails", "ZoneMapIndexDetails",
		"BloomFilterIndexDetails", "RTreeIndexDetails" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (is_kind(segment, kinds[i]))
			return true;
	/* Of these an older layout can't; only recent writers list the files. */
	if (is_kind(segment, "InvertedIndexDetails"))
		return !segment->has_files || lists(segment, "metadata.lance");
	if (is_kind(segment, "VectorIndexDetails"))
		return !segment->has_files ||
		       (lists(segment, "index.idx") && lists(segment, "auxiliary.idx"));
	return false;
}
