/* An LWP loses its counters to a CPU's set, or as its set is destroyed. */
#define _GNU_SOURCE
#include "tests/lib/image/cpc_test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

/* Pages of threads' stacks, which the C library keeps. */
TEST_KEEPS(64);

#define SHORT 1000
#define LONG  30000
#define WANT  (SPIN_INSNS * (LONG - SHORT))

static cpc_t *the_cpc;
static cpc_set_t *the_set;

/* Every operation on the calling LWP's context finds it invalid. */
static void
expect_invalid(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf)
{
	EXPECT_ERRNO(cpc_set_sample(cpc, set, buf), EAGAIN);
	EXPECT_ERRNO(cpc_set_restart(cpc, set), EAGAIN);
	EXPECT_ERRNO(cpc_set_restart(cpc, NULL), EAGAIN);
	EXPECT_ERRNO(cpc_request_preset(cpc, 0, 0), EAGAIN);
	EXPECT_ERRNO(cpc_enable(cpc), EAGAIN);
	EXPECT_ERRNO(cpc_disable(cpc), EAGAIN);
}

static pthread_barrier_t step_barrier;

/* An LWP that waits while its set becomes invalid. */
static void *
wait_while_taken(void *buf)
{
	EXPECT_EQ(cpc_bind_curlwp(the_cpc, the_set, 0), 0);
	EXPECT_EQ(cpc_set_sample(the_cpc, the_set, buf), 0);
	pthread_barrier_wait(&step_barrier); /* its set is bound */
	pthread_barrier_wait(&step_barrier); /* a CPU's set is bound */
	expect_invalid(the_cpc, the_set, buf);
	pthread_barrier_wait(&step_barrier);
	pthread_barrier_wait(&step_barrier); /* the CPU's set is unbound */
	expect_invalid(the_cpc, the_set, buf);
	EXPECT_EQ(cpc_unbind(the_cpc, the_set), 0);
	EXPECT_EQ(cpc_bind_curlwp(the_cpc, the_set, 0), 0);
	EXPECT_EQ(cpc_set_sample(the_cpc, the_set, buf), 0);
	EXPECT_EQ(cpc_unbind(the_cpc, the_set), 0);
	return NULL;
}

/*
 * CPC-INV-01, CPC-INV-02, CPC-INV-03, CPC-UNB-03, CPC-RST-04, CPC-ENA-04,
 * CPC-INH-11
 */
CPC_TEST(a_cpu_set_invalidates_all_lwp_sets)
{
	cpc_set_t *mine = set_of(cpc, ANY_EVENT), *cpu, *again;
	cpc_buf_t *buf = cpc_buf_create(cpc, mine);
	pthread_t t;

	the_cpc = cpc;
	the_set = set_of(cpc, ANY_EVENT);
	cpu = set_of(cpc, ANY_EVENT);
	again = set_of(cpc, ANY_EVENT);
	pthread_barrier_init(&step_barrier, NULL, 2);
	REQUIRE(pthread_create(&t, NULL, wait_while_taken,
		    cpc_buf_create(cpc, the_set)) == 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, mine, CPC_BIND_LWP_INHERIT), 0);
	pthread_barrier_wait(&step_barrier);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, cpu, 0), 0);
	pthread_barrier_wait(&step_barrier);
	expect_invalid(cpc, mine, buf);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, again, 0), EAGAIN);
	EXPECT_SILENT(cpc_bind_curlwp(cpc, mine, 0), EAGAIN);
	/* The binds that fail keep the invalid context. */
	expect_invalid(cpc, mine, buf);
	pthread_barrier_wait(&step_barrier);
	EXPECT_EQ(cpc_unbind(cpc, cpu), 0);
	expect_invalid(cpc, mine, buf);
	pthread_barrier_wait(&step_barrier);
	EXPECT_EQ(cpc_bind_curlwp(cpc, again, 0), 0);
	EXPECT_ERRNO(cpc_set_sample(cpc, mine, buf), EINVAL);
	EXPECT_EQ(pthread_join(t, NULL), 0);
}

static void
send_byte(int fd)
{
	EXPECT_EQ(write(fd, "", 1), 1);
}

static void
receive_byte(int fd)
{
	char c;

	EXPECT_EQ(read(fd, &c, 1), 1);
}

