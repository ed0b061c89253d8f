/* From the bytes of a history to transitions, in stored order.
 *
 * The records are walked field by field rather than unpacked: what matters is also what a decoder
 * drops, a mapping of a kind that we don't know or two mappings at once, and the bitmaps stay where
 * they are. A record that is no message spoils the whole, since nobody knows then which fragments
 * it was about. Format facts: fragment reuse index, ledger validity.
 */
#include "reuse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "util/macros.h"
#include "util/pbscan.h"
#include "util/pbunpack.h"

/* What a history may cost besides: small broken ones explain themselves in it. */
#define COST_BASE ((size_t)1 << 20)

struct parse {
	struct lancet_reuse *reuse;
	struct lancet_error *err;
	bool tagged; /* transitions are allowed */
	size_t next; /* group or transition to be filled */
};

/* Which fields a transition has. */
struct arms {
	struct slice ordered, partition; /* the last one of each */
	size_t count;                    /* of both together */
	bool has_ordered, has_partition;
	uint32_t unknown; /* number of a field that we don't know, 0 = none */
};

void
reuse_record_name(const struct lancet_transition *transition, char into[64])
{
	if (transition->legacy)
		snprintf(into, 64, "legacy_versions[%zu].groups[%zu]", transition->record,
			transition->group);
	else
		snprintf(into, 64, "transitions[%zu]", transition->record);
}

int
reuse_fault(struct lancet_reuse *reuse, struct reuse_transition *transition, enum lancet_code code,
	struct lancet_error *err, const char *fmt, ...)
{
	struct lancet_transition *info = &transition->info;
	char text[sizeof(err->text)], name[64];
	struct lancet_error fault;
	va_list args;

	if (info->fault == LANCET_CORRUPT || info->fault == code)
		return LANCET_OK;
	va_start(args, fmt);
	if (vsnprintf(text, sizeof(text), fmt, args) < 0)
		text[0] = '\0';
	va_end(args);
	reuse_record_name(info, name);
	(void)lancet_fail(&fault, code, "%s: %s", name, text);
	info->fault_text = arena_copy(&reuse->arena, fault.text, strlen(fault.text) + 1);
	info->fault = code;
	if (info->fault_text == NULL)
		return lancet_fail(err, LANCET_LIMIT, "%s, and too many others", fault.text);
	return LANCET_OK;
}

/* For loops over all fields: false at the end, and when *rc is not LANCET_OK. */
static bool
step(struct pbmem *scan, struct pb_field *ret_field, int *rc, struct lancet_error *err)
{
	bool more = false;

	if (*rc == LANCET_OK)
		*rc = pbmem_next(scan, ret_field, &more, err);
	return *rc == LANCET_OK && more;
}

static struct slice
content_of(const struct pbmem *scan, const struct pb_field *field)
{
	return slice_of(scan->in.data + field->offset, (size_t)field->value);
}

static int
expect(const struct pb_field *field, enum pb_wire wire, struct lancet_error *err)
{
	if (field->wire == wire)
		return LANCET_OK;
	return lancet_fail(err, LANCET_CORRUPT, "field %" PRIu32 ": wire type %d, expected %d",
		field->number, (int)field->wire, (int)wire);
}

static int
no_room(const struct parse *parse)
{
	return lancet_fail(parse->err, LANCET_LIMIT,
		"%" PRIu64 " bytes decode to more than %zu or there is no memory",
		parse->reuse->info.details_bytes, parse->reuse->arena.limit);
}

static int
parse_digest(
	struct slice bytes, struct lancet_fragment_digest *ret_digest, struct lancet_error *err)
{
	struct pbmem scan = { .in = bytes };
	uint64_t values[3] = { 0 };
	struct pb_field field;
	int rc = LANCET_OK;

	while (step(&scan, &field, &rc, err)) {
		if (field.number > ARRAY_SIZE(values))
			continue;
		rc = expect(&field, PB_VARINT, err);
		values[field.number - 1] = field.value;
	}
	if (rc == LANCET_OK)
		*ret_digest = (struct lancet_fragment_digest){ values[0], values[1], values[2] };
	return rc;
}

