/* lancet show: the bytes of a file of the tree, the names in a directory, or the target of a link.
 *
 * The path is walked as the kernel would walk it: links in the middle are followed, ".." goes up
 * and never leaves the tree. A link at the end is printed, not followed.
 */
#include "command.h"
#include "output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/tree.h"
#include "util/buf.h"
#include "util/macros.h"

#define LINKS_MAX  40
#define DEPTH_MAX  512
#define BLOCK_SIZE (256u << 10)
#define NAME_SIZE  4096

/* Where a walk is: the directories from the root on, and the last thing found. */
struct walk {
	struct tree *tree;
	struct buf rest; /* what is still to be walked, NUL-terminated */
	size_t at;       /* in rest */
	uint64_t dirs[DEPTH_MAX];
	size_t depth;
	struct tree_entry entry;
	unsigned links;
};

/* The next part of the path, or false at its end. */
static bool
next_part(struct walk *walk, char part[NAME_SIZE])
{
	const char *text = (const char *)walk->rest.data + walk->at;
	size_t size;

	text += strspn(text, "/");
	size = strcspn(text, "/");
	walk->at = (size_t)(text - (const char *)walk->rest.data) + size;
	if (size == 0)
		return false;
	if (size >= NAME_SIZE)
		size = NAME_SIZE - 1; /* too long for any name, and found to be */
	memcpy(part, text, size);
	part[size] = '\0';
	return true;
}

/* A slash behind the last part asks for a directory, as it does of the kernel. */
static bool
is_last(const struct walk *walk)
{
	return walk->rest.data[walk->at] == '\0';
}

/* Replaces what has been walked by the target, relative to the directory that holds the link. */
static int
follow_link(struct walk *walk, struct lancet_error *err)
{
	struct buf rest = { 0 };
	char target[NAME_SIZE];

	if (++walk->links > LINKS_MAX)
		return lancet_fail(err, LANCET_LIMIT, "too many symbolic links");
	TRY(tree_readlink(walk->tree, walk->entry.node, target, sizeof(target), err));
	buf_put_text(&rest, target);
	buf_put_byte(&rest, '/');
	buf_put_text(&rest, (const char *)walk->rest.data + walk->at);
	buf_put_byte(&rest, '\0');
	if (buf_check(&rest, "path", err) != LANCET_OK) {
		buf_release(&rest);
		return LANCET_NO_MEMORY;
	}
	buf_release(&walk->rest);
	walk->rest = rest;
	walk->at = 0;
	return LANCET_OK;
}

static int
step(struct walk *walk, const char *part, struct lancet_error *err)
{
	if (strcmp(part, ".") == 0 || strcmp(part, "..") == 0) {
		if (part[1] == '.' && walk->depth > 1)
			walk->depth--;
		return tree_getattr(walk->tree, walk->dirs[walk->depth - 1], &walk->entry, err);
	}
	TRY(tree_lookup(walk->tree, walk->dirs[walk->depth - 1], part, &walk->entry, NULL, err));
	if (S_ISLNK(walk->entry.st.st_mode))
		return is_last(walk) ? LANCET_OK : follow_link(walk, err);
	if (S_ISDIR(walk->entry.st.st_mode)) {
		if (walk->depth == DEPTH_MAX)
			return lancet_fail(
				err, LANCET_LIMIT, "more than %d directories deep", DEPTH_MAX);
		walk->dirs[walk->depth++] = walk->entry.node;
	} else if (!is_last(walk)) {
		return lancet_fail(err, LANCET_NOT_FOUND, "%s is not a directory", part);
	}
	return LANCET_OK;
}

static int
walk_path(struct walk *walk, const char *path, struct lancet_error *err)
{
	char part[NAME_SIZE];

	buf_put(&walk->rest, path, strlen(path) + 1);
	TRY(buf_check(&walk->rest, "path", err));
	walk->dirs[0] = TREE_ROOT;
	walk->depth = 1;
	TRY(tree_getattr(walk->tree, TREE_ROOT, &walk->entry, err));
	while (next_part(walk, part))
		TRY(step(walk, part, err));
	return LANCET_OK;
}

static int
copy_file(struct tree_file *file, struct lancet_error *err)
{
	lancet_autofree uint8_t *block = malloc(BLOCK_SIZE);
	uint64_t offset = 0;
	size_t got = BLOCK_SIZE;

	if (block == NULL)
		return lancet_fail(err, LANCET_NO_MEMORY, "out of memory");
	while (got == BLOCK_SIZE) {
		TRY(tree_read(file, offset, BLOCK_SIZE, block, &got, err));
		TRY(output_put(block, got, err));
		offset += got;
	}
	return LANCET_OK;
}

static int
show_file(const struct walk *walk, struct lancet_error *err)
{
	struct tree_file *file = NULL;
	int rc;

	TRY(tree_open(walk->tree, walk->entry.node, &file, err));
	rc = copy_file(file, err);
	tree_close(file);
	return rc;
}

static int
show_names(struct tree_dir *dir, struct lancet_error *err)
{
	struct buf out = { 0 };
	int rc = LANCET_OK;

	for (uint64_t i = 0; i < tree_dir_count(dir) && rc == LANCET_OK; i++) {
		struct tree_entry entry;
		const char *name;

		rc = tree_dir_entry(dir, i, false, &name, &entry, err);
		if (rc == LANCET_OK) {
			buf_put_text(&out, name);
			buf_put_byte(&out, '\n');
			rc = buf_check(&out, "names", err);
		}
		if (rc == LANCET_OK && (out.size >= BLOCK_SIZE || i + 1 == tree_dir_count(dir))) {
			rc = output_put(out.data, out.size, err);
			out.size = 0;
		}
	}
	buf_release(&out);
	return rc;
}

static int
show_directory(const struct walk *walk, struct lancet_error *err)
{
	struct tree_dir *dir = NULL;
	int rc;

	TRY(tree_opendir(walk->tree, walk->entry.node, &dir, err));
	rc = show_names(dir, err);
	tree_dir_close(dir);
	return rc;
}

static int
show_link(const struct walk *walk, struct lancet_error *err)
{
	char target[NAME_SIZE];

	TRY(tree_readlink(walk->tree, walk->entry.node, target, sizeof(target) - 1, err));
	strcat(target, "\n");
	return output_put(target, strlen(target), err);
}

static int
show_path(struct tree *tree, const char *path, struct lancet_error *err)
{
	struct walk walk = { .tree = tree };
	int rc = walk_path(&walk, path, err);

	if (rc == LANCET_OK && S_ISDIR(walk.entry.st.st_mode))
		rc = show_directory(&walk, err);
	else if (rc == LANCET_OK && S_ISLNK(walk.entry.st.st_mode))
		rc = show_link(&walk, err);
	else if (rc == LANCET_OK)
		rc = show_file(&walk, err);
	buf_release(&walk.rest);
	return rc == LANCET_OK ? rc : lancet_wrap(err, rc, "%s", path);
}

int
command_show(const struct command_line *line, struct lancet_error *err)
{
	struct tree_options options = { 0 };
	lancet_dataset *dataset = NULL;
	struct tree *tree = NULL;
	int rc;

	TRY(select_dataset(line->dataset, &line->selection, NULL, &dataset, err));
	rc = select_version(dataset, &line->selection, &options.current_version, err);
	if (rc == LANCET_OK)
		rc = tree_new(dataset, &options, &tree, err);
	lancet_dataset_unref(dataset);
	if (rc == LANCET_OK)
		rc = show_path(tree, line->words[0], err);
	tree_free(tree);
	return rc;
}
