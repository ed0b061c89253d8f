/* UpdateConfig, UpdateBases and Clone: the head of the manifest. */
#include "unit.h"

#include "core/draft_schema.h"
#include "core/operation.h"
#include "draftmake.h"
#include "fragshow.h"
#include "txnmake.h"
#include "util/pbunpack.h"

#define PK  PRIMARY_KEY
#define PKP PRIMARY_KEY_POSITION
#define CK  CLUSTERING_KEY_POSITION
#define EXT "ARROW:extension:name"

/* A field of the version: "NAME:ID:PARENT:FLAGS", flags n nullable, k primary, c clustering key. */
static void
put_field(struct buf *message, const char *text)
{
	struct buf field = { 0 }, pair = { 0 };
	char name[PART_SIZE], one[PART_SIZE];

	ck_assert(part_next(&text, ":", name));
	part_text(&field, 2, name);
	ck_assert(part_next(&text, ":", one));
	put_number(&field, 3, strtoull(one, NULL, 10));
	ck_assert(part_next(&text, ":", one));
	put_number(&field, 4, (uint64_t)strtoll(one, NULL, 10));
	part_text(&field, 5, *name == 's' ? "struct" : "int64");
	if (!part_next(&text, ":", one))
		*one = '\0';
	put_number(&field, 6, strchr(one, 'n') != NULL);
	if (strchr(one, 'x') != NULL)
		part_text(&field, 9, "old");
	if (strchr(one, 'k') != NULL) {
		part_text(&pair, 1, PK);
		part_text(&pair, 2, "true");
		put_message(&field, 10, &pair);
	}
	put_number(&field, 12, strchr(one, 'k') != NULL);
	put_number(&field, 15, strchr(one, 'c') != NULL);
	put_message(message, 1, &field);
}

static void
put_map(struct buf *message, unsigned field, const char *list)
{
	char one[PART_SIZE];

	while (part_next(&list, " ", one)) {
		struct buf entry = { 0 };
		char *value = strchr(one, '=');

		*value = '\0';
		part_text(&entry, 1, one);
		part_text(&entry, 2, value + 1);
		put_message(message, field, &entry);
	}
}

/* "k=v -k replace" as an UpdateMap */
static void
put_update(struct buf *message, unsigned field, const char *list)
{
	struct buf map = { 0 };
	char one[PART_SIZE];

	while (part_next(&list, " ", one)) {
		struct buf entry = { 0 };
		char *value = strchr(one, '=');

		if (strcmp(one, "replace") == 0) {
			put_number(&map, 2, 1);
			continue;
		}
		if (value != NULL)
			*value = '\0';
		part_text(&entry, 1, one + (*one == '-'));
		if (value != NULL)
			part_text(&entry, 2, value + 1);
		put_message(&map, 1, &entry);
	}
	put_message(message, field, &map);
}

struct config_case {
	const char *label;
	const char *fields; /* "NAME:ID:PARENT:FLAGS …"; NULL: those of FIELDS */
	const char *config, *table, *schema, *field; /* changes; "ID k=v …" for a field */
	const char *old; /* "upsert k=v", "delete k", "schema k=v" … */
	const char *due; /* "config | table | schema | field's metadata | its numbers" */
	enum lancet_code code;
	const char *word;
};

#define FIELDS  "a:0:-1 b:1:-1:n s:2:-1 x:3:2 t:4:-1:n y:5:4"
#define NOTHING "k0=1 k1=2 | t0=1 | s0=1 | "

