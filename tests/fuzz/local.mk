# libFuzzer targets. Without --enable-fuzzing a standalone driver replays the corpora with any compiler.
fuzz_targets = tests/fuzz/fuzz_pbscan tests/fuzz/fuzz_roaring tests/fuzz/fuzz_flatview
fuzz_targets += tests/fuzz/fuzz_manifest
fuzz_targets += tests/fuzz/fuzz_txn tests/fuzz/fuzz_index
fuzz_targets += tests/fuzz/fuzz_arrow tests/fuzz/fuzz_deletion tests/fuzz/fuzz_rowids
fuzz_targets += tests/fuzz/fuzz_datafile
# One target for each compressive encoding, all from one source.
fuzz_targets += tests/fuzz/fuzz_enc_flat tests/fuzz/fuzz_enc_variable \
	tests/fuzz/fuzz_enc_constant tests/fuzz/fuzz_enc_out_of_line_bitpacking \
	tests/fuzz/fuzz_enc_inline_bitpacking tests/fuzz/fuzz_enc_fsst tests/fuzz/fuzz_enc_dictionary \
	tests/fuzz/fuzz_enc_rle tests/fuzz/fuzz_enc_byte_stream_split tests/fuzz/fuzz_enc_general \
	tests/fuzz/fuzz_enc_fixed_size_list tests/fuzz/fuzz_enc_packed_struct \
	tests/fuzz/fuzz_enc_variable_packed_struct tests/fuzz/fuzz_enc_range tests/fuzz/fuzz_enc_delta
fuzz_targets += tests/fuzz/fuzz_page
fuzz_targets += tests/fuzz/fuzz_legacy tests/fuzz/fuzz_v20
fuzz_targets += tests/fuzz/fuzz_json
fuzz_targets += tests/fuzz/fuzz_survivors
fuzz_targets += tests/fuzz/fuzz_rowmap
fuzz_targets += tests/fuzz/fuzz_reuse
fuzz_targets += tests/fuzz/fuzz_conflict
fuzz_targets += tests/fuzz/fuzz_draft tests/fuzz/fuzz_precondition
fuzz_targets += tests/fuzz/fuzz_command
fuzz_targets += tests/fuzz/fuzz_change tests/fuzz/fuzz_txnjson
fuzz_targets += tests/fuzz/fuzz_operation
fuzz_targets += tests/fuzz/fuzz_import
fuzz_targets += tests/fuzz/fuzz_ipc
fuzz_targets += tests/fuzz/fuzz_predicate
fuzz_flags = $(FUZZER_LDFLAGS)

