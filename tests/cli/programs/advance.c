/*
 * A program that makes the software PMU count, for
 * tests/cli/tools/profile_program.py.
 *
 *     advance TIMES INSTRUCTIONS
 *
 * It says TIMES times that so many instructions retired.
 */
#include <stdlib.h>
#include <sys/cpc.h>

int
main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	for (long i = 0; i < atol(argv[1]); i++)
		cpc_syscall(CPC_OP_ADVANCE, strtoul(argv[2], NULL, 0),
		    CPC_COUNT_USER, 0, 0);
	return 0;
}
