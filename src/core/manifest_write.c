/* Puts a manifest file together: values, index section, transaction, message, footer.
 *
 * Fragments that were not changed are copied from the origin's file, neighbours as one range: their
 * fields follow each other there as they do here. Format facts: manifest file layout.
 */
#include "manifest_write.h"

#include <inttypes.h>

#include "fragment_stored.h"
#include "lance/table.pb-c.h"
#include "manifest_parts.h"
#include "util/macros.h"

#define RUN_SIZE_MAX (1u << 20) /* bytes of encoded fragments that are kept together */
#define FRAGMENT_TAG 0x12       /* Manifest.fragments */
#define BORROWED_MIN (1u << 16) /* bytes of a value that is not copied */

size_t
writing_varint_size(uint64_t value)
{
	size_t size = 1;

	for (; value >= 0x80; value >>= 7)
		size++;
	return size;
}

void
writing_put_message(struct buf *into, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);

	if (buf_reserve(into, size))
		into->size += protobuf_c_message_pack(message, into->data + into->size);
}

void
writing_put_field(struct buf *into, uint8_t tag, const ProtobufCMessage *message)
{
	buf_put_byte(into, tag);
	buf_put_varint(into, protobuf_c_message_get_packed_size(message));
	writing_put_message(into, message);
}

int
writing_flush(struct writing *w)
{
	TRY(buf_check(&w->run, "encoded manifest", w->err));
	if (w->run.size > 0)
		splice_literal(w->out, w->run.data, w->run.size);
	w->run.size = 0;
	return LANCET_OK;
}

void
writing_set_u32(struct splice *out, size_t place, uint32_t value)
{
	uint8_t bytes[SECTION_PREFIX_SIZE];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(value >> 8 * i);
	splice_set(out, place, bytes, sizeof(bytes));
}

int
writing_set_length(struct writing *w, size_t place, uint64_t at, const char *what)
{
	uint64_t size = w->out->size - at;

	if (size > UINT32_MAX)
		return lancet_fail(w->err, LANCET_LIMIT,
			"%s of %" PRIu64 " bytes: its length has 32 bits", what, size);
	writing_set_u32(w->out, place, (uint32_t)size);
	return LANCET_OK;
}

/* A long value behind the other fields: it stays where it is. */
static int
put_long(struct writing *w, uint32_t number, ProtobufCBinaryData value)
{
	buf_put_varint(&w->run, (uint64_t)number << 3 | 2);
	buf_put_varint(&w->run, value.len);
	TRY(writing_flush(w));
	splice_borrow(w->out, value.data, value.len);
	return LANCET_OK;
}

/* Takes a oneof's arm out, when it is the one and its value is long. */
#define TAKE_LONG(fragment, which, number, value)                                                  \
	((fragment)->which == (number) && (fragment)->value.len >= BORROWED_MIN                    \
			? ((fragment)->which = 0, (fragment)->value)                               \
			: (ProtobufCBinaryData){ 0, NULL })

static int
put_fragment(struct writing *w, const Lance__Table__DataFragment *message)
{
	Lance__Table__DataFragment rest = *message;
	static const uint32_t numbers[] = {
		FRAGMENT_INLINE_ROW_IDS,
		FRAGMENT_INLINE_CREATED,
		FRAGMENT_INLINE_LAST_UPDATED,
	};
	const ProtobufCBinaryData values[] = {
		TAKE_LONG(&rest, row_id_sequence_case, numbers[0], inline_row_ids),
		TAKE_LONG(&rest, created_at_version_sequence_case, numbers[1],
			inline_created_at_versions),
		TAKE_LONG(&rest, last_updated_at_version_sequence_case, numbers[2],
			inline_last_updated_at_versions),
	};

	buf_put_byte(&w->run, FRAGMENT_TAG);
	buf_put_varint(&w->run, protobuf_c_message_get_packed_size(&message->base));
	writing_put_message(&w->run, &rest.base);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		if (values[i].data != NULL)
			TRY(put_long(w, numbers[i], values[i]));
	return w->run.size > RUN_SIZE_MAX ? writing_flush(w) : LANCET_OK;
}

static int
put_fragments(struct writing *w)
{
	const struct draft *draft = w->draft;
	uint64_t copied_to = UINT64_MAX; /* end in the origin's file of the fragment put last */

	for (size_t i = 0; i < draft->fragment_count; i++) {
		const struct draft_fragment *fragment = &draft->fragments[i];
		const struct fragment_span *span;
		uint64_t at, head;

		if (fragment->message != NULL) {
			TRY(put_fragment(w, fragment->message));
			copied_to = UINT64_MAX;
			continue;
		}
		span = &draft->origin->spans[fragment->stored];
		at = draft->origin->message_offset + span->offset;
		head = 1 + writing_varint_size(span->size);
		if (at - head == copied_to) {
			splice_copy(w->out, at - head, head + span->size);
		} else {
			buf_put_byte(&w->run, FRAGMENT_TAG);
			buf_put_varint(&w->run, span->size);
			TRY(writing_flush(w));
			splice_copy(w->out, at, span->size);
		}
		copied_to = at + span->size;
	}
	return writing_flush(w);
}

static int
put_transaction(struct writing *w, struct slice transaction, struct manifest_sections *sections)
{
	if (transaction.size > TRANSACTION_INLINE_MAX) {
		if (*sections->transaction_file != '\0')
			return LANCET_OK;
		return lancet_fail(w->err, LANCET_LIMIT,
			"transaction of %zu bytes needs a file of its own", transaction.size);
	}
	sections->has_transaction = true;
	sections->transaction = w->out->size;
	writing_set_u32(w->out, splice_reserve(w->out), (uint32_t)transaction.size);
	splice_literal(w->out, transaction.data, transaction.size);
	return LANCET_OK;
}

static void
put_footer(struct writing *w, uint64_t at)
{
	writing_set_u32(w->out, splice_reserve(w->out), (uint32_t)at);
	writing_set_u32(w->out, splice_reserve(w->out), (uint32_t)(at >> 32));
	splice_literal(w->out, "\0\0\2\0LANC", 8);
}

static int
put_file(struct writing *w, struct slice transaction, const char *transaction_file)
{
	struct manifest_sections sections = { .transaction_file = transaction_file };
	uint64_t at;
	size_t place;

	TRY(writing_put_values(w));
	sections.index = w->out->size;
	TRY(writing_put_index_section(w, &sections.has_index));
	TRY(put_transaction(w, transaction, &sections));
	at = w->out->size;
	place = splice_reserve(w->out);
	TRY(writing_put_kept_fields(w));
	TRY(put_fragments(w));
	TRY(writing_put_new_fields(w, &sections));
	TRY(writing_set_length(w, place, at, "manifest"));
	put_footer(w, at);
	return splice_finish(w->out, w->err);
}

int
manifest_write_prepare(struct draft *draft, struct slice transaction, const char *transaction_file,
	struct splice *file, struct lancet_error *err)
{
	struct source *source = draft->origin != NULL ? source_ref(draft->origin->file)
						      : source_memory_new(slice_of(NULL, 0), NULL);
	struct writing w = { .draft = draft, .out = file, .err = err };
	int rc;

	if (source == NULL)
		return draft_no_memory(err);
	splice_init(file, source);
	source_unref(source);
	rc = put_file(&w, transaction, transaction_file);
	buf_release(&w.run);
	return rc;
}
