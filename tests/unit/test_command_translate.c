/* translate with a result: lists and files of addresses, over a history that is made here. */
#include "unit.h"

#include "command/commands.h"

#include <lancet/transition.h>
#include <lancet/version.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const struct command commands[] = {
	{ "translate", COMMAND_QUICK | COMMAND_BARE, "addrs file version",
		"addrs=", run_translate },
	{ 0 },
};

/* ---- a history: even offsets of a fragment move to the next one, odd ones meet their fates ----
 */

struct lancet_version {
	uint64_t number;
};
static struct lancet_version opened;

int
lancet_dataset_latest(lancet_dataset *dataset, uint64_t *ret_number, struct lancet_error *err)
{
	(void)dataset;
	(void)err;
	*ret_number = 9;
	return LANCET_OK;
}

int
lancet_version_open(lancet_dataset *dataset, uint64_t number, lancet_version **ret_version,
	struct lancet_error *err)
{
	(void)dataset;
	if (number > 9)
		return lancet_fail(err, LANCET_NOT_FOUND, "no version");
	opened.number = number;
	*ret_version = &opened;
	return LANCET_OK;
}

void
lancet_version_unref(lancet_version *version)
{
	(void)version;
}

int
lancet_translate(lancet_version *version, const uint64_t *row_addrs, size_t count,
	uint64_t *current, uint8_t *fates, struct lancet_error *err)
{
	static const uint8_t odd[] = { LANCET_ROW_DELETED, LANCET_ROW_UNKNOWN, LANCET_ROW_FAILED };
	int rc = LANCET_OK;

	(void)version;
	for (size_t i = 0; i < count; i++) {
		uint32_t offset = (uint32_t)row_addrs[i];

		fates[i] = offset % 2 == 0 ? LANCET_ROW_CURRENT : odd[offset / 2 % 3];
		current[i] = fates[i] == LANCET_ROW_CURRENT ? row_addrs[i] + (1ull << 32)
							    : LANCET_NO_ROW;
		if (fates[i] == LANCET_ROW_FAILED)
			rc = lancet_fail(err, LANCET_CORRUPT, "transition 3");
	}
	return rc;
}

/* ---- a host with one file --------------------------------------------------------------- */

struct stage {
	const char *text;
	size_t size;
	int used;
};

static int
open_payload(void *context, const char *name, int *ret_fd, struct lancet_error *err)
{
	const struct stage *stage = context;

	if (strcmp(name, "list") != 0)
		return lancet_fail(err, LANCET_NOT_FOUND, "no file");
	*ret_fd = memfd_create("list", MFD_CLOEXEC);
	ck_assert_int_ge(*ret_fd, 0);
	ck_assert_int_eq(pwrite(*ret_fd, stage->text, stage->size, 0), (ssize_t)stage->size);
	return LANCET_OK;
}

static void
payload_used(void *context, const char *name)
{
	struct stage *stage = context;

	ck_assert_str_eq(name, "list");
	stage->used++;
}

/* The code; *lines are those of the result, with a blank behind each. */
static int
translate(const char *line, struct stage *stage, struct buf *lines)
{
	const struct command_host host = {
		.context = stage, .open_payload = open_payload, .payload_used = payload_used
	};
	struct command_words words = { 0 };
	struct lancet_error err = { 0 };
	struct buf result = { 0 };
	const char *at;
	int rc;

	ck_assert_int_eq(command_words_parse((struct slice){ (const uint8_t *)line, strlen(line) },
				 &words, &err),
		LANCET_OK);
	rc = command_execute(commands, &words, &host, &result, &err);
	buf_put_byte(&result, '\0');
	at = strstr((const char *)result.data, "\"lines\": [\n");
	for (; at != NULL; at = strchr(at + 1, '\n')) {
		if (strncmp(at, "\n    \"", 6) != 0)
			continue;
		buf_put(lines, at + 6, (size_t)(strchr(at + 6, '"') - at - 6));
		buf_put_byte(lines, ' ');
	}
	buf_put_byte(lines, '\0');
	buf_release(&result);
	command_words_release(&words);
	return rc;
}

