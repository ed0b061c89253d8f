# The programs against pylance: needs a Python with pylance, pyarrow, numpy, duckdb and pytest.
EXTRA_DIST += \
	tests/interop/archives.py tests/interop/checks.py tests/interop/conftest.py \
	tests/interop/expected.py tests/interop/facts.py tests/interop/formats.py tests/interop/generate.py \
	tests/interop/live.py tests/interop/peer.py tests/interop/programs.py \
	tests/interop/sequences.py tests/interop/snapshot.py tests/interop/test_corrupt.py \
	tests/interop/test_dataset_copy.py tests/interop/test_encodings.py tests/interop/test_fixtures.py tests/interop/test_generated.py \
	tests/interop/test_oracle.py tests/interop/test_upstream.py \
	tests/interop/test_zero_writes.py tests/interop/wire.py \
	tests/data/README.md tests/data/corrupt.tar.xz tests/data/encodings.tar.xz tests/data/fixtures.tar.xz \
	tests/data/fixtures-rust.tar.xz tests/data/fixtures-written.tar.xz \
	tests/data/make_sample.py tests/data/pack tests/data/sample.lance
EXTRA_DIST += \
	tests/interop/hidden.py tests/interop/liblancet.py tests/interop/test_overlays.py \
	tests/interop/test_scan.py
EXTRA_DIST += tests/interop/places.py tests/interop/test_memory.py tests/interop/test_row_lookup.py
EXTRA_DIST += tests/interop/test_lineage_spill.py tests/interop/test_remap.py
EXTRA_DIST += tests/interop/test_rewrite_cancel.py tests/interop/test_rewrite_damage.py

interop = abs_top_builddir='$(abs_top_builddir)' LANCEFS='$(abs_top_builddir)/lancefs' \
	LANCET='$(abs_top_builddir)/lancet' READFILE='$(abs_top_builddir)/tests/helpers/readfile' \
	PYTHONDONTWRITEBYTECODE=1 \
	$(PYTHON) -m pytest -q -rs -p no:cacheprovider $(INTEROP_FLAGS)

check-interop: lancefs lancet liblancet.la tests/helpers/readfile
	$(interop) $(srcdir)/tests/interop

# The broken datasets alone: what the build with sanitizers is for.
check-interop-corrupt: lancefs lancet
	$(interop) $(srcdir)/tests/interop/test_corrupt.py

.PHONY: check-interop check-interop-corrupt

# What the tests run besides the two programs.
check_PROGRAMS += tests/helpers/readfile
tests_helpers_readfile_SOURCES = tests/helpers/readfile.c tests/helpers/jsonvalues.c
tests_helpers_readfile_LDADD = liblancet-all.la -lm
EXTRA_DIST += tests/helpers/arraycheck.h tests/helpers/casefiles.h tests/helpers/jsonvalues.h
EXTRA_DIST += tests/helpers/importfields.h
EXTRA_DIST += tests/interop/rowforms.py tests/interop/test_head.py tests/interop/test_ipc.py \
	tests/interop/test_rows.py
EXTRA_DIST += tests/interop/reuse.py tests/interop/test_reuse_oracle.py
EXTRA_DIST += tests/interop/test_refused_writes.py
EXTRA_DIST += tests/interop/test_translate.py
EXTRA_DIST += tests/interop/make_reuse.py tests/interop/reusechecks.py tests/interop/test_reuse.py \
	tests/interop/test_reuse_broken.py tests/interop/test_reuse_generated.py \
	tests/interop/test_reuse_random.py
EXTRA_DIST += tests/interop/coverage.py
check_PROGRAMS += tests/helpers/conflict
tests_helpers_conflict_LDADD = liblancet-all.la
check-interop: tests/helpers/conflict
EXTRA_DIST += tests/interop/test_conflicts.py tests/data/conflicts.tar.xz
EXTRA_DIST += tests/interop/test_index_coverage.py
check_PROGRAMS += tests/helpers/commit
tests_helpers_commit_LDADD = liblancet-all.la
check-interop: tests/helpers/commit
EXTRA_DIST += tests/interop/commits.py tests/interop/test_commit_facts.py \
	tests/interop/test_commit_replay.py
