/* The overflow interrupt comes just after its instruction, by any delivery. */
#include "guest.h"

#define LVT_TIMER   0x320
#define LVT_PMI     0x340
#define LVT_MASKED  (1u << 16)
#define LVT_NMI     (4u << 8)
#define TIMER_COUNT 0x380
#define TIMER_SPLIT 0x3e0
#define EOI         0x0b0
#define SPURIOUS    0x0f0

body_fn run_nops, run_loop, run_stosb, run_jumps, run_halt;
body_fn body_loop, body_user;
extern char run_nops_body[], run_loop_head[], run_stosb_after[];
extern char run_jumps_body[], run_jumps_stride[];
void pmi_by_nmi(uint64_t *frame);
void pmi_by_vector(uint64_t *frame);
void timer_tick(void);

static volatile unsigned hits, ticks;
static volatile uint64_t hit_rip, hit_lvt, hit_status;
/* the numbers of such interrupts in the last call of interrupts_misplaced() */
static uint64_t nmasked, nunclear;
static volatile bool keep_running;
static volatile uint64_t rearm; /* not 0: continue to count from this value */

static void
handle_pmi(uint64_t *frame)
{
	hits++;
	hit_rip = frame[0];
	hit_lvt = lapic_read(LVT_PMI);
	hit_status = pmu_status();
	if (rearm != 0) {
		wrmsr(pmu_counter_msr(0), rearm);
		pmu_clear_status();
		lapic_write(LVT_PMI, lapic_read(LVT_PMI) & ~LVT_MASKED);
	} else if (!keep_running) {
		pmu_stop();
	}
}

void
pmi_by_nmi(uint64_t *frame)
{
	handle_pmi(frame);
}

void
pmi_by_vector(uint64_t *frame)
{
	handle_pmi(frame);
	lapic_write(EOI, 0);
}

void
timer_tick(void)
{
	ticks++;
	lapic_write(EOI, 0);
}

static void
prepare_pmi(uint32_t lvt)
{
	hits = 0;
	hit_rip = 0;
	keep_running = false;
	pmu_clear_status();
	lapic_write(SPURIOUS, 0x1ff);
	lapic_write(LVT_PMI, lvt);
}

/* Run a body with counter c set to overflow after k events. */
static void
overflow_in(body_fn *body, unsigned c, enum event e, uint64_t k, uint32_t n)
{
	struct start s = pmu_setup(c, e, EVTSEL_OS | EVTSEL_INT, -k);

	__asm__ volatile("sti; nop");
	body(s.msr, (uint32_t)s.value, (uint32_t)(s.value >> 32), 0, n);
	__asm__ volatile("cli");
	pmu_stop();
}

/* Overflow after 1 to 20 instructions on each counter: how many are off. */
uint64_t
interrupts_misplaced(uint32_t lvt)
{
	uint64_t wrong = 0;

	nmasked = 0;
	nunclear = 0;
	for (unsigned c = 0; c < pmu_ncounters(); c++) {
		if (!pmu_can(c, INSTRUCTIONS))
			continue;
		for (uint64_t k = 1; k <= 20; k++) {
			prepare_pmi(lvt);
			overflow_in(run_nops, c, INSTRUCTIONS, k, 0);
			wrong +=
			    hits != 1 || hit_rip != (uint64_t)run_nops_body + k;
			nmasked += (hit_lvt & LVT_MASKED) != 0;
			nunclear +=
			    pmu.global && hit_status != pmu_status_bit(c);
		}
	}
	return wrong;
}

static void
test_position(const char *name, uint32_t lvt)
{
	put("# ");
	put(name);
	put("\n");
	check("interrupts not at body + k, k = 1..20, all counters",
	    interrupts_misplaced(lvt), 0);
	check("interrupts that masked the LVT entry", nmasked != 0, pmu.intel);
	check("interrupts with the status of another counter", nunclear, 0);
}

