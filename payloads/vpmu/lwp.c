/* Counts while the CPU halts, and across CPUs. */
#include "payloads/vpmu/vpmu.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The CPU has nothing else to run, so it halts. */
static void
sleep_once(void)
{
	const struct timespec ms = { 0, 1000000 };

	nanosleep(&ms, NULL);
}

/* A loop before a halt and one after it. */
static void
spin_and_halt(uint64_t n)
{
	spin_loop(n);
	sleep_once();
	spin_loop(n);
}

static void
judge_loops(
    struct measure *m, unsigned pic, int64_t loops, void (*body)(uint64_t))
{
	int64_t d = measure_difference(m, body);

	if (vpmu.v_pic[pic].vp_exact)
		point_equal("instructions", d, loops * SPIN_WANT);
	else if (d <= 0)
		point_fail("a longer loop counts %lld more", (long long)d);
}

/* The kernel saves the PIC before the halt and loads it again after it. */
static void
judge_halt_lwp(unsigned pic)
{
	struct measure m;

	if (!measure_open(&m, pic, CPC_COUNT_USER, 0))
		return;
	judge_loops(&m, pic, 2, spin_and_halt);
	measure_close(&m);
}

/* The PIC belongs to a set of the CPU and runs through the halt. */
static void
judge_halt_cpu(unsigned pic)
{
	struct measure m;

	measure_init(&m);
	if (!measure_add(&m, pic, CPC_COUNT_USER, 0))
		goto out;
	measure_buffers(&m);
	if (cpc_bind_cpu(vpmu.v_cpc, 0, m.vm_set, 0) != 0) {
		if (errno == EACCES)
			point_skip("cpc_cpu=no");
		else
			point_fail("bind: %s", measure_refusal());
		goto out;
	}
	judge_loops(&m, pic, 2, spin_and_halt);
	cpc_unbind(vpmu.v_cpc, m.vm_set);
out:
	measure_close(&m);
}

#define MOST_CPUS 4

static processorid_t cpus[MOST_CPUS]; /* to move to */
static unsigned ncpus;

/* Once bound to one CPU, sysconf(3) counts that one only. */
static void
find_cpus(void)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	ncpus = 0;
	for (processorid_t cpu = 0; ncpus < MOST_CPUS && ncpus < online;
	     cpu++) {
		if (p_online(cpu, P_STATUS) == P_ONLINE)
			cpus[ncpus++] = cpu;
	}
}

/* One loop on each CPU.  The kernel moves the counts with the LWP. */
static void
spin_on_each_cpu(uint64_t n)
{
	for (unsigned i = 0; i < ncpus; i++) {
		if (processor_bind(P_LWPID, P_MYID, cpus[i], NULL) != 0)
			point_fail("CPU %d: %s", cpus[i], strerror(errno));
		spin_loop(n);
	}
}

static void
judge_migration(unsigned pic)
{
	struct measure m;

	find_cpus();
	if (!measure_open(&m, pic, CPC_COUNT_USER, 0))
		return;
	judge_loops(&m, pic, ncpus, spin_on_each_cpu);
	processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL);
	measure_close(&m);
}

#define ROUND 250 /* iterations */
#define TURNS 16

static uint64_t rounds; /* of another thread, on cpus[1] */
static bool enough;

static void *
stay_busy(void *)
{
	processor_bind(P_LWPID, P_MYID, cpus[1], NULL);
	while (!__atomic_load_n(&enough, __ATOMIC_ACQUIRE)) {
		spin_loop(ROUND);
		__atomic_fetch_add(&rounds, 1, __ATOMIC_RELEASE);
		give_turn();
	}
	return NULL;
}

static uint64_t
rounds_done(void)
{
	return __atomic_load_n(&rounds, __ATOMIC_ACQUIRE);
}

static void
take_turns(uint64_t n)
{
	while (n-- > 0) {
		spin_loop(1);
		give_turn();
	}
}

/* The same turns count the same while another CPU is busy. */
static void
judge_next_to_busy(struct measure *m)
{
	int64_t idle = measure_least(m, take_turns, TURNS), busy;
	uint64_t before;
	pthread_t thread;

	rounds = 0;
	enough = false;
	if (pthread_create(&thread, NULL, stay_busy, NULL) != 0) {
		point_fail("no thread for CPU %d", cpus[1]);
		return;
	}
	while ((before = rounds_done()) == 0)
		give_turn();
	busy = measure_least(m, take_turns, TURNS);
	if (rounds_done() - before < 2)
		point_skip(
		    "CPU %d did not run next to CPU %d", cpus[1], cpus[0]);
	else
		point_equal("instructions next to a busy CPU", busy, idle);
	__atomic_store_n(&enough, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

static void
judge_busy_cpu(unsigned pic)
{
	struct measure m;

	find_cpus();
	processor_bind(P_LWPID, P_MYID, cpus[0], NULL);
	if (measure_open(&m, pic, CPC_COUNT_USER, 0)) {
		judge_next_to_busy(&m);
		measure_close(&m);
	}
	processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL);
}

const struct vpmu_property lwp_properties[] = {
	{ "halt_lwp", judge_halt_lwp, NEEDS_USER },
	{ "halt_cpu", judge_halt_cpu, NEEDS_USER },
	{ "migration", judge_migration, NEEDS_USER | NEEDS_CPUS },
	{ "busy_cpu", judge_busy_cpu, NEEDS_USER | NEEDS_CPUS | NEEDS_EXACT },
	{ NULL, NULL, 0 },
};
