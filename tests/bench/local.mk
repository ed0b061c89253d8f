# Benchmarks are never part of a check. BENCH_FLAGS: see tests/bench/mount.py.
EXTRA_DIST += tests/bench/mount.py

bench: lancefs lancet
	LANCEFS='$(abs_top_builddir)/lancefs' LANCET='$(abs_top_builddir)/lancet' \
		$(PYTHON) $(srcdir)/tests/bench/mount.py $(BENCH_FLAGS)
.PHONY: bench
