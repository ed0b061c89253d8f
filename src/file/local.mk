# The data file reader: an encoding is one file.
noinst_LTLIBRARIES += libfile.la
libfile_la_SOURCES = src/file/array.h src/file/codec.h \
	src/file/datafile.h src/file/field.h src/file/layout.h src/file/levels.h \
	src/file/reader.h src/file/scratch.h
libfile_la_SOURCES += src/file/array_append.c src/file/array_dictionary.c src/file/array_dictionary.h \
	src/file/array_grow.h src/file/array_range.c src/file/array_truncate.c src/file/array_variable.c src/file/scratch.c
libfile_la_SOURCES += src/file/field.c src/file/field_links.c src/file/field_parents.c src/file/field_parents.h src/file/field_links.h \
	src/file/field_logical.c src/file/field_logical.h src/file/field_metadata.c \
	src/file/field_metadata.h src/file/field_tree.c
libfile_la_SOURCES += src/file/datafile.c src/file/datafile_schema.c src/file/file_column.c \
	src/file/file_column.h src/file/legacy_meta.c src/file/legacy_meta.h \
	src/file/stored_schema.c src/file/stored_schema.h
libfile_la_SOURCES += src/file/array_bulk.c src/file/bitpack_inline.c \
	src/file/bitpack_outofline.c src/file/byte_split.c src/file/codec.c \
	src/file/column_describe.c src/file/constant.c src/file/constant_value.c \
	src/file/constant_value.h src/file/decompress.c src/file/decompress.h src/file/delta.c \
	src/file/dictionary.c src/file/encodings.h src/file/fastlanes.c src/file/fastlanes.h \
	src/file/fixed_list.c src/file/flat.c src/file/fsst.c src/file/fsst.h src/file/fullzip_open.c \
	src/file/fullzip.h src/file/fullzip_decode.c src/file/fullzip_page.h src/file/general.c \
	src/file/general.h src/file/indexed.c src/file/indexed.h src/file/page_reader.c \
	src/file/layout_blob.c src/file/layout_cases.h src/file/layout_constant.c \
	src/file/layout_fullzip.c src/file/layout_miniblock.c src/file/layout_sparse.c \
	src/file/layout_sparse.h src/file/leaf_out.c src/file/leaf_reader.c src/file/legacy_page.c \
	src/file/legacy_page.h src/file/legacy_reader.c src/file/levels.c src/file/miniblock_open.c \
	src/file/miniblock.h src/file/miniblock_chunk.c src/file/miniblock_chunk.h \
	src/file/miniblock_parts.c src/file/miniblock_read.c src/file/nested_reader.c src/file/number_rle.c \
	src/file/number_run.c src/file/number_run.h src/file/packed_struct.c \
	src/file/page_dictionary.c src/file/page_dictionary.h src/file/range.c src/file/reader.c \
	src/file/rle.c src/file/rle.h src/file/sparse.h src/file/sparse_layers.c \
	src/file/sparse_numbers.c src/file/sparse_values.c src/file/sparse_walk.c \
	src/file/sparse_zipped.c src/file/v20.h src/file/v20_binary.c src/file/v20_bitpacked.c \
	src/file/v20_blob.c src/file/v20_column.c src/file/v20_column.h src/file/v20_dictionary.c \
	src/file/v20_encoding.c src/file/v20_ends.c src/file/v20_fixed_binary.c \
	src/file/v20_fixed_list.c src/file/v20_flat.c src/file/v20_fsst.c src/file/v20_list.c \
	src/file/v20_node.h src/file/v20_nullable.c src/file/v20_packed_struct.c src/file/v20_page.c \
	src/file/v20_reader.c src/file/v20_struct.c src/file/variable.c \
	src/file/variable_packed_struct.c
libfile_la_SOURCES += src/file/encodings.c
libfile_la_SOURCES += src/file/encode.h src/file/encode_column.c src/file/encode_column.h \
	src/file/encode_constant.c src/file/encode_flat.c src/file/encode_levels.c \
	src/file/encode_message.c src/file/encode_message.h src/file/encode_mini.c \
	src/file/encode_mini.h src/file/encode_variable.c src/file/encode_variable.h \
	src/file/encode_wish.c src/file/encode_wish.h src/file/encode_zip.c src/file/encode_zip.h \
	src/file/encode_zip_packed.c src/file/encode_zip_variable.c
libfile_la_SOURCES += src/file/file_blob.c src/file/file_writer.h src/file/file_writer_put.c \
	src/file/file_writer_copy.c src/file/file_writer_parts.h src/file/file_writer_tail.c \
	src/file/gather.c src/file/gather.h src/file/page_out.c src/file/page_out.h \
	src/file/v20_write.c src/file/v20_write.h src/file/v20_write_bytes.c \
	src/file/v20_write_bytes.h src/file/v20_write_check.c \
	src/file/v20_write_dictionary.c src/file/v20_write_ends.c \
	src/file/v20_write_fixed.c src/file/v20_write_bits.c \
	src/file/v20_write_symbols.c src/file/v20_write_text.c
libfile_la_SOURCES += src/file/constant_write.c src/file/fullzip_write.c \
	src/file/miniblock_write.c src/file/page_writer.c src/file/page_writer.h \
	src/file/page_writer_check.c src/file/shred.c src/file/shred.h src/file/shred_walk.c
libfile_la_SOURCES += src/file/byte_planes.c src/file/byte_planes.h src/file/compress.c \
	src/file/compress.h src/file/encode_bitpack.c src/file/encode_dictionary.c \
	src/file/encode_dictionary.h src/file/encode_fsst.c src/file/encode_fsst.h \
	src/file/encode_general.c src/file/encode_items.c src/file/encode_measure.c src/file/encode_promise.c src/file/encode_rle.c \
	src/file/encode_split.c src/file/encode_value_set.c src/file/fsst_build.c \
	src/file/fsst_build.h
