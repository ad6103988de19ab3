/*
 * Two CPUs count their own loops at the same time.  Each count is the same as
 * with one CPU.  Under icount the two take turns of some thousand
 * instructions.
 */
#include "guest.h"

#define ICR_LO    0x300
#define ICR_HI    0x310
#define ICR_INIT  0x4500
#define ICR_START 0x4608 /* the page at 0x8000 */

body_fn body_loop, body_pause;
extern char ap_start[], ap_end[];
void ap_main(void);

static const struct {
	const char *name;
	body_fn *body;
	enum event event;
	unsigned per_turn, fixed; /* of the event; fixed includes the read */
	uint32_t turns[2];        /* for the first and the second CPU */
} step[] = {
	{ "instructions", body_loop, INSTRUCTIONS, 2, 2, { 200000, 300000 } },
	{ "branches", body_loop, BRANCHES, 1, 0, { 200000, 300000 } },
	{ "instructions, one CPU almost idle", body_loop, INSTRUCTIONS, 2, 2,
	    { 500000, 10 } },
	{ "instructions, turn by turn", body_pause, INSTRUCTIONS, 3, 2,
	    { 20000, 30000 } },
	{ "branches, turn by turn", body_pause, BRANCHES, 1, 0,
	    { 20000, 30000 } },
};
#define NSTEPS (sizeof(step) / sizeof(step[0]))
#define LAST   (2 * NSTEPS + 2) /* value of turn when the first part ends */

static volatile unsigned turn; /* rises; says which CPU may act next */
static volatile uint64_t count[2][NSTEPS];
static volatile uint64_t misplaced, kept;

static void
wait_for(unsigned want)
{
	while (turn < want)
		__asm__ volatile("pause");
}

static void
run_step(unsigned cpu, unsigned i)
{
	count[cpu][i] = pmu_run(
	    step[i].body, cpu, step[i].event, EVTSEL_OS, step[i].turns[cpu]);
}

void
ap_main(void)
{
	load_idt();
	if (turn == LAST + 1) {
		kept = pmu_read(0);
		turn = LAST + 2;
		return;
	}
	pmu_stop(); /* at reset global control enables the general counters */
	for (unsigned i = 0; i < NSTEPS; i++) {
		wait_for(2 * i + 1);
		turn = 2 * i + 2; /* both run from here */
		run_step(1, i);
	}
	turn = LAST - 1;
	misplaced = interrupts_misplaced(VECTOR_PMI);
	wrmsr(pmu_counter_msr(0), 12345);
	turn = LAST;
}

static void
start_ap(void)
{
	char *to = (char *)0x8000;

	for (char *from = ap_start; from < ap_end; from++)
		*to++ = *from;
	lapic_write(0x0f0, 0x1ff);
	lapic_write(ICR_HI, 1u << 24);
	lapic_write(ICR_LO, ICR_INIT);
	lapic_write(ICR_LO, ICR_START);
}

void
test_two_cpus(void)
{
	turn = 0;
	start_ap();
	for (unsigned i = 0; i < NSTEPS; i++) {
		turn = 2 * i + 1;
		wait_for(2 * i + 2);
		run_step(0, i);
	}
	wait_for(LAST - 1);
	while (turn < LAST) /* this CPU never yields */
		pmu_run(body_loop, 0, BRANCHES, EVTSEL_OS, 1000);
	turn = LAST + 1;
	start_ap();
	wait_for(LAST + 2);
	for (unsigned i = 0; i < NSTEPS; i++) {
		put("# two CPUs: ");
		put(step[i].name);
		put("\n");
		for (unsigned cpu = 0; cpu < 2; cpu++)
			check(cpu == 0 ? "the first" : "the second",
			    count[cpu][i],
			    (uint64_t)step[i].per_turn * step[i].turns[cpu] +
				step[i].fixed);
	}
	check("second CPU: interrupts not at body + k", misplaced, 0);
	check("INIT does not change its counters", kept, 12345);
}