static const struct config_case configs[] = {
	{ "a key gets another value, and one comes", .config = "k1=3 k9=4",
		.due = "k0=1 k1=3 k9=4 | t0=1 | s0=1 | " },
	{ "a key goes, and one that is not there", .config = "-k0 -k7",
		.due = "k1=2 | t0=1 | s0=1 | " },
	{ "all others go", .config = "replace k9=1 -k0", .due = "k9=1 | t0=1 | s0=1 | " },
	{ "all go", .config = "replace", .due = " | t0=1 | s0=1 | " },
	{ "of several changes the last one counts", .config = "k0=5 -k0 k0=6 k7=1 -k7",
		.due = "k0=6 k1=2 | t0=1 | s0=1 | " },
	{ "nothing", .config = "", .table = "", .schema = "", .due = NOTHING },
	{ "the other maps", .table = "t1=1", .schema = "-s0 s1=2",
		.due = "k0=1 k1=2 | t0=1 t1=1 | s1=2 | " },
	{ "the old form", .old = "upsert k0=7", .due = "k0=7 k1=2 | t0=1 | s0=1 | " },
	{ "the old form, deleting", .old = "delete k0", .due = "k1=2 | t0=1 | s0=1 | " },
	{ "the old form replaces metadata", .old = "schema s9=1",
		.due = "k0=1 k1=2 | t0=1 | s9=1 | " },
	{ "the old form, of a field", .fields = "a:0:-1:n b:1:-1:n", .old = "field z=1",
		.due = NOTHING "z=1  " },
	{ "a field", .field = "0 z=1", .due = NOTHING "z=1  " },
	{ "a field that there is not", .field = "7 z=1", .code = LANCET_INVALID,
		.word = "field 7 does not exist" },
	{ "a primary key", .field = "0 " PK "=true", .due = NOTHING PK "=true primary 0 " },
	{ "in other words", .field = "0 " PK "=yEs", .due = NOTHING PK "=yEs primary 0 " },
	{ "with a position", .field = "0 " PKP "=+02", .due = NOTHING PKP "=+02 primary 2 " },
	{ "a position counts more", .field = "0 " PK "=false " PKP "=3",
		.due = NOTHING PK "=false " PKP "=3 primary 3 " },
	{ "a part of a struct", .field = "3 " PK "=1", .due = NOTHING PK "=1 primary 0 " },
	{ "a value that makes none", .field = "0 " PK "=false", .code = LANCET_INVALID,
		.word = "primary key can't be set to a value" },
	{ "no number", .field = "0 " PKP "=-1", .code = LANCET_INVALID,
		.word = "primary key can't be set to a value" },
	{ "a number that is too large", .field = "0 " PKP "=4294967296", .code = LANCET_INVALID,
		.word = "primary key can't be set to a value" },
	{ "taking away what is not there", .field = "0 -" PK, .code = LANCET_INVALID,
		.word = "primary key can't be set to a value" },
	{ "what can be null", .field = "1 " PK "=1", .code = LANCET_INVALID,
		.word = "can't be null" },
	{ "what is in such a struct", .field = "5 " PK "=1", .code = LANCET_INVALID,
		.word = "can't be null" },
	{ "a struct", .field = "2 " PK "=1", .code = LANCET_INVALID, .word = "no field of others" },
	{ "set already", .fields = "a:0:-1:k b:1:-1", .field = "1 " PK "=1", .code = LANCET_INVALID,
		.word = "primary key can't be changed" },
	{ "to the same", .fields = "a:0:-1:k", .field = "0 " PK "=true", .code = LANCET_INVALID,
		.word = "primary key can't be changed" },
	{ "by replacing", .fields = "a:0:-1:k", .field = "0 replace z=1", .code = LANCET_INVALID,
		.word = "primary key can't be changed" },
	{ "other metadata of it", .fields = "a:0:-1:k", .field = "0 z=1",
		.due = NOTHING PK "=true z=1 primary 0 " },
	{ "replaced metadata of another field", .fields = "a:0:-1:k b:1:-1",
		.field = "1 replace z=1", .due = NOTHING "z=1  " },
	{ "a clustering key", .field = "1 " CK "=2", .due = NOTHING CK "=2  clustering 2" },
	{ "which is set already", .fields = "a:0:-1:c b:1:-1", .field = "1 " CK "=2",
		.code = LANCET_INVALID, .word = "clustering key can't be changed" },
	{ "which it does not become", .field = "1 " CK "=x", .code = LANCET_INVALID,
		.word = "clustering key can't be set to a value" },
	{ "an extension", .field = "0 " EXT "=e", .due = NOTHING EXT "=e  extension e" },
	{ "an extension of old is kept", .fields = "a:0:-1:x", .field = "0 z=1",
		.due = NOTHING EXT "=old z=1  extension old" },
	{ "until it is taken away", .fields = "a:0:-1:x", .field = "0 -" EXT, .due = NOTHING "  " },
	{ "no text", .config = "k\xff=1", .code = LANCET_INVALID, .word = "UTF-8" },
};

