/*
 * An ordinary program: prints its arguments, an environment variable and a
 * floating point number.  Its argument is its exit status.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
	const char *v = getenv("HELLO");

	for (int i = 0; i < argc; i++)
		printf("[%s]\n", argv[i]);
	printf("HELLO=%s %.6f\n", v != NULL ? v : "(none)", sqrt(argc));
	return argc > 1 ? atoi(argv[1]) : 0;
}
