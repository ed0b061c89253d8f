/* Any bytes as JSONB: refused, or text that is JSON and not much longer than what it is made of. */
#include "fuzz.h"

#include "core/json_text.h"
#include "util/jsoncheck.h"

#define LEVEL_SIZE 8u /* bytes that nesting once more takes */
#define TEXT_MAX   8u /* bytes of text for each stored byte: "\u0000" and what is around it */

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_guard guard = fuzz_begin((64 + 4 * TEXT_MAX) * size + 65536);
	struct buf text = { .limit = TEXT_MAX * size + 64 };
	struct lancet_error err = { 0 };

	if (json_text_put((struct slice){ data, size }, &text, &err) == LANCET_OK) {
		fuzz_expect(text.failed != LANCET_LIMIT);
		if (text.failed == LANCET_OK)
			fuzz_expect(jsoncheck_is_compact(buf_slice(&text)) ||
				    size >= LEVEL_SIZE * JSONCHECK_DEPTH_MAX);
	} else {
		fuzz_expect(err.text[0] != '\0');
	}
	fuzz_check(&guard);
	buf_release(&text);
	fuzz_end(&guard);
	return 0;
}
