/*
 * A machine whose CPUs have different PMUs: sets of a core type stay on its
 * CPUs and count exactly there, others count everywhere.  The software PMU
 * panics if a CPU is to run a PIC that it lacks (pmu=software,pics2=...); so
 * does an emulator's by a wrong count.
 */
#define _GNU_SOURCE
#include "tests/lib/image/cpc_test.h"

#include <libpctx.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/processor.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_KEEPS(64);

/* The CPUs that this LWP may run on, as bits. */
static uint64_t
affinity(void)
{
	cpu_set_t set;
	uint64_t bits = 0;

	if (sched_getaffinity(0, sizeof set, &set) != 0)
		return 0;
	for (unsigned i = 0; i < 64; i++)
		bits |= (uint64_t)(CPU_ISSET(i, &set) != 0) << i;
	return bits;
}

static int
set_affinity(uint64_t bits)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned i = 0; i < 64; i++) {
		if ((bits >> i & 1) != 0)
			CPU_SET(i, &set);
	}
	return sched_setaffinity(0, sizeof set, &set);
}

/* After execve(2): may the program run on all CPUs?  Before main(). */
static void __attribute__((constructor)) check_after_exec(void)
{
	const char *want = getenv("AFFINITY_WANTED");

	if (want != NULL)
		_exit(affinity() == strtoull(want, NULL, 0) ? 0 : 1);
}

/* The CPUs of core type n. */
static uint64_t
cpus_of(cpc_t *cpc, unsigned n)
{
	uint64_t bits = 0;

	for (int i = 0; i < 64; i++)
		bits |= (uint64_t)(cpc_core_type_of_cpu(cpc, i) == (int)n) << i;
	return bits;
}

#define NEEDS_TYPES()                                                          \
	do {                                                                   \
		if (cpc_core_type(cpc, 0) == NULL)                             \
			SKIP("needs CPUs of two kinds");                       \
	} while (0)
#define EACH_TYPE(n) for (unsigned n = 0; cpc_core_type(cpc, n) != NULL; n++)

/* A set of one typed request. */
static cpc_set_t *
typed_set(cpc_t *cpc, unsigned type)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_attr_t at = { (char *)"core_type", type };

	EXPECT_EQ(cpc_set_add_request(
		      cpc, set, INS_EVENT, 0, own_privilege(), 1, &at),
	    0);
	return set;
}

CPC_TEST(every_cpu_has_a_type)
{
	unsigned n = (unsigned)sysconf(_SC_NPROCESSORS_ONLN), types = 0;
	uint64_t all = 0;

	NEEDS_TYPES();
	EACH_TYPE(t)
	{
		test_note("core type %s: CPUs %#lx", cpc_core_type(cpc, t),
		    (unsigned long)cpus_of(cpc, t));
		EXPECT((all & cpus_of(cpc, t)) == 0);
		all |= cpus_of(cpc, t);
		types++;
	}
	EXPECT(types >= 2);
	EXPECT_EQ(all, (1ULL << n) - 1);
}

CPC_TEST(a_set_of_a_type_stays_there)
{
	uint64_t all = affinity();

	NEEDS_TYPES();
	EACH_TYPE(t)
	{
		cpc_set_t *set = typed_set(cpc, t);

		EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
		EXPECT_EQ(cpc_core_type_of_cpu(cpc, sched_getcpu()), t);
		EXPECT_EQ(affinity(), cpus_of(cpc, t));
		expect_exact_spin(cpc, set);
		EXPECT_EQ(cpc_unbind(cpc, set), 0);
		EXPECT_EQ(affinity(), all);
		cpc_set_destroy(cpc, set);
	}
}

static uint_t
npic_of(const char *type)
{
	cpc_t *cpc = cpc_open_core_type(CPC_VER_CURRENT, type);
	uint_t npic = cpc_npic(cpc);

	EXPECT(cpc != NULL);
	cpc_close(cpc);
	return npic;
}

