/*
 * An overflow stops the program at the instruction that caused it.  With a
 * preset of 2^64 - N, the LWP stops N instructions after the start of
 * counting.  This holds on every PIC whose overflow interrupts.
 *
 * The code is straight: the system call that restarts the set, then one
 * instruction after the other.  So the PC shows how many were executed.
 *
 * At user privilege the first of these instructions is the first that counts,
 * and the kernel does not count.  So there is no tolerance.  At system
 * privilege the kernel's return from the restart counts before them (LEAD
 * instructions).  Its way from the interrupt to the freeze counts after them
 * (SKID).  Both are constant.  One stop far away measures them, and then every
 * stop is known exactly.
 *
 * If LEAD is longer than N, the overflow is in the kernel.  On x86 an NMI
 * stops the set there.  On arm64 the kernel masks interrupts, so the set stops
 * when it returns.
 *
 * A hypervisor's overflow interrupt may come late.  Then the count after the
 * overflow must be as many as the program's steps after it.
 */
#define _GNU_SOURCE
#include "tests/lib/image/cpc_test.h"

#include <payload.h>
#include <signal.h>
#include <string.h>
#include <sys/cpc.h>
#include <ucontext.h>

#define STEPS 1000000U /* the farthest stop, of one PIC */
#define ROOM  4096U    /* for a stop that is too late */

/* Pages of the C library's heap, and page tables of the code. */
TEST_KEEPS(24);

void position_enter(void *code, long number, long op, uint64_t a);
extern const char position_call[], position_step[], position_return[],
    position_end[];

/* The straight code, its steps, and the return after them. */
static char *code, *steps, *return_step;
static size_t step_bytes;

static struct {
	cpc_t *cpc;
	cpc_set_t *set;
	cpc_buf_t *buf;
	int calls, code;
	uintptr_t addr, pc;
	uint64_t value[2];
} last_stop;

/* Save the place and the counts, and leave the straight code, which is long. */
static void
note_stop(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	last_stop.calls++;
	last_stop.code = si->si_code;
	last_stop.addr = (uintptr_t)si->si_addr;
	last_stop.pc = (uintptr_t)uc->uc_mcontext.gregs[REG_PC];
	EXPECT_EQ(
	    cpc_set_sample(last_stop.cpc, last_stop.set, last_stop.buf), 0);
	cpc_buf_get(last_stop.cpc, last_stop.buf, 0, &last_stop.value[0]);
	cpc_buf_get(last_stop.cpc, last_stop.buf, 1, &last_stop.value[1]);
	uc->uc_mcontext.gregs[REG_PC] = (greg_t)(uintptr_t)return_step;
}

static size_t
code_bytes(void)
{
	return (size_t)(position_step - position_call) +
	       (STEPS + ROOM) * (size_t)(position_return - position_step) +
	       (size_t)(position_end - position_return);
}

static bool
make_code(void)
{
	step_bytes = (size_t)(position_return - position_step);
	code = test_map(code_bytes(), PROT_READ | PROT_WRITE | PROT_EXEC);
	if (code == NULL)
		return false;
	steps = code + (position_step - position_call);
	return_step = steps + (STEPS + ROOM) * step_bytes;
	memcpy(code, position_call, (size_t)(position_step - position_call));
	for (char *p = steps; p < return_step; p += step_bytes)
		memcpy(p, position_step, step_bytes);
	memcpy(return_step, position_return,
	    (size_t)(position_end - position_return));
	payload_isync(code, code_bytes());
	return true;
}

/* Overflow after n events: the steps executed, or -1 without a stop. */
static int64_t
stop_after(uint64_t n)
{
	last_stop.calls = 0;
	EXPECT_EQ(cpc_request_preset(last_stop.cpc, 0, -n), 0);
	position_enter(code, BARECPC_SYS_CPC, CPC_OP_RESTART, 0);
	if (!EXPECT_EQ(last_stop.calls, 1))
		return -1;
	EXPECT_EQ(last_stop.code, EMT_CPCOVF);
	EXPECT_EQ(last_stop.addr, last_stop.pc);
	EXPECT_EQ((last_stop.pc - (uintptr_t)steps) % step_bytes, 0);
	return (int64_t)((last_stop.pc - (uintptr_t)steps) / step_bytes);
}

/* The count after the overflow, if it is in the program or in the kernel. */
struct skid {
	uint64_t program, kernel;
};

static bool
stops_right(uint64_t n, uint64_t lead, const struct skid *skid)
{
	uint64_t early = n < lead ? lead - n : 0, value = early + skid->program;
	int64_t right = early != 0 ? 0 : (int64_t)(n - lead);
	int64_t late = stop_after(n) - right;

	if (STOPS_KERNEL && early != 0)
		value = skid->kernel;
	if (emulated())
		return EXPECT_EQ(late, 0) &&
		       EXPECT_EQ(last_stop.value[0], value);
	if (early != 0) /* part of the lateness is in the kernel */
		return EXPECT(late >= 0 && late < ROOM) &&
		       EXPECT(last_stop.value[0] + ROOM > value);
	return EXPECT(late >= 0 && late < ROOM) &&
	       EXPECT_EQ((int64_t)(last_stop.value[0] - value), late);
}

