/* LWPs that spin: start them, ask on which CPU one runs, and end them. */
#define _GNU_SOURCE /* sched_getcpu() */
#include "tests/lib/image/crowd.h"

#include <payload.h>
#include <sched.h>
#include <signal.h>
#include <sys/processor.h>
#include <time.h>

#include "tests/lib/image/test.h"

unsigned
crowd_ncpu(void)
{
	struct barecpc_stat st;

	return payload_stat(&st) == 0 ? st.bs_cpus : 1;
}

void
crowd_bind_self(int cpu)
{
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, cpu, NULL), 0);
}

int64_t
crowd_now_us(void)
{
	return test_now_ns() / 1000;
}

void
crowd_sleep_us(int64_t us)
{
	struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	while (nanosleep(&ts, &ts) != 0)
		;
}

int64_t
crowd_worst_late_us(int64_t us)
{
	int64_t due, late, worst = 0;

	for (int i = 0; i < 10; i++) {
		due = crowd_now_us() + us;
		crowd_sleep_us(us);
		if ((late = crowd_now_us() - due) > worst)
			worst = late;
	}
	return worst;
}

#define WHERE_ASKED (-1)

static struct crowd *current;

static void *
spin_until_end(void *arg)
{
	struct crowd_lwp *l = arg;
	struct crowd *c = current;

	if (l->cpu >= 0)
		crowd_bind_self(l->cpu);
	while (!c->end) {
		if (l->on == WHERE_ASKED)
			l->on = sched_getcpu();
		l->rounds++;
	}
	return NULL;
}

void
crowd_add(struct crowd *c, int cpu)
{
	struct crowd_lwp *l = &c->lwp[c->n];
	sigset_t set, old;
	bool made;

	*l = (struct crowd_lwp){ .cpu = cpu };
	current = c;
	sigfillset(&set);
	pthread_sigmask(SIG_SETMASK, &set, &old);
	made = EXPECT_EQ(pthread_create(&l->t, NULL, spin_until_end, l), 0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!made)
		return;
	c->n++;
	while (l->rounds == 0)
		crowd_sleep_us(100);
}

int
crowd_where(struct crowd *c, unsigned i)
{
	struct crowd_lwp *l = &c->lwp[i];

	l->on = WHERE_ASKED;
	while (l->on == WHERE_ASKED)
		crowd_sleep_us(SLICE_US);
	return l->on;
}

void
crowd_start(struct crowd *c, unsigned n, int cpu)
{
	c->n = 0;
	c->end = false;
	while (n-- > 0)
		crowd_add(c, cpu);
}

void
crowd_end(struct crowd *c)
{
	c->end = true;
	for (unsigned i = 0; i < c->n; i++)
		EXPECT_EQ(pthread_join(c->lwp[i].t, NULL), 0);
}
