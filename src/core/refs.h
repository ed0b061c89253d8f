/* What the files of tags and branches have in common. Format facts: tags, branches. */
#ifndef CORE_REFS_H
#define CORE_REFS_H

#include <lancet/refs.h>
#include "store.h"
#include "util/slice.h"

#define REFS_TAGS     "_refs/tags"
#define REFS_BRANCHES "_refs/branches"

struct json_object;

/* Stems ("a%2Fb" of "a%2Fb.json") of the files in one directory of refs. */
struct ref_stems {
	char **stems;
	size_t count, capacity;
	bool failed; /* no memory */
};

/* Of a directory that is not there the list is empty. */
int ref_stems_list(struct store *store, const char *directory, struct ref_stems *ret_stems,
                   struct lancet_error *err);
void ref_stems_release(struct ref_stems *stems);

/* A ref's name as text that the caller frees, and whether it could be decoded; when not, it is
 * the stem itself. NULL without memory. */
char *ref_stem_name(const char *stem, bool *ret_decoded);
/* The file's key below the root for a name as writers spell it; the caller frees. NULL without
 * memory. */
char *ref_key_of_name(const char *directory, struct slice name);
char *ref_key_of_stem(const char *directory, const char *stem);

/* Reads and parses one file. *ret_stat is set as soon as the file is open, even when parsing
 * fails. */
int ref_load(struct store *store, const char *key, struct json_object **ret_root,
             struct stat *ret_stat, struct lancet_error *err);
/* A copy of optional text without NUL: *ret_text is NULL when the key is absent or null. */
int ref_get_text(struct json_object *root, const char *key, char **ret_text,
                 struct lancet_error *err);
/* *ret_value is 0 when the key is absent or null. */
int ref_get_u64(struct json_object *root, const char *key, uint64_t *ret_value,
                struct lancet_error *err);
/* Keeps the failure of one ref beside it: its code, and the text cut to `size`. */
void ref_keep_error(const struct lancet_error *why, int code, int *ret_code, char *into,
                    size_t size);

#endif
