/*
 * The system calls that create LWPs and processes.  Included by
 * kern/proc/fork.c.
 */
#ifndef KERN_PROC_FORK_H
#define KERN_PROC_FORK_H

#include <stdint.h>

intptr_t sys_clone(const uintptr_t *a);
/* The same with the last two arguments in the other order. */
intptr_t sys_clone_backwards(const uintptr_t *a);
intptr_t sys_fork(const uintptr_t *a);
intptr_t sys_vfork(const uintptr_t *a);

#endif /* KERN_PROC_FORK_H */
