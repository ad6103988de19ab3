/* A CPU's slices: the time that an LWP gets while another waits. */
#include "tests/lib/host/support.h"

#include <string.h>

#include "kern/arch.h"
#include "kern/proc/lwp.h"
#include "kern/sched/sched_impl.h"
#include "kern/sched/xcall.h"

#define SLICE 4000000ULL /* ticks; one is 1 ns */

struct cpu cpus[MAXCPU];
unsigned ncpu;
struct cpuset sched_active_cpus, sched_idle_cpus;
unsigned sched_nidle;
const struct entry_watch *entry_watch;

static struct lwp idle, first, second, sleeper;
static struct cpu *const c = &cpus[0];
static uint64_t now;

struct cpu *
arch_curcpu(void)
{
	return c;
}

uint64_t
arch_tick(void)
{
	return now;
}

uint64_t
arch_tick_hz(void)
{
	return 1000000000;
}

void
arch_timer_set(uint64_t tick)
{
}

void
arch_lwp_switch(struct lwp *from, struct lwp *to)
{
	assert_ptr_equal(to, c->c_lwp);
}

bool
sched_steal(struct cpu *to)
{
	return false;
}

static void
lwp_new(struct lwp *l)
{
	static int last_tid;

	memset(l, 0, sizeof *l);
	l->l_tid = ++last_tid;
	l->l_cpu = c;
	l->l_bound = -1;
	cpuset_add(&l->l_affinity, 0);
}

/* LWP `first` runs; each LWP is new. */
static int
slice_setup(void **state)
{
	ncpu = 1;
	now = SLICE * 1000;
	memset(c, 0, sizeof *c);
	cpuset_add(&sched_active_cpus, 0);
	lwp_new(&idle);
	lwp_new(&first);
	lwp_new(&second);
	lwp_new(&sleeper);
	c->c_active = true;
	c->c_idle = c->c_lwp = &idle;
	sched_ready(&first);
	sched_switch();
	assert_ptr_equal(c->c_lwp, &first);
	return 0;
}

#define SLICE_TEST(name) TEST_WITH(name, slice_setup, NULL)

/* The running LWP waits for something. */
static void
sleep_now(void)
{
	c->c_lwp->l_state = LWP_ASLEEP;
	sched_switch();
}

/* `first` has `left` of its slice when `sleeper` preempts it for 10 ticks. */
static void
cut_slice(uint64_t left)
{
	sched_ready(&second);
	assert_int_equal(c->c_slice.t_tick, now + SLICE);
	now += SLICE - left;
	sched_woken(&sleeper, true);
	assert_int_equal(c->c_lwp->l_ast, AST_YIELD);
	sched_preempt();
	assert_ptr_equal(c->c_lwp, &sleeper);
	now += 10;
}

SLICE_TEST(a_preempted_lwp_gets_the_rest_of_its_slice)
{
	cut_slice(1000);
	sleep_now();
	assert_ptr_equal(c->c_lwp, &first);
	assert_int_equal(c->c_slice.t_tick, now + 1000);
}

/* `first` ends before its turn.  A new LWP at its address has a whole slice. */
SLICE_TEST(the_rest_of_a_slice_ends_with_its_lwp)
{
	cut_slice(1000);
	lwpq_remove(&c->c_runq, &first); /* it moves, and ends there */
	lwp_new(&first);
	sched_ready(&first);
	lwpq_remove(&c->c_runq, &second);
	lwpq_push(&c->c_runq, &second);
	sleep_now();
	assert_ptr_equal(c->c_lwp, &first);
	assert_int_equal(c->c_slice.t_tick, now + SLICE);
}

/* The rest counts only while the LWP that waited still waits. */
SLICE_TEST(an_lwp_that_was_alone_since_gets_a_whole_slice)
{
	cut_slice(1000);
	lwpq_remove(&c->c_runq, &second); /* it moves to another CPU */
	sleep_now();
	assert_ptr_equal(c->c_lwp, &first);
	assert_null(c->c_slice.t_cpu);
	now += SLICE * 100;
	sched_ready(&second);
	assert_int_equal(c->c_slice.t_tick, now + SLICE);
}

/* `first` ends while its slice is timed, and a new LWP at its address runs. */
SLICE_TEST(a_slice_is_not_that_of_a_new_lwp)
{
	sched_ready(&second);
	lwp_new(&first);
	now += SLICE;
	c->c_slice.t_fn(c->c_slice.t_arg);
	assert_int_equal(first.l_ast, 0);
	assert_int_equal(c->c_slice.t_tick, now + SLICE);
}