struct config_rig {
	struct made made;
	struct draft draft;
};

static void
config_open(struct config_rig *rig, const char *fields)
{
	struct buf *message = &rig->made.message;
	char one[PART_SIZE];

	while (part_next(&fields, " ", one))
		put_field(message, one);
	put_map(message, 5, "s0=1");
	put_number(message, 3, 8);
	put_writer(message, "lance", "14.0.2");
	put_map(message, 16, "k0=1 k1=2");
	put_map(message, 19, "t0=1");
	made_open(&rig->made, 8);
	OK(draft_init(&rig->draft, rig->made.version, rig->made.version, NULL, &err));
}

static void
config_close(struct config_rig *rig)
{
	draft_release(&rig->draft);
	made_release(&rig->made);
}

static void
put_old(struct buf *body, const char *text)
{
	struct buf entry = { 0 }, value = { 0 };
	char kind[PART_SIZE];

	ck_assert(part_next(&text, " ", kind));
	if (*kind == 'u') {
		put_map(body, 1, text);
	} else if (*kind == 'd') {
		part_text(body, 2, text);
	} else if (*kind == 's') {
		put_map(body, 3, text);
	} else {
		put_map(&value, 5, text);
		put_message(&entry, 2, &value);
		put_message(body, 4, &entry);
	}
}

static void
put_message_of(struct config_rig *rig, unsigned operation, struct buf *body)
{
	struct buf bytes = { 0 };

	put_number(&bytes, 1, 8);
	put_message(&bytes, operation, body);
	OK(pb_unpack(&lance__table__transaction__descriptor, buf_slice(&bytes), &rig->draft.arena,
		&rig->draft.message, &err));
	buf_release(&bytes);
}

static void
show_map(struct buf *out, Lance__File__StringEntry *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%s%.*s=%.*s", i == 0 ? "" : " ", (int)list[i]->key.len,
			(const char *)list[i]->key.data, (int)list[i]->value.len,
			(const char *)list[i]->value.data);
}

static void
show_field(struct buf *out, const Lance__File__Field *field)
{
	show_map(out, field->metadata, field->n_metadata);
	buf_put_text(out, " ");
	if (field->unenforced_primary_key)
		buf_printf(out, "primary %u", field->unenforced_primary_key_position);
	buf_put_text(out, " ");
	if (field->unenforced_clustering_key_position > 0)
		buf_printf(out, "clustering %u", field->unenforced_clustering_key_position);
	if (field->extension_name.len > 0)
		buf_printf(out, "extension %.*s", (int)field->extension_name.len,
			(const char *)field->extension_name.data);
}

/* The head of the version that is made, read back. */
static void
show_head(struct config_rig *rig, int32_t field, struct buf *out)
{
	const Lance__Table__Manifest *head;
	struct made next = { 0 };

	made_next(&rig->draft, &next);
	head = next.version->message;
	show_map(out, head->config, head->n_config);
	buf_put_text(out, " | ");
	show_map(out, head->table_metadata, head->n_table_metadata);
	buf_put_text(out, " | ");
	show_map(out, head->schema_metadata, head->n_schema_metadata);
	buf_put_text(out, " | ");
	for (size_t i = 0; i < head->n_fields; i++)
		if (head->fields[i]->id == field)
			show_field(out, head->fields[i]);
	buf_put_byte(out, 0);
	made_release(&next);
}

START_TEST(entries_are_changed)
{
	const struct config_case *row = &configs[_i];
	struct config_rig rig = { 0 };
	struct buf body = { 0 }, shown = { 0 }, entry = { 0 };
	struct lancet_error why = { 0 };
	int32_t field = row->field != NULL ? (int32_t)strtol(row->field, NULL, 10) : -1;
	int rc;

	config_open(&rig, row->fields == NULL ? FIELDS : row->fields);
	if (row->old != NULL)
		put_old(&body, row->old);
	if (row->config != NULL)
		put_update(&body, 6, row->config);
	if (row->table != NULL)
		put_update(&body, 7, row->table);
	if (row->schema != NULL)
		put_update(&body, 8, row->schema);
	if (row->field != NULL) {
		put_number(&entry, 1, (uint64_t)field);
		put_update(&entry, 2, strchr(row->field, ' ') + 1);
		put_message(&body, 9, &entry);
	}
	put_message_of(&rig, 110, &body);
	rc = operation_apply(&rig.draft, &why);
	ck_assert_msg(rc == (int)row->code, "%s: %d: %s", row->label, rc, why.text);
	if (rc != LANCET_OK) {
		ck_assert_msg(strstr(why.text, row->word) != NULL, "%s: %s", row->label, why.text);
	} else {
		show_head(&rig, row->old != NULL && *row->old == 'f' ? 0 : field, &shown);
		ck_assert_msg(strcmp((char *)shown.data, row->due) == 0, "%s: got %s, not %s",
			row->label, (char *)shown.data, row->due);
	}
	buf_release(&shown);
	config_close(&rig);
}
END_TEST

