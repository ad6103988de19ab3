/*
 * The kernel's own instructions, counted for a program at user privilege, make
 * a PIC overflow: which instruction of the kernel stops the set.
 *
 * A system call that is always the same retires CALL instructions at system
 * privilege.  Counting begins in the call that restarts the set; calls
 * follow until the signal comes.  Where an NMI stops the set it holds, however
 * far the kernel had to go on, N events and SKID more: those of the NMI up to
 * the instruction that stops.  A second request, which begins at 0, has
 * counted just these N + SKID, and CALL events more need one call more: none is
 * lost and none is counted twice.  What follows the kernel's last instruction
 * is the program's next, and the NMI its interrupt, with a SKID of its own.
 *
 * Where the kernel masks the interrupt the set stops at the end of the call
 * that overflowed: after a whole number of calls.
 */
#define _GNU_SOURCE
#include "tests/lib/image/cpc_test.h"

#include <payload.h>
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

#define FAR         1000000U /* the farthest stop */
#define ALL_STARTED 100U     /* it takes fewer instructions... */
#define ALL_STOPPED 100U     /* ...and so does this */
#define STRUCK      400U     /* instructions of several calls */

/* The C library's heap keeps what it took. */
TEST_KEEPS(16);

static struct {
	cpc_t *cpc;
	cpc_set_t *set;
	cpc_buf_t *buf;
	volatile int signals;
	uint64_t value, passed;
} at;

static void
stopped(int sig)
{
	(void)sig;
	at.signals++;
	EXPECT_EQ(cpc_set_sample(at.cpc, at.set, at.buf), 0);
	cpc_buf_get(at.cpc, at.buf, 0, &at.value);
	cpc_buf_get(at.cpc, at.buf, 1, &at.passed);
}

/* No instruction of the C library's lies between two of them. */
static inline void
call(void)
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

/* N events: the calls that were made until the signal came. */
static uint64_t
calls_until(uint64_t n)
{
	uint64_t calls = 0;

	at.signals = 0;
	EXPECT_EQ(cpc_request_preset(at.cpc, 0, -n), 0);
	EXPECT_EQ(cpc_syscall(CPC_OP_RESTART, 0, 0, 0, 0), 0);
	for (; at.signals == 0 && calls < FAR; calls++)
		call();
	EXPECT_EQ(at.signals, 1);
	return calls;
}

/* What n calls retire in the kernel. */
static uint64_t
cost(cpc_t *cpc, uint64_t n)
{
	cpc_set_t *set = cpc_set_create(cpc);
	cpc_buf_t *buf;
	uint64_t v = 0;

	EXPECT_EQ(cpc_set_add_request(
		      cpc, set, INS_EVENT, 0, CPC_COUNT_SYSTEM, 0, NULL),
	    0);
	buf = cpc_buf_create(cpc, set);
	EXPECT_EQ(cpc_bind_curlwp(cpc, set, 0), 0);
	while (n-- > 0)
		call();
	EXPECT_EQ(cpc_disable(cpc), 0);
	EXPECT_EQ(cpc_set_sample(cpc, set, buf), 0);
	cpc_buf_get(cpc, buf, 0, &v);
	cpc_buf_destroy(cpc, buf);
	cpc_set_destroy(cpc, set);
	return v;
}

static bool
bind(cpc_t *cpc, uint_t pic)
{
	uint_t other = pic == 0 ? 1 : 0;

	signal(SIGEMT, stopped);
	at.cpc = cpc;
	at.set = cpc_set_create(cpc);
	add_pic(
	    cpc, at.set, INS_EVENT, pic, CPC_COUNT_SYSTEM | CPC_OVF_NOTIFY_EMT);
	while (other == pic || !pic_counts(cpc, INS_EVENT, other))
		other++;
	add_pic(cpc, at.set, INS_EVENT, other, CPC_COUNT_SYSTEM);
	at.buf = cpc_buf_create(cpc, at.set);
	return EXPECT_EQ(cpc_bind_curlwp(cpc, at.set, 0), 0);
}

static void
unbind(void)
{
	cpc_buf_destroy(at.cpc, at.buf);
	cpc_set_destroy(at.cpc, at.set);
	signal(SIGEMT, SIG_DFL);
}

#define NEEDS_KERNEL()                                                         \
	do {                                                                   \
		if ((cpc_caps(cpc) & CPC_CAP_OVERFLOW_INTERRUPT) == 0)         \
			SKIP("overflows do not interrupt here");               \
		if (!have_event(cpc, INS_EVENT) || cpc_npic(cpc) < 2)          \
			SKIP("this PMU has no two PICs for " INS_EVENT);       \
		if (counts_all_cpus(cpc))                                      \
			SKIP("QEMU's counters count what all of its CPUs "     \
			     "retire");                                        \
		if (own_privilege() != CPC_COUNT_USER)                         \
			SKIP("the program's own instructions are counted");    \
	} while (0)

/* What a PIC is found with, and what belongs to it alone. */
struct pic {
	uint64_t call; /* what a call retires */
	uint64_t skid; /* what the NMI does, up to where it stops */
	uint64_t
	    back; /* the same of one behind the kernel's last instruction */
	int64_t apart; /* how much later the other PIC starts and stops */
};

