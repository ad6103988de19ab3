/*
 * Overflows at the highest rate.  An overflow freezes the set until its owner
 * restarts it, so each restart gives exactly one signal.
 *
 * The rest of the handler after the restart, its tail, takes a part of the
 * period.  The other part is the program's, exact to the instruction.  If the
 * tail takes the whole period, the interrupted program makes no progress, but
 * other LWPs do.
 *
 * In an emulator all periods are equal.  A hypervisor's overflow interrupt
 * comes late, each time by another number of instructions, which the program
 * executes more.  So there the least of many periods is exact, at user
 * privilege.  If the kernel is counted, too, its interrupts take parts of some
 * periods.
 */
#include "tests/lib/image/cpc_test.h"
#include "tests/lib/image/crowd.h"

#include <pthread.h>
#include <signal.h>
#include <sys/processor.h>
#include <time.h>
#include <unistd.h>

/* Pages of the C library's heap, and page tables of threads' stacks. */
TEST_KEEPS(64);

#ifdef __aarch64__
#define REG_TURNS  REG_R0
#define STEP_BYTES 4 /* size of the loop's first instruction */
#else
#define REG_TURNS  REG_RDI
#define STEP_BYTES 3
#endif

static cpc_t *the_cpc;
static struct crowd crowd;

static void
install_handler(void (*fn)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_RESTART };

	sa.sa_sigaction = fn;
	sigaction(SIGEMT, &sa, NULL);
}

static cpc_set_t *
set_with_period(cpc_t *cpc, uint64_t period, uint_t flags)
{
	cpc_set_t *set = cpc_set_create(cpc);

	EXPECT_EQ(cpc_set_add_request(cpc, set, INS_EVENT, -period,
		      flags | CPC_OVF_NOTIFY_EMT, 0, NULL),
	    0);
	return set;
}

/* The progress of a loop that is interrupted in every period. */

static struct {
	cpc_set_t *set;
	uint64_t turns;     /* iterations of the whole loop */
	long wanted, calls; /* signals */
	uint64_t first, last;
	uint64_t step; /* the least from one signal to the next */
	long odd;      /* signals outside the loop */
} loop_state;

/* Instructions of the loop executed so far, or -1 outside the loop. */
static int64_t
loop_position(const ucontext_t *uc)
{
	uint64_t left = (uint64_t)uc->uc_mcontext.gregs[REG_TURNS];
	uint64_t at =
	    (uint64_t)uc->uc_mcontext.gregs[REG_PC] - (uintptr_t)spin_loop;

	if (at == 0)
		return (int64_t)(SPIN_INSNS * (loop_state.turns - left));
	if (at == STEP_BYTES)
		return (int64_t)(SPIN_INSNS * (loop_state.turns - left) - 1);
	return -1;
}

static void
note_progress(int sig, siginfo_t *si, void *context)
{
	int64_t at = loop_position(context);

	if (at < 0) {
		loop_state.odd++;
	} else {
		if (loop_state.calls == 0)
			loop_state.first = (uint64_t)at;
		else if ((uint64_t)at - loop_state.last < loop_state.step)
			loop_state.step = (uint64_t)at - loop_state.last;
		loop_state.last = (uint64_t)at;
		loop_state.calls++;
	}
	if (loop_state.calls <= loop_state.wanted)
		cpc_set_restart(the_cpc, loop_state.set);
}

/* The loop's instructions in the least of n periods. */
static uint64_t
loop_part(cpc_t *cpc, uint64_t period, long n, uint_t flags)
{
	the_cpc = cpc;
	loop_state.turns = (uint64_t)(n + 2) * period / SPIN_INSNS;
	loop_state.wanted = n;
	loop_state.calls = loop_state.odd = 0;
	loop_state.step = UINT64_MAX;
	loop_state.set = set_with_period(cpc, period, flags);
	install_handler(note_progress);
	EXPECT_EQ(cpc_bind_curlwp(cpc, loop_state.set, 0), 0);
	spin_loop(loop_state.turns);
	cpc_set_destroy(cpc, loop_state.set);
	EXPECT_EQ(loop_state.calls, n + 1);
	EXPECT(loop_state.odd <= 1); /* one before the loop */
	if (emulated())
		EXPECT_EQ(loop_state.last - loop_state.first,
		    (uint64_t)n * loop_state.step);
	return loop_state.step;
}

/*
 * CPC-OVF-06: from each of 10,000 signals to the next the loop advances by the
 * same number: the period less the handler's tail.  So no signal is lost, and
 * none comes twice.  Other periods must give the same tail.
 */
CPC_TEST(a_period_is_sustained)
{
	bool user = own_privilege() == CPC_COUNT_USER;
	uint64_t period = user ? 1000 : 10000, tail;

	NEEDS_EXACT_OVERFLOW();
	int64_t ns = test_now_ns();
	tail = period - loop_part(cpc, period, 10000, own_privilege());
	ns = test_now_ns() - ns;
	EXPECT(tail > 0 && tail < period);
	if (user || emulated()) {
		EXPECT_EQ(loop_part(cpc, 2 * period, 100, own_privilege()),
		    2 * period - tail);
		EXPECT_EQ(loop_part(cpc, 3 * period + 1, 100, own_privilege()),
		    3 * period + 1 - tail);
	}
	test_note("tail after restart: %d instructions; a signal: %lld ns",
	    (int)tail,
	    (long long)(ns - (int64_t)(10000 * (period - tail))) / 10000);
}

