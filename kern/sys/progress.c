/*
 * The program that runs, and how far it is.  On the host,
 * scripts/host/console/progress.py finds this struct by its symbol and reads
 * it by the emulator's monitor.  So the guest does the same work whether a
 * terminal shows it or not.
 */
#include "kern/sys/syscall.h"

#include "kern/sched/timer.h"
#include "lib/string.h"

#define PROGRESS_MAGIC 0x7373657267637062ULL /* "bpcgress" */

/* Words of 64 bits: the host reads them one by one. */
struct run_progress {
	uint64_t rp_magic;
	uint64_t rp_started; /* gethrtime() when the program started */
	uint64_t rp_now;     /* and at its last call */
	uint64_t rp_done, rp_total;
	char rp_name[88];
};

struct run_progress run_progress = { .rp_magic = PROGRESS_MAGIC };

void
progress_program(const char *name)
{
	struct run_progress *rp = &run_progress;

	rp->rp_done = rp->rp_total = 0;
	rp->rp_started = rp->rp_now = (uint64_t)gethrtime();
	memset(rp->rp_name, 0, sizeof rp->rp_name);
	strlcpy_shown(rp->rp_name, name, sizeof rp->rp_name);
}

intptr_t
sys_progress(const uintptr_t *a)
{
	run_progress.rp_done = a[0];
	run_progress.rp_total = a[1];
	run_progress.rp_now = (uint64_t)gethrtime();
	return 0;
}
