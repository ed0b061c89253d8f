/* From mount options to a mounted session of libfuse; see session.h. */
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "session.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ops.h"
#include "util/log.h"
#include "util/macros.h"

static int
add_session_options(const struct mount_config *config, struct fuse_args *args)
{
	char *options = NULL;
	lancet_autofree char *name = NULL;
	int rc = 0;

	if (asprintf(&name, "fsname=%s",
		    config->fsname != NULL ? config->fsname : config->dataset) < 0)
		return -1;
	rc |= fuse_opt_add_opt(&options, "subtype=lancefs");
	rc |= fuse_opt_add_opt(&options, "default_permissions");
	rc |= fuse_opt_add_opt_escaped(&options, name);
	if (config->read_only || config->view != NULL)
		rc |= fuse_opt_add_opt(&options, "ro");
	if (config->no_exec)
		rc |= fuse_opt_add_opt(&options, "noexec");
	if (config->no_atime)
		rc |= fuse_opt_add_opt(&options, "noatime");
	if (config->allow_other || config->allow_root)
		rc |= fuse_opt_add_opt(
			&options, config->allow_other ? "allow_other" : "allow_root");
	if (config->debug)
		rc |= fuse_opt_add_opt(&options, "debug");
	rc |= fuse_opt_add_arg(args, "lancefs");
	rc |= fuse_opt_add_arg(args, "-o");
	rc |= fuse_opt_add_arg(args, options);
	free(options);
	return rc;
}

/* libfuse's own words go where ours go; its levels are those of syslog. */
static void __attribute__((format(printf, 2, 0)))
log_libfuse(enum fuse_log_level level, const char *format, va_list args)
{
	char line[512];
	int size = vsnprintf(line, sizeof(line), format, args);

	if (size <= 0)
		return;
	if ((size_t)size >= sizeof(line))
		size = sizeof(line) - 1;
	if (line[size - 1] == '\n')
		line[size - 1] = '\0';
	log_line(level < FUSE_LOG_ERR ? LOG_LEVEL_ERROR : (enum log_level)level, "libfuse: %s",
		line);
}

static int
fail_to_mount(const struct mount_config *config, struct lancet_error *err)
{
	if ((config->allow_other || config->allow_root) && geteuid() != 0)
		return lancet_fail(err, LANCET_DENIED,
			"%s can't be mounted on: allow_other and allow_root of an ordinary user "
			"need "
			"user_allow_other in /etc/fuse.conf",
			config->mountpoint);
	return lancet_fail(err, LANCET_DENIED,
		"%s can't be mounted on: is /dev/fuse there, may you use it, is the directory "
		"yours, "
		"and is fusermount3 installed?",
		config->mountpoint);
}

int
session_start(const struct mount_config *config, struct mount_state *state,
	struct fuse_session **ret_session, struct lancet_error *err)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_session *session = NULL;
	int rc = LANCET_OK;

	fuse_set_log_func(log_libfuse);
	if (add_session_options(config, &args) != 0)
		rc = lancet_fail(err, LANCET_NO_MEMORY, "options: out of memory");
	else if ((session = fuse_session_new(&args, &tree_ops, sizeof(tree_ops), state)) == NULL)
		rc = lancet_fail(err, LANCET_INVALID, "libfuse refused the mount options");
	else if (fuse_session_mount(session, config->mountpoint) != 0)
		rc = fail_to_mount(config, err);
	fuse_opt_free_args(&args);
	*ret_session = session;
	return rc;
}
