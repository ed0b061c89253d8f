# One program per unit under test; sources default to tests/unit/NAME.c. Output is TAP.
# The longest ones come first, that none of them runs alone at the end.
unit_tests = tests/unit/test_commit_crash tests/unit/test_rewrite_fault \
	tests/unit/test_commit_fault tests/unit/test_rewrite_crash tests/unit/test_index_reach \
	tests/unit/test_rewrite_run tests/unit/test_number tests/unit/test_json_large
unit_tests += \
	tests/unit/test_error tests/unit/test_cursor tests/unit/test_buf tests/unit/test_arena \
	tests/unit/test_source tests/unit/test_pbscan tests/unit/test_jsonw tests/unit/test_text \
	tests/unit/test_roaringx tests/unit/test_flatview
unit_tests += \
	tests/unit/test_proto tests/unit/test_pbborrow tests/unit/test_pbjson \
	tests/unit/test_transaction tests/unit/test_index_meta
unit_tests += \
	tests/unit/test_flags tests/unit/test_manifest tests/unit/test_version \
	tests/unit/test_schema tests/unit/test_fragment
EXTRA_DIST += tests/unit/maker.h tests/unit/counted.h
unit_tests += \
	tests/unit/test_names tests/unit/test_json tests/unit/test_store \
	tests/unit/test_dataset tests/unit/test_version_cache tests/unit/test_bases \
	tests/unit/test_refs
EXTRA_DIST += tests/unit/jsontext.h tests/unit/temptree.h tests/unit/treedata.h
unit_tests += \
	tests/unit/test_column tests/unit/test_deletion tests/unit/test_row_versions \
	tests/unit/test_rowids tests/unit/test_rowids_cost
EXTRA_DIST += tests/unit/arrow_files.h tests/unit/encode.h tests/unit/sources.h
unit_tests += tests/unit/test_addr tests/unit/test_inode tests/unit/test_slots
unit_tests += tests/unit/test_countsfile tests/unit/test_reuse_json tests/unit/test_reusefile
unit_tests += tests/unit/test_array tests/unit/test_bits
unit_tests += tests/unit/test_field tests/unit/test_datafile tests/unit/test_datafile_schema
unit_tests += tests/unit/test_reader
EXTRA_DIST += tests/unit/columnmeta.h tests/unit/datafiles.h tests/unit/tinyfiles.h
unit_tests += tests/unit/test_flatbuild tests/unit/test_ipc tests/unit/test_jsoncheck \
	tests/unit/test_rowtext
EXTRA_DIST += tests/unit/arrows.h
unit_tests += \
	tests/unit/test_arrow_export tests/unit/test_file_pool tests/unit/test_fragment_data \
	tests/unit/test_json_text tests/unit/test_repeats tests/unit/test_scan \
	tests/unit/test_sequence_find tests/unit/test_spilled
unit_tests += tests/unit/test_compact_plan
EXTRA_DIST += tests/unit/filenames.h tests/unit/madeindex.h tests/unit/rewritecheck.h \
	tests/unit/rewritefiles.h tests/unit/rewriteplans.h tests/unit/rewriterows.h \
	tests/unit/rewritetables.h
unit_tests += tests/unit/test_partition tests/unit/test_rowmap_write tests/unit/test_value_labels
EXTRA_DIST += tests/unit/miniblockpages.h tests/unit/partitioned.h tests/unit/rewriterig.h
unit_tests += tests/unit/test_lineage_out tests/unit/test_lineage_pack tests/unit/test_remap \
	tests/unit/test_remap_moves tests/unit/test_rowids_blocks
EXTRA_DIST += tests/unit/lineagebuffers.h tests/unit/lineagefile.h tests/unit/lineagepages.h \
	tests/unit/scandata.h tests/unit/scanparts.h tests/unit/scanrows.h
unit_tests += \
	tests/unit/test_codec tests/unit/test_flat tests/unit/test_bitpack tests/unit/test_variable \
	tests/unit/test_constant tests/unit/test_byte_split tests/unit/test_general
EXTRA_DIST += tests/unit/codecs.h
unit_tests += tests/unit/test_levels tests/unit/test_miniblock \
	tests/unit/test_miniblock_chunks tests/unit/test_fullzip \
	tests/unit/test_layout tests/unit/test_layout_constant tests/unit/test_layout_blob \
	tests/unit/test_nested_reader
