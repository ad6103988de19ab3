/*
 * Text about the faults of payloads.  Included by kern/proc and kern/sys.
 */
#ifndef KERN_PROC_FAULT_H
#define KERN_PROC_FAULT_H

#include <stddef.h>
#include <stdint.h>

struct proc;
struct trapframe;

/* Write "0x401234 (main+0x14)", or only the address if it has no symbol. */
#define FAULT_WHERE_MAX 112
void fault_where(const struct proc *p, uintptr_t pc, char *buf, size_t len);

#endif /* KERN_PROC_FAULT_H */