/* The same, but the kernel's instructions are counted, too. */
CPC_TEST(both_privileges_are_sustained)
{
	uint_t flags = CPC_COUNT_USER | CPC_COUNT_SYSTEM;

	NEEDS_EXACT_OVERFLOW();
	uint64_t tail = 10000 - loop_part(cpc, 10000, 1000, flags);
	EXPECT(
	    loop_part(cpc, 20001, 100, flags) == 20001 - tail || !emulated());
}

/* Busy CPUs add no instructions, unless an emulator counts what all retire. */
CPC_TEST(busy_neighbours_add_no_signals)
{
	int ncpu = (int)crowd_ncpu();

	NEEDS_EXACT_OVERFLOW();
	if (ncpu < 2 || ncpu > CROWD_MAX)
		SKIP("needs 2 to %d CPUs", CROWD_MAX);
	if (own_privilege() != CPC_COUNT_USER)
		SKIP("at system privilege the work of switches is counted");
	go_to(0);
	uint64_t alone = loop_part(cpc, 10000, 100, CPC_COUNT_USER);
	crowd_start(&crowd, 1, 1);
	for (int cpu = 2; cpu < ncpu; cpu++)
		crowd_add(&crowd, cpu);
	EXPECT_EQ(loop_part(cpc, 10000, 100, CPC_COUNT_USER), alone);
	crowd_end(&crowd);
	go_to(PBIND_NONE);
}

/* Storms: several LWPs overflow at the same time, with periods from 1 up. */

#define NLWP    4
#define SIGNALS 200 /* to each LWP */

static _Thread_local struct storm {
	cpc_set_t *set;
	cpc_buf_t *buf;
	volatile long calls;
	volatile bool over;
	uint64_t wrong; /* counts that are out of range */
	bool exact;
} storm;
static uint64_t storm_period;
static uint_t storm_flags;
static volatile long beats;
static volatile int storming;

static void
restart_or_end(int sig, siginfo_t *si, void *context)
{
	uint64_t v = 1;

	storm.calls++;
	if (cpc_set_sample(the_cpc, storm.set, storm.buf) != 0)
		storm.wrong++;
	cpc_buf_get(the_cpc, storm.buf, 0, &v);
	/*
	 * At user privilege the overflow is the last event before the freeze,
	 * unless a hypervisor's interrupt is late.  A storm retires fewer than
	 * 2^31 instructions, the least by which a counter is off.
	 */
	if (storm.exact ? v != 0 : v >= 1ULL << 31)
		storm.wrong++;
	if (storm.calls < SIGNALS || (storm_period == 1 && beats == 0))
		cpc_set_restart(the_cpc, storm.set);
	else
		storm.over = true;
}

static void *
overflow_until_over(void *arg)
{
	long calls;

	storm.exact = own_privilege() == CPC_COUNT_USER &&
	              storm_flags == CPC_COUNT_USER && emulated();
	storm.set = set_with_period(the_cpc, storm_period, storm_flags);
	storm.buf = cpc_buf_create(the_cpc, storm.set);
	if (EXPECT_EQ(cpc_bind_curlwp(the_cpc, storm.set, 0), 0)) {
		while (!storm.over) {
			spin_loop(100);
			getppid(); /* some kernel instructions to count */
		}
	}
	EXPECT_EQ(storm.wrong, 0);
	/* The set is frozen, so no further signal comes. */
	calls = storm.calls;
	spin_loop(10000);
	EXPECT_EQ(storm.calls, calls);
	cpc_buf_destroy(the_cpc, storm.buf);
	cpc_set_destroy(the_cpc, storm.set);
	__atomic_sub_fetch(&storming, 1, __ATOMIC_SEQ_CST);
	return arg;
}

/*
 * An LWP without a set makes progress during a storm.  A storm of period 1
 * does not end before it has.  An emulator runs the CPUs in turn, so storms of
 * other periods may end before its first turn.
 */
static void *
beat_while_storming(void *arg)
{
	const struct timespec moment = { 0, 10000 };

	while (storming > 0) {
		beats++;
		nanosleep(&moment, NULL);
	}
	return arg;
}

static void
run_storms(cpc_t *cpc, uint_t flags)
{
	static const uint64_t periods[] = { 1, 2, 3, 10, 100, 1000 };
	pthread_t t[NLWP + 1];

	the_cpc = cpc;
	storm_flags = flags;
	install_handler(restart_or_end);
	for (unsigned i = 0; i < sizeof periods / sizeof *periods; i++) {
		storm_period = periods[i];
		storming = NLWP;
		beats = 0;
		REQUIRE(pthread_create(
			    &t[NLWP], NULL, beat_while_storming, NULL) == 0);
		for (int n = 0; n < NLWP; n++)
			REQUIRE(pthread_create(&t[n], NULL, overflow_until_over,
				    NULL) == 0);
		for (int n = 0; n <= NLWP; n++)
			pthread_join(t[n], NULL);
	}
}

/* CPC-OVF-06, CPC-OVF-11, CPC-PCBE-06 */
CPC_TEST(storms_of_user_overflows_pass)
{
	NEEDS_EXACT_OVERFLOW();
	if (own_privilege() != CPC_COUNT_USER)
		SKIP("this test needs user privilege");
	run_storms(cpc, CPC_COUNT_USER);
}

/* CPC-OVF-18: a period below the kernel's return takes only signals. */
CPC_TEST(storms_of_system_overflows_pass)
{
	NEEDS_EXACT_OVERFLOW();
	run_storms(cpc, CPC_COUNT_SYSTEM);
}

CPC_TEST(storms_of_both_privileges_pass)
{
	NEEDS_EXACT_OVERFLOW();
	run_storms(cpc, CPC_COUNT_USER | CPC_COUNT_SYSTEM);
}