/* Where it stopped is as far away as it should be. */
static bool
stops_right(uint64_t n, struct pic *p)
{
	uint64_t calls = calls_until(n), value = at.value, passed = at.passed;
	bool last = calls_until(n + 1) > calls, good;

	/* Where PICs start one by one it may stop before the other begins. */
	good = (n < ALL_STARTED && passed < ALL_STOPPED) ||
	       EXPECT_EQ(passed - value, n + (uint64_t)p->apart);
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

/* CPC-OVF-01, CPC-OVF-03, CPC-OVF-18: SYSTEM alone, in the kernel. */
CPC_TEST(the_kernel_stops_after_exactly_n)
{
	struct pic p = { 0 };
	uint64_t far;

	NEEDS_KERNEL();
	p.call = cost(cpc, 2) - cost(cpc, 1);
	EXPECT_EQ(cost(cpc, 1002) - cost(cpc, 1001), p.call);
	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		if (!pic_counts(cpc, INS_EVENT, pic) || !bind(cpc, pic))
			continue;
		/* Not at the last instruction of a call. */
		far = FAR + (calls_until(FAR) < calls_until(FAR + 1));
		calls_until(far);
		p.skid = at.value;
		p.apart = (int64_t)(at.passed - at.value - far);
		p.back = 0;
		for (uint64_t n = 1; n <= 100; n++) {
			if (!stops_right(n, &p))
				break;
		}
		for (uint64_t n = 1000; n <= FAR; n *= 10)
			stops_right(n, &p);
		unbind();
	}
	test_note("a call retires %lu instructions, an NMI's way to the stop "
		  "%lu, from the kernel's end %lu",
	    p.call, p.skid, p.back);
}

/*
 * An overflow at each instruction of the kernel in turn, of its ways in and
 * out, a fault, a switch to another LWP and back, and of kcpc itself: the set
 * stops there, its owner is told once, and all goes on.
 */

#define STRIKES 6000U

static volatile bool leave;

static void *
yield(void *arg)
{
	while (!leave)
		sched_yield();
	return arg;
}

static void
stepped_over(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	(void)si;
	uc->uc_mcontext.gregs[REG_PC] += UNDEF_BYTES;
}

static void
visit_the_kernel(void)
{
	call();
	__asm__ volatile(UNDEF);
	sched_yield();
	EXPECT_EQ(cpc_set_sample(at.cpc, at.set, at.buf), 0);
}

/* Where a visit stopped that was to stop at its nth instruction there. */
static uint64_t
strike(uint64_t n)
{
	at.signals = 0;
	EXPECT_EQ(cpc_request_preset(at.cpc, 0, -n), 0);
	EXPECT_EQ(cpc_set_restart(at.cpc, at.set), 0);
	visit_the_kernel();
	return at.value;
}

/*
 * The same by two of three: a slice may end in a visit, and its interrupt's
 * instructions come before those that follow.  A visit too short for n leaves
 * the set running and is the last.
 */
static uint64_t
struck(uint64_t n)
{
	uint64_t first = strike(n), second;

	if (at.signals == 0 || (second = strike(n)) == first || at.signals == 0)
		return first;
	return strike(n);
}

CPC_TEST(each_instruction_of_the_kernel_can_be_struck)
{
	struct sigaction sa = { .sa_sigaction = stepped_over,
		.sa_flags = SA_SIGINFO },
			 was;
	uint64_t signals = 0, skid = 0, odd = 0, value;
	bool together = false;
	pthread_t other;
	cpu_set_t all, one;

	NEEDS_KERNEL();
	sigaction(SIGILL, &sa, &was);
	sched_getaffinity(0, sizeof all, &all);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
	leave = false;
	REQUIRE(EXPECT_EQ(pthread_create(&other, NULL, yield, NULL), 0));
	REQUIRE(bind(cpc, 0));
	for (uint64_t n = 1; n <= STRIKES; n++) {
		value = struck(n);
		if (at.signals == 0)
			break;
		EXPECT_EQ(at.signals, 1);
		if (n == 1) {
			skid = value;
			together = at.passed - at.value == 1;
		}
		/* Those that start and stop one by one are apart. */
		if (together)
			EXPECT_EQ(at.passed - at.value, n);
		odd += value != skid;
		signals++;
	}
	leave = true;
	pthread_join(other, NULL);
	unbind();
	sigaction(SIGILL, &was, NULL);
	EXPECT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
	EXPECT(signals > 500);
	/*
	 * Elsewhere than in the kernel it is found behind the last instruction
	 * of a way out: of the restart, the call, the fault, its handler's end
	 * and the yield; and by the switch, whose last is what stops.
	 */
	if (STOPS_KERNEL && together)
		EXPECT_EQ(odd, 6);
	test_note("%lu instructions were struck", signals);
}

/* CPC-OVF-15: what nobody waits for goes round beside what somebody does. */
CPC_TEST(a_neighbour_goes_round_in_the_kernel)
{
	uint64_t apart = 0, was;

	NEEDS_KERNEL();
	REQUIRE(bind(cpc, 0));
	at.signals = 0;
	for (uint64_t n = ALL_STARTED; n < ALL_STARTED + STRUCK; n++) {
		EXPECT_EQ(cpc_request_preset(cpc, 1, -n), 0);
		EXPECT_EQ(cpc_set_restart(cpc, at.set), 0);
		for (unsigned calls = 0; calls < 20; calls++)
			call();
		EXPECT_EQ(cpc_disable(cpc), 0);
		EXPECT_EQ(cpc_set_sample(cpc, at.set, at.buf), 0);
		cpc_buf_get(cpc, at.buf, 0, &at.value);
		cpc_buf_get(cpc, at.buf, 1, &at.passed);
		was = apart;
		apart = at.passed - at.value + n;
		if (n != ALL_STARTED)
			EXPECT_EQ(apart, was);
	}
	EXPECT_EQ(at.signals, 0);
	unbind();
}
