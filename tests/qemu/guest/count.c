/*
 * Counts over code of known length.  Every expected number follows from
 * reading bodies.S.  One more MOV belongs to the read.
 */
#include "guest.h"

body_fn body_empty, body_nops, body_loop, body_branches, body_loop_insn;
body_fn body_rdpmc, body_rdtsc, body_cpuid, body_stosb, body_movsb, body_cmpsb;
body_fn body_scasb, body_mmio, body_port, body_ud2, body_helper_ud;
body_fn body_page_fault, body_divide, body_stop, body_user, body_syscall;
void syscall_return(void);
uint64_t user_rdpmc(uint32_t index);

static const struct {
	const char *name;
	body_fn *body;
	uint32_t n;
	uint64_t instructions, branches;
} expect[] = {
	{ "nothing", body_empty, 0, 1, 0 },
	{ "10 nop", body_nops, 0, 11, 0 },
	{ "loop of 1000", body_loop, 1000, 2002, 1000 },
	{ "loop of 1000000", body_loop, 1000000, 2000002, 1000000 },
	{ "call, ret, jmp, indirect jmp", body_branches, 0, 6, 4 },
	{ "jrcxz and loop of 50", body_loop_insn, 50, 54, 51 },
	{ "jrcxz taken", body_loop_insn, 0, 3, 1 },
	{ "rdpmc", body_rdpmc, 0, 3, 0 },
	{ "rdtsc, rdtsc", body_rdtsc, 0, 3, 0 },
	{ "cpuid", body_cpuid, 0, 3, 0 },
	{ "rep stosb of 4096", body_stosb, 4096, 3, 0 },
	{ "rep stosb of 1", body_stosb, 1, 3, 0 },
	{ "rep stosb of 0", body_stosb, 0, 3, 0 },
	{ "rep movsb of 4096", body_movsb, 4096, 3, 0 },
	{ "repe cmpsb of 4096, all equal", body_cmpsb, 4096, 3, 0 },
	{ "repe scasb that stops early", body_scasb, 4096, 3, 0 },
	{ "load from a device register", body_mmio, 0, 6, 0 },
	{ "in from a port", body_port, 0, 4, 0 },
	{ "ud2", body_ud2, 0, 5, 0 },
	{ "#UD found by a helper", body_helper_ud, 0, 5, 0 },
	{ "page fault", body_page_fault, 0, 9, 0 },
	{ "divide error", body_divide, 0, 7, 0 },
};
#define NEXPECT (sizeof(expect) / sizeof(expect[0]))

/* Writes "counter 3, instructions: rep stosb of 1" to a buffer. */
static char *
append_text(char *p, const char *s)
{
	while (*s != '\0')
		*p++ = *s++;
	*p = '\0';
	return p;
}

static const char *
make_title(unsigned counter, const char *what, const char *body)
{
	static char buf[96];
	char digit[2] = { (char)('0' + counter), '\0' };
	char *p = buf;

	if (counter >= pmu.ngp) {
		digit[0] = (char)('0' + counter - pmu.ngp);
		p = append_text(p, "fixed ");
	} else {
		p = append_text(p, "counter ");
	}
	p = append_text(p, digit);
	p = append_text(p, ", ");
	p = append_text(p, what);
	p = append_text(p, ": ");
	append_text(p, body);
	return buf;
}

static void
all_bodies(unsigned counter)
{
	for (unsigned i = 0; i < NEXPECT; i++)
		check(make_title(counter, "instructions", expect[i].name),
		    pmu_run(expect[i].body, counter, INSTRUCTIONS,
			EVTSEL_OS | EVTSEL_USR, expect[i].n),
		    expect[i].instructions);
}

static void
one_loop(unsigned counter)
{
	static const char *const name[] = { "instructions", "cycles",
		"reference cycles", "slots", "branches" };
	const uint64_t want[] = { 2002, (uint64_t)2002 * pmu.cpi,
		2002ull << pmu.shift, 2002ull * pmu.cpi * SLOTS_WIDE, 1000 };

	for (enum event e = INSTRUCTIONS; e <= BRANCHES; e++)
		if (pmu_can(counter, e))
			check(make_title(counter, name[e], "loop of 1000"),
			    pmu_run(body_loop, counter, e, EVTSEL_OS, 1000),
			    want[e]);
}

