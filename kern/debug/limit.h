/*
 * A limit on the length of an entry to the kernel: kernel_limit= on the command
 * line.  Included by kern/main.c.
 *
 * The limit is a number of instructions, and more for each page that the entry
 * works on.  It needs one CPU and an emulator with -icount, whose clock counts
 * instructions.  kern/sched/xcall.h says what an entry is.
 */
#ifndef KERN_DEBUG_LIMIT_H
#define KERN_DEBUG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Limit each entry to `instructions`, and `each` more for each page.  Returns
 * false, and prints why, if the machine has several CPUs.
 */
bool limit_init(uint64_t instructions, uint64_t each);

/* Print the longest entry.  Called at the end of the run. */
void limit_print(void);

#endif /* KERN_DEBUG_LIMIT_H */
