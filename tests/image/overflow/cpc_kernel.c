/*
 * The kernel's own instructions, counted for a program at user privilege, make
 * a PIC overflow.  The tests find the kernel instruction at which the set
 * stops.
 *
 * A system call that is always the same retires CALL instructions at system
 * privilege.  Counting begins in the call that restarts the set.  The program
 * then repeats the call until SIGEMT comes.
 *
 * On x86 an NMI stops the set.  Request 0, with a preset of -N, then reads
 * SKID: the NMI's instructions up to the one that stops the PICs.  SKID is the
 * same for every N.  Request 1 starts at 0 and reads N + SKID.  N + CALL
 * events take exactly one call more, so no event is lost or counted twice.  If
 * the overflow is at the kernel's last instruction, the interrupt comes in the
 * program and has a SKID of its own.
 *
 * On arm64 the kernel masks the interrupt.  The set stops at the end of the
 * call that overflowed, after a whole number of calls.
 *
 * A hypervisor's overflow interrupt comes late, so the place of the stop is not
 * known there.  The set still stops once, after its overflow.  Both requests
 * counted the same instructions up to there, except for a constant number: one
 * starts and stops after the other.  An interrupt of the host or of this kernel
 * may fall between, so one of several runs must have that number.
 */
#define _GNU_SOURCE
#include "tests/lib/image/cpc_test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/cpc.h>
#include <sys/syscall.h>
#include <ucontext.h>

#ifdef __x86_64__
#define UNDEF       "ud2"
#define UNDEF_BYTES 2
#else
#define UNDEF       "udf #0"
#define UNDEF_BYTES 4
#endif

#define FAR         1000000U /* the farthest stop, of one PIC */
#define ALL_STARTED 100U     /* more instructions than start all PICs */
#define ALL_STOPPED 100U     /* more instructions than stop all PICs */
#define STRUCK      400U     /* kernel instructions of several calls */
#define TRIES       10U      /* runs of which one is undisturbed */

/* Pages of the C library's heap. */
TEST_KEEPS(16);

static struct {
	cpc_t *cpc;
	cpc_set_t *set;
	cpc_buf_t *buf;
	volatile int signals;
	uint64_t value, passed;
} last_stop;

static void
note_stop(int sig)
{
	last_stop.signals++;
	EXPECT_EQ(
	    cpc_set_sample(last_stop.cpc, last_stop.set, last_stop.buf), 0);
	cpc_buf_get(last_stop.cpc, last_stop.buf, 0, &last_stop.value);
	cpc_buf_get(last_stop.cpc, last_stop.buf, 1, &last_stop.passed);
}

static bool emulated_here;

/* Inline, so that no other instruction is between two calls. */
static inline void
make_call(void)
{
#ifdef __x86_64__
	long r = SYS_getppid;

	__asm__ volatile("syscall" : "+a"(r) : : "rcx", "r11", "memory");
#else
	register long x8 __asm__("x8") = SYS_getppid;
	register long x0 __asm__("x0");

	__asm__ volatile("svc #0" : "=r"(x0) : "r"(x8) : "memory");
#endif
}

/* Overflow after n events.  Returns the number of calls until the signal. */
static uint64_t
stop_after(uint64_t n)
{
	uint64_t calls = 0;

	last_stop.signals = 0;
	EXPECT_EQ(cpc_request_preset(last_stop.cpc, 0, -n), 0);
	EXPECT_EQ(cpc_syscall(CPC_OP_RESTART, 0, 0, 0, 0), 0);
	for (; last_stop.signals == 0 && calls < FAR; calls++)
		make_call();
	EXPECT_EQ(last_stop.signals, 1);
	return calls;
}

/*
 * A stop in the kernel makes the next start select the events again.  Then a
 * kernel built with UBSan executes three instructions more after the start.  So
 * each start that is compared follows a stop at the kernel's first instruction.
 */
static void
stop_in_the_kernel(void)
{
	if (emulated_here)
		stop_after(1);
}

static uint64_t
calls_until(uint64_t n)
{
	stop_in_the_kernel();
	return stop_after(n);
}

