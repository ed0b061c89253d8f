/* tag, pin: names for versions. */
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>

#include <lancet/reference.h>
#include "util/macros.h"
#include "values.h"
#include "verbs.h"

#define PIN_SECONDS 3600u /* unless ttl= says otherwise */

static void
put_name(struct command_run *run, const char *name)
{
	jsonw_text(&run->json, "name", name);
}

static void
put_target(struct command_run *run, const char *name, uint64_t version)
{
	put_name(run, name);
	jsonw_u64_text(&run->json, "of_version", version);
}

static int
tag_create(struct command_run *run, struct lancet_error *err)
{
	const char *name;
	uint64_t version;

	TRY(value_needed(run->words, "name", &name, err));
	TRY(value_version(run, "version", &version, err));
	TRY(lancet_tag_create(run->host->dataset, name, version, err));
	put_target(run, name, version);
	return LANCET_OK;
}

/* To the newest version only when the line says so. */
static int
tag_move(struct command_run *run, struct lancet_error *err)
{
	const char *name, *text;
	uint64_t version;

	TRY(value_needed(run->words, "name", &name, err));
	TRY(value_needed(run->words, "version", &text, err));
	TRY(value_version(run, "version", &version, err));
	TRY(lancet_tag_move(run->host->dataset, name, version, err));
	put_target(run, name, version);
	return LANCET_OK;
}

static int
tag_delete(struct command_run *run, struct lancet_error *err)
{
	const char *name;

	TRY(value_needed(run->words, "name", &name, err));
	TRY(lancet_tag_delete(run->host->dataset, name, err));
	put_name(run, name);
	return LANCET_OK;
}

int
run_tag(struct command_run *run, struct lancet_error *err)
{
	static const struct verb verbs[] = {
		{ "create", "name version", tag_create },
		{ "move", "name version", tag_move },
		{ "delete", "name", tag_delete },
	};

	return verb_run(run, verbs, ARRAY_SIZE(verbs), err);
}

/* A name that nobody else takes. */
static int
make_name(char into[20], struct lancet_error *err)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return lancet_fail_errno(err, "random bytes");
	(void)snprintf(into, 20, "%016" PRIx64, number);
	return LANCET_OK;
}

static void
put_tag(struct command_run *run, const char *name)
{
	struct buf tag = { 0 };

	buf_printf(&tag, "%s%s", LANCET_PIN_PREFIX, name);
	jsonw_buf(&run->json, "tag", &tag);
}

static int
pin_create(struct command_run *run, struct lancet_error *err)
{
	const char *name = value_of(run->words, "name");
	uint64_t version, ttl = PIN_SECONDS;
	char made[20];

	if (name == NULL) {
		TRY(make_name(made, err));
		name = made;
	}
	TRY(value_seconds(run->words, "ttl", &ttl, err));
	if (ttl == 0)
		return lancet_fail(err, LANCET_INVALID, "ttl=0: a pin has to last");
	TRY(value_version(run, "version", &version, err));
	TRY(lancet_pin_create(run->host->dataset, name, version, ttl, err));
	put_target(run, name, version);
	put_tag(run, name);
	jsonw_u64(&run->json, "ttl_seconds", ttl);
	return LANCET_OK;
}

static int
pin_delete(struct command_run *run, struct lancet_error *err)
{
	const char *name;

	TRY(value_needed(run->words, "name", &name, err));
	TRY(lancet_pin_delete(run->host->dataset, name, err));
	put_name(run, name);
	return LANCET_OK;
}

int
run_pin(struct command_run *run, struct lancet_error *err)
{
	static const struct verb verbs[] = {
		{ "create", "name version ttl", pin_create },
		{ "delete", "name", pin_delete },
	};

	return verb_run(run, verbs, ARRAY_SIZE(verbs), err);
}
