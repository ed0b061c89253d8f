/* Lists of keys; see keys.h. */
#include "keys.h"

#include <string.h>

bool
keys_have(const char *keys, const char *key)
{
	while (*keys != '\0') {
		size_t size = strcspn(keys, " ");

		if (size > 0 && keys[size - 1] == '*') {
			if (strncmp(keys, key, size - 1) == 0 && key[size - 1] != '\0')
				return true;
		} else if (strlen(key) == size && memcmp(keys, key, size) == 0) {
			return true;
		}
		keys += size + (keys[size] == ' ');
	}
	return false;
}