static const struct bases_case {
	const char *label, *stored, *added, *due; /* "ID:NAME:PATH …" */
	enum lancet_code code;
	const char *word;
} bases[] = {
	{ "the first one", "", "0:a:p", "1:a:p", 0, NULL },
	{ "the smallest id that is free", "1:a:p 3:b:q", "0:c:r 0:d:s", "1:a:p 3:b:q 2:c:r 4:d:s",
		0, NULL },
	{ "id 0 is one that others have", "0:a:p", "0:c:r", "0:a:p 1:c:r", 0, NULL },
	{ "an id of its own", "", "7:a:p", "7:a:p", 0, NULL },
	{ "without a name", "1:a:p", "0::r", "1:a:p 2::r", 0, NULL },
	{ "an id in use", "7:a:p", "7:b:q", NULL, LANCET_INVALID, "id 7 is in use" },
	{ "a name in use", "7:a:p", "0:a:q", NULL, LANCET_INVALID, "the same name" },
	{ "no name, as another one", "7::p", "0::q", NULL, LANCET_INVALID, "the same name" },
	{ "a path in use", "7:a:p", "0:b:p", NULL, LANCET_INVALID, "the same path" },
	{ "the same twice", "", "0:a:p 0:b:p", NULL, LANCET_INVALID, "the same path" },
	{ "no path", "", "0:a:", NULL, LANCET_INVALID, "without a path" },
};

static void
put_bases(struct buf *message, unsigned field, const char *list)
{
	char one[PART_SIZE];

	while (part_next(&list, " ", one)) {
		struct buf base = { 0 };
		char *name = strchr(one, ':') + 1, *path = strchr(name, ':') + 1;

		put_number(&base, 1, strtoull(one, NULL, 10));
		path[-1] = '\0';
		if (*name != '\0')
			part_text(&base, 2, name);
		part_text(&base, 4, path);
		put_message(message, field, &base);
	}
}

START_TEST(bases_are_added)
{
	const struct bases_case *row = &bases[_i];
	struct config_rig rig = { 0 };
	struct buf body = { 0 }, shown = { 0 };
	struct lancet_error why = { 0 };
	int rc;

	put_bases(&rig.made.message, 18, row->stored);
	config_open(&rig, FIELDS);
	put_bases(&body, 1, row->added);
	put_message_of(&rig, 114, &body);
	rc = operation_apply(&rig.draft, &why);
	ck_assert_msg(rc == (int)row->code, "%s: %d: %s", row->label, rc, why.text);
	for (size_t i = 0; rc == LANCET_OK && i < rig.draft.head->n_base_paths; i++) {
		const Lance__Table__BasePath *base = rig.draft.head->base_paths[i];

		buf_printf(&shown, "%s%u:%.*s:%.*s", i == 0 ? "" : " ", base->id,
			base->name_presence_case == 0 ? 0 : (int)base->name.len,
			(const char *)base->name.data, (int)base->path.len,
			(const char *)base->path.data);
	}
	buf_put_byte(&shown, 0);
	if (rc == LANCET_OK)
		ck_assert_str_eq((char *)shown.data, row->due);
	else
		ck_assert_msg(strstr(why.text, row->word) != NULL, "%s: %s", row->label, why.text);
	buf_release(&shown);
	config_close(&rig);
}
END_TEST

UNIT_MAIN("op_config", UNIT_LOOP(entries_are_changed, configs), UNIT_LOOP(bases_are_added, bases))
