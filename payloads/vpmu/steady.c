/*
 * Notes that time or cycles were lost while vpmu ran: to firmware, another
 * guest, or a changed rate of the clock.  No point fails by it.
 */
#include "payloads/vpmu/vpmu.h"

#include <stddef.h>
#include <sys/time.h>

#define LOOPS      50
#define ITERATIONS 4000

/* The least and most of the loops. */
struct steady {
	int64_t st_cycles[2], st_ns[2];
	int64_t st_rate[2]; /* ns of 10^6 cycles */
};

static struct steady begin;

static void
widen(int64_t *range, int64_t value)
{
	range[0] = value < range[0] ? value : range[0];
	range[1] = value > range[1] ? value : range[1];
}

/* The first loop is not used.  False if no PIC counts cycles. */
static bool
run_loops(struct steady *st)
{
	struct measure m;
	int64_t cycles;
	hrtime_t ns;

	*st = (struct steady){ { INT64_MAX, 0 }, { INT64_MAX, 0 },
		{ INT64_MAX, 0 } };
	if (!measure_open_code(&m, ANY_PIC, "PAPI_tot_cyc", 0, 0))
		return false;
	for (unsigned i = 0; i <= LOOPS; i++) {
		ns = gethrtime();
		cycles = -(int64_t)measure_sample(&m, 0);
		spin_loop(ITERATIONS);
		cycles += (int64_t)measure_sample(&m, 0);
		ns = gethrtime() - ns;
		if (i == 0 || cycles <= 0)
			continue;
		widen(st->st_cycles, cycles);
		widen(st->st_ns, ns);
		widen(st->st_rate, ns * 1000000 / cycles);
	}
	measure_close(&m);
	return st->st_cycles[1] != 0;
}

void
steady_begin(void)
{
	run_loops(&begin);
}

void
note_steady(void)
{
	struct steady end;

	if (begin.st_cycles[1] == 0 || !run_loops(&end))
		return;
	point_note("%d loops: %lld to %lld cycles, %lld to %lld ns", LOOPS,
	    (long long)end.st_cycles[0], (long long)end.st_cycles[1],
	    (long long)end.st_ns[0], (long long)end.st_ns[1]);
	if (end.st_cycles[1] - end.st_cycles[0] > end.st_cycles[0] / 20)
		point_note("an interrupt or firmware took cycles of a loop");
	if (end.st_rate[0] > begin.st_rate[0] + begin.st_rate[0] / 20 ||
	    begin.st_rate[0] > end.st_rate[0] + end.st_rate[0] / 20)
		point_note("the clock's rate changed: 10^6 cycles take %lld "
			   "ns, before %lld",
		    (long long)end.st_rate[0], (long long)begin.st_rate[0]);
	if (end.st_rate[1] > end.st_rate[0] + end.st_rate[0] / 20)
		point_note("time without cycles: an interrupt, firmware or "
			   "another guest ran, or the clock's rate changed");
}
