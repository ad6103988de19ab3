/* Preemption, affinity, binding, offline CPUs; counts stay exact. */
#define _GNU_SOURCE /* cpu_set_t, sched_getcpu() */
#include "tests/lib/image/cpc_test.h"

#include <errno.h>
#include <libcpc.h>
#include <payload.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/processor.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

TEST_KEEPS(64);

static unsigned
cpu_count(void)
{
	struct barecpc_stat st;

	return payload_stat(&st) == 0 ? st.bs_cpus : 1;
}

static void
bind_self(int cpu)
{
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, cpu, NULL), 0);
}

static volatile int flag;
static unsigned started;

static void *
spin_until_flag(void *arg)
{
	if (arg != NULL)
		bind_self(0);
	while (!flag)
		;
	return NULL;
}

TEST(a_spinning_lwp_is_preempted)
{
	pthread_t t;

	flag = 0;
	bind_self(0);
	REQUIRE(pthread_create(&t, NULL, spin_until_flag, (void *)1) == 0);
	/* It spins here: this LWP continues as its slice ends. */
	for (int i = 0; i < 3; i++)
		sched_yield();
	flag = 1;
	EXPECT_EQ(pthread_join(t, NULL), 0);
	bind_self(PBIND_NONE);
}

TEST(a_sleeper_wakes_beside_a_spinner)
{
	struct timespec ms = { 0, 1000000 };
	pthread_t t;

	flag = 0;
	bind_self(0);
	REQUIRE(pthread_create(&t, NULL, spin_until_flag, (void *)1) == 0);
	EXPECT_EQ(nanosleep(&ms, NULL), 0);
	flag = 1;
	EXPECT_EQ(pthread_join(t, NULL), 0);
	bind_self(PBIND_NONE);
}

static void *
check_affinity(void *arg)
{
	cpu_set_t set;
	int cpu = *(int *)arg;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
	for (int i = 0; i < 20; i++) {
		EXPECT_EQ(sched_getcpu(), cpu);
		sched_yield();
	}
	EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
	EXPECT_EQ(CPU_COUNT(&set), 1);
	return NULL;
}

TEST(affinity_moves_an_lwp)
{
	pthread_t t[64];
	int cpu[64];
	unsigned n = cpu_count();

	for (unsigned i = 0; i < n; i++) {
		cpu[i] = (int)i;
		REQUIRE(
		    pthread_create(&t[i], NULL, check_affinity, &cpu[i]) == 0);
	}
	for (unsigned i = 0; i < n; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
}

/* Spin until the flag is set, and note the CPU. */
static void *
spin_and_note_cpu(void *cpu)
{
	__atomic_add_fetch(&started, 1, __ATOMIC_SEQ_CST);
	do
		*(int *)cpu = sched_getcpu();
	while (!flag);
	return NULL;
}

TEST(lwps_spread_over_idle_cpus)
{
	pthread_t t[64];
	int cpu[64];
	unsigned n = cpu_count();

	if (n == 1)
		SKIP("one CPU");
	/* One spinner for each CPU but one. */
	flag = 0;
	started = 0;
	for (unsigned i = 1; i < n; i++)
		REQUIRE(pthread_create(
			    &t[i], NULL, spin_and_note_cpu, &cpu[i]) == 0);
	do
		usleep(1000);
	while (__atomic_load_n(&started, __ATOMIC_SEQ_CST) < n - 1);
	flag = 1;
	for (unsigned i = 1; i < n; i++) {
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
		for (unsigned k = 1; k < i; k++)
			EXPECT(cpu[k] != cpu[i]);
	}
}

TEST(processor_bind_and_p_online)
{
	int last = (int)cpu_count() - 1, old = 99;

	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_QUERY, &old), 0);
	EXPECT_EQ(old, PBIND_NONE);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, last, &old), 0);
	EXPECT_EQ(sched_getcpu(), last);
	EXPECT_EQ(p_online(last, P_STATUS), P_ONLINE);
	EXPECT_ERRNO(p_online(last, P_OFFLINE), EBUSY);
	EXPECT_EQ(processor_bind(P_PID, P_MYID, PBIND_NONE, &old), 0);
	EXPECT_EQ(old, last);
	EXPECT_ERRNO(processor_bind(P_LWPID, P_MYID, last + 1, &old), EINVAL);
	EXPECT_ERRNO(processor_bind(P_LWPID, P_MYID, -7, &old), EINVAL);
	EXPECT_ERRNO(processor_bind(P_LWPID, 12345, 0, &old), ESRCH);
	EXPECT_ERRNO(processor_bind(P_PID, 12345, 0, &old), ESRCH);
	EXPECT_ERRNO(processor_bind(P_ALL, 0, 0, &old), EINVAL);
	EXPECT_ERRNO(p_online(-1, P_STATUS), EINVAL);
	EXPECT_ERRNO(p_online(last + 1, P_STATUS), EINVAL);
	EXPECT_ERRNO(p_online(last, 77), EINVAL);
	if (last == 0) {
		EXPECT_ERRNO(p_online(0, P_OFFLINE), EBUSY);
		return;
	}
	EXPECT_EQ(p_online(last, P_OFFLINE), P_ONLINE);
	EXPECT_EQ(p_online(last, P_STATUS), P_OFFLINE);
	EXPECT_ERRNO(processor_bind(P_LWPID, P_MYID, last, &old), EINVAL);
	for (int i = 0; i < 20; i++) {
		EXPECT(sched_getcpu() != last);
		usleep(100);
	}
	EXPECT_EQ(p_online(last, P_ONLINE), P_OFFLINE);
}