static void
test_through(void)
{
	prepare_pmi(VECTOR_PMI);
	overflow_in(run_loop, 0, INSTRUCTIONS, 1000001, 1000000);
	check("after 1000001 of a loop: at its head", hit_rip,
	    (uint64_t)run_loop_head);

	prepare_pmi(VECTOR_PMI);
	overflow_in(run_loop, 0, CYCLES, 1000001ull * pmu.cpi, 1000000);
	check("by cycles: the same place", hit_rip, (uint64_t)run_loop_head);

	prepare_pmi(VECTOR_PMI);
	overflow_in(run_stosb, 0, INSTRUCTIONS, 3, 1000);
	check("rep stosb of 1000 is one instruction", hit_rip,
	    (uint64_t)run_stosb_after);

	prepare_pmi(VECTOR_PMI);
	overflow_in(run_stosb, 0, INSTRUCTIONS, 13, 1000);
	check("the same and ten more instructions", hit_rip,
	    (uint64_t)run_stosb_after + 10);

	prepare_pmi(VECTOR_PMI);
	overflow_in(run_jumps, 0, BRANCHES, 5, 0);
	check("at the target of the fifth branch", hit_rip,
	    (uint64_t)run_jumps_body + 5 * (uint64_t)run_jumps_stride);

	prepare_pmi(VECTOR_PMI | LVT_MASKED);
	overflow_in(run_nops, 0, INSTRUCTIONS, 5, 0);
	check("no interrupt through a masked entry", hits, 0);

	prepare_pmi(VECTOR_PMI);
	pmu_setup(0, INSTRUCTIONS, EVTSEL_OS, 0);
	overflow_in(run_nops, 0, INSTRUCTIONS, WIDTH_MASK, 0);
	check("no interrupt without an overflow", hits, 0);
}

/* With IF 0 the status is set at once, and the interrupt waits for STI. */
static void
test_held_back(void)
{
	struct start s;

	prepare_pmi(VECTOR_PMI);
	keep_running = true;
	s = pmu_setup(0, INSTRUCTIONS, EVTSEL_OS | EVTSEL_INT, -5ull);
	run_nops(s.msr, (uint32_t)s.value, (uint32_t)(s.value >> 32), 0, 0);
	check("interrupts off: none comes", hits, 0);
	if (pmu.global)
		check("interrupts off: the status is set", pmu_status(), 1);
	pmu_stop();
	__asm__ volatile("sti; nop; nop; cli");
	check("interrupts on: it comes", hits, 1);

	prepare_pmi(VECTOR_PMI | LVT_NMI);
	s = pmu_setup(0, INSTRUCTIONS, EVTSEL_OS | EVTSEL_INT, -5ull);
	run_nops(s.msr, (uint32_t)s.value, (uint32_t)(s.value >> 32), 0, 0);
	check("an NMI comes at once", hit_rip, (uint64_t)run_nops_body + 5);
}

/* A halted CPU retires nothing: the overflow waits for the timer. */
static void
test_halted(void)
{
	uint32_t lo, hi;
	struct start s;

	prepare_pmi(VECTOR_PMI);
	ticks = 0;
	lapic_write(TIMER_SPLIT, 0xb);
	lapic_write(LVT_TIMER, VECTOR_TIMER);
	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	uint64_t before = (uint64_t)hi << 32 | lo;
	lapic_write(TIMER_COUNT, 50000000);
	s = pmu_setup(0, INSTRUCTIONS, EVTSEL_OS | EVTSEL_INT, -40ull);
	run_halt(s.msr, (uint32_t)s.value, (uint32_t)(s.value >> 32), 0, 0);
	__asm__ volatile("rdtsc" : "=a"(lo), "=d"(hi));
	uint64_t after = (uint64_t)hi << 32 | lo;
	lapic_write(LVT_TIMER, LVT_MASKED);
	pmu_stop();
	check("halted for 50 ms: one tick", ticks, 1);
	check("halted for 50 ms: one overflow", hits, 1);
	check("halted for 50 ms: by the TSC",
	    after - before >= 50000000 && after - before < 50100000, true);

	lapic_write(LVT_TIMER, VECTOR_TIMER);
	lapic_write(TIMER_COUNT, 50000000);
	s = pmu_setup(0, CYCLES, EVTSEL_OS | EVTSEL_EDGE, 0);
	run_halt(s.msr, (uint32_t)s.value, (uint32_t)(s.value >> 32), 0, 0);
	lapic_write(LVT_TIMER, LVT_MASKED);
	pmu_stop();
	check("edge of cycles: one end of a halt", pmu_read(0), 1);
}

