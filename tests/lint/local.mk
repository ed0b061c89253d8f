# What can be checked by reading: see the head of each script. `make lint` runs them at once, and
# `make check` as one test.
lint_scripts = tests/lint/layers tests/lint/budget tests/lint/names tests/lint/exports \
	tests/lint/text tests/lint/proto tests/lint/manuals tests/lint/selftest
EXTRA_DIST += $(lint_scripts) tests/lint/lintlib.py tests/lint/run.sh
TESTS += tests/lint/run.sh

lint: all $(LINT_DEPS)
	srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' PYTHON='$(PYTHON)' CC='$(CC)' \
		$(SHELL) $(srcdir)/tests/lint/run.sh
.PHONY: lint