/* Each PIC of each type counts, by a handle of the type. */
CPC_TEST(every_pic_of_a_type_counts)
{
	uint_t least = ~0U;

	NEEDS_TYPES();
	EACH_TYPE(t)
	{
		cpc_t *one =
		    cpc_open_core_type(CPC_VER_CURRENT, cpc_core_type(cpc, t));
		unsigned counted = 0;

		REQUIRE(one != NULL);
		for (uint_t pic = 0; pic < cpc_npic(one); pic++) {
			if (!pic_counts(one, INS_EVENT, pic))
				continue;
			cpc_set_t *set = cpc_set_create(one);
			add_pic(one, set, INS_EVENT, pic, own_privilege());
			EXPECT_EQ(cpc_bind_curlwp(one, set, 0), 0);
			expect_exact_spin(one, set);
			cpc_set_destroy(one, set);
			counted++;
		}
		test_note("%s: %u PICs count instructions",
		    cpc_core_type(cpc, t), counted);
		EXPECT(counted > 0);
		cpc_close(one);
		if (npic_of(cpc_core_type(cpc, t)) < least)
			least = npic_of(cpc_core_type(cpc, t));
	}
	EXPECT(cpc_npic(cpc) <= least);
}

/* A set without a type counts on, whatever CPU its LWP runs on. */
CPC_TEST(a_set_without_a_type_counts_everywhere)
{
	cpc_set_t *set = set_of(cpc, INS_EVENT);

	NEEDS_TYPES();
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	for (int i = 0; i < (int)sysconf(_SC_NPROCESSORS_ONLN); i++) {
		EXPECT_EQ(processor_bind(P_LWPID, P_MYID, i, NULL), 0);
		EXPECT_EQ(sched_getcpu(), i);
		expect_exact_spin(cpc, set);
	}
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	cpc_set_destroy(cpc, set);
}

/* While the set is bound, programs choose among the CPUs of its type. */
CPC_TEST(affinity_is_within_the_type)
{
	uint64_t all = affinity(), own = cpus_of(cpc, 1), first = own & -own;

	NEEDS_TYPES();
	cpc_set_t *set = typed_set(cpc, 1);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_ERRNO(set_affinity(all & ~own), EINVAL);
	EXPECT_EQ(affinity(), own);
	EXPECT_EQ(set_affinity(first | (all & ~own)), 0);
	EXPECT_EQ(affinity(), first);
	expect_exact_spin(cpc, set);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(affinity(), first | (all & ~own));
	EXPECT_EQ(set_affinity(all & ~own), 0);
	EXPECT_ERRNO(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	EXPECT_EQ(affinity(), all & ~own);
	EXPECT_EQ(set_affinity(all), 0);
	cpc_set_destroy(cpc, set);
}

/* The set is lost, and nothing of it runs on the other type. */
CPC_TEST(processor_bind_elsewhere_ends_the_set)
{
	int other = 0;

	NEEDS_TYPES();
	cpc_set_t *set = typed_set(cpc, 1);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	while (cpc_core_type_of_cpu(cpc, other) == 1)
		other++;
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, other, NULL), 0);
	while (sched_getcpu() != other)
		sched_yield();
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EAGAIN);
	EXPECT_ERRNO(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_NONE, NULL), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	expect_exact_spin(cpc, set);
	cpc_set_destroy(cpc, set);
	cpc_buf_destroy(cpc, buf);
}

CPC_TEST(cpu_of_another_type_is_refused)
{
	int own = 0, other = 0;

	NEEDS_TYPES();
	cpc_set_t *set = typed_set(cpc, 1);
	while (cpc_core_type_of_cpu(cpc, own) != 1)
		own++;
	while (cpc_core_type_of_cpu(cpc, other) == 1)
		other++;
	EXPECT_ERRNO(cpc_bind_cpu(cpc, other, set, 0), EINVAL);
	EXPECT_EQ(cpc_bind_cpu(cpc, own, set, 0), 0);
	expect_exact_spin(cpc, set);
	cpc_set_destroy(cpc, set);
}

