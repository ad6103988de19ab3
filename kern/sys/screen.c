/* BARECPC_SYS_SCREEN, the private call of `pages` (include/sys/barecpc.h). */
#include "include/sys/barecpc.h"
#include "kern/arch.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/platform/results/fb_console.h"
#include "kern/platform/results/keep.h"
#include "kern/sys/syscall.h"

static intptr_t
text(unsigned row, uintptr_t uva)
{
	char line[256];
	int err = copyinstr(line, uva, sizeof line);

	if (err != 0)
		return -err;
	fbcons_text(row, line);
	return 0;
}

static intptr_t
squares(uintptr_t at, uintptr_t what, uintptr_t uva)
{
	uint8_t dark[BARECPC_SCREEN_SQUARES];
	unsigned n = what & 0xffff;
	int err;

	if (n > sizeof dark)
		return -EINVAL;
	if ((err = copyin(dark, uva, n)) != 0)
		return -err;
	return fbcons_squares((unsigned)(at >> 16 & 0xffff),
		   (unsigned)(at & 0xffff), (unsigned)(what >> 16 & 0xffff),
		   dark, n)
	           ? 0
	           : -EINVAL;
}

static intptr_t
kept(size_t from, size_t bytes, uintptr_t uva)
{
	char part[512];
	size_t n =
	    keep_text(from, part, bytes < sizeof part ? bytes : sizeof part);
	int err = copyout(uva, part, n);

	return err != 0 ? -err : (intptr_t)n;
}

intptr_t
screen_syscall(const uintptr_t *a)
{
	unsigned width, height;

	switch (a[0]) {
	case BARECPC_SCREEN_TAKE:
		return fbcons_take(&width, &height)
		           ? (intptr_t)(width << 16 | height)
		           : -ENODEV;
	case BARECPC_SCREEN_GIVE_BACK:
		fbcons_give_back();
		return 0;
	case BARECPC_SCREEN_TEXT:
		return text((unsigned)a[1], a[2]);
	case BARECPC_SCREEN_SQUARES_ROW:
		return squares(a[1], a[2], a[3]);
	case BARECPC_SCREEN_KEPT:
		return kept(a[1], a[2], a[3]);
	case BARECPC_SCREEN_KEY:
		return arch_key() + 1;
	default:
		return -EINVAL;
	}
}
