/* A version whose every part that a precondition looks at can be changed, and conditions on it.
 *
 * Fragment 4 has 10 rows: column a (field 0) in one file, struct s (1) of x (2) and y (3) in
 * another one, a deletion file, and an overlay of x in the rows 1 and 2. Fragment 5 has all in one
 * file.
 */
#ifndef TESTS_WORLDMAKE_H
#define TESTS_WORLDMAKE_H

#include "core/precondition.h"
#include "core/transaction.h"
#include "lance/precondition.pb-c.h"
#include "lance/transaction.pb-c.h"
#include "worldparts.h"

static inline void
world_fragments(struct world *w)
{
	for (size_t i = 0; i < 2; i++) {
		lance__table__data_fragment__init(&w->fragments[i]);
		w->fragments[i].id = 4 + i;
		w->fragments[i].physical_rows = 10;
		w->fragment_list[i] = &w->fragments[i];
	}
	world_file(w, 0, "a.lance", 0, 1);
	world_file(w, 1, "s.lance", 2, 2);
	world_file(w, 2, "all.lance", 0, 1);
	world_file(w, 3, "more.lance", 2, 2);
	w->fragments[0].n_files = w->fragments[1].n_files = 2;
	w->fragments[0].files = w->file_list;
	w->fragments[1].files = w->file_list + 2;
	lance__table__deletion_file__init(&w->deletion);
	w->deletion.file_type = LANCE__TABLE__DELETION_FILE__DELETION_FILE_TYPE__BITMAP;
	w->deletion.read_version = 2;
	w->deletion.id = 7;
	w->deletion.num_deleted_rows = 1;
	w->fragments[0].deletion_file = &w->deletion;
	world_overlay(w, 0, 2, "12", 2);
	w->fragments[0].n_overlays = 1;
	w->fragments[0].overlays = w->overlay_list;
}

static inline void
world_init(struct world *w, uint64_t version)
{
	memset(w, 0, sizeof(*w));
	lance__table__manifest__init(&w->manifest);
	lance__table__manifest__writer_version__init(&w->writer);
	w->writer.library = maker_text("lance");
	w->manifest.writer_version = &w->writer;
	w->manifest.version = version;
	world_field(w, 0, 0, -1, "a", "int32");
	world_field(w, 1, 1, -1, "s", "struct");
	world_field(w, 2, 2, 1, "x", "int32");
	world_field(w, 3, 3, 1, "y", "string");
	w->manifest.n_fields = 4;
	w->manifest.fields = w->field_list;
	world_fragments(w);
	w->manifest.n_fragments = 2;
	w->manifest.fragments = w->fragment_list;
	lance__table__base_path__init(&w->base);
	w->base.id = 1;
	w->base.path = maker_text("/base");
	w->base_list[0] = &w->base;
	w->manifest.n_base_paths = 1;
	w->manifest.base_paths = w->base_list;
}

static inline lancet_version *
world_open(struct world *w)
{
	struct lancet_error err = { 0 };

	ck_assert_msg(maker_load_message(&w->file, &w->manifest, &w->version, &err) == LANCET_OK,
		"%s", err.text);
	return w->version;
}

static inline void
world_release(struct world *w)
{
	lancet_version_unref(w->version);
	buf_release(&w->file);
}

/* A transaction with these encoded conditions. */
static inline lancet_transaction *
world_transaction(const struct slice *list, size_t count)
{
	Lance__Table__Transaction message = LANCE__TABLE__TRANSACTION__INIT;
	ProtobufCBinaryData conditions[4];
	lancet_transaction *transaction = NULL;
	struct buf bytes = { 0 };

	for (size_t i = 0; i < count; i++)
		conditions[i] =
			(ProtobufCBinaryData){ list[i].size, (uint8_t *)(uintptr_t)list[i].data };
	message.preconditions = conditions;
	message.n_preconditions = count;
	message.read_version = 3;
	maker_pack(&bytes, &message.base);
	ck_assert_int_eq(transaction_parse(bytes.data, bytes.size, &transaction, NULL), LANCET_OK);
	return transaction;
}

#endif
