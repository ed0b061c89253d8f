/* A manifest's name, and how the file gets there. Format facts: manifest names, local file system.
 */
#include "manifest_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/macros.h"

#define CHUNK_SIZE (1u << 20)
#define HINT_KEY   VERSIONS_DIR "/latest_version_hint.json"

void
manifest_write_key(const struct draft *draft, char into[MANIFEST_PATH_MAX])
{
	enum manifest_scheme scheme = MANIFEST_V2;
	char name[MANIFEST_NAME_MAX];
	uint64_t number;

	if (draft->newest != NULL)
		(void)manifest_name_parse(
			lancet_version_manifest_name(draft->newest), &scheme, &number);
	manifest_name_format(scheme, draft->number, name);
	snprintf(into, MANIFEST_PATH_MAX, VERSIONS_DIR "/%s", name);
}

static int
put_chunks(const struct splice *file, struct store_writer *writer, struct lancet_error *err)
{
	size_t chunk = file->size < CHUNK_SIZE ? (size_t)file->size : CHUNK_SIZE;
	lancet_autofree uint8_t *bytes = malloc(chunk);

	if (bytes == NULL)
		return draft_no_memory(err);
	for (uint64_t at = 0; at < file->size; at += chunk) {
		uint64_t left = file->size - at;
		size_t size = left < chunk ? (size_t)left : chunk;

		TRY(splice_read(file, at, size, bytes, err));
		TRY(store_writer_put(writer, slice_of(bytes, size), err));
	}
	return LANCET_OK;
}

int
manifest_write_publish(struct draft *draft, const struct splice *file, struct store *store,
	bool durable, struct lancet_error *err)
{
	char key[MANIFEST_PATH_MAX];
	struct store_writer *writer;
	struct publish publish;
	int rc;

	manifest_write_key(draft, key);
	publish_init(&publish, store, durable);
	rc = publish_open(&publish, key, PUBLISH_NEW, &writer, err);
	if (rc == LANCET_OK)
		rc = put_chunks(file, writer, err);
	if (rc == LANCET_OK)
		rc = publish_name_all(&publish, err);
	draft->published = publish.named > 0;
	publish_release(&publish);
	return rc;
}

void
manifest_write_hint(struct store *store, uint64_t version)
{
	char text[48];
	struct slice part;

	snprintf(text, sizeof(text), "{\"version\":%" PRIu64 "}", version);
	part = slice_text(text);
	(void)publish_file(store, HINT_KEY, &part, 1, PUBLISH_REPLACE, false, NULL);
}
