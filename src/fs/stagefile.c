/* Handles of staged files; see stagefile.h. */
#include "stagefile.h"

#include "util/macros.h"

static void
close_staged(void *state)
{
	staged_close(state);
}

const struct node_handle_ops stagefile_ops = { .close = close_staged };

int
stagefile_create(struct stage *stage, const void *owner, const char *name, mode_t mode,
	struct node_handle *ret_handle, uint64_t *ret_number, struct lancet_error *err)
{
	struct staged *staged = NULL;

	TRY(stage_create(stage, owner, name, mode, &staged, err));
	*ret_handle = (struct node_handle){ &stagefile_ops, staged, staged_fd(staged) };
	*ret_number = staged_number(staged);
	return LANCET_OK;
}

int
stagefile_open(struct stage *stage, uint64_t number, bool to_write, struct node_handle *ret_handle,
	struct lancet_error *err)
{
	struct staged *staged = NULL;

	TRY(stage_open(stage, number, to_write, &staged, err));
	*ret_handle = (struct node_handle){ &stagefile_ops, staged, staged_fd(staged) };
	return LANCET_OK;
}
