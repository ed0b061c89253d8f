/* Feature flags: one row a bit, the same in the reader's and the writer's word.
 *
 * A reader flag that is not understood means that the rows would be read wrongly, so the version is
 * refused as a whole and by name; one of the writer's, that nothing may be committed on it. Format
 * facts: feature flags.
 */
#include "flags.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/macros.h"

enum reading {
	READ,         /* understood, and kept up when something is committed */
	REFUSED,      /* its meaning is known, but not to this build */
	NEVER_READER, /* a matter of writers alone */
};

static const struct {
	const char *name;
	enum reading reading;
	bool paired; /* set in both words or in none */
} flags[] = {
	{ "deletion_files", READ, false },
	{ "stable_row_ids", READ, false },
	{ "v2_format", READ, false },
	{ "table_config", READ, false },
	{ "base_paths", READ, false },
	{ "no_transaction_files", READ, false },
	{ "data_overlays", READ, false },
	{ "covering_indices", READ, false },
	{ "mixed_file_versions", READ, true },
	{ "reuse_with_stable_row_ids", REFUSED, false },
	{ "tagged_reuse_history", READ, true },
	{ "spilled_row_lineage", READ, false },
	{ "fragment_tree", REFUSED, false },
	{ "independent_covering", REFUSED, false },
	{ "managed_blobs", READ, true },
	{ "non_reusable_field_ids", NEVER_READER, false },
	{ "zone_seeds", REFUSED, true },
	{ "object_metadata", REFUSED, false },
};

const char *
lancet_flag_name(unsigned bit, char into[32])
{
	if (bit < ARRAY_SIZE(flags))
		return flags[bit].name;
	snprintf(into, 32, "bit_%u", bit);
	return into;
}

static bool
bit_is_refused(unsigned bit)
{
	return bit >= ARRAY_SIZE(flags) || flags[bit].reading == REFUSED;
}

static uint64_t
refused_of(uint64_t word)
{
	uint64_t refused = 0;

	for (unsigned bit = 0; bit < 64; bit++)
		if (bit_is_refused(bit))
			refused |= word & UINT64_C(1) << bit;
	return refused;
}

/* The names of all bits of `set`, as far as they fit. */
static void
list_names(uint64_t set, char *into, size_t size)
{
	size_t at = 0;
	char number[32];

	into[0] = '\0';
	for (unsigned bit = 0; bit < 64; bit++) {
		const char *name = lancet_flag_name(bit, number);
		size_t needed = strlen(name) + 2;

		if ((set >> bit & 1) == 0 || needed >= size - at)
			continue;
		at += (size_t)snprintf(into + at, size - at, "%s%s", at == 0 ? "" : ", ", name);
	}
}

int
flags_check_readable(uint64_t reader, uint64_t writer, struct lancet_error *err)
{
	uint64_t refused = refused_of(reader);
	char names[256];

	if (refused != 0) {
		list_names(refused, names, sizeof(names));
		return lancet_fail(err, LANCET_UNSUPPORTED, "reader flags: %s", names);
	}
	for (unsigned bit = 0; bit < ARRAY_SIZE(flags); bit++) {
		bool in_reader = reader >> bit & 1;
		bool in_writer = writer >> bit & 1;

		if (flags[bit].reading == NEVER_READER && in_reader)
			return lancet_fail(err, LANCET_CORRUPT, "reader flags: %s is for writers",
			                   flags[bit].name);
		if (flags[bit].paired && in_reader != in_writer)
			return lancet_fail(err, LANCET_CORRUPT,
			                   "flags: %s is in the %s flags alone", flags[bit].name,
			                   in_reader ? "reader" : "writer");
	}
	return LANCET_OK;
}

int
flags_check_writable(uint64_t writer, struct lancet_error *err)
{
	uint64_t refused = refused_of(writer);
	char names[256];

	if (refused == 0)
		return LANCET_OK;
	list_names(refused, names, sizeof(names));
	return lancet_fail(err, LANCET_UNSUPPORTED, "writer flags: %s", names);
}