/* In another process: 0 if its set becomes and stays invalid, or the step. */
static int
check_other_process(cpc_t *cpc, cpc_buf_t *buf, int from, int to)
{
	if (cpc_bind_curlwp(cpc, the_set, 0) != 0 ||
	    cpc_set_sample(cpc, the_set, buf) != 0)
		return 1;
	send_byte(to);
	receive_byte(from); /* one or two CPUs have a set */
	if (cpc_set_sample(cpc, the_set, buf) == 0 || errno != EAGAIN)
		return 2;
	send_byte(to);
	receive_byte(from); /* at least one CPU has a set */
	if (cpc_bind_curlwp(cpc, the_set, 0) == 0 || errno != EAGAIN)
		return 3;
	send_byte(to);
	receive_byte(from); /* no CPU has a set */
	if (cpc_set_sample(cpc, the_set, buf) == 0 || errno != EAGAIN)
		return 4;
	if (cpc_bind_curlwp(cpc, the_set, 0) != 0 ||
	    cpc_set_sample(cpc, the_set, buf) != 0)
		return 5;
	return 0;
}

/* CPC-INV-01, CPC-INV-03: for all processes, until the last CPU's set ends. */
CPC_TEST(the_interlock_covers_all_processes_until_the_last_unbind)
{
	cpc_set_t *first = set_of(cpc, ANY_EVENT);
	cpc_set_t *last = set_of(cpc, ANY_EVENT);
	int up[2], down[2];
	pid_t pid;

	the_set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, the_set);
	REQUIRE(pipe(up) == 0 && pipe(down) == 0);
	REQUIRE((pid = fork()) >= 0);
	if (pid == 0)
		_exit(check_other_process(cpc, buf, down[0], up[1]));
	receive_byte(up[0]);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, last, 0), 0);
	if (last_cpu() != 0)
		EXPECT_EQ(cpc_bind_cpu(cpc, last_cpu(), first, 0), 0);
	send_byte(down[1]);
	receive_byte(up[0]);
	if (last_cpu() != 0)
		EXPECT_EQ(cpc_unbind(cpc, first), 0);
	send_byte(down[1]);
	receive_byte(up[0]);
	EXPECT_EQ(cpc_unbind(cpc, last), 0);
	send_byte(down[1]);
	EXPECT_EQ(test_wait_status(pid), 0);
	for (int i = 0; i < 2; i++) {
		close(up[i]);
		close(down[i]);
	}
}

static void *
inherits_nothing(void *buf)
{
	EXPECT_ERRNO(cpc_set_sample(the_cpc, the_set, buf), EINVAL);
	EXPECT_ERRNO(cpc_unbind(the_cpc, the_set), EINVAL);
	return NULL;
}

/* CPC-INH-11 */
CPC_TEST(a_child_of_an_invalid_parent_has_no_context)
{
	cpc_set_t *cpu = set_of(cpc, ANY_EVENT);

	the_cpc = cpc;
	the_set = set_of(cpc, ANY_EVENT);
	EXPECT_EQ(cpc_bind_curlwp(cpc, the_set, CPC_BIND_LWP_INHERIT), 0);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, cpu, 0), 0);
	as_another_lwp(inherits_nothing, cpc_buf_create(cpc, the_set));
	EXPECT_EQ(cpc_unbind(cpc, cpu), 0);
	as_another_lwp(inherits_nothing, cpc_buf_create(cpc, the_set));
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
}

/* CPC-INV-04: no signal, although the loop is longer than the period. */
CPC_TEST(an_invalid_context_never_signals)
{
	cpc_set_t *set = cpc_set_create(cpc), *cpu = set_of(cpc, ANY_EVENT);

	if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0 ||
	    own_privilege() != CPC_COUNT_USER)
		SKIP("overflows of user code do not interrupt here");
	NEEDS_INSTRUCTIONS();
	signal(SIGEMT, test_note_signal);
	test_nsignal = 0;
	EXPECT_EQ(cpc_set_add_request(cpc, set, INS_EVENT, UINT64_MAX - 99999,
		      CPC_COUNT_USER | CPC_OVF_NOTIFY_EMT, 0, NULL),
	    0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, cpu, 0), 0);
	spin(200000);
	EXPECT_EQ(test_nsignal, 0);
	EXPECT_EQ(cpc_unbind(cpc, cpu), 0);
	spin(200000);
	EXPECT_EQ(test_nsignal, 0);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	/* A valid context does signal. */
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	spin(200000);
	EXPECT_EQ(test_nsignal, 1);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	signal(SIGEMT, SIG_DFL);
}

