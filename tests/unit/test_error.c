/* Error codes, texts and the errno each one becomes. */
#include "unit.h"

#include <errno.h>
#include <lancet/error.h>
#include <stdio.h>
#include <string.h>

static const struct {
	enum lancet_code code;
	int os_errno;
	int want;
} mappings[] = {
	{ LANCET_IO, 0, EIO },
	{ LANCET_IO, ENOSPC, ENOSPC },
	{ LANCET_NOT_FOUND, ENOENT, ENOENT },
	{ LANCET_EXISTS, 0, EEXIST },
	{ LANCET_CORRUPT, 0, EUCLEAN },
	{ LANCET_UNSUPPORTED, 0, EOPNOTSUPP },
	{ LANCET_INVALID, 0, EINVAL },
	{ LANCET_BUSY, 0, EBUSY },
	{ LANCET_CONFLICT, 0, ESTALE },
	{ LANCET_PRECONDITION, 0, ECANCELED },
	{ LANCET_CLEANED, 0, ESTALE },
	{ LANCET_READ_ONLY, 0, EROFS },
	{ LANCET_DENIED, EPERM, EACCES },
	{ LANCET_LIMIT, 0, EFBIG },
	{ LANCET_NO_MEMORY, 0, ENOMEM },
	{ LANCET_CANCELLED, 0, ECANCELED },
};

START_TEST(every_code_has_its_errno_and_a_name)
{
	struct lancet_error err = { mappings[_i].code, mappings[_i].os_errno, "" };

	ck_assert_int_eq(lancet_error_errno(&err), mappings[_i].want);
	ck_assert_str_ne(lancet_code_name(err.code), "unknown");
	ck_assert(strpbrk(lancet_code_name(err.code), "ABCDEFGHIJKLMNOPQRSTUVWXYZ ") == NULL);
}
END_TEST

static const struct {
	int os_errno;
	enum lancet_code want;
} failures[] = {
	{ ENOENT, LANCET_NOT_FOUND }, { EACCES, LANCET_DENIED }, { EPERM, LANCET_DENIED },
	{ ENOMEM, LANCET_NO_MEMORY }, { EIO, LANCET_IO },        { ENOSPC, LANCET_IO },
};

START_TEST(errno_becomes_a_code_and_its_text_is_appended)
{
	struct lancet_error err = { 0 };
	char want[200];

	snprintf(want, sizeof(want), "open x/7: %s", strerror(failures[_i].os_errno));
	errno = failures[_i].os_errno;
	ck_assert_int_eq(lancet_fail_errno(&err, "open %s/%d", "x", 7), failures[_i].want);
	ck_assert_int_eq(err.code, failures[_i].want);
	ck_assert_int_eq(err.os_errno, failures[_i].os_errno);
	ck_assert_str_eq(err.text, want);
	ck_assert_int_eq(errno, failures[_i].os_errno);
}
END_TEST

START_TEST(wrapping_puts_names_in_front_and_keeps_the_code)
{
	struct lancet_error err = { 0 };
	int rc = lancet_fail(&err, LANCET_CORRUPT, "%d bytes, 16 needed", 15);

	rc = lancet_wrap(&err, rc, "footer");
	rc = lancet_wrap(&err, rc, "_versions/%d.manifest", 5);
	ck_assert_int_eq(rc, LANCET_CORRUPT);
	ck_assert_int_eq(err.code, LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "_versions/5.manifest: footer: 15 bytes, 16 needed");
	ck_assert_int_eq(lancet_wrap(&err, LANCET_OK, "unused"), LANCET_OK);
	ck_assert_str_eq(err.text, "_versions/5.manifest: footer: 15 bytes, 16 needed");
}
END_TEST

START_TEST(long_texts_are_cut_and_the_outer_names_stay)
{
	struct lancet_error err = { 0 };
	char name[300];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	lancet_fail(&err, LANCET_IO, "%s%s%s", name, name, name);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	for (int i = 0; i < 5; i++)
		lancet_wrap(&err, err.code, "outer%d %s", i, name);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	ck_assert_int_eq(strncmp(err.text, "outer4 nnn", 10), 0);
}
END_TEST

START_TEST(an_error_may_quote_itself)
{
	struct lancet_error err = { 0 };

	lancet_fail(&err, LANCET_IO, "inner");
	lancet_fail(&err, LANCET_CORRUPT, "was: %s", err.text);
	ck_assert_str_eq(err.text, "was: inner");
	lancet_wrap(&err, LANCET_CORRUPT, "%s", err.text);
	ck_assert_str_eq(err.text, "was: inner: was: inner");
}
END_TEST

START_TEST(control_characters_are_not_kept)
{
	struct lancet_error err = { 0 };

	lancet_fail(&err, LANCET_CORRUPT, "type \"%s\"", "a\nb\x1b[2J\x7f\xc3\xa9");
	ck_assert_str_eq(err.text, "type \"a?b?[2J?\xc3\xa9\"");
	lancet_wrap(&err, LANCET_CORRUPT, "%s", "c\r\nd");
	ck_assert_str_eq(err.text, "c??d: type \"a?b?[2J?\xc3\xa9\"");
	errno = EACCES;
	lancet_fail_errno(&err, "%s", "\t/x");
	ck_assert_str_eq(err.text, "?/x: Permission denied");
}
END_TEST

START_TEST(the_error_is_optional)
{
	errno = EACCES;
	ck_assert_int_eq(lancet_fail_errno(NULL, "x"), LANCET_DENIED);
	ck_assert_int_eq(lancet_fail(NULL, LANCET_LIMIT, "x"), LANCET_LIMIT);
	ck_assert_int_eq(lancet_wrap(NULL, LANCET_BUSY, "x"), LANCET_BUSY);
	ck_assert_int_eq(lancet_error_errno(NULL), EIO);
}
END_TEST

UNIT_MAIN("error", UNIT_LOOP(every_code_has_its_errno_and_a_name, mappings),
          UNIT_LOOP(errno_becomes_a_code_and_its_text_is_appended, failures),
          UNIT_TEST(wrapping_puts_names_in_front_and_keeps_the_code),
          UNIT_TEST(long_texts_are_cut_and_the_outer_names_stay),
          UNIT_TEST(an_error_may_quote_itself),
          UNIT_TEST(control_characters_are_not_kept), UNIT_TEST(the_error_is_optional))
