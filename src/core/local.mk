noinst_LTLIBRARIES += liblancet-all.la
lib_LTLIBRARIES += liblancet.la

pkginclude_HEADERS = \
	src/core/include/lancet/arrow.h src/core/include/lancet/bytes.h \
	src/core/include/lancet/column.h \
	src/core/include/lancet/dataset.h src/core/include/lancet/error.h \
	src/core/include/lancet/fragment.h src/core/include/lancet/index.h \
	src/core/include/lancet/live.h src/core/include/lancet/refs.h src/core/include/lancet/scan.h \
	src/core/include/lancet/transaction.h src/core/include/lancet/version.h
pkgincludedir = $(includedir)/lancet
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = src/core/lancet.pc

core_sources = \
	src/core/store.h src/core/names.h src/core/version.h src/core/pbtext.h \
	src/core/store.c src/core/store_local.c src/core/store_follow.c src/core/store_follow.h \
	src/core/store_trace.c src/core/store_fault.c src/core/names.c \
	src/core/dataset.c src/core/dataset.h src/core/base.c src/core/bases.c \
	src/core/version_list.c src/core/latest.c src/core/version_cache.c \
	src/core/ref_file.c src/core/refs.c src/core/refs.h \
	src/core/refs_branch.c \
	src/core/fieldnames.c src/core/fieldnames.h src/core/fragment_json.c \
	src/core/index_coverage.c src/core/index_files.c src/core/index_json.c \
	src/core/index_meta.c src/core/index_set.h src/core/jsondoc.c src/core/jsondoc.h \
	src/core/manifest_json.c src/core/operations.c src/core/operations.h \
	src/core/pbjson.c src/core/pbjson.h src/core/pbjson_fields.c src/core/pbjson_fields.h \
	src/core/pbjson_parts.c src/core/pbjson_parts.h src/core/pbsame.h \
	src/core/transaction.c src/core/transaction.h src/core/transaction_json.c \
	src/core/entries.c src/core/entries.h src/core/flags.c src/core/flags.h \
	src/core/fragment.c src/core/fragment.h src/core/fragment_files.c \
	src/core/manifest.c src/core/manifest.h \
	src/core/manifest_info.c src/core/manifest_scan.c src/core/pbrest.c src/core/pbrest.h \
	src/core/schema.c src/core/schema.h src/core/schema_json.c src/core/version.c src/core/version_rows.c \
	src/core/live.c src/core/live.h src/core/live_blobs.c src/core/live_files.c \
	src/core/live_reuse.c src/core/live_rewrite.c src/core/pbedit.c src/core/pbedit.h \
	src/core/splice.c src/core/splice.h \
	src/core/column.c src/core/deletion.c src/core/deletion.h src/core/deletion_arrow.c \
	src/core/deletion_values.c src/core/fragment_rows.c src/core/row_versions.c \
	src/core/rowids.c src/core/segment.c src/core/segment.h src/core/segment_bitmap.c \
	src/core/segment_holes.c src/core/sequence.c src/core/sequence.h
core_sources += \
	src/core/lineage_out.c src/core/lineage_out.h src/core/lineage_pack.c \
	src/core/lineage_pack.h src/core/lineage_place.c src/core/lineage_source.c \
	src/core/rowids_blocks.c src/core/rowids_blocks.h
core_sources += \
	src/core/remap.c src/core/remap.h src/core/remap_btree.c src/core/remap_entries.c \
	src/core/remap_history.c src/core/remap_json.c src/core/remap_mark.c \
	src/core/remap_moves.c
core_sources += \
	src/core/arrow_export.c src/core/arrow_export.h src/core/arrow_schema.c src/core/column.h \
	src/core/data_files.c src/core/data_files.h src/core/data_schema.c src/core/data_schema.h \
	src/core/file_pool.c src/core/file_pool.h \
	src/core/fragment_columns.c src/core/fragment_data.c src/core/fragment_data.h \
	src/core/fragment_stored.c src/core/fragment_stored.h \
	src/core/json_number.c src/core/json_number.h src/core/json_text.c src/core/json_text.h \
	src/core/jsonb.h \
	src/core/overlay.c src/core/overlay.h src/core/overlay_set.c src/core/overlay_set.h \
	src/core/repeats.c src/core/repeats.h src/core/scan.c src/core/scan_fragment.c \
	src/core/id_index.c src/core/id_index.h src/core/scan_ids.c src/core/scan_read.c \
	src/core/scan_rows.c src/core/scan_schema.c \
	src/core/scan_state.h src/core/sequence_find.c src/core/sequence_parts.h \
	src/core/spilled.c src/core/spilled.h
core_sources += \
	src/core/arrow_ipc.c src/core/arrow_ipc.h src/core/arrow_ipc_body.c \
	src/core/arrow_ipc_schema.c src/core/arrow_type.c src/core/arrow_type.h \
	src/core/row_csv.c src/core/row_field.c src/core/row_field.h src/core/row_json.c \
	src/core/row_scalar.c src/core/rowtext.c
