/* A script: calls with loops between, of which each instruction is known. */
#pragma once

/*
 * One system call and the loop after it.  The offsets of the members are also
 * in script.S.
 *
 * The next op is the one after this in memory, or op_zero if the call's result
 * is 0.  So a clone(2) leads the new LWP to its own script.  Both ways take the
 * same instructions.
 */
struct op {
	long op_sysno; /* -1: the end */
	long op_arg[6];
	long *op_result;        /* receives the result, or -errno */
	unsigned long op_spins; /* at least 1 */
	const struct op *op_zero;
};

void script_run(const struct op *script);

/*
 * Make the op a clone(2) whose new LWP continues at `child`, on the stack that
 * ends at `stack`, and clears *alive when it ends.  The new LWP stores the same
 * result in the same place as its creator, and runs the same loop.
 */
void script_lwp(struct op *op, const struct op *child, void *stack, int *alive);
/* Operations of futex(2): the C library lacks Linux's header. */
#define SCRIPT_FUTEX_WAIT 0
#define SCRIPT_FUTEX_WAKE 1

/* Instructions of an op up to its call; after it, without spins. */
extern const unsigned long script_before, script_after;
#define SCRIPT_SPIN 2

/*
 * Handlers of signals.  The first restarts the LWP's set by a system call and
 * continues as the second, which returns by another.  C code never calls them.
 */
void script_restarting(int sig);
void script_returning(int sig);
/* Instructions of the first up to and including its call, and of the second. */
extern const unsigned long script_restart, script_return;
/* Number and operation of the first system call, number of the second. */
extern const long script_calls[3];
