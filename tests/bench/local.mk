# Benchmarks are never part of a check. BENCH_FLAGS: see the scripts.
bench_sources = tests/bench/bench.c tests/bench/bench.h
EXTRA_DIST += tests/bench/benchtable.py tests/bench/mount.py tests/bench/scan.py
EXTRA_PROGRAMS = tests/bench/scan
tests_bench_scan_SOURCES = tests/bench/scan.c $(bench_sources)
EXTRA_DIST += tests/bench/translate.py
EXTRA_PROGRAMS += tests/bench/translate
tests_bench_translate_SOURCES = tests/bench/translate.c $(bench_sources)
EXTRA_DIST += tests/bench/commit.py
EXTRA_PROGRAMS += tests/bench/commit
tests_bench_commit_SOURCES = tests/bench/commit.c $(bench_sources)
EXTRA_PROGRAMS += tests/bench/encode
tests_bench_encode_SOURCES = tests/bench/encode.c $(bench_sources)
EXTRA_DIST += tests/bench/rowid_spill.py
EXTRA_PROGRAMS += tests/bench/rowid_spill
tests_bench_rowid_spill_SOURCES = tests/bench/rowid_spill.c $(bench_sources)
EXTRA_DIST += tests/bench/write.py
CLEANFILES += $(EXTRA_PROGRAMS)

bench: lancefs lancet
	LANCEFS='$(abs_top_builddir)/lancefs' LANCET='$(abs_top_builddir)/lancet' \
		$(PYTHON) $(srcdir)/tests/bench/mount.py $(BENCH_FLAGS)
bench-scan: tests/bench/scan
	SCAN='$(abs_top_builddir)/tests/bench/scan' \
		$(PYTHON) $(srcdir)/tests/bench/scan.py $(BENCH_FLAGS)
bench-translate: tests/bench/translate
	TRANSLATE='$(abs_top_builddir)/tests/bench/translate' \
		$(PYTHON) $(srcdir)/tests/bench/translate.py $(BENCH_FLAGS)
bench-commit: tests/bench/commit
	COMMIT='$(abs_top_builddir)/tests/bench/commit' \
		$(PYTHON) $(srcdir)/tests/bench/commit.py $(BENCH_FLAGS)
bench-encode: tests/bench/encode
	tests/bench/encode $(BENCH_FLAGS)
bench-rowid-spill: tests/bench/rowid_spill
	ROWID_SPILL='$(abs_top_builddir)/tests/bench/rowid_spill' \
		$(PYTHON) $(srcdir)/tests/bench/rowid_spill.py $(BENCH_FLAGS)
bench-write: lancet
	LANCET='$(abs_top_builddir)/lancet' \
		$(PYTHON) $(srcdir)/tests/bench/write.py $(BENCH_FLAGS)
.PHONY: bench bench-scan bench-translate bench-commit bench-encode bench-rowid-spill bench-write
