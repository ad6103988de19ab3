/*
 * disturb [options] HOW RUN: a benchmark of which one run is disturbed.
 *
 * With `none` nothing happens.  With `timer` a timer expires in the middle of
 * the run.  With `nmi` the run lasts until its CPU has taken an NMI.  With
 * `fourth` a timer expires if the process number is a multiple of 4.
 *
 * RUN counts measured runs from 1.  A timer is started outside of the measured
 * window.
 */
#include <payload.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "payloads/common/measure.h"
#include "payloads/common/usage.h"

#define ITERATIONS 100000 /* 200 us, at an instruction each nanosecond */
#define EXPIRES_US 100

void spin_loop(uint64_t iterations);

struct disturb {
	const char *how;
	unsigned run; /* the disturbed one, from 1, warm-ups included */
	unsigned done;
	bool wait_nmi;
};

static uint64_t
nmis(void)
{
	struct barecpc_interrupts by = { 0 };

	payload_interrupts(&by);
	return by.by_nmis;
}

static void
body(void *arg)
{
	struct disturb *d = arg;
	uint64_t before;

	spin_loop(ITERATIONS);
	if (!d->wait_nmi)
		return;
	d->wait_nmi = false;
	before = nmis();
	puts("ready"); /* an NMI that came before would be missed */
	fflush(stdout);
	while (nmis() == before)
		spin_loop(ITERATIONS);
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
	d->wait_nmi = strcmp(d->how, "nmi") == 0;
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

int
main(int argc, char **argv)
{
	struct disturb d = { 0 };
	struct work w = { "disturb", body, &d, ITERATIONS, verify };
	struct options o;
	struct meter m;
	bool right;

	options_parse(&o, argc, argv, "how run", "PAPI_tot_ins");
	if (argc - optind != 2)
		usage_mistake("how and run are wanted");
	d.how = argv[optind];
	d.run = o.o_warmups + (unsigned)atoi(argv[optind + 1]);
	signal(SIGALRM, SIG_IGN);
	if (strcmp(d.how, "fourth") == 0 && getpid() % 4 == 0)
		start_timer();
	meter_open(&m);
	prepare(&d);
	right = measure(&o, &m, &w);
	meter_close(&m);
	report_last_lines();
	return right ? 0 : 1;
}
