/*
 * What is said when a payload goes wrong.  Included by kern/.
 */
#ifndef KERN_PROC_FAULT_H
#define KERN_PROC_FAULT_H

#include <stddef.h>
#include <stdint.h>

struct proc;
struct trapframe;

/* "0x401234 (main+0x14)", or without a name where there is none. */
#define FAULT_WHERE_MAX 112
void fault_where(const struct proc *p, uintptr_t pc, char *buf, size_t len);
/* The system call tf met a bad pointer, the first one in its process. */
void fault_hostile_pointer(const struct trapframe *tf, uintptr_t uva);

#endif /* KERN_PROC_FAULT_H */
