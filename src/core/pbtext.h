/* Which bytes fields of the protobuf messages hold text.
 *
 * protobuf-c strings end at the first NUL and stored ones need not, so proto/ declares text as
 * bytes and marks it. The table is made from those marks at build time (proto/textfields.awk); what
 * turns messages into JSON and back asks it whether a field is a string or base64.
 *
 * Rows are sorted by message, then field, with strcmp; a row of NULLs follows the last.
 */
#ifndef LANCET_CORE_PBTEXT_H
#define LANCET_CORE_PBTEXT_H

#include <stddef.h>

struct pb_text_field {
	const char *message; /* full name: "lance.table.Manifest.WriterVersion" */
	const char *field;
};

extern const struct pb_text_field pb_text_fields[];
extern const size_t pb_text_field_count; /* without the row of NULLs */

#endif
