/*
 * How long one entry to the kernel may take, with kernel_limit= on the command
 * line.  Included by kern/main.c.
 *
 * On one CPU, under -icount, where virtual time is instructions, an entry may
 * take so many, and more for each page it works on.  kern/sched/entry_watch.h
 * says what an entry is.
 */
#ifndef KERN_SYS_LIMIT_H
#define KERN_SYS_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Watch from now on: instructions at most, and more for each page.  False, and
 * a line that says why, where there are several CPUs.
 */
bool limit_init(uint64_t instructions, uint64_t each);

/* At the end of the run: the dearest entry. */
void limit_print(void);

#endif /* KERN_SYS_LIMIT_H */
