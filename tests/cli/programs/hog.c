/*
 * A program that takes all memory, and then makes turns, for
 * tests/cli/tools/stat_program.sh.
 *
 *     hog TURNS
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "turns.h"

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (size_t bytes = 1 << 20; bytes >= 4096; bytes /= 2) {
		while (mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
			;
	}
	make_turns(atol(argv[1]));
	return 0;
}