static const struct {
	const char *line, *file;
	int code;
	const char *lines;
	uint64_t version;
} requests[] = {
	{ "addrs=0:0,3:4,12884901892", "", LANCET_OK, "1:0 4:4 17179869188 ", 9 },
	{ "0:0,5:1", "", LANCET_OK, "1:0 deleted ", 9 },
	{ "0:2 version=4", "", LANCET_OK, "1:2 ", 4 },
	{ "addrs='0:2 , 0:4' version=latest", "", LANCET_OK, "1:2 1:4 ", 9 },
	{ "addrs=0:1,0:3,0:6", "", LANCET_OK, "deleted unknown 1:6 ", 9 },
	/* one that fails takes none of the others away */
	{ "addrs=0:5,0:6", "", LANCET_CORRUPT, "failed 1:6 ", 9 },
	{ "file=list", "0:0\n\n  4294967296 \r\n0:3", LANCET_OK, "1:0 8589934592 unknown ", 9 },
	{ "file=list version=2", "", LANCET_OK, "", 2 },
	{ "file=list", "0:0\nwhat\n", LANCET_INVALID, "", 0 },
	{ "file=none", "", LANCET_NOT_FOUND, "", 0 },
	{ "addrs=0:0 version=10", "", LANCET_NOT_FOUND, "", 0 },
	{ "addrs=0:0, ", "", LANCET_INVALID, "", 0 },
	{ "addrs=", "", LANCET_INVALID, "", 0 },
	{ "addrs=4294967296:0", "", LANCET_INVALID, "", 0 },
	{ "addrs=-1", "", LANCET_INVALID, "", 0 },
	{ "run", "", LANCET_INVALID, "", 0 },
	{ "version=2", "", LANCET_INVALID, "", 0 },
	{ "0:0 0:2", "", LANCET_INVALID, "", 0 },
	{ "0:0 file=list", "0:0", LANCET_INVALID, "", 0 },
	{ "addrs=0:0 file=list", "0:0", LANCET_INVALID, "", 0 },
};

START_TEST(each_address_has_its_line)
{
	struct stage stage = { requests[_i].file, strlen(requests[_i].file), 0 };
	struct buf lines = { 0 };
	bool from_file = strstr(requests[_i].line, "file=list") != NULL;

	opened.number = 0;
	ck_assert_int_eq(translate(requests[_i].line, &stage, &lines), requests[_i].code);
	ck_assert_str_eq((const char *)lines.data, requests[_i].lines);
	ck_assert_int_eq(stage.used, from_file && requests[_i].code == LANCET_OK);
	if (requests[_i].version != 0)
		ck_assert_uint_eq(opened.number, requests[_i].version);
	buf_release(&lines);
}
END_TEST

#define ADDRESSES_MAX (1u << 20)

START_TEST(there_may_be_a_million)
{
	struct buf text = { 0 }, lines = { 0 };
	struct stage stage = { 0 };

	for (size_t i = 0; i < ADDRESSES_MAX; i++)
		buf_put(&text, "0:2\n", 4);
	buf_put(&text, "0:4\n", 4);
	ck_assert_int_eq(text.failed, LANCET_OK);
	stage.text = (const char *)text.data;
	stage.size = text.size - 4;
	ck_assert_int_eq(translate("file=list", &stage, &lines), LANCET_OK);
	ck_assert_uint_eq(lines.size, 4 * (size_t)ADDRESSES_MAX + 1);
	buf_release(&lines);

	stage.size = text.size;
	ck_assert_int_eq(translate("file=list", &stage, &lines), LANCET_LIMIT);
	ck_assert_int_eq(stage.used, 1);
	buf_release(&lines);
	buf_release(&text);
}
END_TEST

UNIT_MAIN("command_translate", UNIT_LOOP(each_address_has_its_line, requests),
	UNIT_TEST(there_may_be_a_million))
