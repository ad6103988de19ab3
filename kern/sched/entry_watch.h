/*
 * What is told of entries to the kernel, with kernel_limit= on the command
 * line.  Included by kern/.
 *
 * An entry lasts from the way in to the way back, to a switch, or to idle; no
 * interrupt is taken within.
 *
 * Without the word none of this costs an instruction where time matters.  With
 * it the kernel lock stays taken while a payload runs or the CPU idles, so that
 * the way in finds it so, and AST_WATCH stays set, so that the way back comes
 * by trap_return().  A dummy that seems to have been left makes every switch
 * call switched().
 */
#ifndef KERN_SCHED_ENTRY_WATCH_H
#define KERN_SCHED_ENTRY_WATCH_H

struct lwp;

struct entry_watch {
	void (*enter)(void); /* an entry begins, and holds the kernel lock */
	void (*leave)(struct lwp *l); /* it ends in the payload of l */
	/* It has ended in a switch or in idle, and another goes on. */
	void (*switched)(void);
	struct lwp *left; /* the dummy, for c_left */
};

/* NULL without the word; kern/sched/xcall.c. */
extern const struct entry_watch *entry_watch;

#endif /* KERN_SCHED_ENTRY_WATCH_H */
