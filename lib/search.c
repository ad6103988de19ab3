#include "lib/search.h"

#include "lib/string.h"

const void *
search_name(const char *name, const void *first, unsigned n, size_t size)
{
	unsigned low = 0, high = n, mid;
	const char *const *at;
	int order;

	while (low < high) {
		mid = low + (high - low) / 2;
		at = (const void *)((const char *)first + mid * size);
		/* Mostly the first letter tells. */
		order = (unsigned char)*name - (unsigned char)**at;
		if (order == 0)
			order = strcmp(name, *at);
		if (order == 0)
			return at;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}
