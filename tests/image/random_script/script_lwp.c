/* Turns an op into a clone(2) that starts an LWP. */
#define _GNU_SOURCE /* CLONE_* */
#include "tests/image/random_script/script.h"

#include <sched.h>
#include <sys/barecpc.h>
#include <sys/cpc.h>
#include <sys/syscall.h>

#define LWP                                                                    \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |    \
	    CLONE_SYSVSEM | CLONE_CHILD_CLEARTID)

const long script_calls[3] = { BARECPC_SYS_CPC, CPC_OP_RESTART,
	SYS_rt_sigreturn };

void
script_lwp(struct op *op, const struct op *child, void *stack, int *alive)
{
	*alive = 1;
	op->op_arg[0] = LWP;
	op->op_arg[1] = (long)stack;
	/* The word to clear: the fourth on x86-64, the fifth on arm64. */
	op->op_arg[3] = op->op_arg[4] = (long)alive;
	op->op_zero = child;
}
