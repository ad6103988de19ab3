/* Debian's libqrcodegen is for glibc with checked copies, which musl lacks. */
#include <stdlib.h>
#include <string.h>

void *__memset_chk(void *to, int c, size_t n, size_t room);

void *
__memset_chk(void *to, int c, size_t n, size_t room)
{
	if (n > room)
		abort();
	return memset(to, c, n);
}