void
test_counts(void)
{
	all_bodies(0);
	if (pmu.nfixed != 0)
		all_bodies(pmu.ngp);
	for (unsigned i = 0; i < NEXPECT; i++)
		check(make_title(1, "branches", expect[i].name),
		    pmu_run(
			expect[i].body, 1, BRANCHES, EVTSEL_OS, expect[i].n),
		    expect[i].branches);
	for (unsigned c = 0; c < pmu_ncounters(); c++)
		one_loop(c);

	/* CMASK counts cycles: at most one instruction completes in each. */
	check("cmask 1: cycles with an instruction",
	    pmu_run(
		body_loop, 0, INSTRUCTIONS, EVTSEL_OS | EVTSEL_CMASK(1), 1000),
	    2002);
	check("cmask 1, inverted: cycles without one",
	    pmu_run(body_loop, 0, INSTRUCTIONS,
		EVTSEL_OS | EVTSEL_INV | EVTSEL_CMASK(1), 1000),
	    2002ull * (pmu.cpi - 1));
	check("cmask 2 is never reached",
	    pmu_run(
		body_loop, 0, INSTRUCTIONS, EVTSEL_OS | EVTSEL_CMASK(2), 1000),
	    0);
	check("cmask 16, inverted: every cycle",
	    pmu_run(body_loop, 0, INSTRUCTIONS,
		EVTSEL_OS | EVTSEL_INV | EVTSEL_CMASK(16), 1000),
	    2002ull * pmu.cpi);

	/* After a cycle with an instruction comes one without. */
	check("edge: instructions",
	    pmu_run(body_loop, 0, INSTRUCTIONS, EVTSEL_OS | EVTSEL_EDGE, 1000),
	    2002);
	check("edge, cmask 1: branches",
	    pmu_run(body_loop, 0, BRANCHES,
		EVTSEL_OS | EVTSEL_EDGE | EVTSEL_CMASK(1), 1000),
	    1000);
	check("edge, cmask 1, inverted: each end of a branch",
	    pmu_run(body_loop, 0, BRANCHES,
		EVTSEL_OS | EVTSEL_EDGE | EVTSEL_INV | EVTSEL_CMASK(1), 1000),
	    1000);
	check("edge, cmask 2 is never reached",
	    pmu_run(body_loop, 0, INSTRUCTIONS,
		EVTSEL_OS | EVTSEL_EDGE | EVTSEL_CMASK(2), 1000),
	    0);
	check("edge: no end of a halt in a loop",
	    pmu_run(body_loop, 0, CYCLES, EVTSEL_OS | EVTSEL_EDGE, 1000), 0);

	if (pmu.global) {
		struct start s = pmu_setup(0, INSTRUCTIONS, EVTSEL_OS, 0);

		check("stopped by WRMSR, read by RDMSR",
		    body_stop(s.msr, (uint32_t)s.value,
			(uint32_t)(s.value >> 32), pmu_counter_msr(0), 0),
		    7);
		pmu_stop();
	}
}

/* User and kernel: bodies.S says what each body retires. */
static void
one_way(unsigned c, const char *way, body_fn *body, uint64_t kernel)
{
	enum event e = c < pmu.ngp ? INSTRUCTIONS : (enum event)(c - pmu.ngp);
	const struct {
		const char *name;
		uint32_t flags;
		uint64_t fixed, per_turn;
	} mode[] = {
		{ "user", EVTSEL_USR, 2, 2 },
		{ "kernel", EVTSEL_OS, kernel, 0 },
		{ "both", EVTSEL_USR | EVTSEL_OS, kernel + 2, 2 },
		{ "neither", 0, 0, 0 },
	};
	uint64_t unit = e == CYCLES  ? pmu.cpi
	                : e == SLOTS ? pmu.cpi * SLOTS_WIDE
	                             : 1;

	if (e == REFERENCE)
		unit <<= pmu.shift;
	for (unsigned m = 0; m < 4; m++)
		for (uint32_t n = 1; n <= 1000; n += 999)
			check(make_title(c, mode[m].name, way),
			    pmu_run(body, c, e, mode[m].flags, n),
			    unit * (mode[m].fixed + mode[m].per_turn * n));
}

/* AMD64 APM vol. 2, "SYSCALL and SYSRET MSRs" */
static void
enable_syscall(void)
{
	wrmsr(0xc0000080, rdmsr(0xc0000080) | 1);
	wrmsr(0xc0000081, 0x1bull << 48 | 0x18ull << 32);
	wrmsr(0xc0000082, (uint64_t)syscall_return);
	wrmsr(0xc0000084, 0x200);
}

void
test_modes(void)
{
	enable_syscall();
	for (unsigned c = 0; c < pmu_ncounters(); c++) {
		one_way(c, "iret and int", body_user, 3);
		one_way(c, "sysret and syscall", body_syscall, 4);
	}
	check("edge: entries into the kernel",
	    pmu_run(body_user, 0, CYCLES, EVTSEL_OS | EVTSEL_EDGE, 1000), 1);
	check("edge: entries into user mode",
	    pmu_run(body_user, 0, CYCLES, EVTSEL_USR | EVTSEL_EDGE, 1000), 1);
	check("user branches",
	    pmu_run(body_user, 0, BRANCHES, EVTSEL_USR, 1000), 1000);
	check("kernel branches",
	    pmu_run(body_user, 0, BRANCHES, EVTSEL_OS, 1000), 0);

	uint64_t cr4;

	__asm__ volatile("mov %%cr4, %0" : "=r"(cr4));
	check("rdpmc in user mode faults with CR4.PCE 0", user_rdpmc(0), 1);
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4 | 1u << 8));
	check("rdpmc in user mode with CR4.PCE 1", user_rdpmc(0), 0);
	check("rdpmc out of range in user mode", user_rdpmc(31), 1);
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4));
}