/* All CPUs of the type go offline: its sets end, and no other can begin. */
CPC_TEST(offline_type_counts_nothing)
{
	uint64_t own = cpus_of(cpc, 1);

	NEEDS_TYPES();
	cpc_set_t *set = typed_set(cpc, 1);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	for (int i = 0; i < 64; i++) {
		if ((own >> i & 1) != 0)
			EXPECT(p_online(i, P_OFFLINE) != -1);
	}
	sched_yield();
	EXPECT(cpc_core_type_of_cpu(cpc, sched_getcpu()) != 1);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EAGAIN);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_ERRNO(cpc_bind_curlwp(cpc, set, 0), EINVAL);
	for (int i = 0; i < 64; i++) {
		if ((own >> i & 1) != 0)
			EXPECT(p_online(i, P_ONLINE) != -1);
	}
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	expect_exact_spin(cpc, set);
	cpc_set_destroy(cpc, set);
	cpc_buf_destroy(cpc, buf);
}

/* A child process is free; so is the program that the LWP executes. */
CPC_TEST(fork_and_exec_restore_the_affinity)
{
	uint64_t all = affinity();
	char text[40];
	int status = -1;

	NEEDS_TYPES();
	cpc_set_t *set = typed_set(cpc, 1);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	if (fork() == 0)
		_exit(affinity() == all ? 0 : 1);
	wait(&status);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	snprintf(text, sizeof text, "AFFINITY_WANTED=%#lx", (unsigned long)all);
	if (fork() == 0) {
		char *env[] = { text, NULL };

		if (cpc_bind_curlwp(cpc, set, 0) != 0 ||
		    affinity() != cpus_of(cpc, 1))
			_exit(2);
		execve(test_argv[0], test_argv, env);
		_exit(3);
	}
	wait(&status);
	EXPECT_EQ(status, 0);
	cpc_set_destroy(cpc, set);
}

/*
 * LWPs of all kinds at once, more than CPUs.  The least of many rounds has no
 * sample that began again because the LWP was switched out: it is exact.
 */
#define LWPS   12
#define ROUNDS 100

struct job {
	cpc_t *jb_cpc;
	int jb_type; /* -1: none */
	bool jb_stayed;
	uint64_t jb_counted; /* in SPIN_LONG - SPIN_SHORT turns */
};

static void *
do_job(void *arg)
{
	struct job *jb = arg;
	cpc_t *cpc = jb->jb_cpc;
	cpc_set_t *set = jb->jb_type < 0
	                     ? set_of(cpc, INS_EVENT)
	                     : typed_set(cpc, (unsigned)jb->jb_type);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	uint64_t least[2] = { ~0ULL, ~0ULL };

	if (cpc_bind_curlwp(cpc, set, 0) != 0)
		return NULL;
	jb->jb_stayed = true;
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint64_t n = spin_sampled(
		    cpc, set, buf, i % 2 == 0 ? SPIN_SHORT : SPIN_LONG);

		if (n < least[i % 2])
			least[i % 2] = n;
		sched_yield();
		if (jb->jb_type >= 0 &&
		    cpc_core_type_of_cpu(cpc, sched_getcpu()) != jb->jb_type)
			jb->jb_stayed = false;
	}
	jb->jb_counted = least[1] - least[0];
	cpc_set_destroy(cpc, set);
	cpc_buf_destroy(cpc, buf);
	return NULL;
}

CPC_TEST(many_lwps_count_side_by_side)
{
	struct job jobs[LWPS];
	pthread_t thread[LWPS];

	NEEDS_TYPES();
	for (int i = 0; i < LWPS; i++) {
		jobs[i] = (struct job){ cpc, i % 3 - 1, false, 0 };
		EXPECT_EQ(
		    pthread_create(&thread[i], NULL, do_job, &jobs[i]), 0);
	}
	for (int i = 0; i < LWPS; i++) {
		pthread_join(thread[i], NULL);
		EXPECT(jobs[i].jb_stayed);
		EXPECT_EQ(
		    jobs[i].jb_counted, SPIN_INSNS * (SPIN_LONG - SPIN_SHORT));
	}
}

static void *
note_affinity(void *arg)
{
	*(uint64_t *)arg = affinity();
	return NULL;
}

CPC_TEST(a_new_lwp_inherits_the_type)
{
	uint64_t child = 0;

	NEEDS_TYPES();
	cpc_set_t *set = typed_set(cpc, 1);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, CPC_BIND_LWP_INHERIT), 0);
	as_another_lwp(note_affinity, &child);
	EXPECT_EQ(child, cpus_of(cpc, 1));
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	as_another_lwp(note_affinity, &child);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(child, affinity());
	cpc_set_destroy(cpc, set);
}

