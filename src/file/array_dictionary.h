/* Finds values that a dictionary has already, by a hash of their bytes. */
#ifndef FILE_ARRAY_DICTIONARY_H
#define FILE_ARRAY_DICTIONARY_H

void dictionary_lookup_free(void *lookup); /* NULL is fine */

#endif
