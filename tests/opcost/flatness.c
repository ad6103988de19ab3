/*
 * `opcost flat`: the cost of operations while more and more other objects
 * exist.  The objects are of three kinds.  LWPs count, and each waits for its
 * own futex and timeout.  Handles have a set and a buffer each.  Sets belong
 * to one handle.
 *
 * All LWPs are on one CPU; other CPUs are idle.
 */
#include "tests/opcost/opcost.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "payloads/common/usage.h"

#define MAX   1000
#define STACK 16384
#define NREQS 4 /* requests of every set */

/* futex(2) */
#define WAIT 128 /* FUTEX_WAIT, private */
#define WAKE 129

static cpc_t *cpc;
static cpc_set_t *shared; /* every other LWP has this set bound */
static int word[MAX], pair, nwaiting;
static pthread_t waiter[MAX], partner;
static cpc_t *handles[MAX];
static cpc_set_t *sets[MAX];
static int self;

static void *
wait_long(void *arg)
{
	int *w = arg;
	long i = w - word;
	const struct timespec long_time = { 3600 + i, 0 };

	cost_bind(cpc, i % 2 == 0 ? sets[i] : shared);
	nwaiting++; /* no race: all LWPs are on one CPU, and do not wait here */
	while (*(volatile int *)w == 0)
		syscall(SYS_futex, w, WAIT, 0, &long_time);
	return NULL;
}

/* The partner of wake_and_wait(): waits, then wakes.  Ends when pair is 2. */
static void *
answer_wake(void *arg)
{
	const struct timespec second = { 1, 0 };

	while (*(volatile int *)&pair != 2) {
		syscall(SYS_futex, &pair, WAIT, 0, &second);
		syscall(SYS_futex, &pair, WAKE, 1);
	}
	return arg;
}

static pthread_t
start_lwp(void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t t;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	if ((err = pthread_create(&t, &attr, fn, arg)) != 0)
		fail(1, "an LWP: %s", strerror(err));
	pthread_attr_destroy(&attr);
	return t;
}

static void
null_call(void)
{
	getpid();
}

static void
find_lwp(void)
{
	syscall(SYS_tkill, self, 0);
}

static void
find_process(void)
{
	kill(self, 0);
}

static void
wake_no_waiter(void)
{
	syscall(SYS_futex, &self, WAKE, 1);
}

/* Wake the partner and wait for it, both with a time limit. */
static void
wake_and_wait(void)
{
	const struct timespec second = { 1, 0 };

	syscall(SYS_futex, &pair, WAKE, 1);
	syscall(SYS_futex, &pair, WAIT, 0, &second);
}

/* Print the costs of operations that find LWPs, processes and timers. */
static void
rows_of_lwps(void)
{
	cost_row("find LWP", 0, cost_of(find_lwp));
	cost_row("find process", 0, cost_of(find_process));
	cost_row("wake no waiter", 0, cost_of(wake_no_waiter));
	cost_row("wake and wait", 0, cost_of(wake_and_wait));
}

static void
add_lwp(int i)
{
	sets[i] = cost_set(cpc, NREQS);
	waiter[i] = start_lwp(wait_long, &word[i]);
}

static void
remove_lwp(int i)
{
	word[i] = 1;
	syscall(SYS_futex, &word[i], WAKE, 1);
	pthread_join(waiter[i], NULL);
	cpc_set_destroy(cpc, sets[i]);
}

/* Yield until all n LWPs have counted themselves, then until they wait. */
static void
wait_for_all(int n)
{
	while (*(volatile int *)&nwaiting < n)
		sched_yield();
	sched_yield();
}

static void
add_handle(int i)
{
	if ((handles[i] = cpc_open(CPC_VER_CURRENT)) == NULL)
		fail(1, "a handle: %s", strerror(errno));
	if (cpc_buf_create(handles[i], cost_set(handles[i], NREQS)) == NULL)
		fail(1, "a buffer: %s", strerror(errno));
}

static void
remove_handle(int i)
{
	cpc_close(handles[i]);
}

static void
add_set(int i)
{
	sets[i] = cost_set(cpc, NREQS);
	if (cpc_buf_create(cpc, sets[i]) == NULL)
		fail(1, "a buffer: %s", strerror(errno));
}

static void
remove_set(int i)
{
	cpc_set_destroy(cpc, sets[i]);
}

/*
 * The kinds of other objects.  settle() waits until n of them are ready. rows()
 * prints the costs that matter for this kind.  Both may be NULL.
 */
static const struct others {
	const char *name;
	void (*add)(int i), (*remove)(int i);
	void (*settle)(int n);
	void (*rows)(void);
} others[] = {
	{ "LWPs", add_lwp, remove_lwp, wait_for_all, rows_of_lwps },
	{ "handles", add_handle, remove_handle, NULL, NULL },
	{ "sets", add_set, remove_set, NULL, NULL },
};

static void
flat_with(const struct others *o)
{
	static const int steps[] = { 1, 10, 100, MAX };
	int n = 0;

	for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
		for (; n < steps[i]; n++)
			o->add(n);
		if (o->settle != NULL)
			o->settle(n);
		cost_others(o->name, n);
		cost_row("null call", 0, cost_of(null_call));
		if (o->rows != NULL)
			o->rows();
		cost_switch("switch, no set", NULL, NULL, 0);
		cost_window(cpc);
		cost_counting(cpc, NREQS);
	}
	while (n-- > 0)
		o->remove(n);
}

int
cost_flat(void)
{
	self = getpid();
	if (processor_bind(P_PID, P_MYID, 0, NULL) == -1)
		fail(1, "CPU 0: %s", strerror(errno));
	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		fail(1, "cpc_open: %s", strerror(errno));
	shared = cost_set(cpc, NREQS);
	partner = start_lwp(answer_wake, NULL);
	printf("%-15s %-8s %4s %6s\n", "operation", "others", "n", "cost");
	for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
		flat_with(&others[i]);
	pair = 2;
	syscall(SYS_futex, &pair, WAKE, 1);
	pthread_join(partner, NULL);
	cpc_close(cpc);
	return 0;
}