/* The kernel instructions of n calls. */
static uint64_t
cost_of_calls(cpc_t *cpc, uint64_t n)
{
	cpc_set_t *set = cpc_set_create(cpc);
	uint64_t v = 0;

	EXPECT_EQ(cpc_set_add_request(
		      cpc, set, INS_EVENT, 0, CPC_COUNT_SYSTEM, 0, NULL),
	    0);
	cpc_buf_t *buf = cpc_buf_create(cpc, set);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	while (n-- > 0)
		make_call();
	EXPECT_EQ(cpc_disable(cpc), 0);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_get(cpc, buf, 0, &v);
	cpc_buf_destroy(cpc, buf);
	cpc_set_destroy(cpc, set);
	return v;
}

static bool
bind_pair(cpc_t *cpc, uint_t pic)
{
	uint_t other = pic == 0 ? 1 : 0;

	signal(SIGEMT, note_stop);
	last_stop.cpc = cpc;
	last_stop.set = cpc_set_create(cpc);
	add_pic(cpc, last_stop.set, INS_EVENT, pic,
	    CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT);
	while (other == pic || !pic_counts(cpc, INS_EVENT, other))
		other++;
	add_pic(cpc, last_stop.set, INS_EVENT, other, CPC_COUNT_SYSTEM);
	last_stop.buf = cpc_buf_create(cpc, last_stop.set);
	return EXPECT_EQ(cpc_bind_curlwp(cpc, last_stop.set, 0), 0);
}

static void
unbind_pair(void)
{
	cpc_buf_destroy(last_stop.cpc, last_stop.buf);
	cpc_set_destroy(last_stop.cpc, last_stop.set);
	signal(SIGEMT, SIG_DFL);
}

#define NEEDS_KERNEL()                                                         \
	do {                                                                   \
		emulated_here = emulated();                                    \
		if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)         \
			SKIP("overflows do not interrupt here");               \
		if (!have_event(cpc, INS_EVENT) || cpc_npic(cpc) < 2)          \
			SKIP("this PMU has no two PICs for " INS_EVENT);       \
		if (own_privilege() != CPC_COUNT_USER)                         \
			SKIP("at system privilege the program is counted, "    \
			     "too");                                           \
	} while (0)

/* Properties of a PIC that stops_right() compares with. */
struct pic {
	uint64_t call; /* instructions of a call */
	uint64_t skid; /* the NMI's instructions up to the stop */
	uint64_t back; /* the skid after the kernel's last instruction; 0: not
	                  seen yet */
	int64_t gap;   /* how much later the other PIC starts and stops */
};

/* The set stops at the right instruction for n, and after the right call. */
static bool
stops_right(uint64_t n, struct pic *p)
{
	uint64_t calls = calls_until(n), value = last_stop.value,
		 passed = last_stop.passed;
	bool last = calls_until(n + 1) > calls, good;

	/* If PICs start one by one, the first may stop before. */
	good = (n < ALL_STARTED && passed < ALL_STOPPED) ||
	       EXPECT_EQ(passed - value, n + (uint64_t)p->gap);
	if (!STOPS_KERNEL) {
		good = EXPECT(value < p->call + p->skid) && good;
	} else if (!last) {
		good = EXPECT_EQ(value, p->skid) && good;
	} else {
		if (p->back == 0)
			p->back = value;
		good = EXPECT_EQ(value, p->back) && good;
	}
	return EXPECT_EQ(calls_until(n + p->call), calls + 1) && good;
}

/* The gap of two runs that agree. */
static int64_t
learn_gap(uint64_t far)
{
	int64_t gap = 0, was;

	for (unsigned i = 0; i < TRIES; i++) {
		was = gap;
		calls_until(far);
		gap = (int64_t)(last_stop.passed - last_stop.value - far);
		if (i > 0 && gap == was)
			return gap;
	}
	EXPECT(gap == was);
	return gap;
}

