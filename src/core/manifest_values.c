/* Values of dictionary columns of the format before 2.0: they lie at the beginning of the manifest.
 *
 * Fields of the schema say where, and what is there says by absolute positions in the file where
 * its texts are. So the bytes stay where they are: the new file begins as the origin's does. Format
 * facts: manifest file layout.
 */
#include "manifest_parts.h"

#include <inttypes.h>

#include "lance/table.pb-c.h"
#include "util/macros.h"

static const Lance__File__Field *
stored_field(const struct draft *draft, int32_t id)
{
	const Lance__Table__Manifest *stored =
		draft->origin == NULL ? NULL : draft->origin->message;

	for (size_t i = 0; stored != NULL && i < stored->n_fields; i++)
		if (stored->fields[i]->id == id)
			return stored->fields[i];
	return NULL;
}

static bool
has_values(const Lance__File__Field *field)
{
	return field != NULL && field->dictionary != NULL && field->dictionary->length > 0;
}

/* A changed schema comes from a transaction, whose fields say nothing of values, or say it of a
 * manifest that is not this one: values are those of the stored field. */
static int
keep_places(struct writing *w)
{
	const Lance__Table__Manifest *head = w->draft->head;

	for (size_t i = 0; i < head->n_fields; i++) {
		Lance__File__Field *field = head->fields[i];
		const Lance__File__Field *stored = stored_field(w->draft, field->id);

		if (has_values(stored))
			field->dictionary = stored->dictionary;
		else if (has_values(field))
			return lancet_fail(w->err, LANCET_UNSUPPORTED,
				"field %" PRId32 ": no dictionary column of format 0.1 is made",
				field->id);
	}
	return LANCET_OK;
}

/* They end where the first of the sections begins. */
static uint64_t
values_size(const lancet_version *origin)
{
	uint64_t size = origin->message_offset - SECTION_PREFIX_SIZE;
	bool found = false;

	if (origin->has_index_section && origin->index_section < size)
		size = origin->index_section;
	if (origin->has_transaction_section && origin->transaction_section < size)
		size = origin->transaction_section;
	for (size_t i = 0; i < origin->message->n_fields; i++)
		found = found || has_values(origin->message->fields[i]);
	return found ? size : 0;
}

int
writing_put_values(struct writing *w)
{
	if (w->draft->origin == NULL || (w->draft->changed & DRAFT_SCHEMA) != 0)
		TRY(keep_places(w));
	if (w->draft->origin != NULL)
		splice_copy(w->out, 0, values_size(w->draft->origin));
	return LANCET_OK;
}
