/* Manifests made by hand for tests: messages packed with protobuf-c or written byte by byte, framed
 * as a file, and opened from memory.
 */
#ifndef TESTS_MAKER_H
#define TESTS_MAKER_H

#include "marks.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/version.h"
#include "counted.h"
#include "lance/table.pb-c.h"
#include "util/buf.h"
#include "util/source.h"

/* protobuf-c's INIT macros leave out the braces of their anonymous unions */
#pragma GCC diagnostic ignored "-Wmissing-braces"

static inline void
maker_u32(struct buf *b, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		buf_put_byte(b, (uint8_t)(value >> 8 * i));
}

static inline void
maker_varint(struct buf *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buf_put_byte(b, (uint8_t)(value | 0x80));
	buf_put_byte(b, (uint8_t)value);
}

static inline void
maker_number(struct buf *b, uint32_t field, uint64_t value)
{
	maker_varint(b, (uint64_t)field << 3);
	maker_varint(b, value);
}

static inline void
maker_bytes(struct buf *b, uint32_t field, const void *data, size_t size)
{
	maker_varint(b, (uint64_t)field << 3 | 2);
	maker_varint(b, size);
	buf_put(b, data, size);
}

/* A manifest's writer_version: counts of one without it are not trusted. */
static inline void
maker_writer(struct buf *b)
{
	maker_bytes(b, 13, "\x0a\x05lance", 7);
}

static inline ProtobufCBinaryData
maker_text(const char *text)
{
	return (ProtobufCBinaryData){ strlen(text), (uint8_t *)(uintptr_t)text };
}

static inline void
maker_pack(struct buf *b, const ProtobufCMessage *message)
{
	size_t size = protobuf_c_message_get_packed_size(message);

	ck_assert(buf_reserve(b, size + 1));
	b->size += protobuf_c_message_pack(message, b->data + b->size);
}

/* The end of a manifest file: length prefix, message, footer; what is in `file` already stays. */
static inline void
maker_frame(struct buf *file, struct slice message)
{
	uint64_t at = file->size;

	maker_u32(file, (uint32_t)message.size);
	buf_put_slice(file, message);
	maker_u32(file, (uint32_t)at);
	maker_u32(file, (uint32_t)(at >> 32));
	buf_put(file, "\0\0\2\0LANC", 8);
	ck_assert_int_eq(file->failed, LANCET_OK);
}

/* Any dataset: version_load needs one to belong to. Its directory is gone when this returns. */
static inline lancet_dataset *
maker_dataset(void)
{
	char root[] = "/tmp/maker.XXXXXX";
	char versions[48], manifest[64];
	lancet_dataset *dataset = NULL;
	FILE *file;

	ck_assert_ptr_nonnull(mkdtemp(root));
	snprintf(versions, sizeof(versions), "%s/_versions", root);
	snprintf(manifest, sizeof(manifest), "%s/1.manifest", versions);
	ck_assert_int_eq(mkdir(versions, 0700), 0);
	file = fopen(manifest, "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
	ck_assert_int_eq(lancet_dataset_open(root, NULL, &dataset, NULL), LANCET_OK);
	unlink(manifest);
	rmdir(versions);
	rmdir(root);
	return dataset;
}

/* Loads a whole file; the bytes must outlive the version. */
static inline int
maker_load(struct slice file, uint64_t number, lancet_version **ret_version,
           struct lancet_error *err)
{
	lancet_dataset *dataset = maker_dataset();
	struct counted_source *source = counted_new(file);
	const struct stat st = { 0 };
	int rc = version_load(dataset, number, &source->base, &st, "1.manifest", ret_version, err);

	source_unref(&source->base);
	lancet_dataset_unref(dataset);
	return rc;
}

/* Frames and loads a message; `file` is where its bytes then are. */
static inline int
maker_load_message(struct buf *file, const Lance__Table__Manifest *manifest,
                   lancet_version **ret_version, struct lancet_error *err)
{
	struct buf message = { 0 };

	maker_pack(&message, &manifest->base);
	maker_frame(file, buf_slice(&message));
	buf_release(&message);
	return maker_load(buf_slice(file), manifest->version, ret_version, err);
}

#endif
