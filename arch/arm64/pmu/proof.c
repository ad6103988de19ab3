/*
 * The proof at boot: each PIC counts a loop of known length, and the overflow
 * of PIC 0 interrupts.
 */
#include <stddef.h>

#include "arch/arm64/pmu/pmuv3_impl.h"
#include "arch/arm64/pmu/regs.h"
#include "kern/arch.h"
#include "lib/printf.h"

#define SHORT_LOOP    1000
#define LONG_LOOP     3000
#define COUNT_EL1     PMEVTYPER_U
#define OVERFLOW_LOOP 50  /* iterations of the exact overflow proof */
#define FROM_OVERFLOW 100 /* counts to the overflow in the other proof */
/*
 * How late the interrupt may be.  A hypervisor passes it on with a delay.  An
 * emulator that derives cycles from time checks for overflow at odd times.
 */
#define PATIENCE_US        200
#define CYCLES_PATIENCE_US 50000

#define PIC0   1ULL
#define HELPER 2ULL /* PIC 1, which serves PIC 0 */

static char complaint[PCBE_MAXPIC][64];

/* Let the PIC count a loop.  Returns its count. */
static uint64_t
count_loop(unsigned pic, unsigned event, uint64_t iterations)
{
	pmu_load(pic, event | COUNT_EL1, 0);
	pmu_isb();
	pmuv3_spin(1ULL << pic, iterations);
	return pmu_read_pmevcntr(pic);
}

static bool
counts_insns(void)
{
	return pmuv3_has_event(ARM_INST_RETIRED);
}

static unsigned
proof_event(void)
{
	return counts_insns() ? ARM_INST_RETIRED : ARM_CPU_CYCLES;
}

const char *
pmuv3_proof(void)
{
	if (counts_insns())
		return "inst_retired counts a loop exactly";
	return "cpu_cycles advances, this PMU has no inst_retired";
}

/*
 * The difference of two lengths cancels the instructions of starting and
 * stopping.  Retired instructions are architectural, so there is no tolerance.
 */
const char *
pmuv3_pcbe_prove(unsigned pic)
{
	bool exact = counts_insns();
	unsigned event = proof_event();
	uint64_t want = PMUV3_LOOP_INSNS * (LONG_LOOP - SHORT_LOOP);
	uint64_t a, b, c;

	a = count_loop(pic, event, SHORT_LOOP);
	b = count_loop(pic, event, LONG_LOOP);
	c = count_loop(pic, event, 1);
	pmu_write_pmevcntr(pic, 0); /* EL0 may read it later */
	pmu_isb();
	if (b == 0)
		snprintf(complaint[pic], sizeof complaint[pic],
		    "reads 0 after %d instructions",
		    PMUV3_LOOP_INSNS * LONG_LOOP);
	else if (exact && b - a != want)
		snprintf(complaint[pic], sizeof complaint[pic],
		    "counts %lu for %lu instructions", (unsigned long)(b - a),
		    (unsigned long)want);
	else if (c == b)
		snprintf(complaint[pic], sizeof complaint[pic],
		    "reads %lu whatever it counts", (unsigned long)b);
	else
		return NULL;
	return complaint[pic];
}

/* Load PIC 0, and its helper if `pics` has it, `from` counts before overflow.
 */
static void
arm_overflow(uint64_t pics, uint64_t from)
{
	pmu_load(0, proof_event() | COUNT_EL1, pmuv3_in_width(-from));
	if ((pics & HELPER) != 0)
		pmu_load(
		    1, proof_event() | COUNT_EL1, pmuv3_in_width(-from - 1));
	pmu_write_pmovsclr(pmuv3.pv_pics);
	pmu_write_pmintenset(PIC0);
	pmu_isb();
}

/* Undo arm_overflow(); the PICs are stopped. */
static void
disarm_overflow(uint64_t pics)
{
	pmu_write_pmintenclr(PIC0);
	pmu_isb();
	pmu_write_pmovsclr(pmuv3.pv_pics);
	pmu_write_pmevcntr(0, 0);
	if ((pics & HELPER) != 0)
		pmu_write_pmevcntr(1, 0);
	pmu_isb();
}

/* Run the loop `from` counts before overflow.  Is an interrupt pending then? */
static bool
pending_after_loop(uint64_t pics, uint64_t from)
{
	bool was;

	arm_overflow(pics, from);
	was = pmuv3_spin(pics, OVERFLOW_LOOP);
	disarm_overflow(pics);
	return was;
}

/*
 * Is the interrupt pending right after the instruction that overflows, and not
 * before?  Nothing accesses the counters in between: an access could raise an
 * interrupt that the PMU had missed.
 */
static bool
comes_exactly(uint64_t pics)
{
	uint64_t insns = PMUV3_SPIN_INSNS(OVERFLOW_LOOP);

	return counts_insns() && pending_after_loop(pics, insns) &&
	       !pending_after_loop(pics, insns + 1);
}

static bool
wait_for(bool (*pending)(void))
{
	uint64_t us = counts_insns() ? PATIENCE_US : CYCLES_PATIENCE_US;
	uint64_t end = arch_tick() + us * arch_tick_hz() / 1000000;

	while (!pending()) {
		if (arch_tick() > end)
			return false;
	}
	return true;
}

static bool
comes_late(uint64_t pics, bool (*pending)(void))
{
	bool early, late;

	arm_overflow(pics, FROM_OVERFLOW);
	early = pending();
	pmu_write_pmcntenset(pics);
	pmu_isb();
	late = wait_for(pending);
	pmu_write_pmcntenclr(pics);
	pmu_isb();
	disarm_overflow(pics);
	return !early && late;
}

static const char *overflow_proof = "does not come";

const char *
pmuv3_overflow_proof(void)
{
	return overflow_proof;
}

enum pmuv3_overflow
pmuv3_prove_overflow(bool (*pending)(void))
{
	static const struct {
		uint64_t pics;
		enum pmuv3_overflow how;
		const char *exactly, *late;
	} tries[] = {
		{ PIC0, PMUV3_PLAIN, "comes by itself, at the instruction",
		    "comes by itself, late" },
		{ PIC0 | HELPER, PMUV3_PAIRED,
		    "comes by a helper PIC, at the instruction",
		    "comes by a helper PIC, late" },
	};

	for (unsigned i = 0; i < sizeof tries / sizeof tries[0]; i++) {
		uint64_t pics = tries[i].pics;
		bool exactly;

		if ((pics & ~pmuv3.pv_pics) != 0)
			break;
		exactly = comes_exactly(pics);
		if (!exactly && !comes_late(pics, pending))
			continue;
		overflow_proof = exactly ? tries[i].exactly : tries[i].late;
		return tries[i].how;
	}
	overflow_proof = "does not come";
	return PMUV3_NO_INTR;
}
