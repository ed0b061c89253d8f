/* "ds" with one version of some live fragments and a reuse history. */
#ifndef TESTS_HISTORYFILE_H
#define TESTS_HISTORYFILE_H

#include "historypack.h"
#include "treedata.h"

static inline void
put_u32(struct buf *b, uint64_t value)
{
	for (unsigned i = 0; i < 4; i++)
		buf_put_byte(b, (uint8_t)(value >> 8 * i));
}

static inline void
put_named(struct buf *b, unsigned field, const char *text)
{
	put_head(b, field, strlen(text));
	buf_put_text(b, text);
}

/* IndexSection { indices #1 { uuid #1, name #3, index_details #6, index_version #7 } } */
static inline struct buf
history_section(struct buf *details, uint64_t index_version)
{
	struct buf section = { 0 }, entry = { 0 }, any = { 0 }, uuid = { 0 };

	put_named(&uuid, 1, "0123456789abcdef");
	put_message(&entry, 1, &uuid);
	put_named(&entry, 3, "__lance_frag_reuse");
	put_named(&any, 1, "/lance.table.FragmentReuseIndexDetails");
	put_message(&any, 2, details);
	put_message(&entry, 6, &any);
	put_number(&entry, 7, index_version);
	put_message(&section, 1, &entry);
	return section;
}

/* Takes `details`, which are those of the entry; NULL: there is none. Live fragments ascend. */
static inline void
history_write(const struct tree *tree, struct buf *details, uint64_t index_version,
	const struct digest *live, size_t live_count)
{
	struct buf file = { 0 }, manifest = { 0 };
	uint64_t at = 0;

	if (details != NULL) {
		struct buf section = history_section(details, index_version);

		put_u32(&file, section.size);
		buf_put_slice(&file, buf_slice(&section));
		put_number(&manifest, 6, 0);
		at = file.size;
		buf_release(&section);
	}
	for (size_t i = 0; i < live_count; i++) {
		struct buf fragment = { 0 };

		put_number(&fragment, 1, live[i].id);
		put_number(&fragment, 4, live[i].rows);
		put_message(&manifest, 2, &fragment);
	}
	put_number(&manifest, 3, 1);
	put_head(&manifest, 13, 7); /* writer_version */
	buf_put(&manifest, "\x0a\x05lance", 7);
	put_u32(&file, manifest.size);
	buf_put_slice(&file, buf_slice(&manifest));
	put_u32(&file, at);
	put_u32(&file, 0);
	buf_put(&file, "\0\0\2\0LANC", 8);
	ck_assert_int_eq(file.failed, LANCET_OK);
	tree_put(tree, V1, file.data, file.size);
	buf_release(&file);
	buf_release(&manifest);
}

/* Takes the InlineContent. */
static inline void
history_write_inline(const struct tree *tree, struct buf *content, uint64_t index_version,
	const struct digest *live, size_t live_count)
{
	struct buf details = { 0 };

	put_message(&details, 1, content);
	history_write(tree, &details, index_version, live, live_count);
}

static inline lancet_version *
history_version(lancet_dataset *dataset)
{
	lancet_version *version = NULL;
	struct lancet_error err = { 0 };

	ck_assert_msg(lancet_version_open(dataset, 1, &version, &err) == LANCET_OK, "%s", err.text);
	return version;
}

#endif