core_sources += src/core/column_pool.c src/core/column_pool.h
core_sources += \
	src/core/reuse.c src/core/reuse.h src/core/reuse_check.c src/core/reuse_details.c \
	src/core/reuse_json.c src/core/reuse_order.c src/core/reuse_parse.c src/core/reuse_path.c
pkginclude_HEADERS += src/core/include/lancet/transition.h
core_sources += src/core/rowmap.c src/core/rowmap.h src/core/rowmap_counts.c src/core/rowmap_counts.h \
	src/core/rowmap_locate.c src/core/rowmap_parts.h
core_sources += src/core/survivors.c src/core/survivors.h
pkginclude_HEADERS += src/core/include/lancet/ipc.h src/core/include/lancet/rowtext.h
core_sources += \
	src/core/store_local.h src/core/store_local_write.c src/core/store_record.c \
	src/core/store_record.h src/core/store_sub.c src/core/store_write.c src/core/store_write.h

core_sources += \
	src/core/index_follow.c src/core/index_graph.c src/core/index_kinds.c src/core/index_reach.c \
	src/core/index_reach.h src/core/reuse_needs.c
core_sources += src/core/mapping.c src/core/mapping.h src/core/translate.c src/core/translate.h \
	src/core/translate_runs.c src/core/translate_sort.c src/core/translate_wave.c
core_sources += \
	src/core/predicate.h src/core/predicate_bind.c src/core/predicate_match.c \
	src/core/predicate_columns.c src/core/predicate_compare.c src/core/predicate_compute.c \
	src/core/predicate_eval.c src/core/predicate_in.c src/core/predicate_lex.c \
	src/core/predicate_like.c src/core/predicate_literal.c src/core/predicate_load.c \
	src/core/predicate_parse.c src/core/predicate_parser.h src/core/predicate_parts.h \
	src/core/predicate_rows.h src/core/predicate_term.c src/core/predicate_tree.h \
	src/core/predicate_types.c \
	src/core/row_filter.c src/core/row_filter.h src/core/scan_where.c
core_sources += \
	src/core/assignment_store.c src/core/assignment_store.h src/core/assignments.c \
	src/core/change_rows.c src/core/change_rows.h src/core/change_update.c \
	src/core/change_update.h src/core/change_update_lineage.c \
	src/core/change_update_rows.c src/core/row_picks_where.c
core_sources += src/core/publish.c src/core/publish.h

core_sources += \
	src/core/affected.c src/core/affected.h src/core/numbers.c src/core/numbers.h \
	src/core/touched.c src/core/touched.h src/core/touched_config.c src/core/touched_shards.c
core_sources += \
	src/core/conflict.c src/core/conflict.h src/core/conflict_bases.c \
	src/core/conflict_columns.c src/core/conflict_config.c src/core/conflict_delete_update.c \
	src/core/conflict_finish.c src/core/conflict_history.c src/core/conflict_index.c \
	src/core/conflict_keys.c src/core/conflict_matrix.c src/core/conflict_memwal.c \
	src/core/conflict_overlay.c src/core/conflict_replacement.c src/core/conflict_rewrite.c \
	src/core/conflict_rules.h src/core/conflict_schema.c src/core/rebase.c
core_sources += src/core/change.c src/core/change.h src/core/change_require.c \
	src/core/commit.c src/core/commit_attempt.c src/core/commit_check.c \
	src/core/commit_deletions.c src/core/commit_newest.c src/core/commit_parts.h \
	src/core/commit_token.c src/core/deletion_write.c src/core/deletion_write.h
core_sources += src/core/precondition.c src/core/precondition.h src/core/precondition_cells.c \
	src/core/precondition_fields.c src/core/precondition_parts.h src/core/precondition_text.c
core_sources += src/core/draft.c src/core/draft.h src/core/draft_entries.c \
	src/core/draft_check.c src/core/draft_finish.c src/core/draft_flags.c \
	src/core/draft_migrate.c src/core/draft_parts.h \
	src/core/format.c src/core/format.h src/core/manifest_head.c \
	src/core/manifest_index.c src/core/manifest_parts.h src/core/manifest_publish.c \
	src/core/manifest_values.c src/core/manifest_write.c src/core/manifest_write.h
core_sources += src/core/draft_index.c src/core/draft_index.h src/core/draft_prune.c \
	src/core/draft_prune.h src/core/draft_uncover.c
core_sources += src/core/draft_map.c src/core/draft_map.h src/core/draft_schema.c \
	src/core/draft_schema.h src/core/op_update_config.c
core_sources += src/core/draft_base.c src/core/draft_base.h src/core/op_project.c \
	src/core/op_update_bases.c
core_sources += src/core/draft_columns.c src/core/draft_columns.h src/core/draft_mem_wal.c \
	src/core/draft_mem_wal.h src/core/op_data_overlay.c src/core/op_data_replacement.c \
	src/core/op_mem_wal.c
