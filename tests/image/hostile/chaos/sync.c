/* Acts on locks, time, CPUs and registers. */
#include "tests/image/hostile/chaos/chaos.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT        0
#define WAKE        1
#define REQUEUE     3
#define CMP_REQUEUE 4

static long
futex(volatile int *word, int op, int value, const struct timespec *ts)
{
	return syscall(SYS_futex, word, op, value, ts);
}

/* A team of n LWPs: sums under a lock, a barrier, a condition variable. */
#define MEMBERS 4

struct team {
	volatile int go; /* the number of members, once all have started */
	unsigned rounds, sum, round, arrived;
	pthread_mutex_t lock;
	pthread_cond_t next;
};

static void
take_part(struct team *t, unsigned round)
{
	pthread_mutex_lock(&t->lock);
	t->sum++;
	if (++t->arrived == (unsigned)t->go) {
		t->arrived = 0;
		t->round++;
		pthread_cond_broadcast(&t->next);
	}
	while (t->round == round)
		pthread_cond_wait(&t->next, &t->lock);
	pthread_mutex_unlock(&t->lock);
}

static void *
run_member(void *arg)
{
	struct team *t = arg;

	chaos_self.chl_doing = "member of a team";
	chaos_self.chl_random = (uintptr_t)&t;
	while (t->go == 0)
		futex(&t->go, WAIT, 0, NULL);
	for (unsigned i = 0; i < t->rounds; i++) {
		take_part(t, i);
		if (chaos_one_in(4))
			sched_yield();
	}
	return NULL;
}

void
chaos_act_team(void)
{
	struct team t = { .rounds = (unsigned)chaos_below(20),
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.next = PTHREAD_COND_INITIALIZER };
	unsigned wanted = 1 + (unsigned)chaos_below(MEMBERS), n;
	pthread_t member[MEMBERS];

	for (n = 0; n < wanted; n++) {
		int err = pthread_create(&member[n], NULL, run_member, &t);

		if (err != 0 && CHAOS_EXPECT(err == EAGAIN))
			break;
	}
	t.go = (int)n;
	futex(&t.go, WAKE, MEMBERS, NULL);
	for (unsigned i = 0; i < n; i++)
		CHAOS_EXPECT(pthread_join(member[i], NULL) == 0);
	CHAOS_EXPECT(t.sum == n * t.rounds);
}

/* Futexes that all LWPs share: woken by another, or by the time limit. */
void
chaos_act_futex(void)
{
	static volatile int words[2];
	struct timespec moment = { 0, (long)chaos_below(50000) };
	volatile int *w = &words[chaos_below(2)], *other = &words[0];
	int seen = *w;
	long got;

	switch (chaos_below(4)) {
	case 0:
		got = futex(w, WAKE, (int)chaos_below(3), NULL);
		CHAOS_EXPECT(got >= 0);
		break;
	case 1:
		got = syscall(SYS_futex, w, REQUEUE, 1, 1, other, 0);
		CHAOS_EXPECT(got >= 0);
		break;
	case 2:
		got = syscall(SYS_futex, w, CMP_REQUEUE, 1, 2, other, seen);
		CHAOS_EXPECT(got >= 0 || errno == EAGAIN);
		break;
	default:
		got = futex(w, WAIT, seen, &moment);
		CHAOS_EXPECT(got == 0 || errno == EAGAIN ||
			     errno == ETIMEDOUT || errno == EINTR);
		break;
	}
	if (chaos_one_in(4))
		*w = seen + 1;
}

/* An LWP that sleeps until it is cancelled, or is detached and ends. */
static void *
sleep_for_ever(void *arg)
{
	struct timespec forever = { 1000, 0 };

	chaos_self.chl_doing = "waiting to be cancelled";
	while (nanosleep(&forever, NULL) != 0)
		;
	return arg;
}

static void *
yield_and_end(void *arg)
{
	(void)arg;
	sched_yield();
	return NULL;
}

