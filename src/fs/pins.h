/* The pin of a mount: keeps cleanup, by whatever program, from the version that current/ shows.
 *
 * It is a tag with a time, renewed while the mount lives and removed when it ends. SPEC section 7.
 */
#ifndef FS_PINS_H
#define FS_PINS_H

#include <lancet/dataset.h>

struct pins;

/* Pins the version, and goes on doing so. */
int pins_new(lancet_dataset *dataset, uint64_t version, struct pins **ret_pins,
	struct lancet_error *err);
void pins_free(struct pins *pins); /* NULL is fine, here and below */
/* The new version is pinned before the old one is not. A failure is logged. */
void pins_move(struct pins *pins, uint64_t version);
/* Removes those that nobody renewed; what goes wrong is no matter. */
void pins_expire(lancet_dataset *dataset);

#endif