/* The counters are taken from an LWP that runs on another CPU. */

static volatile int counters_taken;
static volatile int runner_samples;

struct runner {
	cpc_buf_t *buf;
	int err;       /* of the sample that failed */
	unsigned late; /* samples and direct reads that succeeded too late */
};

static void *
sample_until_taken(void *arg)
{
	struct runner *r = arg;

	go_to(last_cpu());
	EXPECT_EQ(cpc_bind_curlwp(the_cpc, the_set, 0), 0);
	for (;;) {
		int was = counters_taken;

		if (cpc_set_sample(the_cpc, the_set, r->buf) != 0)
			break;
		r->late += was;
		runner_samples = 1;
	}
	r->err = errno;
	/* The sample may fail before the PICs have stopped. */
	while (!counters_taken)
		sched_yield();
	if (own_privilege() == CPC_COUNT_USER && !software_pmu &&
	    !direct_read_faults())
		r->late++;
	return NULL;
}

/* Let `take` take the counters from an LWP that samples on the last CPU. */
static void
take_from_running(cpc_t *cpc, int err, void (*take)(cpc_t *))
{
	struct runner r = { .buf = cpc_buf_create(cpc, the_set) };
	pthread_t t;

	counters_taken = runner_samples = 0;
	go_to(0);
	REQUIRE(pthread_create(&t, NULL, sample_until_taken, &r) == 0);
	while (!runner_samples)
		sched_yield();
	take(cpc);
	counters_taken = 1;
	EXPECT_EQ(pthread_join(t, NULL), 0);
	EXPECT_EQ(r.err, err);
	EXPECT_EQ(r.late, 0);
	go_to(PBIND_NONE);
}

static cpc_set_t *cpu_bound_set;

static void
take_by_cpu(cpc_t *cpc)
{
	EXPECT_EQ(cpc_bind_cpu(cpc, 0, cpu_bound_set, 0), 0);
}

/* CPC-INV-05 */
CPC_TEST(an_lwp_running_elsewhere_is_reached)
{
	NEEDS_TWO_CPUS();
	the_cpc = cpc;
	the_set = set_of(cpc, ANY_EVENT);
	cpu_bound_set = set_of(cpc, ANY_EVENT);
	take_from_running(cpc, EAGAIN, take_by_cpu);
	EXPECT_EQ(cpc_unbind(cpc, cpu_bound_set), 0);
}

static void
take_by_destroy(cpc_t *cpc)
{
	EXPECT_EQ(cpc_set_destroy(cpc, the_set), 0);
}

/* CPC-SET-04, CPC-CLOSE-03: for all LWPs, running ones, too. */
CPC_TEST(a_destroyed_set_stops_on_other_cpus)
{
	NEEDS_TWO_CPUS();
	the_cpc = cpc;
	the_set = set_of(cpc, ANY_EVENT);
	take_from_running(cpc, EINVAL, take_by_destroy);
}

static void *
bound_by_another(void *arg)
{
	cpc_t *own = arg;

	EXPECT_EQ(cpc_bind_curlwp(the_cpc, the_set, 0), 0);
	pthread_barrier_wait(&step_barrier);
	pthread_barrier_wait(&step_barrier); /* the set's handle is closed */
	EXPECT_ERRNO(cpc_disable(own), EINVAL);
	return NULL;
}

/* CPC-CLOSE-03 */
CPC_TEST(closing_releases_waiting_lwps)
{
	pthread_t t;

	the_cpc = cpc_open(CPC_VER_CURRENT);
	the_set = set_of(the_cpc, ANY_EVENT);
	pthread_barrier_init(&step_barrier, NULL, 2);
	REQUIRE(pthread_create(&t, NULL, bound_by_another, cpc) == 0);
	pthread_barrier_wait(&step_barrier);
	EXPECT_EQ(cpc_close(the_cpc), 0);
	pthread_barrier_wait(&step_barrier);
	EXPECT_EQ(pthread_join(t, NULL), 0);
}

/*
 * One kind of binding at a time
 */

static void *
lose_instance(void *buf)
{
	EXPECT_EQ(cpc_bind_curlwp(the_cpc, the_set, 0), 0);
	pthread_barrier_wait(&step_barrier);
	pthread_barrier_wait(&step_barrier); /* the set is bound to a CPU */
	EXPECT_ERRNO(cpc_set_sample(the_cpc, the_set, buf), EINVAL);
	return NULL;
}

