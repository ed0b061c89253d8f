/* Mount options become settings. SPEC section 2. */
#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lancet/version.h>
#include "mountpoint.h"
#include "select.h"
#include "util/macros.h"
#include "util/text.h"

#define FOLLOW_MAX        64 /* directories in follow= */
#define STAGE_MAX_DEFAULT (UINT64_C(8) << 30) /* bytes */

/* Of an option that names a directory, if it is given. */
static int
make_absolute(char **path, struct lancet_error *err)
{
	char *absolute;

	if (*path == NULL)
		return LANCET_OK;
	absolute = realpath(*path, NULL);
	if (absolute == NULL)
		return lancet_fail_errno(err, "stage=%s", *path);
	free(*path);
	*path = absolute;
	return LANCET_OK;
}

int
settings_resolve_paths(struct mount_config *config, struct lancet_error *err)
{
	bool stale = false;
	char *mountpoint = NULL;
	char *dataset = realpath(config->dataset, NULL);

	if (dataset == NULL) {
		int saved = errno;

		lancet_fail_errno(err, "%s", config->dataset);
		return saved == EACCES || saved == EPERM ? MOUNT_USAGE : MOUNT_FAILED;
	}
	free(config->dataset);
	config->dataset = dataset;
	if (make_absolute(&config->stage, err) != LANCET_OK)
		return MOUNT_USAGE;

	if (mountpoint_resolve(config->mountpoint, &mountpoint, &stale, err) != LANCET_OK)
		return err->code == LANCET_DENIED ? MOUNT_USAGE : MOUNT_FAILED;
	free(config->mountpoint);
	config->mountpoint = mountpoint;
	if (stale && !config->clean_stale) {
		lancet_fail(err, LANCET_BUSY,
			"%s is a stale mount of a daemon that died: umount it, or give -o "
			"clean_stale",
			mountpoint);
		return MOUNT_FAILED;
	}
	if (stale && mountpoint_unmount(mountpoint, true, err) != LANCET_OK)
		return MOUNT_FAILED;
	if (!config->overmount && mountpoint_check_apart(mountpoint, dataset, err) != LANCET_OK)
		return MOUNT_FAILED;
	return MOUNT_OK;
}

/* "256M": a number with an optional K, M or G. */
static int
parse_bytes(const char *name, const char *text, uint64_t *ret_bytes, struct lancet_error *err)
{
	static const char units[] = "KMG";
	struct slice digits = slice_text(text);
	const char *unit = digits.size == 0 ? NULL : strchr(units, text[digits.size - 1]);
	unsigned shift = unit == NULL ? 0 : 10 * (unsigned)(unit - units + 1);

	if (unit != NULL)
		digits.size--;
	if (!text_to_u64(digits, ret_bytes) || *ret_bytes > UINT64_MAX >> shift)
		return lancet_fail(err, LANCET_INVALID, "%s=%s: not a number of bytes such as 256M",
			name, text);
	*ret_bytes <<= shift;
	return LANCET_OK;
}

static int
parse_id(const char *name, const char *text, bool *ret_set, uint32_t *ret_id,
	struct lancet_error *err)
{
	uint64_t value;

	if (text == NULL)
		return LANCET_OK;
	if (!text_to_u64(slice_text(text), &value) || value >= UINT32_MAX)
		return lancet_fail(err, LANCET_INVALID, "%s=%s: not a numeric id", name, text);
	*ret_set = true;
	*ret_id = (uint32_t)value;
	return LANCET_OK;
}

static int
parse_umask(const char *text, struct tree_options *options, struct lancet_error *err)
{
	char *end;

	if (text == NULL)
		return LANCET_OK;
	unsigned long value = strtoul(text, &end, 8);
	if (*text == '\0' || *end != '\0' || value > 0777)
		return lancet_fail(err, LANCET_INVALID, "umask=%s: not an octal mode", text);
	options->set_umask = true;
	options->umask = (mode_t)value;
	return LANCET_OK;
}

