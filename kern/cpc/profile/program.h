/*
 * The programs that a profile has met, by number.  Included by
 * kcpc_profile.c.
 */
#ifndef KERN_CPC_PROFILE_PROGRAM_H
#define KERN_CPC_PROFILE_PROGRAM_H

#include <stdint.h>

struct proc;
struct kcpc_image;

/*
 * The number of the process's program in the list, into which it is put; that
 * of none, CPC_PROFILE_NO_IMAGE, where there is no memory for it.
 */
unsigned kcpc_image_of(struct kcpc_image **list, const struct proc *p);
/* The nth to user memory.  0, ENOENT past the last, or EFAULT. */
int kcpc_image_get(const struct kcpc_image *list, uintptr_t n, uintptr_t uva);
void kcpc_image_free_all(struct kcpc_image *list);

#endif /* KERN_CPC_PROFILE_PROGRAM_H */