/* All digests in fields of this number. */
static int
parse_digests(struct parse *parse, struct slice record, uint32_t number,
	const struct lancet_fragment_digest **ret_digests, size_t *ret_count)
{
	struct lancet_fragment_digest *digests;
	struct pbmem scan = { .in = record };
	struct pb_field field;
	int rc = LANCET_OK;
	size_t count = 0;

	while (step(&scan, &field, &rc, parse->err)) {
		if (field.number != number)
			continue;
		rc = expect(&field, PB_BYTES, parse->err);
		count++;
	}
	TRY(rc);
	digests = arena_zalloc(&parse->reuse->arena, count, sizeof(*digests));
	if (digests == NULL)
		return no_room(parse);
	count = 0;
	scan.at = 0;
	while (step(&scan, &field, &rc, parse->err))
		if (field.number == number)
			rc = parse_digest(content_of(&scan, &field), &digests[count++], parse->err);
	*ret_digests = digests;
	*ret_count = count;
	return rc;
}

/* The last of the fields with this number; *ret_bytes stays when there is none. */
static int
parse_bytes(struct slice record, uint32_t number, struct slice *ret_bytes, struct lancet_error *err)
{
	struct pbmem scan = { .in = record };
	struct pb_field field;
	int rc = LANCET_OK;

	while (step(&scan, &field, &rc, err)) {
		if (field.number != number)
			continue;
		rc = expect(&field, PB_BYTES, err);
		if (rc == LANCET_OK)
			*ret_bytes = content_of(&scan, &field);
	}
	return rc;
}

static int
parse_partition(struct slice bytes, struct lancet_transition *info, struct lancet_error *err)
{
	struct pbmem scan = { .in = bytes };
	struct slice id = { 0 };
	struct pb_field field;
	int rc = LANCET_OK;

	TRY(parse_bytes(bytes, 1, &id, err));
	info->map_id = (struct lancet_bytes){ id.data, id.size };
	while (step(&scan, &field, &rc, err)) {
		if (field.number != 2 && field.number != 3)
			continue;
		rc = expect(&field, PB_VARINT, err);
		if (field.number == 2) {
			info->map_bytes = field.value;
		} else {
			info->has_base = true;
			info->base_id = (uint32_t)field.value;
		}
	}
	return rc;
}

static int
find_arms(struct slice record, struct arms *ret_arms, struct lancet_error *err)
{
	struct pbmem scan = { .in = record };
	struct pb_field field;
	int rc = LANCET_OK;

	while (step(&scan, &field, &rc, err)) {
		if (field.number < 3)
			continue;
		if (field.number > 4) {
			ret_arms->unknown = field.number;
			continue;
		}
		rc = expect(&field, PB_BYTES, err);
		if (rc != LANCET_OK)
			break;
		ret_arms->count++;
		if (field.number == 3) {
			ret_arms->has_ordered = true;
			ret_arms->ordered = content_of(&scan, &field);
		} else {
			ret_arms->has_partition = true;
			ret_arms->partition = content_of(&scan, &field);
		}
	}
	return rc;
}

/* A transition has exactly one mapping; one with any field that we don't know may mean anything. */
static int
choose_mapping(struct parse *parse, struct reuse_transition *transition, const struct arms *arms)
{
	struct lancet_reuse *reuse = parse->reuse;
	struct lancet_error *err = parse->err;

	transition->info.mapping = arms->count != 1 || arms->unknown != 0 ? LANCET_UNKNOWN_MAPPING
				   : arms->has_ordered ? LANCET_ORDERED_COMPACTION
						       : LANCET_STABLE_PARTITION;
	if (transition->info.mapping == LANCET_UNKNOWN_MAPPING)
		reuse->info.interpretable = false;
	if (!parse->tagged)
		TRY(reuse_fault(reuse, transition, LANCET_CORRUPT, err,
			"a transition in a history of index version 0"));
	if (arms->count > 1)
		return reuse_fault(
			reuse, transition, LANCET_CORRUPT, err, "%zu mappings", arms->count);
	if (arms->unknown != 0)
		return reuse_fault(reuse, transition, LANCET_UNSUPPORTED, err,
			"field %" PRIu32 " is unknown: its rows can't be followed", arms->unknown);
	if (arms->count == 0)
		return reuse_fault(reuse, transition, LANCET_CORRUPT, err, "no mapping");
	return LANCET_OK;
}

static int
parse_transition(struct parse *parse, struct slice record, size_t number)
{
	struct reuse_transition *transition = &parse->reuse->transitions[parse->next++];
	struct lancet_transition *info = &transition->info;
	struct arms arms = { 0 };

	info->record = number;
	TRY(find_arms(record, &arms, parse->err));
	TRY(parse_digests(parse, record, 1, &info->sources, &info->source_count));
	TRY(parse_digests(parse, record, 2, &info->destinations, &info->destination_count));
	if (arms.has_ordered)
		TRY(parse_bytes(arms.ordered, 1, &transition->surviving, parse->err));
	transition->has_row_map = arms.has_partition;
	if (arms.has_partition)
		TRY(parse_partition(arms.partition, info, parse->err));
	return choose_mapping(parse, transition, &arms);
}

