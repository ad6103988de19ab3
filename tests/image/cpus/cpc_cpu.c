/* Sets bound to CPUs count everything that runs there. */
#define _GNU_SOURCE /* sched_getcpu() */
#include "tests/lib/image/cpc_test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Pages of threads' stacks, which the C library keeps. */
TEST_KEEPS(64);

#define SHORT 1000
#define LONG  30000
#define WANT  (SPIN_INSNS * (LONG - SHORT))

static cpc_t *the_cpc;
static cpc_set_t *the_set;

/* The CPU that the calling LWP is bound to, or PBIND_NONE. */
static int
bound_to(void)
{
	int cpu = 99;

	EXPECT_EQ(processor_bind(P_LWPID, P_MYID, PBIND_QUERY, &cpu), 0);
	return cpu;
}

static cpc_set_t *
user_set(cpc_t *cpc)
{
	cpc_set_t *set = cpc_set_create(cpc);

	add_flags(cpc, set, INS_EVENT, CPC_COUNT_USER);
	the_cpc = cpc;
	the_set = set;
	return set;
}

/*
 * Binding and processor binding
 */

/* CPC-CPU-01, CPC-CPU-02 */
CPC_TEST(the_binder_moves_there_and_back)
{
	int cpu = last_cpu(), from[] = { PBIND_NONE, 0, cpu };
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	uint64_t v;

	for (int i = 0; i < 3; i++) {
		go_to(from[i]);
		EXPECT_EQ(cpc_bind_cpu(cpc, cpu, set, 0), 0);
		EXPECT_EQ(bound_to(), cpu);
		EXPECT_EQ(sched_getcpu(), cpu);
		v = sampled(cpc, set, 0);
		work();
		EXPECT(sampled(cpc, set, 0) > v);
		EXPECT_EQ(cpc_unbind(cpc, set), 0);
		EXPECT_EQ(bound_to(), from[i]);
		if (from[i] != PBIND_NONE)
			EXPECT_EQ(sched_getcpu(), from[i]);
		EXPECT_ERRNO(cpc_unbind(cpc, set), EINVAL);
	}
	go_to(PBIND_NONE);
}

/* CPC-CPU-03: a bind that fails late leaves no set on the CPU either. */
CPC_TEST(a_failure_restores_the_processor_binding)
{
	int cpu = last_cpu(), from[] = { PBIND_NONE, 0 };
	cpc_set_t *bad = set_of(cpc, "0x1000000000");
	cpc_set_t *good = set_of(cpc, ANY_EVENT);

	for (int i = 0; i < 2; i++) {
		go_to(from[i]);
		EXPECT_REPORTED(cpc_bind_cpu(cpc, cpu, bad, 0), EINVAL,
		    "cpc_bind_cpu", CPC_INVALID_EVENT);
		EXPECT_EQ(bound_to(), from[i]);
		EXPECT_EQ(cpc_bind_curlwp(cpc, good, 0), 0);
	}
	go_to(PBIND_NONE);
}

/* CPC-CPU-04 */
CPC_TEST(a_cpu_that_does_not_exist_is_refused)
{
	int none[] = { last_cpu() + 1, 64, 100000, -1, PBIND_QUERY };
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	for (int i = 0; i < 5; i++)
		EXPECT_REPORTED(cpc_bind_cpu(cpc, none[i], set, 0), EINVAL,
		    "cpc_bind_cpu", CPC_PBIND_FAILED);
	EXPECT_EQ(bound_to(), PBIND_NONE);
}

