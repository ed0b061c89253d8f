# All of the daemon that does not know libfuse is a library of its own: lancet shows the same tree without a mount.
noinst_LTLIBRARIES += libtree.la
bin_PROGRAMS += lancefs

libtree_la_SOURCES = \
	src/fs/addr.c src/fs/addr.h src/fs/columnfile.c src/fs/columnfile.h \
	src/fs/inode.c src/fs/inode.h src/fs/kind_table.c src/fs/kind_table.h src/fs/kinds.h src/fs/node.h \
	src/fs/passnodes.c src/fs/passnodes.h src/fs/place.c src/fs/place.h \
	src/fs/place_inode.c src/fs/rawfile.c src/fs/rawfile.h \
	src/fs/records.c src/fs/records.h src/fs/render.h src/fs/render_json.c \
	src/fs/render_readme.c src/fs/render_rows.c src/fs/render_summary.c src/fs/render_tables.c \
	src/fs/rows_fragment.c src/fs/rows_index.c src/fs/rows_live.c src/fs/rows_livetag.c \
	src/fs/rows_map.c src/fs/rows_overlay.c src/fs/rows_ref.c src/fs/rows_root.c \
	src/fs/rows_version.c src/fs/select.c src/fs/select.h src/fs/slots.c src/fs/slots.h src/fs/textcache.c \
	src/fs/textcache.h src/fs/tree.h src/fs/tree_state.c src/fs/tree_attr.c src/fs/tree_dir.c \
	src/fs/tree_file.c src/fs/tree_live.c
libtree_la_SOURCES += src/fs/lines.c src/fs/lines.h
libtree_la_SOURCES += src/fs/indexfile.c src/fs/indexfile.h
libtree_la_SOURCES += \
	src/fs/countsfile.c src/fs/render_graph.c src/fs/render_reuse.c src/fs/reusefile.c \
	src/fs/reusefile.h src/fs/rows_reuse.c
libtree_la_SOURCES += \
	src/fs/caller.c src/fs/caller.h src/fs/control.h src/fs/control_handle.c src/fs/control_parts.h \
	src/fs/control_task.c src/fs/controls.c src/fs/controls.h src/fs/handle.h \
	src/fs/jobfile.c src/fs/jobfile.h src/fs/jobs.h src/fs/jobs_lane.c src/fs/jobs_look.c \
	src/fs/jobs_parts.h src/fs/report.c src/fs/report.h src/fs/rows_ctl.c src/fs/rows_ctl.h \
	src/fs/rows_job.c src/fs/stage.h src/fs/stage_dir.c src/fs/stage_files.c src/fs/stage_parts.h \
	src/fs/stagefile.c src/fs/stagefile.h src/fs/stats.c src/fs/stats.h src/fs/tree_change.c \
	src/fs/tree_opened.c src/fs/tree_tell.c
libtree_la_LIBADD = libcommand.la liblancet-all.la

lancefs_SOURCES = \
	src/fs/main.c src/fs/mount.c src/fs/mount.h src/fs/mount_config.h src/fs/mountpoint.c src/fs/mountpoint.h \
	src/fs/ops.c src/fs/ops.h src/fs/reply.c src/fs/reply.h src/fs/sd.c \
	src/fs/sd.h src/fs/settings.c src/fs/settings.h
lancefs_SOURCES += \
	src/fs/changes.c src/fs/changes.h src/fs/mount_state.h src/fs/notify.c src/fs/notify.h src/fs/pins.c src/fs/pins.h \
	src/fs/session.c src/fs/session.h
lancefs_CFLAGS = $(AM_CFLAGS) $(FUSE_CFLAGS)
lancefs_LDADD = libtree.la liblancet-all.la libutil.la $(FUSE_LIBS)