EXTRA_DIST += tests/unit/pagefile.h tests/unit/pages.h tests/unit/pagetext.h
unit_tests += tests/unit/test_fixed_list tests/unit/test_fsst tests/unit/test_number_run \
	tests/unit/test_packed_struct tests/unit/test_rle tests/unit/test_sparse
EXTRA_DIST += tests/unit/nested.h
unit_tests += tests/unit/test_legacy_reader tests/unit/test_v20 tests/unit/test_v20_bulk \
	tests/unit/test_v20_reader
EXTRA_DIST += tests/unit/shown.h tests/unit/v20pages.h tests/unit/v20words.h
unit_tests += tests/unit/test_rankset tests/unit/test_survivors
EXTRA_DIST += tests/unit/compaction.h tests/unit/treemap.h
unit_tests += tests/unit/test_rowmap tests/unit/test_rowmap_cost
EXTRA_DIST += tests/unit/realmaps.h tests/unit/rowmapfile.h tests/unit/rowmapmade.h \
	tests/unit/rowmapread.h
unit_tests += tests/unit/test_reuse tests/unit/test_reuse_check tests/unit/test_reuse_details
EXTRA_DIST += tests/unit/histories.h
unit_tests += tests/unit/test_index_coverage tests/unit/test_reuse_needs
EXTRA_DIST += tests/unit/scene.h tests/unit/scenehistory.h
unit_tests += tests/unit/test_store_changes tests/unit/test_store_refused tests/unit/test_store_write
EXTRA_DIST += tests/unit/storecalls.h tests/unit/syscalls.h
unit_tests += tests/unit/test_mapping tests/unit/test_translate tests/unit/test_translate_model
EXTRA_DIST += tests/unit/historydata.h tests/unit/historyfile.h tests/unit/historymodel.h \
	tests/unit/historypack.h
unit_tests += tests/unit/test_publish
unit_tests += tests/unit/test_powerloss tests/unit/test_publish_crash
powerloss_sources = tests/unit/powerloss.c tests/unit/powerloss_make.c
tests_unit_test_powerloss_SOURCES = tests/unit/test_powerloss.c $(powerloss_sources)
tests_unit_test_publish_crash_SOURCES = tests/unit/test_publish_crash.c $(powerloss_sources)
EXTRA_DIST += tests/unit/crashes.h tests/unit/powerloss.h tests/unit/powerloss_parts.h
unit_tests += tests/unit/test_conflict_index tests/unit/test_conflict_keys \
	tests/unit/test_conflict_matrix tests/unit/test_conflict_rows tests/unit/test_conflict_work
EXTRA_DIST += tests/unit/conflictrun.h tests/unit/conflictscene.h tests/unit/txnhistory.h \
	tests/unit/txnmake.h tests/unit/txnparts.h tests/unit/txntext.h tests/unit/txnwords.h
unit_tests += tests/unit/test_branch_write tests/unit/test_cleanup tests/unit/test_cleanup_run tests/unit/test_repair \
	tests/unit/test_tag_write
EXTRA_DIST += tests/unit/cleanupdata.h tests/unit/cleanupversions.h
tests_unit_test_branch_write_SOURCES = tests/unit/test_branch_write.c $(powerloss_sources)
unit_tests += tests/unit/test_draft tests/unit/test_draft_finish tests/unit/test_manifest_write
EXTRA_DIST += tests/unit/draftmake.h tests/unit/draftparts.h tests/unit/worldmake.h \
	tests/unit/worldparts.h
unit_tests += tests/unit/test_precondition tests/unit/test_precondition_model \
	tests/unit/test_precondition_text
EXTRA_DIST += tests/unit/cellcommit.h tests/unit/cellmodel.h tests/unit/cellops.h
unit_tests += tests/unit/test_change_columns tests/unit/test_pbfromjson tests/unit/test_row_ranges
EXTRA_DIST += tests/unit/pbrandom.h tests/unit/pbrandomvalues.h
unit_tests += tests/unit/test_commit \
	tests/unit/test_commit_race tests/unit/test_commit_refused
tests_unit_test_commit_crash_SOURCES = tests/unit/test_commit_crash.c $(powerloss_sources)
tests_unit_test_rewrite_crash_SOURCES = tests/unit/test_rewrite_crash.c $(powerloss_sources)
EXTRA_DIST += tests/unit/commitcases.h tests/unit/commitcolumns.h tests/unit/commitdrops.h \
	tests/unit/commitmessages.h tests/unit/commitrest.h tests/unit/commitrun.h \
	tests/unit/commitsample.h tests/unit/commitstate.h tests/unit/commitwhole.h
