# Real mounts: wants /dev/fuse and fusermount3; LANCEFS_NO_FUSE=1 leaves them out, aloud.
EXTRA_DIST += \
	tests/mount/PITFALLS.md tests/mount/mountlib.py tests/mount/run.sh \
	tests/mount/test_backup.py tests/mount/test_cache.py tests/mount/test_computed.py \
	tests/mount/test_damage.py \
	tests/mount/test_helper.py tests/mount/test_lifecycle.py tests/mount/test_options.py \
	tests/mount/test_readonly.py tests/mount/test_stat.py tests/mount/test_versions.py
EXTRA_DIST += tests/mount/test_reuse.py
EXTRA_DIST += tests/mount/controllib.py tests/mount/test_control.py tests/mount/test_jobs.py \
	tests/mount/test_stage.py
EXTRA_DIST += tests/mount/test_partition.py
EXTRA_DIST += tests/mount/test_soak.py
EXTRA_DIST += tests/mount/test_append.py
EXTRA_DIST += tests/mount/test_compact.py tests/mount/test_rewrite_cancel.py

check-mount: lancefs lancet mount-helpers/mount.lancefs
	srcdir='$(srcdir)' abs_top_builddir='$(abs_top_builddir)' PYTHON='$(PYTHON)' \
		sh $(srcdir)/tests/mount/run.sh

.PHONY: check-mount

# The long form of test_soak: ten minutes and more. SOAK_FLAGS='--seconds 60 --seed 1 --plain'
soak: lancefs lancet
	abs_top_builddir='$(abs_top_builddir)' $(PYTHON) -B $(srcdir)/tests/interop/soak.py $(SOAK_FLAGS)

.PHONY: soak
