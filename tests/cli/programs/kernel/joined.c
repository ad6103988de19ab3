/*
 * The program of tests/cli/kernel/joined.sh.  Its first argument says what it
 * does:
 *
 *     lines N        write the lines 1 to N
 *     copy           copy stdin to stdout up to its end
 *     byte           read one byte of stdin, and end
 *     count TURNS    print the count of a known loop, and when the loop ran
 *     exit N         end with status N
 *     sleep          sleep for ever
 *     stop           send SIGTERM to the group of the line
 *     leave          leave a child that sleeps for ever
 */
#include <libcpc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../turns.h"

static void
sleep_for_ever(void)
{
	for (;;)
		pause();
}

static int
write_lines(long n)
{
	for (long i = 1; i <= n; i++)
		printf("%ld\n", i);
	return 0;
}

static int
copy_input(void)
{
	char bytes[1000];
	ssize_t n;

	while ((n = read(0, bytes, sizeof bytes)) > 0) {
		if (write(1, bytes, (size_t)n) != n)
			return 1;
	}
	return n != 0;
}

static uint64_t
sample(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	uint64_t count = 0;

	cpc_set_sample(cpc, set, buf);
	cpc_buf_get(cpc, buf, 0, &count);
	return count;
}

/* A loop of n turns.  In between, an emulator gives its CPUs long turns. */
static uint64_t __attribute__((noinline))
count_loop(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, long n)
{
	uint64_t before = sample(cpc, set, buf);

	for (int i = 0; i < 10; i++) {
		make_turns(n / 10);
		sched_yield();
	}
	return sample(cpc, set, buf) - before;
}

/* Two loops differ in nothing but turns, and a turn is two instructions. */
static int
count_turns(long n)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);
	hrtime_t from = gethrtime();

	if (cpc == NULL)
		return 77;
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_set_add_request(
	    cpc, set, "PAPI_tot_ins", 0, CPC_COUNT_USER, 0, NULL);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	if (cpc_bind_curlwp(cpc, set, 0) != 0)
		return 77;
	count_loop(cpc, set, buf, 10); /* a first sample is longer */
	uint64_t few = count_loop(cpc, set, buf, n);
	uint64_t many = count_loop(cpc, set, buf, 3 * n);
	printf("count %lld from %lld to %lld\n", (long long)(many - few),
	    (long long)from, (long long)gethrtime());
	return 0;
}

static int
leave_child(void)
{
	if (fork() == 0)
		sleep_for_ever();
	return 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;

	if (strcmp(what, "lines") == 0)
		return write_lines(n);
	if (strcmp(what, "copy") == 0)
		return copy_input();
	if (strcmp(what, "byte") == 0)
		return read(0, &what, 1) != 1;
	if (strcmp(what, "count") == 0)
		return count_turns(n);
	if (strcmp(what, "exit") == 0)
		return (int)n;
	if (strcmp(what, "sleep") == 0)
		sleep_for_ever();
	if (strcmp(what, "stop") == 0)
		return kill(0, SIGTERM);
	if (strcmp(what, "leave") == 0)
		return leave_child();
	return 99;
}
