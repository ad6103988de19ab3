/*
 * Ten programs whose work depends on nothing around them, for
 * tests/cli/count/callgrind.py.
 *
 *     ten NAME
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 20000

static uint32_t state = 1;

static uint32_t
next_random(void)
{
	state = state * 1664525 + 1013904223;
	return state;
}

static int
compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint64_t
nothing(void)
{
	return 0;
}

static uint64_t
sort(void)
{
	static uint32_t v[N];

	for (int i = 0; i < N; i++)
		v[i] = next_random();
	qsort(v, N, sizeof v[0], compare);
	return v[N / 2];
}

static uint64_t
sieve(void)
{
	static char composite[10 * N];
	uint64_t primes = 0;

	for (long i = 2; i < 10 * N; i++) {
		primes += !composite[i];
		for (long j = i * i; !composite[i] && j < 10 * N; j += i)
			composite[j] = 1;
	}
	return primes;
}

static uint64_t
fibonacci(uint64_t n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static uint64_t
recursion(void)
{
	return fibonacci(22);
}

static uint64_t
matrix(void)
{
	static double a[64][64], b[64][64], c[64][64];

	for (int i = 0; i < 64 * 64; i++) {
		a[i / 64][i % 64] = i % 7;
		b[i / 64][i % 64] = i % 5;
	}
	for (int i = 0; i < 64; i++) {
		for (int j = 0; j < 64; j++) {
			for (int k = 0; k < 64; k++)
				c[i][j] += a[i][k] * b[k][j];
		}
	}
	return (uint64_t)c[63][63];
}

static uint64_t
sines(void)
{
	double sum = 0;

	for (int i = 0; i < N; i++)
		sum += sin(i) * exp(-i / 1000.0);
	return (uint64_t)(1e9 * sum);
}

static uint64_t
copies(void)
{
	static char from[N], to[N];

	for (int i = 0; i < 100; i++) {
		memset(from, i, N);
		memcpy(to, from, N);
	}
	return (uint64_t)to[N - 1];
}

static uint64_t
words(void)
{
	char text[64];
	uint64_t sum = 0;

	for (int i = 0; i < N / 10; i++) {
		snprintf(text, sizeof text, "%d words and %f", i, i / 3.0);
		sum += strlen(text) + (uint64_t)strtol(text, NULL, 10);
	}
	return sum;
}

static uint64_t
heap(void)
{
	static void *kept[256];
	uint64_t sum = 0;

	for (int i = 0; i < N; i++) {
		void **slot = &kept[next_random() >> 24];

		sum += *slot != NULL;
		free(*slot);
		*slot = malloc(16 + (next_random() >> 22));
	}
	return sum;
}

static uint64_t
hash(void)
{
	uint64_t h = 14695981039346656037ULL;

	for (int i = 0; i < 10 * N; i++)
		h = (h ^ (next_random() >> 24)) * 1099511628211ULL;
	return h;
}

static const struct {
	const char *name;
	uint64_t (*run)(void);
} programs[] = {
	{ "nothing", nothing },
	{ "sort", sort },
	{ "sieve", sieve },
	{ "recursion", recursion },
	{ "matrix", matrix },
	{ "sines", sines },
	{ "copies", copies },
	{ "words", words },
	{ "heap", heap },
	{ "hash", hash },
};

int
main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
		if (argc == 2 && strcmp(argv[1], programs[i].name) == 0) {
			printf("%llx\n", (unsigned long long)programs[i].run());
			return 0;
		}
	}
	return 2;
}
