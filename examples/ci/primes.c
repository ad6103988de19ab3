/* A program that knows nothing of counters: `barecpc stat` counts it. */
#include <stdbool.h>
#include <stdio.h>

#define N 10000

int
main(void)
{
	static bool composite[N];
	int primes = 0;

	for (int i = 2; i < N; i++) {
		primes += !composite[i];
		for (int k = 2 * i; k < N; k += i)
			composite[k] = true;
	}
	printf("%d primes\n", primes);
	return 0;
}
