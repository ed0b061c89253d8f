/* Rows of batches as text: JSON lines, or CSV with a header line.
 *
 * Every value can be had back from its text and the schema:
 *
 *     integers                 numbers, all digits
 *     floating-point           numbers, the shortest that read back the same; "NaN", "Infinity",
 *                              "-Infinity" are strings
 *     decimals                 strings, all digits
 *     text                     strings; what is not UTF-8 is {"base64": "…"}
 *     binary                   strings, base64
 *     date, time, timestamp    strings, ISO 8601, as many digits of a second as are stored;
 *                              timestamps with a zone have its offset, or Z (the time is then UTC)
 *                              where the zone is a name
 *     duration                 strings, ISO 8601: "PT1.500S"
 *     lists                    arrays           maps     arrays of {"key": …, "value": …}
 *     structs                  objects          null     null
 *     dictionary values, JSON  as what they stand for
 *
 * CSV is RFC 4180 with lines that end in a newline: the same without the quotes of strings, null as
 * nothing, empty text as "", nested values as JSON text.
 */
#ifndef LANCET_ROWTEXT_H
#define LANCET_ROWTEXT_H

#include "arrow.h"
#include "bytes.h"
#include "error.h"

typedef struct lancet_rowtext lancet_rowtext;

enum lancet_rowtext_form { LANCET_JSON_LINES, LANCET_CSV };

/* JSON lines: how much of one column's value in one row is shown; 0 is all. Text and binary values
 * lose their end once the bytes are used up, and gain "…(+N bytes)"; lists and maps end in the item
 * "…(+N items)". */
struct lancet_rowtext_cut {
	size_t bytes, items;
};

/* Writes the header line of CSV. The schema (a struct of columns) is borrowed and must outlive the
 * writer, as `out`'s context must. UNSUPPORTED: a type that no data file has. What a sink returns
 * other than LANCET_OK is returned as it is, here and below. */
LANCET_API int lancet_rowtext_open(const struct ArrowSchema *schema, enum lancet_rowtext_form form,
	struct lancet_rowtext_cut cut, const struct lancet_output *out, lancet_rowtext **ret_writer,
	struct lancet_error *err);
/* Writes a line for each row of the batch, which stays the caller's. After an error the writer may
 * only be freed. */
LANCET_API int lancet_rowtext_write(
	lancet_rowtext *writer, const struct ArrowArray *batch, struct lancet_error *err);
LANCET_API void lancet_rowtext_free(lancet_rowtext *writer); /* NULL is fine */

#endif
