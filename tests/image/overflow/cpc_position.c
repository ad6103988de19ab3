/*
 * An overflow stops the program at the instruction that made it, on every PIC
 * whose overflow interrupts: preset 2^64 - N, the LWP is found N instructions
 * behind where counting began.
 *
 * The code is straight: the system call that restarts the set, then one
 * instruction after the other, so that the PC tells how many were executed.
 * At user privilege the first of them is the first that counts, and what the
 * kernel does afterwards is not counted: there is no tolerance.  At system
 * privilege the kernel's way back from the restart is counted before them
 * (LEAD instructions), and its way from the interrupt to the freeze after
 * them (SKID).  Both are the same each time; one stop far away measures them,
 * and from then on every stop is known to the digit.  Where LEAD is longer
 * than N the kernel itself is where it stops: on x86 there and then, by an
 * NMI; on arm64 at its end, since it masks interrupts.
 */
#define _GNU_SOURCE
#include "tests/lib/image/cpc_test.h"

#include <payload.h>
#include <signal.h>
#include <string.h>
#include <sys/cpc.h>
#include <ucontext.h>

#define STEPS 1000000U /* the farthest stop */
#define ROOM  64U      /* for a stop that comes too late */

/* The C library's heap keeps what it took, the kernel tables of the code. */
TEST_KEEPS(24);

void position_enter(void *code, long number, long op, uint64_t a);
extern const char position_call[], position_step[], position_return[],
    position_end[];

/* The straight code: its steps, and the return behind them. */
static char *code, *steps, *leave;
static size_t step_bytes;

static struct {
	cpc_t *cpc;
	cpc_set_t *set;
	cpc_buf_t *buf;
	int calls, code;
	uintptr_t addr, pc;
	uint64_t value[2];
} at;

/* Where it was stopped, and on to the end: the rest of the steps is long. */
static void
stopped(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	(void)sig;
	at.calls++;
	at.code = si->si_code;
	at.addr = (uintptr_t)si->si_addr;
	at.pc = (uintptr_t)uc->uc_mcontext.gregs[REG_PC];
	EXPECT_EQ(cpc_set_sample(at.cpc, at.set, at.buf), 0);
	cpc_buf_get(at.cpc, at.buf, 0, &at.value[0]);
	cpc_buf_get(at.cpc, at.buf, 1, &at.value[1]);
	uc->uc_mcontext.gregs[REG_PC] = (greg_t)(uintptr_t)leave;
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
	code = mmap(NULL, code_bytes(), PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return false;
	steps = code + (position_step - position_call);
	leave = steps + (STEPS + ROOM) * step_bytes;
	memcpy(code, position_call, (size_t)(position_step - position_call));
	for (char *p = steps; p < leave; p += step_bytes)
		memcpy(p, position_step, step_bytes);
	memcpy(
	    leave, position_return, (size_t)(position_end - position_return));
	payload_isync(code, code_bytes());
	return true;
}

/* Where N counts lead: the steps executed, or -1 where none stopped. */
static int64_t
stop_after(uint64_t n)
{
	at.calls = 0;
	EXPECT_EQ(cpc_request_preset(at.cpc, 0, -n), 0);
	position_enter(code, BARECPC_SYS_CPC, CPC_OP_RESTART, 0);
	if (!EXPECT_EQ(at.calls, 1))
		return -1;
	EXPECT_EQ(at.code, EMT_CPCOVF);
	EXPECT_EQ(at.addr, at.pc);
	EXPECT_EQ((at.pc - (uintptr_t)steps) % step_bytes, 0);
	return (int64_t)((at.pc - (uintptr_t)steps) / step_bytes);
}

/* What it counts behind its end, in the program and in the kernel. */
struct skid {
	uint64_t program, kernel;
};

static bool
stops_right(uint64_t n, uint64_t lead, const struct skid *skid)
{
	uint64_t early = n < lead ? lead - n : 0, value = early + skid->program;
	bool good;

	if (STOPS_KERNEL && early != 0)
		value = skid->kernel;
	good = EXPECT_EQ(stop_after(n), early != 0 ? 0 : n - lead);
	return EXPECT_EQ(at.value[0], value) && good;
}

static void
all_stops(uint_t flags)
{
	struct skid skid;
	uint64_t lead;
	int64_t far = stop_after(STEPS);

	if (!EXPECT(far > 0 && far <= (int64_t)STEPS))
		return;
	lead = STEPS - (uint64_t)far;
	skid.program = at.value[0];
	stop_after(1);
	skid.kernel = at.value[0];
	if (flags == CPC_COUNT_USER) {
		EXPECT_EQ(lead, 0);
		EXPECT_EQ(skid.program, 0);
	} else {
		EXPECT(lead > 0 && lead < STEPS / 10);
		EXPECT(skid.program > 0 && skid.program < 1 << 20);
		EXPECT(skid.kernel > 0 && skid.kernel < 1 << 20);
	}
	for (uint64_t n = 1; n <= 100; n++) {
		if (!stops_right(n, lead, &skid))
			return;
	}
	for (uint64_t n = 1000; n <= STEPS; n *= 10)
		stops_right(n, lead, &skid);
}

/* SIGEMT to stopped(); a set with one request, on this PIC. */
static void
arm(cpc_t *cpc, uint_t pic, uint_t flags)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	sa.sa_sigaction = stopped;
	sigaction(SIGEMT, &sa, NULL);
	at.cpc = cpc;
	at.set = cpc_set_create(cpc);
	add_pic(cpc, at.set, INS_EVENT, pic, flags | CPC_OVF_NOTIFY_EMT);
}

static void
each_pic(cpc_t *cpc, uint_t flags)
{
	for (uint_t pic = 0; pic < cpc_npic(cpc); pic++) {
		if (!pic_counts(cpc, INS_EVENT, pic))
			continue;
		arm(cpc, pic, flags);
		at.buf = cpc_buf_create(cpc, at.set);
		if (EXPECT_EQ(cpc_bind_curlwp(cpc, at.set, 0), 0))
			all_stops(flags);
		cpc_buf_destroy(cpc, at.buf);
		cpc_set_destroy(cpc, at.set);
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

/* CPC-OVF-18 where the kernel itself makes it overflow. */
CPC_TEST(both_privileges_stop_after_exactly_n)
{
	NEEDS_EXACT_OVERFLOW();
	REQUIRE(make_code());
	each_pic(cpc, CPC_COUNT_USER | CPC_COUNT_SYSTEM);
	munmap(code, code_bytes());
}

/*
 * CPC-OVF-07: another request of the set stops at the same instruction, and
 * begins at its own preset again.
 */
CPC_TEST(the_other_request_stops_with_it)
{
	NEEDS_EXACT_OVERFLOW();
	if (own_privilege() != CPC_COUNT_USER)
		SKIP("one PIC starts after the other, in the kernel");
	REQUIRE(make_code());
	arm(cpc, 0, CPC_COUNT_USER);
	add_preset(cpc, at.set, INS_EVENT, 5000);
	at.buf = cpc_buf_create(cpc, at.set);
	REQUIRE(EXPECT_EQ(cpc_bind_curlwp(cpc, at.set, 0), 0));
	for (uint64_t n = 1; n <= 100; n++) {
		EXPECT_EQ(stop_after(n), n);
		EXPECT_EQ(at.value[0], 0);
		EXPECT_EQ(at.value[1], 5000 + n);
	}
	munmap(code, code_bytes());
}
