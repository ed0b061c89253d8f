/* The preconditions that a change's user asks for. */
#include "change.h"

#include <string.h>

#include "lance/transaction.pb-c.h"
#include "precondition.h"
#include "util/macros.h"

int
lancet_change_require(lancet_change *change, const char *text, struct lancet_error *err)
{
	Lance__Table__Transaction *message = change->message;
	ProtobufCBinaryData *list;
	struct slice *parts;
	size_t count;

	TRY(change_check_open(change, err));
	TRY(change_open_read(change, err));
	TRY(preconditions_encode(change->read, text, &change->arena, &parts, &count, err));
	list = arena_zalloc(&change->arena, message->n_preconditions + count, sizeof(*list));
	if (list == NULL)
		return change_no_memory(err);
	if (message->n_preconditions > 0)
		memcpy(list, message->preconditions, message->n_preconditions * sizeof(*list));
	for (size_t i = 0; i < count; i++)
		list[message->n_preconditions + i] =
			(ProtobufCBinaryData){ parts[i].size, (uint8_t *)(uintptr_t)parts[i].data };
	message->preconditions = list;
	message->n_preconditions += count;
	return LANCET_OK;
}