static void
test_freeze(void)
{
	struct start s;
	bool by_control = pmu.intel && pmu.version < 4;
	unsigned other = pmu.intel ? pmu.ngp : 1;

	if (pmu.intel ? pmu.version < 2 : !pmu.amd_freezes) {
		skip("freeze on PMI", "not this PMU");
		return;
	}
	prepare_pmi(VECTOR_PMI);
	keep_running = true;
	wrmsr(IA32_DEBUGCTL, 1u << 12);
	check("freeze reads back", rdmsr(IA32_DEBUGCTL), 1u << 12);
	pmu_setup(0, INSTRUCTIONS, EVTSEL_OS, 0);
	s = pmu_setup(other, INSTRUCTIONS, EVTSEL_OS | EVTSEL_INT, -4ull);
	s.value |= 1;
	__asm__ volatile("sti; nop");
	run_nops(s.msr, (uint32_t)s.value, (uint32_t)(s.value >> 32), 0, 0);
	__asm__ volatile("cli");
	uint64_t gp = pmu_read(0);
	uint64_t last = pmu_read(other);
	check("frozen after four", gp, 4);
	check("frozen after four: the one that overflowed", last, 0);
	check("global control", rdmsr(s.msr), by_control ? 0 : s.value);
	check("global status", pmu_status(),
	    pmu_status_bit(other) | (by_control ? 0 : 1ull << 59));
	wrmsr(IA32_DEBUGCTL, 0);
	pmu_clear_status();
	pmu_stop();
}

/*
 * A million user instructions in periods of 1001.  The period is odd, so that
 * both instructions of the loop are sampled.  There are 999 full periods and 3
 * instructions more, whatever the handler executes in the kernel.
 */
static void
test_many(void)
{
	struct start s;

	prepare_pmi(VECTOR_PMI | LVT_NMI);
	rearm = -1001ull & WIDTH_MASK;
	s = pmu_setup(0, INSTRUCTIONS, EVTSEL_USR | EVTSEL_INT, rearm);
	uint64_t rest = body_user(
	    s.msr, (uint32_t)s.value, (uint32_t)(s.value >> 32), 0, 500000);
	pmu_stop();
	check("interrupts in 1000002 user instructions by 1001", hits, 999);
	check("the rest of the last period", rest - rearm, 3);
	rearm = 0;
}

void
test_interrupts(void)
{
	test_position("fixed vector", VECTOR_PMI);
	test_position("NMI", VECTOR_PMI | LVT_NMI);
	test_through();
	test_held_back();
	test_halted();
	test_freeze();
	test_many();
}

/* Without icount there is the clock alone: CPUID says what stands still. */
void
test_clock(void)
{
	uint32_t b, c, d;
	uint64_t cycles;

	if (pmu.intel) {
		cpuid(0xa, &b, &c, &d);
		check("instructions and branches are not available", b, 0x7a);
	}
	check("the list of events begins with cycles",
	    cpuid(0x40000101, &b, &c, &d), pmu_code(CYCLES));
	cycles = pmu_run(body_loop, 0, CYCLES, EVTSEL_OS, 100000);
	check("cycles count", cycles != 0, true);
	check("instructions stand still",
	    pmu_run(body_loop, 0, INSTRUCTIONS, EVTSEL_OS, 100000), 0);
	prepare_pmi(VECTOR_PMI);
	overflow_in(run_loop, 0, CYCLES, 100000, 1000000000);
	check("cycles interrupt", hits, 1);
}

/* Somewhere in here the machine is saved and restored, or it is not. */
void
test_migration(void)
{
	struct start s;

	prepare_pmi(VECTOR_PMI | LVT_NMI);
	rearm = -1000001ull & WIDTH_MASK;
	s = pmu_setup(0, INSTRUCTIONS, EVTSEL_USR | EVTSEL_INT, rearm);
	put("# running\n");
	uint64_t rest = body_user(
	    s.msr, (uint32_t)s.value, (uint32_t)(s.value >> 32), 0, 500000000);
	pmu_stop();
	check("interrupts in 1000000002 instructions by 1000001", hits, 999);
	check("the rest of the last period", rest - rearm,
	    1000000002 - 999 * 1000001ull);
}