void
chaos_act_cancel(void)
{
	void *how = NULL;
	pthread_t t;
	int err;

	if (chaos_one_in(3)) {
		err = pthread_create(&t, NULL, yield_and_end, NULL);
		if (err == 0)
			CHAOS_EXPECT(pthread_detach(t) == 0);
		return;
	}
	if ((err = pthread_create(&t, NULL, sleep_for_ever, NULL)) != 0) {
		CHAOS_EXPECT(err == EAGAIN);
		return;
	}
	if (chaos_one_in(2))
		sched_yield();
	CHAOS_EXPECT(pthread_cancel(t) == 0);
	CHAOS_EXPECT(pthread_join(t, &how) == 0);
	CHAOS_EXPECT(how == PTHREAD_CANCELED);
}

/* Clocks advance; a sleep lasts as asked, or reports the time left. */
void
chaos_act_clock(void)
{
	static const clockid_t clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC,
		CLOCK_BOOTTIME };
	struct timespec ts = { 0, (long)chaos_below(100000) }, left = ts;
	struct timespec before, after;
	clockid_t clock = clocks[chaos_below(3)];
	int64_t ns;

	CHAOS_EXPECT(clock_gettime(clock, &before) == 0);
	int err = clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &left);
	CHAOS_EXPECT(err == 0 || err == EINTR);
	CHAOS_EXPECT(clock_gettime(clock, &after) == 0);
	ns = (after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec -
	     before.tv_nsec;
	/* Each time may lack a tick of the clock, at most 16 ns. */
	CHAOS_EXPECT(ns >= ts.tv_nsec - (err != 0 ? left.tv_nsec : 0) - 32);
}

void
chaos_act_cpus(void)
{
	uint64_t set = chaos_below(1ULL << chaos.ch_cpus), back = 0;
	int cpu = (int)chaos_below((unsigned)chaos.ch_cpus + 1) - 1, was;
	unsigned here;

	switch (chaos_below(3)) {
	case 0:
		if (processor_bind(P_LWPID, P_MYID, cpu, &was) != 0) {
			CHAOS_EXPECT(errno == EINVAL); /* it is offline */
			break;
		}
		syscall(SYS_getcpu, &here, NULL, NULL);
		CHAOS_EXPECT(cpu == PBIND_NONE || here == (unsigned)cpu);
		if (chaos_one_in(2))
			processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL);
		break;
	case 1:
		if (syscall(SYS_sched_setaffinity, 0, sizeof set, &set) != 0)
			CHAOS_EXPECT(errno == EINVAL);
		break;
	default:
		CHAOS_EXPECT(syscall(SYS_sched_getaffinity, 0, sizeof back,
				 &back) == sizeof back);
		CHAOS_EXPECT(back != 0);
		break;
	}
	sched_yield();
}

/* tests/lib/image/ARCH/fpstate.S: fill registers, call, store them. */
extern const size_t fpstate_base_bytes;
void fpstate_base(
    const void *load, void *store, long number, const void *a, const void *b);
size_t fpstate_wide_bytes(void);
void fpstate_wide(
    const void *load, void *store, long number, const void *a, const void *b);

/* Registers survive a call, with handlers, other LWPs and other CPUs. */
void
chaos_act_registers(void)
{
	static _Thread_local unsigned char load[16384], store[16384];
	struct timespec moment = { 0, 1000 };
	size_t bytes = fpstate_wide_bytes();
	bool wide = bytes != 0 && chaos_one_in(2);
	long number = chaos_one_in(2) ? SYS_nanosleep : SYS_sched_yield;

	if (!wide)
		bytes = fpstate_base_bytes;
	for (size_t i = 0; i < bytes; i++)
		load[i] = (unsigned char)(i * 29 + i / 256 +
					  (uint64_t)chaos_self.chl_random);
	(wide ? fpstate_wide : fpstate_base)(
	    load, store, number, &moment, NULL);
	CHAOS_EXPECT(memcmp(load, store, bytes) == 0);
}
