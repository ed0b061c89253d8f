/* Data files, overlays and the deletion file of a decoded fragment, in their public form. */
#ifndef CORE_FRAGMENT_FILES_H
#define CORE_FRAGMENT_FILES_H

#include "fragment.h"

/* Fills files, overlays and deletion of info from fragment->message. */
int fragment_files_fill(struct lancet_fragment *fragment, struct lancet_error *err);

#endif
