/* An ordinary program: prints words, environment, a float; exits as told. */
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
