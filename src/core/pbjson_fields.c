/* The tables of pbjson_fields.h. */
#include "pbjson_fields.h"

#include <stdlib.h>

#include "lance/index.pb-c.h"
#include "lance/table.pb-c.h"
#include "pbtext.h"
#include "util/macros.h"

#define NUMBER(message, field) { "lance." message, field, NULL, true, false }
#define ALWAYS(message, field) { "lance." message, field, NULL, true, true }
#define KEY(message, field, key) { "lance." message, field, key, false, true }

const struct pbjson_rule pbjson_rules[] = {
	NUMBER("file.Dictionary", "length"),
	NUMBER("file.Dictionary", "offset"),
	ALWAYS("file.Field", "id"),
	NUMBER("index.pb.VectorIndexDetails", "target_partition_size"),
	ALWAYS("table.BasePath", "id"),
	NUMBER("table.DataFile", "file_size_bytes"),
	ALWAYS("table.DataFragment", "id"),
	NUMBER("table.DataFragment", "physical_rows"),
	NUMBER("table.DeletionFile", "num_deleted_rows"),
	KEY("table.EncodedU64Array.U16Array", "offset_base", "base"),
	KEY("table.EncodedU64Array.U32Array", "offset_base", "base"),
	NUMBER("table.ExternalFile", "offset"),
	NUMBER("table.ExternalFile", "size"),
	ALWAYS("table.FragmentReuseIndexDetails.FragmentDigest", "id"),
	NUMBER("table.FragmentReuseIndexDetails.FragmentDigest", "num_deleted_rows"),
	NUMBER("table.FragmentReuseIndexDetails.FragmentDigest", "physical_rows"),
	NUMBER("table.FragmentReuseIndexDetails.StablePartition", "map_size_bytes"),
	NUMBER("table.IndexFile", "size_bytes"),
	NUMBER("table.Transaction.BloomFilter", "number_of_items"),
	ALWAYS("table.Transaction.DataOverlayGroup", "fragment_id"),
	ALWAYS("table.Transaction.DataReplacementGroup", "fragment_id"),
	NUMBER("table.Transaction.Delete", "deleted_fragment_ids"),
	NUMBER("table.Transaction.Update", "removed_fragment_ids"),
	NUMBER("table.ZoneMapIndexDetails", "rows_per_zone"),
};
const size_t pbjson_rule_count = ARRAY_SIZE(pbjson_rules);

struct name {
	const char *message, *field;
};

static int
compare_names(const struct name *name, const char *message, const char *field)
{
	int order = strcmp(name->message, message);

	return order != 0 ? order : strcmp(name->field, field);
}

static int
compare_rule(const void *name, const void *row)
{
	const struct pbjson_rule *rule = row;

	return compare_names(name, rule->message, rule->field);
}

static int
compare_text(const void *name, const void *row)
{
	const struct pb_text_field *text = row;

	return compare_names(name, text->message, text->field);
}

const struct pbjson_rule *
pbjson_rule_find(const char *message, const char *field)
{
	struct name name = { message, field };

	return bsearch(&name, pbjson_rules, pbjson_rule_count, sizeof(pbjson_rules[0]),
	               compare_rule);
}

bool
pbjson_is_text(const char *message, const char *field)
{
	struct name name = { message, field };

	return bsearch(&name, pb_text_fields, pb_text_field_count, sizeof(pb_text_fields[0]),
	               compare_text) != NULL;
}

/* Details of indices, from whichever package: writers have put some of them into the other one. */
static const ProtobufCMessageDescriptor *const detail_types[] = {
	&lance__table__btree_index_details__descriptor,
	&lance__table__bitmap_index_details__descriptor,
	&lance__table__label_list_index_details__descriptor,
	&lance__table__ngram_index_details__descriptor,
	&lance__table__zone_map_index_details__descriptor,
	&lance__table__inverted_index_details__descriptor,
	&lance__table__fragment_reuse_index_details__descriptor,
	&lance__table__mem_wal_index_details__descriptor,
	&lance__index__pb__vector_index_details__descriptor,
	&lance__index__pb__json_index_details__descriptor,
	&lance__index__pb__bloom_filter_index_details__descriptor,
	&lance__index__pb__rtree_index_details__descriptor,
	&lance__index__pb__fmindex_details__descriptor,
	&lance__index__pb__min_hash_lsh_index_details__descriptor,
};

const ProtobufCMessageDescriptor *
pbjson_any_type(struct slice type_url)
{
	size_t from = type_url.size;
	struct slice name;

	if (type_url.size == 0)
		return NULL;
	while (from > 0 && type_url.data[from - 1] != '/' && type_url.data[from - 1] != '.')
		from--;
	name = slice_of(type_url.data + from, type_url.size - from);
	for (size_t i = 0; i < ARRAY_SIZE(detail_types); i++)
		if (slice_equal(name, slice_text(detail_types[i]->short_name)))
			return detail_types[i];
	return NULL;
}