/* Splits "DIR:DIR" in place into a NULL-ended list. */
static int
parse_follow(char *text, const char *list[FOLLOW_MAX + 1], struct lancet_error *err)
{
	size_t count = 0;
	char *rest = NULL;

	for (char *part = text == NULL ? NULL : strtok_r(text, ":", &rest); part != NULL;
		part = strtok_r(NULL, ":", &rest)) {
		if (part[0] != '/' || count == FOLLOW_MAX)
			return lancet_fail(err, LANCET_INVALID,
				"follow=%s: absolute directories are wanted, at most %d", part,
				FOLLOW_MAX);
		list[count++] = part;
	}
	list[count] = NULL;
	return LANCET_OK;
}

/* A base path that lies in the mount point would be read through the mount itself. */
static int
check_bases_apart(const struct mount_config *config, lancet_dataset *dataset, uint64_t number,
	struct lancet_error *err)
{
	lancet_version *version = NULL;
	size_t count;
	int rc = LANCET_OK;

	if (config->overmount)
		return LANCET_OK;
	if (number == 0)
		TRY(lancet_dataset_latest(dataset, &number, err));
	TRY(lancet_version_open(dataset, number, &version, err));
	const struct lancet_base_path *bases = lancet_version_base_paths(version, &count);
	for (size_t i = 0; i < count && rc == LANCET_OK; i++) {
		lancet_autofree char *path =
			strndup((const char *)bases[i].path.data, bases[i].path.size);
		struct lancet_error apart = { 0 };

		if (path == NULL)
			rc = lancet_fail(err, LANCET_NO_MEMORY, "base paths: out of memory");
		else if (path[0] == '/' &&
			 mountpoint_check_apart(config->mountpoint, path, &apart) == LANCET_INVALID)
			rc = lancet_fail(err, LANCET_BUSY, "base path: %.400s", apart.text);
	}
	lancet_version_unref(version);
	return rc;
}

static int
parse_tree_options(
	const struct mount_config *config, struct tree_options *options, struct lancet_error *err)
{
	options->view_dataset = config->view != NULL;
	TRY(parse_id("uid", config->uid, &options->set_uid, &options->uid, err));
	TRY(parse_id("gid", config->gid, &options->set_gid, &options->gid, err));
	return parse_umask(config->umask, options, err);
}

int
settings_open_tree(
	const struct mount_config *config, struct tree **ret_tree, struct lancet_error *err)
{
	const struct selection selection = { config->version, config->tag, config->as_of,
		config->branch };
	struct lancet_dataset_options dataset_options = { 0 };
	struct tree_options options = { 0 };
	const char *follow[FOLLOW_MAX + 1];
	lancet_dataset *dataset = NULL;
	int rc;

	TRY(parse_tree_options(config, &options, err));
	TRY(parse_follow(config->follow, follow, err));
	dataset_options.follow = follow;
	if (config->cache != NULL)
		TRY(parse_bytes("cache", config->cache, &dataset_options.cache_bytes, err));
	options.cache_bytes = dataset_options.cache_bytes;

	TRY(select_dataset(config->dataset, &selection, &dataset_options, &dataset, err));
	rc = select_version(dataset, &selection, &options.current_version, err);
	if (rc == LANCET_OK)
		rc = check_bases_apart(config, dataset, options.current_version, err);
	if (rc == LANCET_OK)
		rc = tree_new(dataset, &options, ret_tree, err);
	lancet_dataset_unref(dataset);
	return rc;
}

int
settings_open_control(const struct mount_config *config, struct tree *tree,
	const struct control_hooks *hooks, void *context, struct control **ret_control,
	struct lancet_error *err)
{
	struct control_options options = {
		.tree = tree,
		.commands = commands,
		.jobs = config->jobs,
		.stage = config->stage,
		.stage_max = STAGE_MAX_DEFAULT,
		.owner = geteuid(),
		.hooks = hooks,
		.context = context,
	};
	bool given = false;

	if (config->view != NULL)
		return LANCET_OK;
	TRY(parse_id("uid", config->uid, &given, &options.owner, err));
	if (config->stage_max != NULL)
		TRY(parse_bytes("stage_max", config->stage_max, &options.stage_max, err));
	return control_new(&options, ret_control, err);
}
