/*
 * The list of programs of a profile.  A profiled program may fork and execute
 * others; each sample has the number of the program its addresses belong to.
 * The libraries that a program maps follow it.
 */
#include "kern/cpc/profile/profile_impl.h"

#include "include/sys/cpc.h"

#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/proc.h"
#include "lib/string.h"

/* The newest comes first. */
struct kcpc_image {
	struct kcpc_image *im_next;
	unsigned im_number;
	struct cpc_profile_image im_is;
};

_Static_assert(CPC_PROFILE_NAME == PROC_NAME_MAX, "a process's name");

unsigned
kcpc_image_of(
    struct kcpc_image **list, struct cpc_profile_image is, const char *path)
{
	struct kcpc_image *im;

	strlcpy(is.ci_path, path, sizeof is.ci_path);
	for (im = *list; im != NULL; im = im->im_next) {
		if (memcmp(&im->im_is, &is, sizeof is) == 0)
			return im->im_number;
	}
	if ((*list != NULL && (*list)->im_number + 1 == CPC_PROFILE_NO_IMAGE) ||
	    (im = kmalloc(sizeof *im)) == NULL)
		return CPC_PROFILE_NO_IMAGE;
	im->im_number = *list != NULL ? (*list)->im_number + 1 : 0;
	im->im_is = is;
	im->im_next = *list;
	*list = im;
	return im->im_number;
}

int
kcpc_image_get(const struct kcpc_image *im, uintptr_t n, uintptr_t uva)
{
	while (im != NULL && im->im_number != n)
		im = im->im_next;
	return im != NULL ? copyout(uva, &im->im_is, sizeof im->im_is) : ENOENT;
}

void
kcpc_image_free_all(struct kcpc_image *list)
{
	struct kcpc_image *im;

	while ((im = list) != NULL) {
		list = im->im_next;
		kfree(im);
	}
}
