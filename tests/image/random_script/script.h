/*
 * A script: system calls with loops between them, run by so few lines of
 * assembly that every instruction of it is known beforehand.  Included by
 * tests that compare counts with what must have been run.
 */
#ifndef TESTS_IMAGE_RANDOM_SCRIPT_SCRIPT_H
#define TESTS_IMAGE_RANDOM_SCRIPT_SCRIPT_H

/*
 * One call, and a loop behind it.  script.S knows where the members lie.
 *
 * What comes next is the op behind this one in memory, or op_zero if the
 * call's result is 0: so a clone goes its own way.  Either costs the same.
 */
struct op {
	long op_sysno; /* -1: the end */
	long op_arg[6];
	long *op_result;        /* gets -errno, too */
	unsigned long op_spins; /* at least 1 */
	const struct op *op_zero;
};

void script_run(const struct op *script);

/*
 * Let the op, a clone(2), start an LWP that goes on at `child`, with that top
 * of a stack, and clears *alive when it ends.  It stores the same result,
 * where its creator does, and loops as long.
 */
void script_lwp(struct op *op, const struct op *child, void *stack, int *alive);
/* futex(2)'s operations; Linux's own header is not the C library's. */
#define SCRIPT_FUTEX_WAIT 0
#define SCRIPT_FUTEX_WAKE 1

/*
 * Instructions of an op: up to its system call, that included; and behind
 * it, beside two for each spin.
 */
extern const unsigned long script_before, script_after;
#define SCRIPT_SPIN 2

/*
 * Handlers of signals: one that restarts the LWP's set, by a system call, and
 * then does as the other, which returns by one.  They are never called.
 */
void script_restarting(int sig);
void script_returning(int sig);
/* Instructions of the first up to its call, and of the second. */
extern const unsigned long script_restart, script_return;
/* Number and operation of the one call, number of the other. */
extern const long script_calls[3];

#endif /* TESTS_IMAGE_RANDOM_SCRIPT_SCRIPT_H */