/* CPC-CPU-05, and a CPU that has a set cannot go offline. */
CPC_TEST(a_cpu_that_is_offline_is_refused)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	int cpu = last_cpu();

	NEEDS_TWO_CPUS();
	EXPECT_EQ(p_online(cpu, P_OFFLINE), P_ONLINE);
	EXPECT_REPORTED(cpc_bind_cpu(cpc, cpu, set, 0), ENOSYS, "cpc_bind_cpu",
	    CPC_PBIND_FAILED);
	EXPECT_EQ(p_online(cpu, P_ONLINE), P_OFFLINE);
	EXPECT_EQ(cpc_bind_cpu(cpc, cpu, set, 0), 0);
	EXPECT_ERRNO(p_online(cpu, P_OFFLINE), EBUSY);
	go_to(0); /* the set alone keeps the CPU online */
	EXPECT_ERRNO(p_online(cpu, P_OFFLINE), EBUSY);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(p_online(cpu, P_OFFLINE), P_ONLINE);
	EXPECT_EQ(p_online(cpu, P_ONLINE), P_OFFLINE);
}

/* CPC-CPU-07 */
CPC_TEST(early_failures_are_silent)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	EXPECT_SILENT(cpc_bind_cpu(cpc, 0, set, CPC_BIND_LWP_INHERIT), EINVAL);
	EXPECT_SILENT(cpc_bind_cpu(cpc, 0, set, ~0U), EINVAL);
	EXPECT_SILENT(cpc_bind_cpu(cpc, 0, cpc_set_create(cpc), 0), EINVAL);
	EXPECT_SILENT(cpc_bind_cpu(other, 0, set, 0), EINVAL);
	EXPECT_SILENT(cpc_bind_cpu(NULL, 0, set, 0), EINVAL);
	EXPECT_EQ(bound_to(), PBIND_NONE);
	cpc_close(other);
}

static void *
bind_taken(void *set)
{
	EXPECT_SILENT(cpc_bind_cpu(the_cpc, 0, set, 0), EAGAIN);
	EXPECT_EQ(bound_to(), 0); /* like its creator */
	return NULL;
}

/* CPC-CPU-08 */
CPC_TEST(a_cpu_has_one_set)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT), *other;
	pid_t pid;

	the_cpc = cpc;
	other = set_of(cpc, ANY_EVENT);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	EXPECT_SILENT(cpc_bind_cpu(cpc, 0, other, 0), EAGAIN);
	EXPECT_EQ(bound_to(), 0);
	as_another_lwp(bind_taken, other);
	REQUIRE((pid = fork()) >= 0);
	if (pid == 0) {
		cpc_t *mine = cpc_open(CPC_VER_CURRENT);
		int err = cpc_bind_cpu(mine, 0, set_of(mine, ANY_EVENT), 0);

		_exit(err == -1 && errno == EAGAIN ? 0 : 1);
	}
	EXPECT_EQ(test_wait_status(pid), 0);
	sampled(cpc, set, 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, other, 0), 0);
	EXPECT_EQ(cpc_unbind(cpc, other), 0);
}

/* CPC-CPU-11: a second bind of the same set unbinds it first. */
CPC_TEST(one_cpu_after_another)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	for (int cpu = 0; cpu <= last_cpu(); cpu++) {
		EXPECT_EQ(cpc_bind_cpu(cpc, cpu, set, 0), 0);
		EXPECT_EQ(sched_getcpu(), cpu);
		sampled(cpc, set, 0);
		EXPECT_EQ(cpc_unbind(cpc, set), 0);
	}
	for (int cpu = 0; cpu <= last_cpu(); cpu++) {
		EXPECT_EQ(cpc_bind_cpu(cpc, cpu, set, 0), 0);
		EXPECT_EQ(bound_to(), cpu);
	}
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(bound_to(), PBIND_NONE);
}

