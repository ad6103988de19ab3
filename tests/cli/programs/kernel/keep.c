/* Have the kernel keep things, one for each argument (BARECPC_TEST_KEEP). */
#include <stdlib.h>
#include <sys/barecpc.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (syscall(BARECPC_SYS_TEST, BARECPC_TEST_KEEP,
			atol(argv[i])) != 0)
			return 1;
	}
	return 0;
}