unit_tests += tests/unit/test_caller tests/unit/test_control tests/unit/test_jobs \
	tests/unit/test_stage
EXTRA_DIST += tests/unit/controlio.h tests/unit/controlrig.h tests/unit/controlstubs.h
unit_tests += tests/unit/test_op_clone tests/unit/test_op_columns tests/unit/test_op_config \
	tests/unit/test_op_create_index tests/unit/test_op_rewrite
EXTRA_DIST += tests/unit/opwords.h tests/unit/rewritewords.h
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
EXTRA_DIST += tests/unit/marks.h tests/unit/unit.h

LDADD = libtree.la liblancet-all.la $(CHECK_LIBS)
AM_CPPFLAGS += $(CHECK_CFLAGS) -I$(top_srcdir)/tests/unit \
	-DUNIT_DATA_DIR='"$(abs_top_srcdir)/tests/data"'

TEST_EXTENSIONS = .sh .py
AM_TESTS_ENVIRONMENT = \
	srcdir='$(abs_top_srcdir)'; builddir='$(abs_top_builddir)'; \
	LANCET='$(abs_top_builddir)/lancet'; LANCEFS='$(abs_top_builddir)/lancefs'; \
	export srcdir builddir LANCET LANCEFS;
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
unit_tests += tests/unit/test_command tests/unit/test_command_commit \
	tests/unit/test_command_translate tests/unit/test_command_values tests/unit/test_words
tests_unit_test_command_translate_LDADD = libcommand.la liblancet-all.la $(CHECK_LIBS)
tests_unit_test_command_values_LDADD = libcommand.la liblancet-all.la $(CHECK_LIBS)
tests_unit_test_command_commit_LDADD = libcommand.la liblancet-all.la $(CHECK_LIBS)
tests_unit_test_command_LDADD = libcommand.la liblancet-all.la $(CHECK_LIBS)
tests_unit_test_words_LDADD = libcommand.la liblancet-all.la $(CHECK_LIBS)
unit_tests += tests/unit/test_op_merge tests/unit/test_op_rows tests/unit/test_op_update \
	tests/unit/test_sequence_write
EXTRA_DIST += tests/unit/fraglineage.h tests/unit/fragshow.h tests/unit/fragtext.h \
	tests/unit/opindex.h tests/unit/oprig.h
unit_tests += tests/unit/test_encode_choice tests/unit/test_encode_constant \
	tests/unit/test_encode_levels tests/unit/test_encode_mini tests/unit/test_encode_zip \
	tests/unit/test_fsst_build tests/unit/test_pack
EXTRA_DIST += tests/unit/encoded.h tests/unit/encodedequal.h tests/unit/encodedvalues.h
unit_tests += tests/unit/test_page_writer tests/unit/test_shred
unit_tests += tests/unit/test_page_writer_check tests/unit/test_page_writer_layouts
tests_unit_test_page_writer_SOURCES = tests/unit/test_page_writer.c tests/unit/pagerandom.c \
	tests/unit/pagewrite.c
tests_unit_test_page_writer_layouts_SOURCES = tests/unit/test_page_writer_layouts.c \
	tests/unit/pagewrite.c
EXTRA_DIST += tests/unit/arraytext.h tests/unit/pagerandom.h tests/unit/pagewrite.h
unit_tests += tests/unit/test_fragment_write tests/unit/test_import_arrow
EXTRA_DIST += tests/unit/commitrewrites.h tests/unit/commitrows.h
unit_tests += tests/unit/test_import_csv tests/unit/test_import_json \
	tests/unit/test_import_value tests/unit/test_json_binary
EXTRA_DIST += tests/unit/importtext.h tests/unit/importtree.h
unit_tests += tests/unit/test_assignments tests/unit/test_predicate tests/unit/test_scan_where \
	tests/unit/test_wide
EXTRA_DIST += tests/unit/commitwhere.h tests/unit/conditionrows.h
unit_tests += tests/unit/test_file_writer tests/unit/test_file_writer_copy tests/unit/test_v20_write
EXTRA_DIST += tests/unit/fileread.h tests/unit/filewritten.h