/* CPC-BIND-28, and the reverse: a bind to an LWP takes the set from the CPU. */
CPC_TEST(a_set_is_bound_to_lwps_or_to_a_cpu)
{
	pthread_t t;

	the_cpc = cpc;
	the_set = set_of(cpc, ANY_EVENT);
	cpc_buf_t *buf = cpc_buf_create(cpc, the_set);
	pthread_barrier_init(&step_barrier, NULL, 2);
	REQUIRE(pthread_create(&t, NULL, lose_instance,
		    cpc_buf_create(cpc, the_set)) == 0);
	EXPECT_EQ(cpc_bind_curlwp(cpc, the_set, 0), 0);
	pthread_barrier_wait(&step_barrier);
	EXPECT_EQ(cpc_bind_cpu(cpc, last_cpu(), the_set, 0), 0);
	pthread_barrier_wait(&step_barrier);
	EXPECT_EQ(pthread_join(t, NULL), 0);
	uint64_t v = sampled(cpc, the_set, 0);
	work();
	EXPECT(sampled(cpc, the_set, 0) > v);
	EXPECT_ERRNO(cpc_disable(cpc), EINVAL);

	EXPECT_EQ(cpc_bind_curlwp(cpc, the_set, 0), 0);
	EXPECT_EQ(cpc_set_sample(cpc, the_set, buf), 0);
	EXPECT_EQ(cpc_disable(cpc), 0);
	EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	EXPECT_ERRNO(cpc_unbind(cpc, the_set), EINVAL);
}

static volatile bool bind_requested, binder_ends;

/* On request, bind the set on the CPU that cpc_bind_cpu() waits for. */
static void *
bind_on_request(void *arg)
{
	go_to(last_cpu());
	while (!binder_ends) {
		if (!bind_requested)
			continue;
		spin(100000); /* less than a slice */
		cpc_bind_curlwp(the_cpc, the_set, 0);
		bind_requested = false;
	}
	return arg;
}

/* CPC-BIND-28: the LWP binds the set before the binder runs there. */
CPC_TEST(a_set_bound_during_a_cpu_bind_moves_to_the_cpu)
{
	pthread_t t;
	uint64_t v;

	NEEDS_TWO_CPUS();
	the_cpc = cpc;
	the_set = set_of(cpc, ANY_EVENT);
	binder_ends = false;
	REQUIRE(pthread_create(&t, NULL, bind_on_request, NULL) == 0);
	for (int i = 0; i < 20; i++) {
		go_to(0);
		bind_requested = true;
		EXPECT_EQ(cpc_bind_cpu(cpc, last_cpu(), the_set, 0), 0);
		v = sampled(cpc, the_set, 0);
		work();
		EXPECT(sampled(cpc, the_set, 0) > v);
		EXPECT_EQ(cpc_unbind(cpc, the_set), 0);
	}
	binder_ends = true;
	EXPECT_EQ(pthread_join(t, NULL), 0);
	go_to(PBIND_NONE);
}

/* LWPs that move */

/* The count of n iterations on each CPU, three times. */
static uint64_t
count_moving(cpc_t *cpc, cpc_set_t *set, cpc_buf_t *buf, uint64_t n)
{
	uint64_t v = 0;

	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	for (int round = 0; round < 3; round++) {
		for (int cpu = 0; cpu <= last_cpu(); cpu++) {
			go_to(cpu);
			spin(n);
		}
	}
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_get(cpc, buf, 0, &v);
	EXPECT_EQ(cpc_unbind(cpc, set), 0);
	go_to(PBIND_NONE);
	return v;
}

/* CPC-CTX-02 */
CPC_TEST(a_moving_lwp_counts_exactly)
{
	cpc_set_t *set = cpc_set_create(cpc);

	NEEDS_USER_INSTRUCTIONS();
	NEEDS_TWO_CPUS();
	add_flags(cpc, set, INS_EVENT, CPC_COUNT_USER);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	count_moving(cpc, set, buf, SHORT);
	uint64_t v = count_moving(cpc, set, buf, SHORT);
	EXPECT_EQ(
	    count_moving(cpc, set, buf, LONG) - v, 3 * (last_cpu() + 1) * WANT);
}
