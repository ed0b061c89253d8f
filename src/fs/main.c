/* lancefs: command line.
 *
 * Options come in two spellings, -f style flags and -o words; both end in one struct mount_config.
 * Words that fstab and mount(8) use for themselves are swallowed. SPEC section 2.
 */
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "mount.h"
#include "util/macros.h"

enum { KEY_IGNORED = 1 };

#define TEXT_OPTION(word, member)                                                                  \
	{                                                                                          \
		word "=%s", offsetof(struct mount_config, member), 0                               \
	}
#define COUNT_OPTION(word, member)                                                                 \
	{                                                                                          \
		word "=%u", offsetof(struct mount_config, member), 0                               \
	}
#define FLAG_OPTION(word, member, value)                                                           \
	{                                                                                          \
		word, offsetof(struct mount_config, member), value                                 \
	}
#define IGNORED_OPTION(word) FUSE_OPT_KEY(word, KEY_IGNORED)

static const struct fuse_opt lancefs_options[] = {
	FLAG_OPTION("ro", read_only, 1),
	FLAG_OPTION("rw", read_only, 0),
	TEXT_OPTION("version", version),
	TEXT_OPTION("tag", tag),
	TEXT_OPTION("asof", as_of),
	TEXT_OPTION("branch", branch),
	TEXT_OPTION("view", view),
	TEXT_OPTION("follow", follow),
	TEXT_OPTION("fsname", fsname),
	TEXT_OPTION("cache", cache),
	TEXT_OPTION("stage", stage),
	TEXT_OPTION("stage_max", stage_max),
	FLAG_OPTION("snapshot", snapshot, 1),
	TEXT_OPTION("uid", uid),
	TEXT_OPTION("gid", gid),
	TEXT_OPTION("umask", umask),
	COUNT_OPTION("jobs", jobs),
	COUNT_OPTION("max_threads", max_threads),
	COUNT_OPTION("stop_timeout", stop_timeout),
	FLAG_OPTION("allow_other", allow_other, 1),
	FLAG_OPTION("allow_root", allow_root, 1),
	FLAG_OPTION("clean_stale", clean_stale, 1),
	FLAG_OPTION("overmount", overmount, 1),
	FLAG_OPTION("noexec", no_exec, 1),
	FLAG_OPTION("exec", no_exec, 0),
	FLAG_OPTION("noatime", no_atime, 1),
	FLAG_OPTION("atime", no_atime, 0),
	FLAG_OPTION("-f", foreground, 1),
	FLAG_OPTION("-d", debug, 1),
	FLAG_OPTION("-s", single_threaded, 1),
	FLAG_OPTION("-h", show_help, 1),
	FLAG_OPTION("--help", show_help, 1),
	FLAG_OPTION("-V", show_version, 1),
	FLAG_OPTION("--version", show_version, 1),
	IGNORED_OPTION("defaults"),
	IGNORED_OPTION("auto"),
	IGNORED_OPTION("noauto"),
	IGNORED_OPTION("user"),
	IGNORED_OPTION("nouser"),
	IGNORED_OPTION("users"),
	IGNORED_OPTION("nofail"),
	IGNORED_OPTION("_netdev"),
	IGNORED_OPTION("comment="),
	IGNORED_OPTION("x-"),
	/* A dataset holds neither programs with rights of their own nor devices: libfuse mounts
	   with nosuid and nodev anyway, and what mount.fuse3 adds for root does not change that. */
	IGNORED_OPTION("nosuid"),
	IGNORED_OPTION("nodev"),
	IGNORED_OPTION("suid"),
	IGNORED_OPTION("dev"),
	FUSE_OPT_END,
};

static void
print_usage(FILE *out)
{
	fputs("usage: lancefs [-o OPTIONS] [-f] [-d] [-s] DATASET MOUNTPOINT\n"
	      "  -f  stay in the foreground    -d  log every request    -s  single-threaded\n"
	      "  -V  version                   -h  this text\n"
	      "options: ro rw version=N tag=NAME asof=TIME branch=NAME view=dataset "
	      "follow=DIR[:DIR]\n"
	      "  uid=N gid=N umask=MODE cache=BYTES jobs=N max_threads=N fsname=NAME\n"
	      "  snapshot stage=DIR stage_max=BYTES\n"
	      "  allow_other allow_root stop_timeout=SEC clean_stale overmount\n"
	      "To unmount: umount MOUNTPOINT, or fusermount3 -u MOUNTPOINT. See lancefs(1).\n",
		out);
}

static int
take_argument(void *data, const char *argument, int key, struct fuse_args *unused)
{
	struct mount_config *config = data;

	(void)unused;
	if (key == KEY_IGNORED)
		return 0;
	if (key == FUSE_OPT_KEY_NONOPT) {
		char **place = config->dataset == NULL ? &config->dataset : &config->mountpoint;

		if (*place != NULL) {
			fprintf(stderr, "lancefs: one argument too many: %s\n", argument);
			return -1;
		}
		*place = strdup(argument);
		return *place == NULL ? -1 : 0;
	}
	if (strncmp(argument, "x-", 2) == 0)
		return 0;
	fprintf(stderr, "lancefs: unknown option: %s\n", argument);
	return -1;
}

static int
check_config(const struct mount_config *config)
{
	int chosen = (config->version != NULL) + (config->tag != NULL) + (config->as_of != NULL);

	if (config->dataset == NULL || config->mountpoint == NULL) {
		print_usage(stderr);
		return MOUNT_USAGE;
	}
	if (chosen > 1) {
		fputs("lancefs: give only one of version=, tag= and asof=\n", stderr);
		return MOUNT_USAGE;
	}
	if (config->view != NULL && strcmp(config->view, "dataset") != 0) {
		fprintf(stderr, "lancefs: view=%s: the only view is view=dataset\n", config->view);
		return MOUNT_USAGE;
	}
	if (config->snapshot && (config->read_only || config->view != NULL)) {
		fputs("lancefs: snapshot pins a version, which is a change of the dataset: it goes "
		      "with neither ro nor view=dataset\n",
			stderr);
		return MOUNT_USAGE;
	}
	if (config->jobs == 0 || config->jobs > 64 || config->max_threads > 1024) {
		fputs("lancefs: jobs= takes 1 to 64, max_threads= up to 1024\n", stderr);
		return MOUNT_USAGE;
	}
	return MOUNT_OK;
}

static void
config_release(struct mount_config *config)
{
	char *texts[] = { config->dataset, config->mountpoint, config->version, config->tag,
		config->as_of, config->branch, config->view, config->follow, config->fsname,
		config->cache, config->uid, config->gid, config->umask, config->stage,
		config->stage_max };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
}

int
main(int argc, char **argv)
{
	struct fuse_args args = FUSE_ARGS_INIT(argc, argv);
	struct mount_config config = { .jobs = 1, .stop_timeout = 30 };
	int status = MOUNT_USAGE;

	if (fuse_opt_parse(&args, &config, lancefs_options, take_argument) != 0)
		goto out;
	if (config.show_help || config.show_version) {
		if (config.show_help)
			print_usage(stdout);
		else
			printf("lancefs %s\n", PACKAGE_VERSION);
		status = MOUNT_OK;
		goto out;
	}
	status = check_config(&config);
	if (status == MOUNT_OK)
		status = mount_run(&config);
out:
	fuse_opt_free_args(&args);
	config_release(&config);
	return status;
}
