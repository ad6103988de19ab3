/*
 * The list of programs that a profile has counted, by number.  Included by
 * kern/cpc/profile/profile.c.
 */
#ifndef KERN_CPC_PROFILE_PROGRAM_H
#define KERN_CPC_PROFILE_PROGRAM_H

#include <stdint.h>

struct proc;
struct kcpc_image;

/*
 * The number of the process's program in the list; adds the program if it is
 * new.  CPC_PROFILE_NO_IMAGE if there is no memory or no number left for it.
 */
unsigned kcpc_image_of(struct kcpc_image **list, const struct proc *p);
/* Copy program n to user memory.  0, ENOENT past the last, or EFAULT. */
int kcpc_image_get(const struct kcpc_image *list, uintptr_t n, uintptr_t uva);
void kcpc_image_free_all(struct kcpc_image *list);

#endif /* KERN_CPC_PROFILE_PROGRAM_H */
