/*
 * The word quiet=: hold the CPUs' clocks still for a run.  Included by
 * kern/main.c and kern/machine.c.
 */
#ifndef KERN_QUIET_H
#define KERN_QUIET_H

struct text; /* lib/text.h */

/*
 * Apply the items (bits of QUIET_*) to all CPUs, and print a line.  Call it
 * after the PICs' proof, without the kernel lock.
 */
void quiet_start(unsigned items);
/* Restore what quiet_start() changed, and print a line.  Needs the lock. */
void quiet_end(void);
/* Append the member "quiet", and a comma; nothing without quiet=. */
void quiet_describe(struct text *t);

#endif /* KERN_QUIET_H */
