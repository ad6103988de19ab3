/* Timers run when due, in order; the hardware is set to the first only. */
#include "tests/lib/host/support.h"

#include <stdlib.h>

#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "kern/sched/timer.h"

#define N 200

static struct cpu self;
static uint64_t now, programmed;

struct cpu *
arch_curcpu(void)
{
	return &self;
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
	programmed = tick;
}

static struct timer timers[N];
static uint64_t start_order[N]; /* when each was started */
static unsigned ran, running;
static uint64_t last_tick, last_order;

static void
timer_due(void *arg)
{
	unsigned i = (unsigned)((struct timer *)arg - timers);

	assert_true(timers[i].t_cpu == NULL);
	assert_true(timers[i].t_tick <= now);
	assert_true(
	    timers[i].t_tick > last_tick ||
	    (timers[i].t_tick == last_tick && start_order[i] > last_order));
	last_tick = timers[i].t_tick;
	last_order = start_order[i];
	ran++;
	running--;
}

static uint64_t
soonest(void)
{
	uint64_t tick = ~0ULL;

	for (unsigned i = 0; i < N; i++) {
		if (timers[i].t_cpu != NULL && timers[i].t_tick < tick)
			tick = timers[i].t_tick;
	}
	return tick;
}

static void
start_random(unsigned i)
{
	static uint64_t starts;

	running += timers[i].t_cpu == NULL;
	start_order[i] = ++starts;
	timer_start(
	    &timers[i], now + 1 + (uint64_t)rand() % 50, timer_due, &timers[i]);
}

static void
stop_one(unsigned i)
{
	running -= timers[i].t_cpu != NULL;
	timer_stop(&timers[i]);
	assert_true(timers[i].t_cpu == NULL);
}

/* Start, restart and stop random timers while time passes. */
TEST(any_order)
{
	srand(1);
	for (unsigned step = 0; step < 20000; step++) {
		unsigned i = (unsigned)rand() % N;

		if (rand() % 3 != 0)
			start_random(i);
		else
			stop_one(i);
		assert_int_equal(programmed, soonest());
		if (rand() % 8 != 0)
			continue;
		now += (uint64_t)rand() % 20;
		last_tick = last_order = 0;
		timer_intr();
		assert_true(soonest() > now);
		assert_int_equal(programmed, soonest());
	}
	now += 100;
	last_tick = last_order = 0;
	timer_intr();
	assert_int_equal(running, 0);
	assert_int_equal(programmed, ~0ULL);
	assert_true(ran > 1000);
}

static unsigned nagain;

static void
start_again(void *arg)
{
	struct timer *t = arg;

	if (++nagain < 3)
		timer_start(t, t->t_tick + 10, start_again, t);
}

/* A timer that a timer's function starts runs at once if it is due. */
TEST(started_by_a_timer)
{
	static struct timer t;

	timer_start(&t, now + 10, start_again, &t);
	now += 20;
	timer_intr();
	assert_int_equal(nagain, 2);
	assert_int_equal(programmed, now + 10);
	now += 10;
	timer_intr();
	assert_int_equal(nagain, 3);
	assert_int_equal(programmed, ~0ULL);
}