/* The set stops once, after n or more events of each request. */
static bool
stops_late(uint64_t n, int64_t gap)
{
	for (unsigned i = 0; i < TRIES; i++) {
		calls_until(n);
		if (last_stop.signals != 1 ||
		    !EXPECT((int64_t)last_stop.value >= 0))
			return false;
		if (last_stop.passed - last_stop.value == n + (uint64_t)gap)
			return true;
	}
	return EXPECT_EQ(last_stop.passed - last_stop.value, n + (uint64_t)gap);
}

static void
all_stops_are_late(cpc_t *cpc)
{
	uint64_t farthest = FAR;

	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		if (!pic_counts(cpc, INS_EVENT, pic) || !bind_pair(cpc, pic))
			continue;
		int64_t gap = learn_gap(farthest);
		for (uint64_t n = ALL_STARTED; n < 2 * ALL_STARTED; n++) {
			if (!stops_late(n, gap))
				break;
		}
		for (uint64_t n = 1000; n <= farthest; n *= 10)
			stops_late(n, gap);
		farthest = FAR / 10;
		unbind_pair();
	}
}

/* CPC-OVF-01, CPC-OVF-03, CPC-OVF-18: a set that counts the kernel only. */
CPC_TEST(the_kernel_stops_after_exactly_n)
{
	struct pic p = { 0 };
	uint64_t far, farthest = FAR;

	NEEDS_KERNEL();
	if (!emulated_here) {
		all_stops_are_late(cpc);
		return;
	}
	p.call = cost_of_calls(cpc, 2) - cost_of_calls(cpc, 1);
	EXPECT_EQ(cost_of_calls(cpc, 1002) - cost_of_calls(cpc, 1001), p.call);
	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		if (!pic_counts(cpc, INS_EVENT, pic) || !bind_pair(cpc, pic))
			continue;
		/* Avoid the last instruction of a call. */
		far = farthest +
		      (calls_until(farthest) < calls_until(farthest + 1));
		calls_until(far);
		p.skid = last_stop.value;
		p.gap = (int64_t)(last_stop.passed - last_stop.value - far);
		p.back = 0;
		for (uint64_t n = 1; n <= 100; n++) {
			if (!stops_right(n, &p))
				break;
		}
		for (uint64_t n = 1000; n <= farthest; n *= 10)
			stops_right(n, &p);
		farthest = FAR / 10;
		unbind_pair();
	}
	test_note(
	    "instructions of a call: %lu; skid in the kernel: %lu; skid after "
	    "its last instruction: %lu",
	    p.call, p.skid, p.back);
}

/*
 * Stop the set at each instruction of the kernel in turn.  These are its ways
 * in and out, a fault, a switch to another LWP and back, and kcpc itself.  The
 * owner gets one signal, and the program continues.
 */

#define STRIKES      6000U
#define LATE_STRIKES 600U /* if the interrupt may come after the visit */

static volatile bool yielder_ends;

static void *
yield_until_end(void *arg)
{
	while (!yielder_ends)
		sched_yield();
	return arg;
}

static void
step_over_fault(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	uc->uc_mcontext.gregs[REG_PC] += UNDEF_BYTES;
}

static void
visit_the_kernel(void)
{
	make_call();
	__asm__ volatile(UNDEF);
	sched_yield();
	EXPECT_EQ(
	    cpc_set_sample(last_stop.cpc, last_stop.set, last_stop.buf), 0);
}

/* Overflow at the nth kernel instruction of a visit.  Returns the skid. */
static uint64_t
strike_once(uint64_t n)
{
	stop_in_the_kernel();
	last_stop.signals = 0;
	EXPECT_EQ(cpc_request_preset(last_stop.cpc, 0, -n), 0);
	EXPECT_EQ(cpc_set_restart(last_stop.cpc, last_stop.set), 0);
	visit_the_kernel();
	for (unsigned i = 0; i < FAR && !emulated_here; i++) {
		if (last_stop.signals != 0)
			break;
		make_call();
	}
	return last_stop.value;
}

/*
 * The result of two of three visits.  A slice may end during a visit, and then
 * the timer's interrupt moves the instructions after it.  If a visit is too
 * short for n, the set keeps running.  That visit is the last.
 */
static uint64_t
strike_twice_alike(uint64_t n)
{
	uint64_t first = strike_once(n), second;

	if (last_stop.signals == 0 || (second = strike_once(n)) == first ||
	    last_stop.signals == 0)
		return first;
	return strike_once(n);
}

