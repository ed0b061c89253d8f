/* Stands in for the pages of 2.1 and 2.2 while there are none: refused by name. */
#include "page_out.h"

__attribute__((weak)) int
page_write_leaf(enum file_version version, const struct array *root, const struct field *leaf,
	uint64_t first, uint64_t count, struct page_sink sink, struct lancet_error *err)
{
	(void)version;
	(void)root;
	(void)leaf;
	(void)first;
	(void)count;
	(void)sink;
	return lancet_fail(err, LANCET_UNSUPPORTED, "pages of this version are not written");
}

__attribute__((weak)) int
page_write_check(enum file_version version, const struct field *root, struct lancet_error *err)
{
	(void)version;
	(void)root;
	(void)err;
	return LANCET_OK;
}
