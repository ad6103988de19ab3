/*
 * The kernel's heap, by the host's: the sanitizer then sees every misuse.
 */
#include <stdlib.h>

void *kmalloc(size_t bytes);
void kfree(void *p);

void *
kmalloc(size_t bytes)
{
	return calloc(1, bytes);
}

void
kfree(void *p)
{
	free(p);
}
