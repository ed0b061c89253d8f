/* Changes of the sample whose messages are put together here, since no call makes them. */
#ifndef TESTS_COMMITMESSAGES_H
#define TESTS_COMMITMESSAGES_H

#include "commitsample.h"
#include "core/fragment.h"
#include "lance/transaction.pb-c.h"
#include "maker.h"
#include "util/pbunpack.h"

/* A zeroed object of the change, which must be initialised. */
#define MADE(change, type) ((type *)arena_zalloc(&(change)->arena, 1, sizeof(type)))

/* The fragment as it is stored, as the one of a list. */
static inline int
message_image(lancet_change *change, uint64_t fragment, Lance__Table__DataFragment ***ret_list,
	struct lancet_error *err)
{
	lancet_autofree uint8_t *bytes = NULL;
	lancet_fragment *opened;
	uint64_t ordinal;
	size_t size;
	int rc;

	TRY(lancet_version_find_fragment(change->read, fragment, &ordinal, err));
	TRY(lancet_fragment_open(change->read, ordinal, &opened, err));
	size = opened->message_size;
	rc = source_load(change->read->file, opened->message_offset, size, &bytes, err);
	lancet_fragment_unref(opened);
	TRY(rc);
	*ret_list = MADE(change, Lance__Table__DataFragment *);
	return pb_unpack(&lance__table__data_fragment__descriptor, slice_of(bytes, size),
		&change->arena, *ret_list, err);
}

static inline int
case_reserve(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	Lance__Table__Transaction__ReserveFragments *reserve;

	TRY(change_new(read, ret_change, err));
	reserve = MADE(*ret_change, Lance__Table__Transaction__ReserveFragments);
	lance__table__transaction__reserve_fragments__init(reserve);
	reserve->num_fragments = 3;
	(*ret_change)->message->operation_case =
		LANCE__TABLE__TRANSACTION__OPERATION_RESERVE_FRAGMENTS;
	(*ret_change)->message->reserve_fragments = reserve;
	return LANCET_OK;
}

static inline bool
case_reserve_holds(lancet_version *made)
{
	return lancet_version_info(made)->max_fragment_id == 3 + 3;
}

static inline int
case_bases(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	Lance__Table__Transaction__UpdateBases *bases;

	TRY(change_new(read, ret_change, err));
	bases = MADE(*ret_change, Lance__Table__Transaction__UpdateBases);
	lance__table__transaction__update_bases__init(bases);
	bases->new_bases = MADE(*ret_change, Lance__Table__BasePath *);
	bases->new_bases[0] = MADE(*ret_change, Lance__Table__BasePath);
	lance__table__base_path__init(bases->new_bases[0]);
	bases->new_bases[0]->path = maker_text("/nowhere");
	bases->n_new_bases = 1;
	(*ret_change)->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_UPDATE_BASES;
	(*ret_change)->message->update_bases = bases;
	return LANCET_OK;
}

static inline bool
case_bases_holds(lancet_version *made)
{
	return lancet_version_info(made)->base_path_count == 1;
}

/* Rows of fragment 3 in a new fragment, which has the same file: no row is moved. */
static inline int
case_rewrite(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	Lance__Table__Transaction__Rewrite *rewrite;
	Lance__Table__Transaction__Rewrite__RewriteGroup *group;

	TRY(change_new(read, ret_change, err));
	rewrite = MADE(*ret_change, Lance__Table__Transaction__Rewrite);
	lance__table__transaction__rewrite__init(rewrite);
	group = MADE(*ret_change, Lance__Table__Transaction__Rewrite__RewriteGroup);
	lance__table__transaction__rewrite__rewrite_group__init(group);
	TRY(message_image(*ret_change, 3, &group->old_fragments, err));
	TRY(message_image(*ret_change, 3, &group->new_fragments, err));
	group->new_fragments[0]->id = 0;
	group->n_old_fragments = group->n_new_fragments = 1;
	rewrite->groups = MADE(*ret_change, Lance__Table__Transaction__Rewrite__RewriteGroup *);
	rewrite->groups[0] = group;
	rewrite->n_groups = 1;
	(*ret_change)->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_REWRITE;
	(*ret_change)->message->rewrite = rewrite;
	return LANCET_OK;
}

static inline bool
case_rewrite_holds(lancet_version *made)
{
	uint64_t ordinal;

	return lancet_version_find_fragment(made, 4, &ordinal, NULL) == LANCET_OK &&
	       lancet_version_find_fragment(made, 3, &ordinal, NULL) == LANCET_NOT_FOUND;
}

/* The rows of fragment 3 are all there is. */
static inline int
case_overwrite(lancet_version *read, lancet_change **ret_change, struct lancet_error *err)
{
	Lance__Table__Transaction__Overwrite *overwrite;

	TRY(change_new(read, ret_change, err));
	overwrite = MADE(*ret_change, Lance__Table__Transaction__Overwrite);
	lance__table__transaction__overwrite__init(overwrite);
	TRY(message_image(*ret_change, 3, &overwrite->fragments, err));
	overwrite->fragments[0]->row_id_sequence_case = 0;
	overwrite->fragments[0]->last_updated_at_version_sequence_case = 0;
	overwrite->fragments[0]->created_at_version_sequence_case = 0;
	overwrite->n_fragments = 1;
	overwrite->schema = read->message->fields;
	overwrite->n_schema = read->message->n_fields;
	(*ret_change)->message->operation_case = LANCE__TABLE__TRANSACTION__OPERATION_OVERWRITE;
	(*ret_change)->message->overwrite = overwrite;
	return LANCET_OK;
}

static inline bool
case_overwrite_holds(lancet_version *made)
{
	return lancet_version_info(made)->physical_rows == 16;
}

#endif
