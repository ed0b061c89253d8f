# libFuzzer targets. Without --enable-fuzzing a standalone driver replays the corpora with any compiler.
fuzz_targets = tests/fuzz/fuzz_pbscan tests/fuzz/fuzz_roaring tests/fuzz/fuzz_flatview
fuzz_targets += tests/fuzz/fuzz_manifest
fuzz_targets += tests/fuzz/fuzz_txn tests/fuzz/fuzz_index
fuzz_targets += tests/fuzz/fuzz_arrow tests/fuzz/fuzz_deletion tests/fuzz/fuzz_rowids
fuzz_flags = $(FUZZER_LDFLAGS)

if FUZZING
fuzz_driver =
else
fuzz_driver = tests/fuzz/standalone.c
endif
check_PROGRAMS += $(fuzz_targets)
EXTRA_DIST += tests/fuzz/fuzz.h tests/fuzz/corpus tests/fuzz/replay.sh tests/fuzz/run.sh
TESTS += tests/fuzz/replay.sh
CLEANFILES += tests/fuzz/*.log

tests_fuzz_fuzz_pbscan_SOURCES = tests/fuzz/fuzz_pbscan.c $(fuzz_driver)
tests_fuzz_fuzz_pbscan_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_roaring_SOURCES = tests/fuzz/fuzz_roaring.c $(fuzz_driver)
tests_fuzz_fuzz_roaring_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_flatview_SOURCES = tests/fuzz/fuzz_flatview.c $(fuzz_driver)
tests_fuzz_fuzz_flatview_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_manifest_SOURCES = tests/fuzz/fuzz_manifest.c $(fuzz_driver)
tests_fuzz_fuzz_manifest_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_txn_SOURCES = tests/fuzz/fuzz_txn.c $(fuzz_driver)
tests_fuzz_fuzz_txn_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_index_SOURCES = tests/fuzz/fuzz_index.c $(fuzz_driver)
tests_fuzz_fuzz_index_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_arrow_SOURCES = tests/fuzz/fuzz_arrow.c $(fuzz_driver)
tests_fuzz_fuzz_arrow_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_deletion_SOURCES = tests/fuzz/fuzz_deletion.c $(fuzz_driver)
tests_fuzz_fuzz_deletion_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_rowids_SOURCES = tests/fuzz/fuzz_rowids.c $(fuzz_driver)
tests_fuzz_fuzz_rowids_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)

# Replays the corpora; FUZZ_SECONDS=N with a --enable-fuzzing build also mutates for N seconds each.
check-fuzz: $(fuzz_targets)
	srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' \
		sh $(srcdir)/tests/fuzz/replay.sh $(fuzz_targets)
.PHONY: check-fuzz
