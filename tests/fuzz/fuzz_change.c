/* An encoded transaction as a change of a small dataset: the message, and the files that it names.
 * Whatever it says, nothing is written.
 */
#include "fuzz.h"

#include <lancet/commit.h>

#define COST_BASE     ((size_t)16 << 20)
#define COST_PER_BYTE 512u

/* CRoaring 0.2 asserts that run containers get their memory. */
const char fuzz_needs_memory = 1;

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin(COST_BASE + COST_PER_BYTE * size);
	lancet_dataset *dataset = NULL;
	lancet_change *change = NULL;
	struct lancet_error err = { 0 };
	int rc = lancet_dataset_open(UNIT_DATA_DIR "/sample.lance", NULL, &dataset, &err);

	fuzz_expect(rc == LANCET_OK);
	rc = lancet_change_parse(dataset, data, size, &change, &err);
	fuzz_expect((rc == LANCET_OK) == (change != NULL));
	fuzz_expect(rc == LANCET_OK || err.text[0] != '\0');
	fuzz_expect(rc != LANCET_CONFLICT && rc != LANCET_BUSY && rc != LANCET_EXISTS);
	fuzz_check(&guard);
	lancet_change_free(change);
	lancet_dataset_unref(dataset);
	fuzz_end(&guard);
	return 0;
}
