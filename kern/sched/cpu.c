/* The table of CPUs, and their start. */
#include "kern/sched/cpu.h"

#include <stddef.h>

#include "lib/printf.h"

#define START_NS 1000000000LL /* limit for the start of a CPU */

struct cpu cpus[MAXCPU];
unsigned ncpu;
unsigned cpu_limit = MAXCPU;
bool cpu_nmi_panics;
bool cpu_nmi_all;
static unsigned nfound; /* CPUs in the firmware's tables */

struct cpu *
cpu_add(uint64_t hwid)
{
	nfound++;
	if (ncpu == MAXCPU || ncpu >= cpu_limit)
		return NULL;
	struct cpu *c = &cpus[ncpu];
	c->c_id = ncpu++;
	c->c_hwid = hwid;
	return c;
}

/* arch_relax(), because an emulator may run all CPUs on one thread. */
static bool
wait_online(const struct cpu *c)
{
	hrtime_t deadline = gethrtime() + START_NS;

	while (!__atomic_load_n(&c->c_online, __ATOMIC_ACQUIRE)) {
		if (gethrtime() > deadline)
			return false;
		arch_relax();
	}
	return true;
}

void
cpu_start_all(void)
{
	if (nfound > ncpu)
		printf("cpu: %u of %u CPUs used: %s\n", ncpu, nfound,
		    ncpu == MAXCPU ? "the kernel has no room for more"
				   : "cpus= allows no more");
	cpus[0].c_online = true;
	for (unsigned i = 1; i < ncpu; i++) {
		struct cpu *c = &cpus[i];
		const char *why;

		sched_init_cpu(c);
		if ((why = arch_cpu_start(c)) != NULL)
			printf("cpu: CPU %u (%#lx) does not start: %s: the run "
			       "goes on without it\n",
			    i, (unsigned long)c->c_hwid, why);
		else if (!wait_online(c))
			printf("cpu: CPU %u (%#lx) started and was not heard "
			       "of again\n",
			    i, (unsigned long)c->c_hwid);
	}
	printf("cpu: %u online\n", cpu_nonline());
}

unsigned
cpu_nonline(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ncpu; i++)
		n += cpus[i].c_online;
	return n;
}

unsigned
cpu_stray_nmis(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ncpu; i++)
		n += __atomic_load_n(&cpus[i].c_stray_nmis, __ATOMIC_RELAXED);
	return n;
}