/* The second bind moves the LWP off its CPU, its unbind back. */
CPC_TEST(two_sets_of_one_lwp)
{
	cpc_set_t *a = set_of(cpc, ANY_EVENT), *b = set_of(cpc, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, a);
	int cpu = last_cpu();

	NEEDS_TWO_CPUS();
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, a, 0), 0);
	EXPECT_EQ(cpc_bind_cpu(cpc, cpu, b, 0), 0);
	EXPECT_ERRNO(cpc_set_sample(cpc, a, buf), EAGAIN);
	sampled(cpc, b, 0);
	EXPECT_EQ(cpc_unbind(cpc, b), 0);
	EXPECT_EQ(bound_to(), 0);
	EXPECT_EQ(cpc_set_sample(cpc, a, buf), 0);
	EXPECT_EQ(cpc_unbind(cpc, a), 0);
	EXPECT_EQ(bound_to(), PBIND_NONE);
}

/* The sets end in either order.  Then the LWP is bound as before both. */
CPC_TEST(two_sets_of_one_lwp_end_in_any_order)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *b = set_of(other, ANY_EVENT), *a = set_of(other, ANY_EVENT);
	int cpu = last_cpu();

	NEEDS_TWO_CPUS();
	EXPECT_EQ(cpc_bind_cpu(other, 0, a, 0), 0);
	EXPECT_EQ(cpc_bind_cpu(other, cpu, b, 0), 0);
	EXPECT_EQ(cpc_unbind(other, a), 0);
	EXPECT_EQ(bound_to(), cpu);
	EXPECT_EQ(cpc_unbind(other, b), 0);
	EXPECT_EQ(bound_to(), PBIND_NONE);
	/* The same for an LWP that is bound to the second CPU before. */
	go_to(cpu);
	EXPECT_EQ(cpc_bind_cpu(other, 0, a, 0), 0);
	EXPECT_EQ(cpc_bind_cpu(other, cpu, b, 0), 0);
	EXPECT_EQ(cpc_unbind(other, b), 0);
	EXPECT_EQ(bound_to(), 0);
	EXPECT_EQ(cpc_unbind(other, a), 0);
	EXPECT_EQ(bound_to(), cpu);
	go_to(PBIND_NONE);
	EXPECT_EQ(cpc_bind_cpu(other, 0, a, 0), 0);
	EXPECT_EQ(cpc_bind_cpu(other, cpu, b, 0), 0);
	EXPECT_EQ(cpc_close(other), 0);
	EXPECT_EQ(bound_to(), PBIND_NONE);
}

/*
 * Sampling
 */

static void *
sample_others(void *buf)
{
	EXPECT_ERRNO(cpc_set_sample(the_cpc, the_set, buf), EINVAL);
	return NULL;
}

static void *
unbind_others(void *arg)
{
	EXPECT_EQ(cpc_unbind(the_cpc, the_set), 0);
	return arg;
}

/* CPC-CPU-12, CPC-CPU-17, CPC-SMP-09 */
CPC_TEST(another_lwp_may_unbind_but_not_sample)
{
	int cpu = last_cpu();

	the_cpc = cpc;
	the_set = set_of(cpc, ANY_EVENT);
	EXPECT_EQ(cpc_bind_cpu(cpc, cpu, the_set, 0), 0);
	as_another_lwp(sample_others, cpc_buf_create(cpc, the_set));
	as_another_lwp(unbind_others, NULL);
	EXPECT_EQ(bound_to(), PBIND_NONE);
	EXPECT_ERRNO(cpc_unbind(cpc, the_set), EINVAL);
	EXPECT_EQ(cpc_bind_curlwp(cpc, the_set, 0), 0);
}

/* CPC-CPU-13 */
CPC_TEST(a_set_cannot_be_sampled_from_another_cpu)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	int cpu = last_cpu();

	EXPECT_EQ(cpc_bind_cpu(cpc, cpu, set, 0), 0);
	go_to(PBIND_NONE);
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EAGAIN);
	go_to(cpu);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	if (cpu != 0) {
		go_to(0);
		EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EAGAIN);
	}
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	EXPECT_EQ(bound_to(), PBIND_NONE);
}

