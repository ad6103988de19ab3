/*
 * Cross-calls: one CPU makes another CPU run a function.  And what
 * kernel_limit= needs of each entry.  Included by kern/.
 *
 * The caller holds the kernel lock while it waits.  The other CPU is in user
 * code, idle, or already waiting for the lock.  An interrupt brings it to the
 * lock, and there it runs the function while it waits (kernel_lock_wait()).  So
 * the two CPUs never wait for each other.  A payload at system privilege that
 * masks interrupts delays the caller.
 */
#pragma once

#include <stdbool.h>

struct cpu;
struct lwp;

/*
 * Run fn(arg) on another CPU c, and return when it is done.  fn runs as if it
 * held the kernel lock, and must not sleep.
 */
void xcall(struct cpu *c, void (*fn)(void *), void *arg);
/* The same in two parts.  With `again`, fn(arg) repeats until xcall_end(). */
void xcall_start(struct cpu *c, void (*fn)(void *), void *arg, bool again);
void xcall_end(void);

/*
 * Calls at the begin and end of each entry to the kernel, for kernel_limit= on
 * the command line.
 *
 * An entry begins at a trap.  It ends on the way back to the payload, at a
 * switch, or when the CPU becomes idle.  The kernel takes no interrupt in it.
 *
 * The hot paths do not test for kernel_limit=.  Three tricks lead them to
 * their slow paths, which do:
 * - The kernel lock stays taken while a payload runs or the CPU idles.  So a
 *   trap finds it taken, and calls kernel_lock_wait().
 * - AST_WATCH stays set in the LWP, so the way back calls trap_return().
 * - c_zombie of the CPU points to a dummy LWP, so each switch calls switched().
 */
struct entry_watch {
	void (*enter)(void); /* an entry begins; it holds the kernel lock */
	void (*leave)(struct lwp *l); /* it ends; the payload of l goes on */
	void (*switched)(void); /* it ended at a switch, and another begins */
	struct lwp *left;       /* the dummy LWP */
};

/* NULL without kernel_limit=. */
extern const struct entry_watch *entry_watch;
