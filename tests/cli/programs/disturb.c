/*
 * disturb [options] HOW RUN: a benchmark of which one run is disturbed.  It has
 * one warm-up.
 *
 * With `none` nothing happens.  With `timer` a timer expires in the middle of
 * the run.  With `nmi` the run lasts until its CPU has taken an NMI, with
 * `error` until it has found an error that hardware corrected.  With `fourth` a
 * timer expires if the process number is a multiple of 4.
 *
 * RUN counts measured runs from 1.  A timer is started outside of the measured
 * window.
 */
#include <bench.h>
#include <payload.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define ITERATIONS 100000 /* 200 us, at an instruction each nanosecond */
#define EXPIRES_US 100

static struct disturb {
	const char *how;
	unsigned run; /* the disturbed one, from 1, warm-ups included */
	unsigned done;
	bool waits;
} disturb;

static void
spin(void)
{
	for (uint64_t i = 0; i < ITERATIONS; i++)
		bench_clobber_memory();
}

/* NMIs, or errors. */
static uint64_t
events(const struct disturb *d)
{
	struct barecpc_interrupts by = { 0 };

	payload_interrupts(&by);
	return strcmp(d->how, "nmi") == 0 ? by.by_nmis : by.by_errors;
}

static void
body(struct disturb *d)
{
	spin();
	if (!d->waits)
		return;
	d->waits = false;
	uint64_t before = events(d);
	puts("ready"); /* an event that came before would be missed */
	fflush(stdout);
	while (events(d) == before)
		spin();
}

static void
start_timer(void)
{
	struct itimerval it = { .it_value = { 0, EXPIRES_US } };

	setitimer(ITIMER_REAL, &it, NULL);
}

static void
prepare(struct disturb *d)
{
	if (d->done + 1 != d->run)
		return;
	if (strcmp(d->how, "timer") == 0)
		start_timer();
	d->waits = strcmp(d->how, "nmi") == 0 || strcmp(d->how, "error") == 0;
}

/* Called after each run. */
static bool
verify(void *arg)
{
	struct disturb *d = arg;

	d->done++;
	prepare(d);
	return true;
}

BENCH(disturb)
{
	bench_verify(b, verify, &disturb);
	prepare(&disturb);
	BENCH_LOOP(b)
		body(&disturb);
	bench_set_items(b, ITERATIONS);
}

int
main(int argc, char **argv)
{
	struct disturb *d = &disturb;

	if (argc < 3)
		return 2;
	d->how = argv[argc - 2];
	d->run = 1 + (unsigned)atoi(argv[argc - 1]);
	argv[argc - 2] = NULL;
	signal(SIGALRM, SIG_IGN);
	if (strcmp(d->how, "fourth") == 0 && getpid() % 4 == 0)
		start_timer();
	return bench_main(argc - 2, argv);
}
