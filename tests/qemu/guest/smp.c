/*
 * Two CPUs count their own loops at the same time: each total is its own, as
 * if it were alone.  Under icount the two take turns, some thousand
 * instructions each.
 */
#include "guest.h"

#define ICR_LO    0x300
#define ICR_HI    0x310
#define ICR_INIT  0x4500
#define ICR_START 0x4608 /* the page at 0x8000 */

body_fn body_loop;
extern char ap_start[], ap_end[];
void ap_main(void);

static volatile unsigned turn; /* rises: who may do what next */
static volatile uint64_t ap_count[4];

static const enum event counted[4] = { INSTRUCTIONS, BRANCHES, CYCLES,
	INSTRUCTIONS };
static const uint32_t ap_turns[4] = { 300000, 300000, 300000, 10 };
static const uint32_t bsp_turns[4] = { 200000, 200000, 200000, 500000 };

static uint64_t
expected(enum event e, uint32_t n)
{
	if (e == BRANCHES)
		return n;
	return (2ull * n + 2) * (e == CYCLES ? pmu.cpi : 1);
}

static void
wait_for(unsigned want)
{
	while (turn != want)
		__asm__ volatile("pause");
}

void
ap_main(void)
{
	load_idt();
	pmu_stop(); /* at reset the general counters' gate is open */
	for (unsigned i = 0; i < 4; i++) {
		wait_for(2 * i + 1);
		turn = 2 * i + 2; /* from here both run */
		ap_count[i] =
		    pmu_run(body_loop, 1, counted[i], EVTSEL_OS, ap_turns[i]);
		wait_for(2 * i + 3);
	}
	turn = 100;
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
	static const char *const name[4] = { "instructions", "branches",
		"cycles", "instructions, one CPU nearly idle" };
	uint64_t count[4];

	turn = 0;
	start_ap();
	for (unsigned i = 0; i < 4; i++) {
		turn = 2 * i + 1;
		wait_for(2 * i + 2);
		count[i] =
		    pmu_run(body_loop, 0, counted[i], EVTSEL_OS, bsp_turns[i]);
	}
	turn = 9;
	wait_for(100);
	for (unsigned i = 0; i < 4; i++) {
		put("# two CPUs: ");
		put(name[i]);
		put("\n");
		check(
		    "first CPU", count[i], expected(counted[i], bsp_turns[i]));
		check("second CPU", ap_count[i],
		    expected(counted[i], ap_turns[i]));
	}
}