static void
all_stops(uint_t flags, uint64_t farthest)
{
	struct skid skid;
	int64_t far = stop_after(farthest), late;

	if (!EXPECT(far > 0 && far < (int64_t)(farthest + ROOM)))
		return;
	/* At user privilege the program alone is counted, from its first step.
	 */
	late = flags == CPC_COUNT_USER ? far - (int64_t)farthest : 0;
	EXPECT(late == 0 || (late > 0 && !emulated()));
	uint64_t lead = farthest - (uint64_t)(far - late);
	skid.program = last_stop.value[0] - (uint64_t)late;
	stop_after(1);
	skid.kernel = last_stop.value[0];
	if (flags == CPC_COUNT_USER) {
		EXPECT_EQ(lead, 0);
		EXPECT_EQ(skid.program, 0);
	} else {
		EXPECT(lead > 0 && lead < STEPS / 10);
		/* A set that freezes counts nothing after the overflow. */
		bool freezes =
		    (cpc_caps(last_stop.cpc) & CPC_CAP_OVERFLOW_FREEZE) != 0;

		EXPECT((skid.program > 0) != freezes);
		EXPECT((skid.kernel > 0) != freezes);
		EXPECT(skid.program < 1 << 20 && skid.kernel < 1 << 20);
	}
	/*
	 * A stop in the kernel makes the next start select the events again.
	 * Then a kernel built with UBSan executes three instructions more after
	 * the start.  So each stop follows one in the program.
	 */
	for (uint64_t n = 1; n <= 100; n++) {
		if (flags != CPC_COUNT_USER)
			stop_after(1000);
		if (!stops_right(n, lead, &skid))
			return;
	}
	for (uint64_t n = 1000; n <= farthest; n *= 10)
		stops_right(n, lead, &skid);
}

/* Install the handler, and create a set with one request on this PIC. */
static void
arm_set(cpc_t *cpc, uint_t pic, uint_t flags)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	sa.sa_sigaction = note_stop;
	sigaction(SIGEMT, &sa, NULL);
	last_stop.cpc = cpc;
	last_stop.set = cpc_set_create(cpc);
	add_pic(cpc, last_stop.set, INS_EVENT, pic, flags | CPC_OVF_NOTIFY_EMT);
}

static void
each_pic(cpc_t *cpc, uint_t flags)
{
	uint64_t farthest = STEPS;

	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		if (!pic_counts(cpc, INS_EVENT, pic))
			continue;
		arm_set(cpc, pic, flags);
		last_stop.buf = cpc_buf_create(cpc, last_stop.set);
		if (EXPECT_EQ(cpc_bind_curlwp(cpc, last_stop.set, 0), 0))
			all_stops(flags, farthest);
		farthest = STEPS / 10;
		cpc_buf_destroy(cpc, last_stop.buf);
		cpc_set_destroy(cpc, last_stop.set);
	}
}

/* CPC-OVF-01, CPC-OVF-02, CPC-OVF-03, CPC-OVF-10, CPC-PRE-02 */
CPC_TEST(every_pic_stops_after_exactly_n)
{
	NEEDS_EXACT_OVERFLOW();
	REQUIRE(make_code());
	each_pic(cpc, own_privilege());
	munmap(code, code_bytes());
}

/* CPC-OVF-18: the overflow may be in the kernel. */
CPC_TEST(both_privileges_stop_after_exactly_n)
{
	NEEDS_EXACT_OVERFLOW();
	REQUIRE(make_code());
	each_pic(cpc, CPC_COUNT_USER | CPC_COUNT_SYSTEM);
	munmap(code, code_bytes());
}

/* CPC-OVF-07: the other request stops there, too, and restarts. */
CPC_TEST(the_other_request_stops_with_it)
{
	NEEDS_EXACT_OVERFLOW();
	if (own_privilege() != CPC_COUNT_USER)
		SKIP("at system privilege one PIC counts the start of the "
		     "other");
	REQUIRE(make_code());
	arm_set(cpc, 0, CPC_COUNT_USER);
	add_preset(cpc, last_stop.set, INS_EVENT, 5000);
	last_stop.buf = cpc_buf_create(cpc, last_stop.set);
	REQUIRE(EXPECT_EQ(cpc_bind_curlwp(cpc, last_stop.set, 0), 0));
	for (uint64_t n = 1; n <= 100; n++) {
		int64_t late = stop_after(n) - (int64_t)n;

		EXPECT(late == 0 || (late > 0 && !emulated()));
		EXPECT_EQ(last_stop.value[0], late);
		EXPECT_EQ(last_stop.value[1], 5000 + (int64_t)n + late);
	}
	munmap(code, code_bytes());
}
