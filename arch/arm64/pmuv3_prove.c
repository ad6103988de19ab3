/*
 * The proof at boot: each PIC counts a loop of known length.
 */
#include <stddef.h>

#include "arch/arm64/pmu_regs.h"
#include "arch/arm64/pmuv3_events.h"
#include "arch/arm64/pmuv3_impl.h"
#include "kern/arch.h"
#include "lib/printf.h"

#define SHORT_LOOP    1000
#define LONG_LOOP     3000
#define LOOP_INSNS    2 /* of one iteration of spin() */
#define COUNT_EL1     PMEVTYPER_U
#define FROM_OVERFLOW 100 /* how far from it the overflow proof starts */
#define PATIENCE_MS   50  /* an emulator that counts time is late with it */

static char complaint[PCBE_MAXPIC][64];

/* Two instructions an iteration. */
static void
spin(uint64_t n)
{
	__asm__ volatile("1: subs %0, %0, #1\n"
			 "   b.ne 1b"
			 : "+r"(n)
			 :
			 : "cc");
}

/* From `start`, what PIC n holds after a loop. */
static uint64_t
count(unsigned pic, unsigned event, uint64_t start, uint64_t iterations)
{
	pmu_write_pmevtyper(pic, event | COUNT_EL1);
	pmu_write_pmevcntr(pic, start);
	pmu_isb();
	pmu_write_pmcntenset(1ULL << pic);
	pmu_isb();
	spin(iterations);
	pmu_isb();
	pmu_write_pmcntenclr(1ULL << pic);
	pmu_isb();
	return pmu_read_pmevcntr(pic);
}

const char *
pmuv3_proof(void)
{
	if (pmuv3_has_event(EVENT_INST_RETIRED))
		return "inst_retired counts a loop exactly";
	return "cpu_cycles advances, no inst_retired here";
}

/*
 * The difference of two lengths cancels what starting and stopping retire.
 * Retired instructions are architectural: there is no tolerance.
 */
const char *
pmuv3_pcbe_prove(unsigned pic)
{
	bool exact = pmuv3_has_event(EVENT_INST_RETIRED);
	unsigned event = exact ? EVENT_INST_RETIRED : EVENT_CPU_CYCLES;
	uint64_t want = LOOP_INSNS * (LONG_LOOP - SHORT_LOOP);
	uint64_t a, b;

	a = count(pic, event, 0, SHORT_LOOP);
	b = count(pic, event, 0, LONG_LOOP);
	pmu_write_pmevcntr(pic, 0);
	if (b == 0)
		snprintf(complaint[pic], sizeof complaint[pic],
		    "reads 0 after %d instructions", LOOP_INSNS * LONG_LOOP);
	else if (exact && b - a != want)
		snprintf(complaint[pic], sizeof complaint[pic],
		    "counts %lu for %lu instructions", (unsigned long)(b - a),
		    (unsigned long)want);
	else if (count(pic, event, 0, 1) == b)
		snprintf(complaint[pic], sizeof complaint[pic],
		    "reads %lu whatever it counts", (unsigned long)b);
	else
		return NULL;
	return complaint[pic];
}

static bool
wait_for(bool (*pending)(void))
{
	uint64_t end = arch_tick() + PATIENCE_MS * arch_tick_hz() / 1000;

	while (!pending()) {
		if (arch_tick() > end)
			return false;
	}
	return true;
}

bool
pmuv3_prove_overflow(bool (*pending)(void))
{
	uint64_t start = -(uint64_t)FROM_OVERFLOW;
	unsigned event = pmuv3_has_event(EVENT_INST_RETIRED)
	                     ? EVENT_INST_RETIRED
	                     : EVENT_CPU_CYCLES;
	bool early, late;

	pmu_write_pmevtyper(0, event | COUNT_EL1);
	pmu_write_pmevcntr(0, pmuv3.pv_width == 64 ? start : start & ~0U);
	pmu_write_pmovsclr(pmuv3.pv_pics);
	pmu_write_pmintenset(1);
	pmu_isb();
	early = pending();
	pmu_write_pmcntenset(1);
	pmu_isb();
	spin(LONG_LOOP);
	/* An access to the counter might raise what was missed. */
	late = event == EVENT_INST_RETIRED ? pending() : wait_for(pending);
	pmu_write_pmcntenclr(1);
	pmu_write_pmintenclr(1);
	pmu_isb();
	pmu_write_pmovsclr(pmuv3.pv_pics);
	pmu_write_pmevcntr(0, 0);
	pmu_isb();
	return !early && late;
}
