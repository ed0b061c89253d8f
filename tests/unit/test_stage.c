/* Staged files: names, limits, and that nothing is left of them. */
#include "unit.h"

#include "fs/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static char home[64];
static struct stage *stage;
static const char owner[] = "owner", other[] = "other";

static void
begin(uint64_t bytes_max)
{
	snprintf(home, sizeof(home), "/tmp/lancet-stage.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(home));
	ck_assert_int_eq(stage_new(home, bytes_max, &stage, NULL), LANCET_OK);
}

/* Entries of the directory that the stage is in. */
static unsigned
count_entries(void)
{
	DIR *list = opendir(home);
	const struct dirent *entry;
	unsigned count = 0;

	while ((entry = readdir(list)) != NULL)
		count += entry->d_name[0] != '.';
	closedir(list);
	return count;
}

static void
finish(void)
{
	stage_free(stage);
	ck_assert_uint_eq(count_entries(), 0);
	ck_assert_int_eq(rmdir(home), 0);
}

static struct staged *
create(const char *name)
{
	struct staged *staged = NULL;

	ck_assert_int_eq(stage_create(stage, owner, name, 0644, &staged, NULL), LANCET_OK);
	return staged;
}

static void
put(const char *name, const char *text)
{
	struct staged *staged = create(name);

	ck_assert_int_eq(staged_write(staged, 0, text, strlen(text), NULL), LANCET_OK);
	staged_close(staged);
}

static uint64_t
find(const char *name)
{
	uint64_t number = 0;

	(void)stage_find(stage, owner, name, &number, NULL);
	return number;
}

static int
add_name(void *context, const char *name, uint64_t number)
{
	(void)number;
	strcat(context, name);
	return LANCET_OK;
}

START_TEST(nothing_is_made_before_it_is_needed)
{
	struct stat st;

	begin(100);
	ck_assert_uint_eq(count_entries(), 0);
	put("a", "text");
	ck_assert_uint_eq(count_entries(), 1);
	ck_assert_int_eq(stage_stat(stage, find("a"), &st, NULL), LANCET_OK);
	ck_assert_int_eq(st.st_size, 4);
	ck_assert_uint_eq(st.st_mode, S_IFREG | 0600);
	finish();
}
END_TEST

START_TEST(names_belong_to_their_owner)
{
	struct staged *staged = NULL;
	char names[32] = "", name[256];
	uint64_t number;

	begin(100);
	put("a", "");
	ck_assert_int_eq(stage_create(stage, owner, "a", 0600, &staged, NULL), LANCET_EXISTS);
	ck_assert_int_eq(stage_find(stage, other, "a", &number, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(stage_list(stage, other, add_name, names), LANCET_OK);
	ck_assert_str_eq(names, "");
	ck_assert_int_eq(stage_list(stage, owner, add_name, names), LANCET_OK);
	ck_assert_str_eq(names, "a");
	ck_assert(stage_name(stage, find("a"), name));
	ck_assert_str_eq(name, "a");
	ck_assert_int_eq(stage_unlink(stage, other, "a", 0, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(stage_unlink(stage, owner, "a", 99, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(stage_unlink(stage, owner, "a", find("a"), NULL), LANCET_OK);
	finish();
}
END_TEST

START_TEST(renaming_replaces)
{
	uint64_t first, second;
	char name[256];

	begin(100);
	put("a", "aaa");
	put("b", "b");
	first = find("a");
	second = find("b");
	ck_assert_int_eq(stage_rename(stage, owner, "a", "b", true, NULL), LANCET_EXISTS);
	ck_assert_int_eq(stage_rename(stage, owner, "none", "b", false, NULL), LANCET_NOT_FOUND);
	ck_assert_int_eq(stage_rename(stage, owner, "a", "a", false, NULL), LANCET_OK);
	ck_assert_int_eq(stage_rename(stage, owner, "a", "b", false, NULL), LANCET_OK);
	ck_assert_uint_eq(find("b"), first);
	ck_assert_uint_eq(find("a"), 0);
	ck_assert(!stage_name(stage, second, name));
	finish();
}
END_TEST

START_TEST(an_open_file_outlives_its_name)
{
	struct staged *staged;
	struct stat st;
	uint64_t number;
	char text[8] = "", name[256];

	begin(10);
	staged = create("a");
	number = staged_number(staged);
	ck_assert_int_eq(stage_unlink(stage, owner, "a", 0, NULL), LANCET_OK);
	ck_assert_int_eq(staged_write(staged, 0, "text", 4, NULL), LANCET_OK);
	ck_assert_int_eq(stage_stat(stage, number, &st, NULL), LANCET_OK);
	ck_assert(stage_name(stage, number, name));
	ck_assert_str_eq(name, "a");
	ck_assert_uint_eq(find("a"), 0);
	ck_assert_int_eq(pread(staged_fd(staged), text, sizeof(text), 0), 4);
	ck_assert_int_eq(staged_write(staged, 4, "1234567", 7, NULL), LANCET_IO); /* it counts */
	staged_close(staged);
	ck_assert_int_eq(stage_stat(stage, number, &st, NULL), LANCET_CLEANED);
	ck_assert(!stage_name(stage, number, name));
	put("b", "1234567890");
	finish();
}
END_TEST

START_TEST(bytes_are_limited)
{
	struct stat wanted = { .st_size = 6 };
	struct lancet_error err = { 0 };
	struct staged *staged;

	begin(10);
	put("a", "1234");
	staged = create("b");
	ck_assert_int_eq(staged_write(staged, 0, "123456", 6, NULL), LANCET_OK);
	ck_assert_int_eq(staged_write(staged, 6, "7", 1, &err), LANCET_IO);
	ck_assert_int_eq(err.os_errno, ENOSPC);
	ck_assert_ptr_nonnull(strstr(err.text, "stage_max=10"));
	ck_assert_int_eq(staged_write(staged, 2, "xx", 2, NULL), LANCET_OK); /* nothing more */
	ck_assert_int_eq(staged_write(staged, INT64_MAX, "xx", 2, NULL), LANCET_IO);
	ck_assert_int_eq(stage_change(stage, find("a"), STAGE_SIZE, &wanted, NULL), LANCET_IO);
	wanted.st_size = 3;
	ck_assert_int_eq(stage_change(stage, find("a"), STAGE_SIZE, &wanted, NULL), LANCET_OK);
	ck_assert_int_eq(staged_write(staged, 6, "7", 1, NULL), LANCET_OK);
	ck_assert_int_eq(stage_unlink(stage, owner, "a", 0, NULL), LANCET_OK);
	ck_assert_int_eq(staged_write(staged, 7, "890", 3, NULL), LANCET_OK);
	staged_close(staged);
	finish();
}
END_TEST

START_TEST(times_and_modes_can_be_set)
{
	struct stat wanted = {
		.st_mode = S_IFREG | 0400, .st_mtim = { 1000000000, 5 }, .st_atim = { 0, UTIME_NOW }
	};
	struct stat st;

	begin(10);
	put("a", "");
	ck_assert_int_eq(stage_change(stage, find("a"), STAGE_MODE | STAGE_MTIME | STAGE_ATIME,
				 &wanted, NULL),
		LANCET_OK);
	ck_assert_int_eq(stage_stat(stage, find("a"), &st, NULL), LANCET_OK);
	ck_assert_uint_eq(st.st_mode, S_IFREG | 0400);
	ck_assert_int_eq(st.st_mtim.tv_sec, 1000000000);
	ck_assert_int_eq(st.st_mtim.tv_nsec, 5);
	ck_assert_int_eq(stage_change(stage, 99, STAGE_MODE, &wanted, NULL), LANCET_CLEANED);
	finish();
}
END_TEST

/* A directory as a daemon leaves it that is killed; old enough, or locked by one that lives. */
static int
leave(const char *name, mode_t mode, bool old)
{
	const struct timespec times[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
	char path[128];
	int fd, file;

	snprintf(path, sizeof(path), "%s/%s", home, name);
	ck_assert_int_eq(mkdir(path, mode), 0);
	ck_assert_int_eq(chmod(path, mode), 0);
	fd = open(path, O_RDONLY | O_DIRECTORY);
	file = openat(fd, "1", O_CREAT | O_WRONLY, 0600);
	ck_assert_int_ge(file, 0);
	close(file);
	if (old)
		ck_assert_int_eq(futimens(fd, times), 0);
	return fd;
}

static void
take_away(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s/1", home, name);
	ck_assert_int_eq(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/%s", home, name);
	ck_assert_int_eq(rmdir(path), 0);
}

START_TEST(what_the_killed_left_is_removed)
{
	struct stage *next = NULL;
	int lives;

	begin(10);
	close(leave("lancefs-stage-dead", 0700, true));
	close(leave("lancefs-stage-young", 0700, false));
	close(leave("lancefs-stage-open", 0755, true));
	close(leave("other", 0700, true));
	lives = leave("lancefs-stage-lives", 0700, true);
	ck_assert_int_eq(flock(lives, LOCK_EX), 0);
	ck_assert_int_eq(stage_new(home, 10, &next, NULL), LANCET_OK);
	stage_free(next);
	ck_assert_uint_eq(count_entries(), 4);
	close(lives);
	take_away("lancefs-stage-young");
	take_away("lancefs-stage-open");
	take_away("other");
	take_away("lancefs-stage-lives");
	finish();
}
END_TEST

START_TEST(a_directory_that_is_not_there_is_named)
{
	struct lancet_error err = { 0 };
	struct stage *none = NULL;

	ck_assert_int_ne(stage_new("/nowhere/at/all", 10, &none, &err), LANCET_OK);
	ck_assert_ptr_nonnull(strstr(err.text, "stage=/nowhere/at/all"));
}
END_TEST

UNIT_MAIN("stage", UNIT_TEST(nothing_is_made_before_it_is_needed),
	UNIT_TEST(names_belong_to_their_owner), UNIT_TEST(renaming_replaces),
	UNIT_TEST(an_open_file_outlives_its_name), UNIT_TEST(bytes_are_limited),
	UNIT_TEST(times_and_modes_can_be_set), UNIT_TEST(what_the_killed_left_is_removed),
	UNIT_TEST(a_directory_that_is_not_there_is_named))