/* A process that changes the type of its set, for ever. */
static void
change_types(cpc_t *cpc)
{
	cpc_set_t *set[2] = { typed_set(cpc, 0), typed_set(cpc, 1) };

	for (unsigned i = 0;; i++) {
		cpc_bind_curlwp(cpc, set[i % 2], 0);
		cpc_unbind(cpc, set[i % 2]);
	}
}

#define TICKS 20

static cpc_t *the_cpc;
static cpc_set_t *controllers_set[3];
static unsigned nbound;

static int
bind_and_unbind(pctx_t *px, pid_t pid, id_t id, void *arg)
{
	cpc_set_t *set = controllers_set[nbound % 3];

	if (cpc_bind_pctx(the_cpc, px, id, set, 0) != 0)
		return -1;
	nbound++;
	return cpc_unbind(the_cpc, set);
}

/*
 * A set's owner is between two types when its controller binds and unbinds
 * another one: the kernel lost the owner's type, or the controller's context.
 */
CPC_TEST(a_controller_binds_while_the_type_changes)
{
	pid_t child;
	pctx_t *px;

	NEEDS_TYPES();
	if ((child = fork()) == 0)
		change_types(cpc);
	the_cpc = cpc;
	controllers_set[0] = set_of(cpc, INS_EVENT);
	controllers_set[1] = typed_set(cpc, 0);
	controllers_set[2] = typed_set(cpc, 1);
	nbound = 0;
	REQUIRE((px = pctx_capture(child, NULL, 0, NULL)) != NULL);
	EXPECT_EQ(pctx_run(px, 1, TICKS, bind_and_unbind), 0);
	EXPECT_EQ(nbound, TICKS);
	pctx_release(px);
	kill(child, SIGKILL);
	EXPECT_EQ(test_wait_status(child), SIGKILL);
	for (int i = 0; i < 3; i++)
		cpc_set_destroy(cpc, controllers_set[i]);
}

CPC_TEST(names_ask_for_the_type)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char name[64];

	NEEDS_TYPES();
	cpc_seterrhndlr(cpc, NULL);
	snprintf(name, sizeof name, "%s/" INS_EVENT "/", cpc_core_type(cpc, 1));
	errno = EDOM;
	EXPECT_EQ(add_flags(cpc, set, name, own_privilege()), 0);
	EXPECT_EQ(errno, EDOM); /* as before: the call succeeded */
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_core_type_of_cpu(cpc, sched_getcpu()), 1);
	expect_exact_spin(cpc, set);
	cpc_set_destroy(cpc, set);
	EXPECT(!have_event(cpc, "no_such_type/" INS_EVENT "/"));
}

/* An emulator's big.LITTLE: Cortex-A72 has it, Cortex-A53 does not. */
#define ONE_TYPES_EVENT "INST_SPEC"

CPC_TEST(an_event_of_one_type_needs_the_types_name)
{
	cpc_set_t *set = cpc_set_create(cpc);
	char name[64];
	int with = -1;

	NEEDS_TYPES();
	cpc_seterrhndlr(cpc, NULL);
	EACH_TYPE(t)
	{
		snprintf(name, sizeof name, "%s/" ONE_TYPES_EVENT "/",
		    cpc_core_type(cpc, t));
		if (have_event(cpc, name))
			with = with < 0 ? (int)t : CPC_MAX_CORE_TYPES;
	}
	if (with < 0 || with == CPC_MAX_CORE_TYPES)
		SKIP("not one core type counts " ONE_TYPES_EVENT);
	EXPECT(!have_event(cpc, ONE_TYPES_EVENT));
	snprintf(name, sizeof name, "%s/" ONE_TYPES_EVENT "/",
	    cpc_core_type(cpc, (unsigned)with));
	EXPECT_EQ(add_flags(cpc, set, name, own_privilege()), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_core_type_of_cpu(cpc, sched_getcpu()), with);
	expect_exact_spin(cpc, set);
	cpc_set_destroy(cpc, set);
}
