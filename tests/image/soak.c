/*
 * A soak: for as long as the argument says some 200 LWPs bind, sample, sleep,
 * move, create others, fork, exec and exit (tests/image/mix.h), while a few
 * more take the counters of one CPU after the other away from all of them and
 * give them back, and one takes CPUs offline.
 *
 *     soak [MILLISECONDS]      of the machine's own clock
 *
 * What an LWP counted before it noticed is exact; nothing hangs, nothing
 * leaks, and the witness agrees in every window.
 */
#include <inttypes.h>
#include <payload.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/barecpc.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/image/cpc_test.h"
#include "tests/image/mix.h"

#define MILLISECONDS 200
#define NMIX         24 /* at a time, of up to MIX_LWPS LWPs each */
#define NTAKER       3
#define NS_PER_MS    1000000

/* The C library keeps what threads' stacks were made of. */
TEST_KEEPS(128);

static struct mix_machine machine;
static hrtime_t end;
static uint64_t next_seed = 1, samples, taken, offline;

static uint64_t
take_seed(void)
{
	return __atomic_fetch_add(&next_seed, 1, __ATOMIC_RELAXED);
}

static void *
run_mixes(void *arg)
{
	struct mix *mx = arg;
	unsigned n;

	while (gethrtime() < end) {
		n = mix_run(mx, take_seed(), &machine, true);
		__atomic_fetch_add(&samples, n, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void
doze(unsigned long us)
{
	struct timespec ts = { 0, (long)us * 1000 };

	nanosleep(&ts, NULL);
}

/* EAGAIN: another has that CPU.  ENOSYS: it is offline. */
static void
take_cpu(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, unsigned cpu)
{
	uint64_t first = 0, second = 0;

	if (cpc_bind_cpu(cpc, (processorid_t)cpu, set, 0) != 0) {
		EXPECT(errno == EAGAIN || errno == ENOSYS);
		return;
	}
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_get(cpc, buf, 0, &first);
	spin_loop(1000);
	doze(100);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_get(cpc, buf, 0, &second);
	EXPECT(second >= first + SPIN_INSNS * 1000);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	__atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
}

static void *
take_cpus(void *arg)
{
	cpc_t *cpc = test_cpc_open();
	cpc_set_t *set = set_of(cpc, INS_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	unsigned at = (unsigned)(uintptr_t)arg;

	for (; gethrtime() < end; at++) {
		take_cpu(cpc, set, buf, at % machine.mm_ncpu);
		doze(1000 + at % 7 * 1000);
	}
	cpc_close(cpc);
	return NULL;
}

/* But the first.  EBUSY: an LWP is bound to it. */
static void *
take_offline(void *arg)
{
	unsigned cpu;

	(void)arg;
	for (cpu = 1; machine.mm_ncpu > 1 && gethrtime() < end; cpu++) {
		int id = (int)(1 + cpu % (machine.mm_ncpu - 1));

		if (p_online(id, P_OFFLINE) == -1) {
			EXPECT_EQ(errno, EBUSY);
		} else {
			doze(500);
			EXPECT_EQ(p_online(id, P_ONLINE), P_OFFLINE);
			offline++;
		}
		doze(2000);
	}
	return NULL;
}

static unsigned
create(pthread_t *t, unsigned n, void *(*fn)(void *), char *args, size_t size)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		if (!EXPECT_EQ(
			pthread_create(&t[i], NULL, fn, args + i * size), 0))
			break;
	}
	return i;
}

/* CPC-CTX-05, CPC-INV-01, CPC-INV-02, CPC-INV-03, CPC-INV-05, CPC-CPU-08 */
TEST(counts_are_exact_until_they_are_taken_away)
{
	static struct mix mixes[NMIX];
	pthread_t t[NMIX + NTAKER + 1];
	long ms = test_argc > 1 ? atol(test_argv[1]) : MILLISECONDS;
	struct barecpc_witness bw;
	unsigned n;

	if (!mix_machine_learn(&machine))
		SKIP("this machine does not count instructions");
	if (payload_privilege() == PAYLOAD_SYSTEM)
		SKIP("scripts count at user privilege");
	end = gethrtime() + ms * NS_PER_MS;
	n = create(t, NMIX, run_mixes, (char *)mixes, sizeof mixes[0]);
	n += create(t + n, NTAKER, take_cpus, NULL, 1);
	n += create(t + n, 1, take_offline, NULL, 0);
	while (n-- > 0)
		EXPECT_EQ(pthread_join(t[n], NULL), 0);
	EXPECT(samples > 0 && taken > 0);
	test_note("%" PRIu64 " mixes, %" PRIu64 " samples, CPUs taken %" PRIu64
		  " times, offline %" PRIu64,
	    next_seed - 1, samples, taken, offline);
	if (syscall(BARECPC_SYS_WITNESS, &bw) != 0)
		SKIP("nothing to compare the sums with: boot with witness=1");
	EXPECT(bw.bw_lwps > 0);
	EXPECT_EQ(bw.bw_count, bw.bw_lwps + bw.bw_unowned + bw.bw_idle);
	EXPECT_EQ(bw.bw_wrong, 0);
}