CPC_TEST(a_set_can_stop_at_each_kernel_instruction)
{
	struct sigaction sa = { .sa_sigaction = step_over_fault,
		.sa_flags = SA_SIGINFO },
			 was;
	uint64_t signals = 0, skid = 0, odd = 0, value;
	bool freezes = (cpc_caps(cpc) & CPC_CAP_OVERFLOW_FREEZE) != 0;
	bool together = false;
	pthread_t other;
	cpu_set_t all, one;

	NEEDS_KERNEL();
	sigaction(SIGILL, &sa, &was);
	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
	yielder_ends = false;
	REQUIRE(
	    EXPECT_EQ(pthread_create(&other, NULL, yield_until_end, NULL), 0));
	REQUIRE(bind_pair(cpc, 0));
	for (uint64_t n = 1; n <= (emulated_here ? STRIKES : LATE_STRIKES);
	     n++) {
		value = emulated_here ? strike_twice_alike(n) : strike_once(n);
		if (last_stop.signals == 0)
			break;
		EXPECT_EQ(last_stop.signals, 1);
		EXPECT((int64_t)value >= 0);
		if (n == 1 && emulated_here) {
			skid = value;
			together = last_stop.passed - last_stop.value == 1;
		}
		/* PICs that start and stop one by one read other numbers. */
		if (together)
			EXPECT_EQ(last_stop.passed - last_stop.value, n);
		odd += value != skid;
		signals++;
	}
	yielder_ends = true;
	pthread_join(other, NULL);
	unbind_pair();
	sigaction(SIGILL, &was, NULL);
	EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
	EXPECT(signals > 500);
	/*
	 * The skid differs for the last instruction of each way out, because
	 * the interrupt comes in the program.  These are the ways out of the
	 * restart, the call, the fault, the fault handler's return, and the
	 * yield.  In the switch it differs once, at the instruction that stops
	 * the PICs.  A set that freezes has no skid.
	 */
	if (STOPS_KERNEL && together)
		EXPECT_EQ(odd, freezes ? 0 : 6);
	EXPECT(!freezes || skid == 0);
	test_note("the set stopped at %lu instructions", signals);
}

/* Request 1's count less request 0's, if request 1 wraps after n events. */
static uint64_t
gap_of_wrap(cpc_t *cpc, uint64_t n)
{
	EXPECT_EQ(cpc_request_preset(cpc, 1, -n), 0);
	EXPECT_EQ(cpc_set_restart(cpc, last_stop.set), 0);
	for (unsigned calls = 0; calls < 20; calls++)
		make_call();
	EXPECT_EQ(cpc_disable(cpc), 0);
	EXPECT_EQ(cpc_set_sample(cpc, last_stop.set, last_stop.buf), 0);
	cpc_buf_get(cpc, last_stop.buf, 0, &last_stop.value);
	cpc_buf_get(cpc, last_stop.buf, 1, &last_stop.passed);
	return last_stop.passed - last_stop.value + n;
}

/* CPC-OVF-15: request 1 wraps without notification next to notify request 0. */
CPC_TEST(a_neighbour_wraps_in_the_kernel)
{
	uint64_t gap, seen;

	NEEDS_KERNEL();
	REQUIRE(bind_pair(cpc, 0));
	last_stop.signals = 0;
	gap = gap_of_wrap(cpc, ALL_STARTED);
	for (unsigned i = 0; i < TRIES && !emulated_here; i++) {
		seen = gap;
		gap = gap_of_wrap(cpc, ALL_STARTED);
		if (gap == seen)
			break;
	}
	for (uint64_t n = ALL_STARTED; n < ALL_STARTED + STRUCK; n++) {
		seen = gap_of_wrap(cpc, n);
		for (unsigned i = 0; i < TRIES && seen != gap && !emulated_here;
		     i++)
			seen = gap_of_wrap(cpc, n);
		EXPECT_EQ(seen, gap);
	}
	EXPECT_EQ(last_stop.signals, 0);
	unbind_pair();
}
