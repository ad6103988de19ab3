/* Physical memory of another machine, as pages of the host. */
#include "tests/lib/host/physical.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 0x1000UL
#define NPUT 256

static struct {
	char *first, *end;
} put[NPUT];
static unsigned nput;

bool
physical_put(uint64_t pa, const void *bytes, size_t n)
{
	char *first = PHYSICAL + (pa & -PAGE), *end = PHYSICAL + pa + n;

	if (nput == NPUT)
		return false;
	put[nput].first = first;
	put[nput++].end = end;
	for (char *at = first; at < end; at += PAGE) {
		if (mmap(at, PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			0) != at &&
		    errno != EEXIST)
			return false;
	}
	memcpy(PHYSICAL + pa, bytes, n);
	return true;
}

void
physical_clear(void)
{
	while (nput > 0) {
		nput--;
		for (char *at = put[nput].first; at < put[nput].end; at += PAGE)
			munmap(at, PAGE);
	}
}