EXTRA_DIST += tests/interop/test_next_manifest.py
check_PROGRAMS += tests/helpers/transactionjson
tests_helpers_transactionjson_LDADD = liblancet-all.la
check-interop: tests/helpers/transactionjson
EXTRA_DIST += tests/interop/changes.py tests/interop/test_changes.py
EXTRA_DIST += tests/interop/commandline.py tests/interop/test_commands.py
EXTRA_DIST += tests/interop/maintenance.py tests/interop/test_cleanup.py \
	tests/interop/test_references.py tests/interop/test_repair.py
EXTRA_DIST += tests/interop/test_preconditions.py
EXTRA_DIST += tests/interop/pairmodel.py tests/interop/pairops.py tests/interop/pairs.py \
	tests/interop/pairtable.py tests/interop/test_commit_pairs.py tests/interop/test_commit_paths.py
EXTRA_DIST += tests/interop/test_commit_twins.py
EXTRA_DIST += tests/interop/soak.py tests/interop/soakkill.py tests/interop/soakmodel.py \
	tests/interop/soakwriter.py
check_PROGRAMS += tests/helpers/powerstates
tests_helpers_powerstates_SOURCES = tests/helpers/powerstates.c $(powerloss_sources)
check-interop: tests/helpers/powerstates
EXTRA_DIST += tests/interop/test_powerloss.py
check_PROGRAMS += tests/helpers/writefile
tests_helpers_writefile_LDADD = liblancet-all.la
check-interop: tests/helpers/writefile
check_PROGRAMS += tests/helpers/importrows
tests_helpers_importrows_LDADD = liblancet-all.la
check-interop: tests/helpers/importrows
EXTRA_DIST += tests/interop/test_import.py
EXTRA_DIST += tests/interop/conditions.py tests/interop/test_update.py tests/interop/test_where.py
EXTRA_DIST += tests/interop/test_compact.py
EXTRA_DIST += tests/interop/comparefiles.py tests/interop/test_file_writer.py
EXTRA_DIST += tests/interop/test_append.py
check_PROGRAMS += tests/helpers/latecommit
tests_helpers_latecommit_LDADD = liblancet-all.la
check-interop: tests/helpers/latecommit
EXTRA_DIST += tests/helpers/commitresult.h tests/helpers/datachanges.h \
	tests/interop/racemodel.py tests/interop/test_rewrite_races.py

# 1,000 histories of several writers, and a few.
check-interop-races: lancet tests/helpers/latecommit
	LANCEFS_RACE_SEEDS=334 $(interop) $(srcdir)/tests/interop/test_rewrite_races.py

# Two processes of ours and pylance on one dataset, for half a minute each kind, and other changes.
check-interop-at-once: lancet
	LANCEFS_AT_ONCE_SECONDS=30 LANCEFS_AT_ONCE_SEED=$$(date +%s) \
		$(interop) $(srcdir)/tests/interop/test_at_once.py

.PHONY: check-interop-at-once check-interop-races
EXTRA_DIST += tests/interop/test_at_once.py
EXTRA_DIST += tests/interop/test_partition.py
EXTRA_DIST += tests/interop/exactly.py tests/interop/schemas.py tests/interop/test_roundtrip.py
EXTRA_DIST += tests/interop/comparedatasets.py tests/interop/test_roundtrip_compact.py \
	tests/interop/test_roundtrip_old.py

# What was written is read by older releases of pylance: LANCEFS_OLD_PYTHON lists interpreters.
check-interop-old: lancet
	$(interop) $(srcdir)/tests/interop/test_roundtrip_old.py

.PHONY: check-interop-old
