/*
 * LWPs of the lowest class (FX of priocntl(2)) run only while their CPU has
 * nothing else to do.  On one CPU next to an LWP that spins they do not run at
 * all.  A CPU that runs one takes other work at once, as an idle one does.
 */
#include "tests/lib/image/crowd.h"
#include "tests/lib/image/test.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/priocntl.h>
#include <sys/processor.h>

TEST_KEEPS(64);

static volatile uint64_t soaked[8];
static volatile bool begun[8], end;

static bool
set_class(const char *name)
{
	pcinfo_t info;
	pcparms_t parms;

	memset(&info, 0, sizeof info);
	memset(&parms, 0, sizeof parms);
	strcpy(info.pc_clname, name);
	if (priocntl(P_LWPID, P_MYID, PC_GETCID, (void *)&info) == -1)
		return false;
	parms.pc_cid = info.pc_cid;
	return priocntl(P_LWPID, P_MYID, PC_SETPARMS, (void *)&parms) == 0;
}

struct soaker {
	pthread_t t;
	int cpu, n;
};

static void *
soak(void *arg)
{
	const struct soaker *s = arg;

	crowd_bind_self(s->cpu);
	EXPECT(set_class("FX"));
	begun[s->n] = true;
	while (!end)
		soaked[s->n] = soaked[s->n] + 1;
	return NULL;
}

static void
start_soaker(struct soaker *s, int n, int cpu)
{
	s->cpu = cpu;
	s->n = n;
	end = begun[n] = false;
	soaked[n] = 0;
	EXPECT_EQ(pthread_create(&s->t, NULL, soak, s), 0);
	while (!begun[n] || soaked[n] == 0)
		crowd_sleep_us(1000);
}

static void
end_soaker(struct soaker *s)
{
	end = true;
	EXPECT_EQ(pthread_join(s->t, NULL), 0);
}

static void
spin_us(int64_t us)
{
	int64_t until = crowd_now_us() + us;

	while (crowd_now_us() < until)
		;
}

TEST(it_runs_while_the_cpu_is_idle)
{
	struct soaker s;

	crowd_bind_self(0);
	start_soaker(&s, 0, 0);
	uint64_t before = soaked[0];
	crowd_sleep_us(20000);
	EXPECT(soaked[0] > before + 1000);
	end_soaker(&s);
	crowd_bind_self(PBIND_NONE);
}

/* This LWP spins for ten slices: the soaker gets none of them. */
TEST(it_does_not_run_next_to_work)
{
	struct soaker s;

	crowd_bind_self(0);
	start_soaker(&s, 0, 0);
	uint64_t before = soaked[0];
	spin_us(10 * SLICE_US);
	EXPECT_EQ(soaked[0] - before, 0);
	end_soaker(&s);
	crowd_bind_self(PBIND_NONE);
}

/* As late as without it, and no slice more (sched_wake.c). */
static bool
sleeps_end_in_time(void)
{
	struct soaker s;

	int64_t alone = crowd_worst_late_us(3000);
	start_soaker(&s, 0, 0);
	int64_t worst = crowd_worst_late_us(3000);
	end_soaker(&s);
	test_note(
	    "%ld us late at most, %ld without it", (long)worst, (long)alone);
	return worst < alone + SLICE_US / 2;
}

/* A sleep next to it ends in time: it gives up the CPU at once. */
TEST(a_sleep_next_to_it_ends_in_time)
{
	crowd_bind_self(0);
	EXPECT(test_holds_once(sleeps_end_in_time));
	crowd_bind_self(PBIND_NONE);
}

TEST(two_of_them_share_the_cpu)
{
	struct soaker s[2];
	uint64_t before[2];

	crowd_bind_self(0);
	for (int i = 0; i < 2; i++)
		start_soaker(&s[i], i, 0);
	for (int i = 0; i < 2; i++)
		before[i] = soaked[i];
	crowd_sleep_us(20 * SLICE_US);
	for (int i = 0; i < 2; i++)
		EXPECT(soaked[i] > before[i] + 1000);
	for (int i = 0; i < 2; i++)
		end_soaker(&s[i]);
	crowd_bind_self(PBIND_NONE);
}

/* A signal reaches it although the CPU has other work. */
TEST(a_signal_reaches_it)
{
	struct sigaction sa = { .sa_handler = test_note_signal };
	struct soaker s;

	sigaction(SIGUSR1, &sa, NULL);
	test_nsignal = 0;
	crowd_bind_self(0);
	start_soaker(&s, 0, 0);
	pthread_kill(s.t, SIGUSR1);
	for (int i = 0; i < 20 && test_nsignal == 0; i++)
		spin_us(SLICE_US);
	EXPECT(test_nsignal != 0);
	end_soaker(&s);
	crowd_bind_self(PBIND_NONE);
}

static volatile uint64_t worked;

static void *
work(void *arg)
{
	while (!end)
		worked = worked + 1;
	return arg;
}

/* Two LWPs that may run anywhere get both CPUs, not one of them. */
TEST(its_cpu_takes_work)
{
	struct soaker s;
	pthread_t t;

	if (crowd_ncpu() < 2)
		SKIP("needs two CPUs");
	start_soaker(&s, 0, 1);
	worked = 0;
	int64_t t0 = crowd_now_us();
	EXPECT_EQ(pthread_create(&t, NULL, work, NULL), 0);
	while (worked == 0 && crowd_now_us() < t0 + 1000000)
		;
	int64_t t1 = crowd_now_us();
	EXPECT(worked > 0);
	test_note("work began after %ld us", (long)(t1 - t0));
	end_soaker(&s);
	pthread_join(t, NULL);
}
