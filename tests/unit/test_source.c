/* Sources: memory, descriptor and window give the same bytes and the same refusals. */
#include "unit.h"

#include "util/source.h"

#include <stdio.h>
#include <unistd.h>

static const char content[] = "0123456789abcdefghij";
#define CONTENT_SIZE (sizeof(content) - 1)

static struct source *
memory_source(void)
{
	return source_memory_new(slice_of(content, CONTENT_SIZE), NULL);
}

static struct source *
fd_source(void)
{
	FILE *file = tmpfile();
	int fd;

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(content, 1, CONTENT_SIZE, file), CONTENT_SIZE);
	ck_assert_int_eq(fflush(file), 0);
	fd = dup(fileno(file));
	ck_assert_int_ge(fd, 0);
	fclose(file);
	return source_fd_new(fd, CONTENT_SIZE);
}

static struct source *
window_source(void)
{
	static const char around[] = "<<<0123456789abcdefghij>>";
	struct source *parent = source_memory_new(slice_text(around), NULL);
	struct source *window = source_slice_new(parent, 3, CONTENT_SIZE);

	source_unref(parent);
	return window;
}

static struct source *(*const makers[])(void) = { memory_source, fd_source, window_source };

START_TEST(reads_are_exact)
{
	struct source *src = makers[_i]();
	uint8_t *loaded = NULL;
	char part[5] = "";

	ck_assert_uint_eq(src->size, CONTENT_SIZE);
	ck_assert_int_eq(source_read_at(src, 8, 4, part, NULL), LANCET_OK);
	ck_assert_str_eq(part, "89ab");
	ck_assert_int_eq(source_load(src, 0, CONTENT_SIZE, &loaded, NULL), LANCET_OK);
	ck_assert_mem_eq(loaded, content, CONTENT_SIZE);
	free(loaded);
	ck_assert_int_eq(source_read_at(src, CONTENT_SIZE, 0, NULL, NULL), LANCET_OK);
	ck_assert_int_eq(source_load(src, CONTENT_SIZE, 0, &loaded, NULL), LANCET_OK);
	free(loaded);
	source_unref(src);
}
END_TEST

START_TEST(reads_past_the_end_are_refused_and_nothing_is_given)
{
	static const struct { uint64_t offset; size_t size; } ranges[] = {
		{ 0, CONTENT_SIZE + 1 }, { CONTENT_SIZE, 1 }, { CONTENT_SIZE + 1, 0 },
		{ UINT64_MAX, 1 },       { 1, SIZE_MAX },     { UINT64_MAX, SIZE_MAX },
	};
	struct source *src = makers[_i]();

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		struct lancet_error err = { 0 };
		uint8_t *loaded = NULL;
		char byte = 'x';

		ck_assert_int_eq(source_read_at(src, ranges[i].offset, ranges[i].size, &byte, &err),
		                 LANCET_CORRUPT);
		ck_assert_str_ne(err.text, "");
		ck_assert_int_eq(byte, 'x');
		ck_assert_int_eq(source_load(src, ranges[i].offset, ranges[i].size, &loaded, NULL),
		                 LANCET_CORRUPT);
		ck_assert_ptr_null(loaded);
	}
	source_unref(src);
}
END_TEST

START_TEST(a_window_keeps_its_parent_alive_and_can_be_cut_again)
{
	struct source *src = makers[_i]();
	struct source *window = source_slice_new(src, 10, 6);
	struct source *inner = source_slice_new(window, 2, 3);
	char part[4] = "";

	source_unref(src);
	source_unref(window);
	ck_assert_int_eq(source_read_at(inner, 0, 3, part, NULL), LANCET_OK);
	ck_assert_str_eq(part, "cde");
	ck_assert_int_eq(source_read_at(inner, 1, 3, part, NULL), LANCET_CORRUPT);
	ck_assert_int_eq(inner->fd, -1);
	source_unref(source_ref(inner));
	source_unref(inner);
	source_unref(NULL);
}
END_TEST

START_TEST(a_window_from_the_start_shares_the_descriptor)
{
	struct source *src = fd_source();
	struct source *window = source_slice_new(src, 0, 5);

	ck_assert_int_eq(window->fd, src->fd);
	source_unref(window);
	source_unref(src);
}
END_TEST

START_TEST(a_file_that_shrank_is_an_error_not_zeros)
{
	struct source *src = fd_source();
	struct lancet_error err = { 0 };
	char all[CONTENT_SIZE];

	ck_assert_int_eq(ftruncate(src->fd, 7), 0);
	ck_assert_int_eq(source_read_at(src, 0, CONTENT_SIZE, all, &err), LANCET_CORRUPT);
	ck_assert_str_eq(err.text, "ends at byte 7, had 20 bytes when opened");
	source_unref(src);
}
END_TEST

START_TEST(memory_may_be_handed_over)
{
	char *copy = strdup(content);
	struct source *src = source_memory_new(slice_of(copy, CONTENT_SIZE), copy);

	ck_assert_ptr_eq(src->data, copy);
	source_unref(src);
	src = source_memory_new(slice_of(NULL, 0), NULL);
	ck_assert_ptr_nonnull(src->data);
	source_unref(src);
}
END_TEST

UNIT_MAIN("source", UNIT_LOOP(reads_are_exact, makers),
          UNIT_LOOP(reads_past_the_end_are_refused_and_nothing_is_given, makers),
          UNIT_LOOP(a_window_keeps_its_parent_alive_and_can_be_cut_again, makers),
          UNIT_TEST(a_window_from_the_start_shares_the_descriptor),
          UNIT_TEST(a_file_that_shrank_is_an_error_not_zeros),
          UNIT_TEST(memory_may_be_handed_over))