static int
parse_group(struct parse *parse, struct slice record, size_t version, size_t group)
{
	struct reuse_transition *transition = &parse->reuse->transitions[parse->next++];
	struct lancet_transition *info = &transition->info;

	info->mapping = LANCET_ORDERED_COMPACTION;
	info->legacy = true;
	info->record = version;
	info->group = group;
	TRY(parse_digests(parse, record, 2, &info->sources, &info->source_count));
	TRY(parse_digests(parse, record, 3, &info->destinations, &info->destination_count));
	return parse_bytes(record, 1, &transition->surviving, parse->err);
}

/* The groups of a legacy version; its number may stand behind them. */
static int
parse_version(struct parse *parse, struct slice record, size_t number)
{
	struct pbmem scan = { .in = record };
	size_t first = parse->next, group = 0;
	uint64_t dataset_version = 0;
	struct pb_field field;
	int rc = LANCET_OK;

	while (step(&scan, &field, &rc, parse->err)) {
		if (field.number == 1) {
			rc = expect(&field, PB_VARINT, parse->err);
			dataset_version = field.value;
		} else if (field.number == 3) {
			rc = parse_group(parse, content_of(&scan, &field), number, group);
			if (rc != LANCET_OK)
				return lancet_wrap(parse->err, rc, "groups[%zu]", group);
			group++;
		}
	}
	for (size_t i = first; i < parse->next; i++)
		parse->reuse->transitions[i].info.dataset_version = dataset_version;
	return rc;
}

static int
count_groups(struct slice version, size_t *count, struct lancet_error *err)
{
	struct pbmem scan = { .in = version };
	struct pb_field field;
	int rc = LANCET_OK;

	while (step(&scan, &field, &rc, err)) {
		if (field.number != 3)
			continue;
		rc = expect(&field, PB_BYTES, err);
		(*count)++;
	}
	return rc;
}

/* Counts all records. One of another kind makes the history one that we don't fully understand. */
static int
count_records(struct lancet_reuse_info *info, struct slice content, size_t *ret_groups,
	struct lancet_error *err)
{
	struct pbmem scan = { .in = content };
	struct pb_field field;
	int rc = LANCET_OK;

	while (step(&scan, &field, &rc, err)) {
		if (field.number > 2) {
			info->interpretable = false;
			continue;
		}
		rc = expect(&field, PB_BYTES, err);
		if (rc == LANCET_OK && field.number == 1)
			rc = count_groups(content_of(&scan, &field), ret_groups, err);
		if (field.number == 1)
			info->legacy_versions++;
		else
			info->tagged_transitions++;
	}
	return rc;
}

/* All records of one kind, in stored order. */
static int
parse_kind(struct parse *parse, struct slice content, uint32_t number, const char *name,
	int (*parse_one)(struct parse *parse, struct slice record, size_t number))
{
	struct pbmem scan = { .in = content };
	struct pb_field field;
	int rc = LANCET_OK;
	size_t record = 0;

	while (step(&scan, &field, &rc, parse->err)) {
		if (field.number != number)
			continue;
		rc = parse_one(parse, content_of(&scan, &field), record);
		if (rc != LANCET_OK)
			return lancet_wrap(parse->err, rc, "%s[%zu]", name, record);
		record++;
	}
	return rc;
}

int
reuse_parse_records(struct lancet_reuse *reuse, struct slice content, int32_t index_version,
	struct lancet_error *err)
{
	struct parse parse = { .reuse = reuse, .err = err, .tagged = index_version != 0 };
	struct lancet_reuse_info *info = &reuse->info;
	size_t groups = 0;

	info->index_version = index_version;
	info->details_bytes = content.size;
	info->interpretable = true;
	reuse->arena.limit = reuse->arena.used + pb_cost_limit(content.size) + COST_BASE;
	TRY(count_records(info, content, &groups, err));
	info->transition_count = groups + info->tagged_transitions;
	reuse->transitions =
		arena_zalloc(&reuse->arena, info->transition_count, sizeof(*reuse->transitions));
	if (reuse->transitions == NULL)
		return no_room(&parse);
	TRY(parse_kind(&parse, content, 1, "legacy_versions", parse_version));
	return parse_kind(&parse, content, 2, "transitions", parse_transition);
}