/* CPC-CPU-15 */
CPC_TEST(operations_on_the_lwp_find_no_context)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	EXPECT_ERRNO(cpc_set_restart(cpc, set), EINVAL);
	EXPECT_ERRNO(cpc_set_restart(cpc, NULL), EINVAL);
	EXPECT_ERRNO(cpc_request_preset(cpc, 0, 0), EINVAL);
	EXPECT_ERRNO(cpc_disable(cpc), EINVAL);
	EXPECT_ERRNO(cpc_enable(cpc), EINVAL);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
}

/*
 * Counting
 */

/* The set's count of fn(n) on its CPU: the least, as a disturbance adds. */
ONE_COPY static uint64_t
count_work(void (*fn)(uint64_t), uint64_t n)
{
	cpc_buf_t *a = cpc_buf_create(the_cpc, the_set);
	cpc_buf_t *b = cpc_buf_create(the_cpc, the_set);
	uint64_t va = 0, vb = 0, least = UINT64_MAX;

	for (int round = 0; round < 5; round++) {
		EXPECT_EQ(cpc_set_sample(the_cpc, the_set, a), 0);
		fn(n);
		EXPECT_EQ(cpc_set_sample(the_cpc, the_set, b), 0);
		cpc_buf_get(the_cpc, a, 0, &va);
		cpc_buf_get(the_cpc, b, 0, &vb);
		if (vb - va < least)
			least = vb - va;
	}
	cpc_buf_destroy(the_cpc, a);
	cpc_buf_destroy(the_cpc, b);
	return least;
}

/* CPC-CPU-01: the binder's own work is exact on every CPU. */
CPC_TEST(the_binders_loop_is_exact_on_every_cpu)
{
	uint64_t v;

	NEEDS_USER_INSTRUCTIONS();
	for (int cpu = 0; cpu <= last_cpu(); cpu++) {
		EXPECT_EQ(cpc_bind_cpu(cpc, cpu, user_set(cpc), 0), 0);
		v = count_work(spin, SHORT);
		EXPECT_EQ(count_work(spin, LONG) - v, WANT);
		EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	}
}

static void *
spin_lwp(void *n)
{
	spin((uintptr_t)n);
	return NULL;
}

static void
run_lwp(uint64_t n)
{
	as_another_lwp(spin_lwp, (void *)(uintptr_t)n);
}

static void
run_process(uint64_t n)
{
	pid_t pid = fork();

	if (pid == 0) {
		spin(n);
		_exit(0);
	}
	EXPECT_EQ(test_wait_status(pid), 0);
}

/* CPC-CPU-09: the work of other LWPs and of other processes is exact. */
CPC_TEST(loops_of_others_are_exact)
{
	void (*const others[])(uint64_t) = { run_lwp, run_process };
	uint64_t v;

	NEEDS_USER_INSTRUCTIONS();
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(cpc_bind_cpu(cpc, last_cpu(), user_set(cpc), 0), 0);
		v = count_work(others[i], SHORT);
		EXPECT_EQ(count_work(others[i], LONG) - v, WANT);
		EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	}
}

/* The bound set's count of a sleep. */
static uint64_t
count_sleep(cpc_t *cpc, cpc_set_t *set)
{
	const struct timespec ms = { 0, 1000000 };
	uint64_t v = sampled(cpc, set, 0);

	nanosleep(&ms, NULL);
	return sampled(cpc, set, 0) - v;
}

