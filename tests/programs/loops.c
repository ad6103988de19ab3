/* OpenMP: each schedule, a reduction, tasks, locks, a barrier; known sums. */
#include <omp.h>
#include <stdio.h>

#define N 20000

static long
fibonacci(int n)
{
	long a, b;

	if (n < 2)
		return n;
	if (n < 12)
		return fibonacci(n - 1) + fibonacci(n - 2);
#pragma omp task shared(a)
	a = fibonacci(n - 1);
#pragma omp task shared(b)
	b = fibonacci(n - 2);
#pragma omp taskwait
	return a + b;
}

static double x[N], y[N];

int
main(void)
{
	long sum = 0, ordered = 0, fib = 0;
	double dot = 0;
	int threads = 0, each[8] = { 0 };

#pragma omp parallel
#pragma omp single
	threads = omp_get_num_threads();
	printf("threads %d, CPUs %d\n", threads, omp_get_num_procs());

#pragma omp parallel for schedule(static) reduction(+ : sum)
	for (int i = 0; i < N; i++) {
		x[i] = i;
		y[i] = 2;
		sum += i;
	}
#pragma omp parallel for schedule(dynamic, 100) reduction(+ : dot)
	for (int i = 0; i < N; i++)
		dot += x[i] * y[i];
	printf("sum %ld, dot %.0f\n", sum, dot);

#pragma omp parallel for ordered schedule(guided)
	for (int i = 0; i < 100; i++) {
#pragma omp ordered
		ordered = ordered * 3 % 1000003 + i;
	}
	printf("ordered %ld\n", ordered);

#pragma omp parallel
#pragma omp single
	fib = fibonacci(18);
	printf("fibonacci %ld\n", fib);

	omp_lock_t lock;
	omp_init_lock(&lock);
#pragma omp parallel num_threads(8)
	{
		for (int i = 0; i < 100; i++) {
			omp_set_lock(&lock);
			each[omp_get_thread_num()]++;
			omp_unset_lock(&lock);
#pragma omp barrier
		}
	}
	printf("each %d %d\n", each[0], each[7]);
	printf("time passes: %d\n", omp_get_wtime() > 0);
	return 0;
}
