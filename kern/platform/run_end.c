/*
 * The end of a run.  scripts/host/console/console.py on the host reads the
 * frame before the closing line, which is for people.
 */
#include "kern/platform/run_end.h"

#include "kern/arch.h"
#include "kern/platform/console.h"
#include "kern/platform/results/keep.h"
#include "lib/printf.h"

static bool ending;

void
run_end(int status)
{
	char text[12];
	int n = snprintf(text, sizeof text, "%d", status);

	__atomic_store_n(&ending, true, __ATOMIC_RELEASE);
	boottime_print();
	cons_write(STREAM_EXIT, text, (size_t)n);
	keep_variables();
	printf("barecpc: exit %d\n", status);
	keep_end();
	run_halt(status == 0);
}

void
run_halt(bool passed)
{
	run_deadline = 0;
	arch_halt(passed);
}

/* The end may take so long, as with a UART that is full. */
#define GRACE_S 10

uint64_t run_deadline;
bool run_powers_off;
static unsigned deadline_s;

void
run_deadline_set(unsigned seconds)
{
	deadline_s = seconds;
	run_powers_off = seconds != 0;
	if (seconds == 0 || arch_tick_hz() == 0)
		return;
	run_deadline = boot_entry_tick + seconds * arch_tick_hz();
}

void
run_deadline_check(void *arg)
{
	uint64_t now = arch_tick(), tick = run_deadline;

	(void)arg;
	if (tick == 0 || now < tick)
		return;
	if (!__atomic_exchange_n(&ending, true, __ATOMIC_ACQ_REL)) {
		cons_seize(false);
		printf("barecpc: deadline=%u: the run took longer and is "
		       "ended: raise it, or run less\n",
		    deadline_s);
		run_end(EXIT_TIMEOUT);
	}
	if (now - tick > GRACE_S * arch_tick_hz())
		run_halt(false);
}