core_sources += src/core/pbutf8.c src/core/pbutf8.h
core_sources += src/core/create_index.c src/core/create_index.h src/core/create_index_history.c \
	src/core/op_clone.c src/core/op_create_index.c src/core/op_rewrite.c src/core/rewrite_bind.c \
	src/core/rewrite_history.c src/core/rewrite_history.h src/core/rewrite_history_put.c \
	src/core/rewrite_indices.c src/core/rewrite_parts.h

core_sources += src/core/pin.c src/core/ref_write.c src/core/ref_write.h src/core/tag_write.c \
	src/core/tag_write.h
core_sources += src/core/cleanup.h src/core/cleanup_family.c src/core/cleanup_files.c \
	src/core/cleanup_mark.c src/core/cleanup_plan.c src/core/cleanup_run.c src/core/repair.c \
	src/core/repair_fragments.c
core_sources += src/core/branch_create.c src/core/branch_delete.c src/core/branch_file.c \
	src/core/branch_write.h
pkginclude_HEADERS += src/core/include/lancet/cleanup.h src/core/include/lancet/reference.h
pkginclude_HEADERS += src/core/include/lancet/commit.h
core_sources += src/core/pbfromjson.c src/core/pbfromjson.h src/core/pbfromjson_parts.c \
	src/core/pbfromjson_values.c src/core/transaction_fromjson.c src/core/transaction_fromjson.h \
	src/core/change_build.c src/core/change_build.h src/core/change_columns.c \
	src/core/change_fragments.c src/core/change_index.c src/core/change_restore.c \
	src/core/append_match.c src/core/append_match.h src/core/change_append.c \
	src/core/change_settings.c src/core/change_delete.c src/core/change_document.c \
	src/core/row_picks.c src/core/row_picks.h src/core/row_ranges.c src/core/row_ranges.h \
	src/core/sound_files.c src/core/sound_index.c src/core/sound_moved.c \
	src/core/transaction_sound.c src/core/transaction_sound.h
core_sources += src/core/operation.c src/core/operation.h src/core/sequence_write.c \
	src/core/sequence_write.h src/core/draft_lineage.c src/core/draft_lineage.h \
	src/core/draft_created.c src/core/fragment_checks.c src/core/fragment_checks.h \
	src/core/fragment_fields.c src/core/fragment_changes.c src/core/fragment_changes.h
core_sources += src/core/op_append.c src/core/op_delete.c src/core/op_merge.c \
	src/core/op_overwrite.c src/core/op_reserve_fragments.c src/core/op_restore.c \
	src/core/op_update.c src/core/op_update.h src/core/update_cover.c \
	src/core/update_offsets.c
# Data files of new fragments, and rows that are appended.
core_sources += src/core/change_append_rows.c src/core/data_file_make.c \
	src/core/fragment_write.c src/core/fragment_write.h \
	src/core/import_arrow.c src/core/import_arrow.h src/core/import_arrow_batch.c \
	src/core/import_arrow_bytes.c src/core/import_arrow_keys.c \
	src/core/import_arrow_nulls.c src/core/import_arrow_schema.c \
	src/core/import_arrow_type.c src/core/import_arrow_type.h \
	src/core/import_arrow_values.c src/core/ipc_input.c src/core/ipc_input.h
# CSV and JSON lines.
core_sources += src/core/import.h src/core/import_csv.c src/core/import_float.c \
	src/core/import_json.c src/core/import_nested.c src/core/import_node.c \
	src/core/import_number.c src/core/import_number.h src/core/import_rows.c \
	src/core/import_rows.h src/core/import_time.c src/core/import_value.c \
	src/core/import_value.h src/core/json_binary.c src/core/json_binary.h
core_sources += src/core/compact_config.c src/core/compact_plan.c src/core/rewrite_commit.c \
	src/core/rewrite_json.c src/core/rewrite_pieces.c src/core/rewrite_plan.c \
	src/core/rewrite_crew.c src/core/rewrite_crew.h \
	src/core/rewrite_plan.h src/core/rewrite_queue.c src/core/rewrite_run.c \
	src/core/rewrite_unit.c src/core/rewrite_write.h
core_sources += src/core/label_spool.c src/core/label_spool.h src/core/partition.c \
	src/core/partition.h src/core/partition_column.c src/core/partition_file.c \
	src/core/partition_lineage.c src/core/partition_scatter.c src/core/partition_write.c \
	src/core/partition_write.h src/core/rowmap_write.c src/core/rowmap_write.h \
	src/core/value_labels.c src/core/value_labels.h
pkginclude_HEADERS += src/core/include/lancet/rewrite.h

liblancet_all_la_SOURCES = $(core_sources)
liblancet_all_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
liblancet_all_la_LIBADD = libgen.la libfile.la libutil.la $(ROARING_LIBS) $(PROTOBUF_C_LIBS) \
	$(ZSTD_LIBS) $(LZ4_LIBS) $(JSON_LIBS) $(UUID_LIBS)

liblancet_la_SOURCES =
liblancet_la_LIBADD = liblancet-all.la
liblancet_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined \
	-Wl,--version-script=$(srcdir)/src/core/lancet.map
liblancet_la_DEPENDENCIES = liblancet-all.la src/core/lancet.map
EXTRA_DIST += src/core/lancet.map
