/*
 * The proof at boot that a PIC does not count what another CPU retires.  An
 * emulator's PIC may, if it derives counts from an instruction counter that all
 * CPUs share.
 *
 * This CPU counts turns.  In each of them arch_relax() is a chance for another
 * CPU to run, which repeats a loop: a short one, then a long one.  This CPU
 * retires the same number both times.  Noise, such as an SMI, may make a try
 * differ, but not each of TRIES tries.
 */
#include <stddef.h>

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/sched/cpu.h"
#include "kern/sched/klock.h"
#include "kern/sched/xcall.h"
#include "lib/printf.h"

#define TRIES 5
#define SHORT 1 /* iterations */
#define LONG  100

const char *kcpc_crosstalk;

/* The loop of the other CPU, and how often it ran. */
struct round {
	const struct pcbe_ops *rd_ops;
	uint64_t rd_iterations, rd_done;
};

static void
run_round(void *arg)
{
	struct round *rd = arg;

	rd->rd_ops->spin(rd->rd_iterations);
	__atomic_fetch_add(&rd->rd_done, 1, __ATOMIC_RELEASE);
	arch_relax();
}

/* Count turns while CPU c runs rounds.  False if none ended then. */
static bool
count_next_to(struct cpu *c, const struct pcbe_ops *ops, unsigned pic,
    uint64_t iterations, uint64_t *n)
{
	struct round rd = { ops, iterations, 0 };
	uint64_t before;

	xcall_start(c, run_round, &rd, true);
	while ((before = __atomic_load_n(&rd.rd_done, __ATOMIC_ACQUIRE)) == 0)
		arch_relax();
	*n = kcpc_count_turns(ops, pic);
	before = __atomic_load_n(&rd.rd_done, __ATOMIC_ACQUIRE) - before;
	xcall_end();
	return before != 0;
}

/* By the last CPU, unless it shares this one's PMU. */
void
kcpc_prove_alone(const struct pcbe_ops *ops, unsigned pic)
{
	unsigned self = arch_curcpu()->c_id;
	struct cpu *c = &cpus[ncpu - 1];
	bool ran = false, equal = false;
	uint64_t few, many;

	kcpc_crosstalk = NULL;
	if (c->c_id == self || !c->c_online ||
	    (ops->siblings != NULL && cpuset_has(ops->siblings(self), c->c_id)))
		return;
	kernel_lock(); /* for xcall_start() */
	for (unsigned i = 0; i < TRIES && !equal; i++) {
		if (!count_next_to(c, ops, pic, SHORT, &few) ||
		    !count_next_to(c, ops, pic, LONG, &many))
			continue;
		ran = true;
		equal = few == many;
	}
	kernel_unlock();
	if (equal)
		return;
	if (ran)
		kcpc_crosstalk = "the counters of this machine count what all "
				 "CPUs retire: boot one CPU (cpus=1), or use "
				 "another emulator";
	printf("pcbe: %s\n",
	    ran ? kcpc_crosstalk
		: "the last CPU did not run next to this one: not proved that "
		  "PICs count their own CPU alone");
}