/* An LWP whose only CPU goes offline may run anywhere, and says so. */
TEST(affinity_outlives_its_cpu)
{
	unsigned last = cpu_count() - 1;
	cpu_set_t set;

	if (last == 0)
		SKIP("one CPU");
	CPU_ZERO(&set);
	CPU_SET(last, &set);
	EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
	EXPECT_EQ(p_online((int)last, P_OFFLINE), P_ONLINE);
	EXPECT(sched_getcpu() != (int)last);
	EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
	EXPECT_EQ(CPU_COUNT(&set), last);
	EXPECT_EQ(p_online((int)last, P_ONLINE), P_OFFLINE);
	memset(&set, 0xff, sizeof set);
	EXPECT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
}

TEST(hostile_affinity)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	EXPECT_ERRNO(sched_setaffinity(0, sizeof set, &set), EINVAL);
	CPU_SET(0, &set);
	EXPECT_ERRNO(sched_setaffinity(12345, sizeof set, &set), ESRCH);
	EXPECT_ERRNO(syscall(SYS_sched_setaffinity, 0, 8, 8L), EFAULT);
	EXPECT_ERRNO(syscall(SYS_sched_getaffinity, 0, 1, &set), EINVAL);
}

/*
 * Two LWPs on one CPU each count a loop of known length, while slices end
 * between them.  Beyond the loop they count what bind and sample retire.  That
 * is the same for both lengths, so the difference is exact.
 */

void spin_loop(uint64_t iterations); /* two instructions each */

struct count {
	uint64_t n, counted;
	int err;
};

static void *
count_loop(void *arg)
{
	struct count *c = arg;
	cpc_set_t *set;
	cpc_buf_t *buf;
	cpc_t *cpc;

	bind_self(0);
	c->err = 1;
	if ((cpc = test_cpc_open()) == NULL)
		return NULL;
	if ((set = cpc_set_create(cpc)) != NULL &&
	    cpc_set_add_request(
		cpc, set, "PAPI_tot_ins", 0, CPC_COUNT_USER, 0, NULL) == 0 &&
	    (buf = cpc_buf_create(cpc, set)) != NULL &&
	    cpc_bind_curlwp(cpc, set, 0) == 0) {
		for (int i = 0; i < 10; i++)
			spin(c->n / 10);
		c->err = cpc_set_sample(cpc, set, buf);
		cpc_buf_get(cpc, buf, 0, &c->counted);
		cpc_unbind(cpc, set);
	}
	cpc_close(cpc);
	return NULL;
}

static bool
count_pair(uint64_t n, struct count c[2])
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++) {
		c[i] = (struct count){ .n = n * (unsigned)(i + 1) };
		if (pthread_create(&t[i], NULL, count_loop, &c[i]) != 0)
			return false;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return c[0].err == 0 && c[1].err == 0;
}

#define LONG 20000000ULL /* several slices at 1 ns an instruction */

TEST(counts_are_exact_across_preemption)
{
	struct count a[2], b[2];

	if (payload_privilege() == PAYLOAD_SYSTEM)
		SKIP("CPC_COUNT_USER counts nothing at system privilege");
	if (!count_pair(1000, a))
		SKIP("this PMU does not count PAPI_tot_ins");
	REQUIRE(count_pair(LONG, b));
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(b[i].counted - a[i].counted,
		    2 * (LONG - 1000) * (unsigned)(i + 1));
}
