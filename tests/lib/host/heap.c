/* The kernel's heap is the host's: the sanitizer sees each misuse. */
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