/* CPC-CPU-09: an LWP's set counts the sleep's ways, a CPU's also idle time. */
CPC_TEST(idle_time_is_counted)
{
	cpc_set_t *set = cpc_set_create(cpc);

	if (software_pmu || !have_event(cpc, INS_EVENT))
		SKIP("this PMU does not count the kernel's " INS_EVENT);
	add_flags(cpc, set, INS_EVENT, CPC_COUNT_SYSTEM);
	go_to(0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	count_sleep(cpc, set);
	uint64_t lwp = count_sleep(cpc, set);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	count_sleep(cpc, set);
	uint64_t cpu = count_sleep(cpc, set);
	EXPECT(cpu > lwp + 100);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	go_to(PBIND_NONE);
}

static pthread_barrier_t count_barrier;

#define TURNS 8 /* of each CPU, in which the other one runs, too */

/* Created once: other ones can change a sample's instructions. */
struct counter {
	cpc_t *cpc;
	int cpu;
	cpc_set_t *set;
	cpc_buf_t *a, *b;
	uint64_t n, counted;
};

static void *
count_a_cpu(void *arg)
{
	struct counter *c = arg;
	uint64_t va = 0, vb = 0;

	EXPECT_EQ(cpc_bind_cpu(c->cpc, c->cpu, c->set, 0), 0);
	for (int round = 0; round < 2; round++) {
		pthread_barrier_wait(&count_barrier); /* count at once */
		EXPECT_EQ(cpc_set_sample(c->cpc, c->set, c->a), 0);
		for (int turn = 0; turn < TURNS; turn++) {
			spin(c->n);
			give_turn(); /* the other CPU is busy */
		}
		EXPECT_EQ(cpc_set_sample(c->cpc, c->set, c->b), 0);
	}
	pthread_barrier_wait(&count_barrier);
	cpc_buf_get(c->cpc, c->a, 0, &va);
	cpc_buf_get(c->cpc, c->b, 0, &vb);
	c->counted = vb - va;
	EXPECT_EQ(cpc_unbind(c->cpc, c->set), 0);
	return NULL;
}

/* Count on two CPUs at once: n0 iterations on the first, n1 on the second. */
static void
count_two(struct counter c[2], uint64_t n0, uint64_t n1)
{
	pthread_t t[2];

	c[0].n = n0;
	c[1].n = n1;
	pthread_barrier_init(&count_barrier, NULL, 2);
	for (int i = 0; i < 2; i++)
		EXPECT(pthread_create(&t[i], NULL, count_a_cpu, &c[i]) == 0);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(pthread_join(t[i], NULL), 0);
}

/* CPC-CPU-10: each set counts its own CPU's work, and none of the other's. */
CPC_TEST(two_cpus_at_once)
{
	struct counter c[2];
	uint64_t brief[2];

	NEEDS_USER_INSTRUCTIONS();
	NEEDS_TWO_CPUS();
	for (int i = 0; i < 2; i++) {
		c[i] = (struct counter){ .cpc = cpc, .set = user_set(cpc) };
		c[i].cpu = i == 0 ? 0 : last_cpu();
		c[i].a = cpc_buf_create(cpc, c[i].set);
		c[i].b = cpc_buf_create(cpc, c[i].set);
	}
	count_two(c, SHORT, SHORT);
	brief[0] = c[0].counted;
	brief[1] = c[1].counted;
	EXPECT_EQ(brief[0], brief[1]);
	count_two(c, LONG, SHORT + 7);
	EXPECT_EQ(c[0].counted - brief[0], TURNS * WANT);
	EXPECT_EQ(c[1].counted - brief[1], TURNS * SPIN_INSNS * 7);
}

/* The count of n iterations, whose request overflows and asks for a signal. */
ONE_COPY static uint64_t
count_overflowing(cpc_t *cpc, uint64_t n)
{
	cpc_set_t *set = cpc_set_create(cpc);
	uint64_t v = 0;

	EXPECT_EQ(cpc_set_add_request(cpc, set, INS_EVENT, UINT64_MAX - 999,
		      CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, NULL),
	    0);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	EXPECT_EQ(cpc_bind_cpu(cpc, last_cpu(), set, 0), 0);
	spin(n);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_get(cpc, buf, 0, &v);
	EXPECT(v < 2 * SPIN_INSNS * LONG); /* the count wrapped */
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	return v;
}

/* CPC-CPU-14: the loop overflows the counter, which continues. */
CPC_TEST(notify_sends_no_signal_and_loses_nothing)
{
	NEEDS_USER_INSTRUCTIONS();
	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		SKIP("overflows do not interrupt here");
	signal(SIGEMT, test_note_signal);
	test_nsignal = 0;
	uint64_t brief = count_overflowing(cpc, SHORT);
	EXPECT_EQ(count_overflowing(cpc, LONG) - brief, WANT);
	EXPECT_EQ(test_nsignal, 0);
	signal(SIGEMT, SIG_DFL);
}

/* The end of the binder */

static void *
bind_and_exit(void *set)
{
	EXPECT_EQ(cpc_bind_cpu(the_cpc, 0, set, 0), 0);
	return NULL;
}

/* CPC-CPU-16: an LWP exits, a process exits, a process executes a program. */
CPC_TEST(the_end_of_the_binder_releases_the_cpu)
{
	char *argv[] = { test_argv[0], NULL },
	     *envv[] = { "AFTER_EXEC=", NULL };
	cpc_set_t *set = set_of(cpc, ANY_EVENT), *other;
	pid_t pid;

	the_cpc = cpc;
	other = set_of(cpc, ANY_EVENT);
	as_another_lwp(bind_and_exit, other);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	for (int i = 0; i < 2; i++) {
		REQUIRE((pid = fork()) >= 0);
		if (pid == 0) {
			/* Two CPUs, if there are two. */
			if (cpc_bind_cpu(cpc, 0, other, 0) != 0 ||
			    (last_cpu() != 0 &&
				cpc_bind_cpu(cpc, last_cpu(), set, 0) != 0))
				_exit(1);
			if (i == 1)
				execve(test_argv[0], argv, envv);
			_exit(0);
		}
		EXPECT_EQ(test_wait_status(pid), 0);
		EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
		EXPECT_EQ(cpc_unbind(cpc, set), 0);
		EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	}
}

/* The program that the forked process executes. */
static void __attribute__((constructor)) after_exec(void)
{
	cpc_t *cpc;

	if (getenv("AFTER_EXEC") == NULL)
		return;
	if (bound_to() != PBIND_NONE ||
	    (cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		_exit(2);
	/* The interlock ended with the old program. */
	_exit(cpc_bind_curlwp(cpc, set_of(cpc, ANY_EVENT), 0) == 0 ? 0 : 3);
}

/* CPC-FORK-01: the child inherits no set that is bound to a CPU. */
CPC_TEST(a_forked_child_has_no_cpu_set)
{
	cpc_set_t *set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	pid_t pid;

	EXPECT_EQ(cpc_bind_cpu(cpc, 0, set, 0), 0);
	REQUIRE((pid = fork()) >= 0);
	if (pid == 0) {
		if (cpc_set_sample(cpc, set, buf) == 0 || errno != EINVAL)
			_exit(1);
		if (cpc_unbind(cpc, set) == 0 || errno != EINVAL)
			_exit(2);
		_exit(cpc_bind_curlwp(cpc, set, 0) == -1 && errno == EAGAIN
			  ? 0
			  : 3);
	}
	EXPECT_EQ(test_wait_status(pid), 0);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
}

/* CPC-CLOSE-04, and the same for cpc_set_destroy(). */
CPC_TEST(closing_restores_the_processor_binding)
{
	cpc_t *other = cpc_open(CPC_VER_CURRENT);
	cpc_set_t *set = set_of(cpc, ANY_EVENT);

	go_to(0);
	EXPECT_EQ(
	    cpc_bind_cpu(other, last_cpu(), set_of(other, ANY_EVENT), 0), 0);
	EXPECT_EQ(cpc_close(other), 0);
	EXPECT_EQ(bound_to(), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_bind_cpu(cpc, last_cpu(), set, 0), 0);
	EXPECT_EQ(cpc_set_destroy(cpc, set), 0);
	EXPECT_EQ(bound_to(), 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set_of(cpc, ANY_EVENT), 0), 0);
	go_to(PBIND_NONE);
}
