/*
 * The program that a child process of a mix executes.  It makes the same mix
 * and continues after the execve(2) of one of its LWPs.
 *
 *     mix_exec SEED NCPU LWP PIPE
 *
 * NCPU is the number of CPUs for which the mix was made.  Fewer may be online
 * now.
 */
#include <stdlib.h>

#include "tests/image/random_script/mix.h"

int
main(int argc, char **argv)
{
	struct mix_machine machine;
	const struct mix_lwp *l;
	static struct mix mix;

	if (argc != 5 || !mix_machine_learn(&machine))
		return 1;
	machine.mxm_ncpu = (unsigned)atoi(argv[2]);
	mix.mx_pipe[1] = atoi(argv[4]);
	mix_make(&mix, strtoull(argv[1], NULL, 0), &machine);
	l = &mix.mx_lwps[strtoul(argv[3], NULL, 0) % MIX_LWPS];
	script_run(&l->mxl_ops[l->mxl_exec.me_entry]); /* until its exit */
	return 1;
}