if FUZZING
fuzz_driver =
else
fuzz_driver = tests/fuzz/standalone.c
endif
check_PROGRAMS += $(fuzz_targets)
EXTRA_DIST += tests/fuzz/fuzz.h tests/fuzz/fuzzdataset.h tests/fuzz/fuzzversion.h tests/fuzz/corpus tests/fuzz/replay.sh tests/fuzz/run.sh
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
tests_fuzz_fuzz_datafile_SOURCES = tests/fuzz/fuzz_datafile.c $(fuzz_driver)
tests_fuzz_fuzz_datafile_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_flat_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_flat_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=FLAT
tests_fuzz_fuzz_enc_flat_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_variable_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_variable_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=VARIABLE
tests_fuzz_fuzz_enc_variable_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_constant_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_constant_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=CONSTANT
tests_fuzz_fuzz_enc_constant_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_out_of_line_bitpacking_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_out_of_line_bitpacking_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=OUT_OF_LINE_BITPACKING
tests_fuzz_fuzz_enc_out_of_line_bitpacking_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_inline_bitpacking_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_inline_bitpacking_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=INLINE_BITPACKING
tests_fuzz_fuzz_enc_inline_bitpacking_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_fsst_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_fsst_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=FSST
tests_fuzz_fuzz_enc_fsst_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_dictionary_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_dictionary_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=DICTIONARY
tests_fuzz_fuzz_enc_dictionary_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_rle_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_rle_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=RLE
tests_fuzz_fuzz_enc_rle_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_byte_stream_split_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_byte_stream_split_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=BYTE_STREAM_SPLIT
tests_fuzz_fuzz_enc_byte_stream_split_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_general_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_general_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=GENERAL
tests_fuzz_fuzz_enc_general_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_fixed_size_list_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_fixed_size_list_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=FIXED_SIZE_LIST
tests_fuzz_fuzz_enc_fixed_size_list_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_packed_struct_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_packed_struct_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=PACKED_STRUCT
tests_fuzz_fuzz_enc_packed_struct_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_variable_packed_struct_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_variable_packed_struct_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=VARIABLE_PACKED_STRUCT
tests_fuzz_fuzz_enc_variable_packed_struct_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_range_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_range_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=RANGE
tests_fuzz_fuzz_enc_range_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_enc_delta_SOURCES = tests/fuzz/fuzz_encoding.c $(fuzz_driver)
tests_fuzz_fuzz_enc_delta_CPPFLAGS = $(AM_CPPFLAGS) -DFUZZ_CASE=DELTA
tests_fuzz_fuzz_enc_delta_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_page_SOURCES = tests/fuzz/fuzz_page.c $(fuzz_driver)
tests_fuzz_fuzz_page_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_legacy_SOURCES = tests/fuzz/fuzz_legacy.c $(fuzz_driver)
tests_fuzz_fuzz_legacy_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_v20_SOURCES = tests/fuzz/fuzz_v20.c $(fuzz_driver)
tests_fuzz_fuzz_v20_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_json_SOURCES = tests/fuzz/fuzz_json.c $(fuzz_driver)
tests_fuzz_fuzz_json_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_survivors_SOURCES = tests/fuzz/fuzz_survivors.c $(fuzz_driver)
tests_fuzz_fuzz_survivors_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_rowmap_SOURCES = tests/fuzz/fuzz_rowmap.c $(fuzz_driver)
tests_fuzz_fuzz_rowmap_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_reuse_SOURCES = tests/fuzz/fuzz_reuse.c $(fuzz_driver)
tests_fuzz_fuzz_reuse_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_conflict_SOURCES = tests/fuzz/fuzz_conflict.c $(fuzz_driver)
tests_fuzz_fuzz_conflict_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_draft_SOURCES = tests/fuzz/fuzz_draft.c $(fuzz_driver)
tests_fuzz_fuzz_draft_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_precondition_SOURCES = tests/fuzz/fuzz_precondition.c $(fuzz_driver)
tests_fuzz_fuzz_precondition_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_command_SOURCES = tests/fuzz/fuzz_command.c $(fuzz_driver)
tests_fuzz_fuzz_command_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_command_LDADD = libcommand.la liblancet-all.la
tests_fuzz_fuzz_change_SOURCES = tests/fuzz/fuzz_change.c $(fuzz_driver)
tests_fuzz_fuzz_change_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_txnjson_SOURCES = tests/fuzz/fuzz_txnjson.c $(fuzz_driver)
tests_fuzz_fuzz_txnjson_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_operation_SOURCES = tests/fuzz/fuzz_operation.c $(fuzz_driver)
tests_fuzz_fuzz_operation_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_import_SOURCES = tests/fuzz/fuzz_import.c $(fuzz_driver)
tests_fuzz_fuzz_import_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_ipc_SOURCES = tests/fuzz/fuzz_ipc.c $(fuzz_driver)
tests_fuzz_fuzz_ipc_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)
tests_fuzz_fuzz_predicate_SOURCES = tests/fuzz/fuzz_predicate.c $(fuzz_driver)
tests_fuzz_fuzz_predicate_LDFLAGS = $(AM_LDFLAGS) $(fuzz_flags)

# Replays the corpora; FUZZ_SECONDS=N with a --enable-fuzzing build also mutates for N seconds each.
check-fuzz: $(fuzz_targets)
	srcdir='$(abs_top_srcdir)' builddir='$(abs_top_builddir)' \
		sh $(srcdir)/tests/fuzz/replay.sh $(fuzz_targets)
.PHONY: check-fuzz
