/*
 * Calls at the begin and end of each entry to the kernel, for kernel_limit= on
 * the command line.  Included by kern/.
 *
 * An entry begins at a trap.  It ends on the way back to the payload, at a
 * switch, or when the CPU becomes idle.  The kernel takes no interrupt in it.
 *
 * The hot paths do not test for kernel_limit=.  Three tricks lead them to
 * their slow paths, which do:
 * - The kernel lock stays taken while a payload runs or the CPU idles.  So a
 *   trap finds it taken, and calls kernel_lock_wait().
 * - AST_WATCH stays set in the LWP, so the way back calls trap_return().
 * - c_left of the CPU points to a dummy LWP, so each switch calls switched().
 */
#ifndef KERN_SCHED_ENTRY_WATCH_H
#define KERN_SCHED_ENTRY_WATCH_H

struct lwp;

struct entry_watch {
	void (*enter)(void); /* an entry begins; it holds the kernel lock */
	void (*leave)(struct lwp *l); /* it ends; the payload of l goes on */
	void (*switched)(void); /* it ended at a switch, and another begins */
	struct lwp *left;       /* the dummy LWP */
};

/* NULL without kernel_limit=.  Defined in kern/sched/xcall.c. */
extern const struct entry_watch *entry_watch;

#endif /* KERN_SCHED_ENTRY_WATCH_H */
