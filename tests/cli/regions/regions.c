/* Regions of known length: nested, repeated, in two LWPs, wrong, forked. */
#include <errno.h>
#include <pthread.h>
#include <region.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../programs/turns.h"

/* Thrice n turns, the second in the inner region; no copy for a constant n. */
static void __attribute__((noipa)) nest(long n)
{
	REGION_BEGIN("outer");
	make_turns(n);
	REGION_BEGIN("inner");
	make_turns(n);
	REGION_END("inner");
	make_turns(n);
	REGION_END("outer");
}

static void *
thread(void *arg)
{
	for (int i = 0; i < 3; i++)
		nest(*(long *)arg);
	return NULL;
}

/* Each mistake is made twice, and printed once. */
static void
make_mistakes(void)
{
	struct region_sums rs;

	for (int i = 0; i < 2; i++) {
		region_begin("twice");
		if (region_begin("twice") != -1 || errno != EINVAL)
			puts("begun twice");
		region_end("twice");
		if (region_end("twice") != -1 || errno != EINVAL)
			puts("ended twice");
	}
	if (region_end("unknown") != -1 || errno != EINVAL)
		puts("an unknown region ended");
	if (region_read("unknown", &rs) != -1 || errno != EINVAL)
		puts("an unknown region was read");
}

/* Regions that overlap, and the sums while they have not ended. */
static void
read_sums(void)
{
	struct region_sums a, b;

	region_begin("a");
	make_turns(100);
	region_begin("b");
	make_turns(100);
	region_read("b", &b);
	region_end("a");
	make_turns(100);
	region_read("a", &a);
	printf("a less b: %lld\n", (long long)(a.rs_count[0] - b.rs_count[0]));
	region_end("b");
	region_reset("a");
	region_read("a", &a);
	if (a.rs_count[0] != 0 || a.rs_times != 0)
		puts("reset is not 0");
}

/* A child has the parent's regions, and must not report them again. */
static void
end_child(void)
{
	fflush(stdout);
	if (fork() == 0)
		exit(0);
	wait(NULL);
}

int
main(void)
{
	long n = 2000;
	pthread_t t;

	nest(1000);
	pthread_create(&t, NULL, thread, &n);
	pthread_join(t, NULL);
	make_mistakes();
	read_sums();
	end_child();
	region_begin("open");
	return 0;
}
