/*
 * Finding by name.  Included by whoever has a sorted table.
 */
#ifndef LIB_SEARCH_H
#define LIB_SEARCH_H

#include <stddef.h>

/*
 * The one that has this name, of n elements of that size, each of which
 * begins with a pointer to its name, in strcmp()'s order; or NULL.
 */
const void *search_name(
    const char *name, const void *first, unsigned n, size_t size);

#endif /* LIB_SEARCH_H */
