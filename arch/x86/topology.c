/*
 * Find the CPUs that are hardware threads of one core.
 *
 * Intel SDM vol. 3A, "Hierarchical Mapping of CPUID Extended Topology Leaf" and
 * "Identifying Topological Relationships in an MP System".  SDM vol. 2A,
 * "CPUID" (leaves 01H, 04H, 0BH, 1FH).
 */
#include "arch/x86/topology.h"

#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"

#define LEAF_TOPOLOGY    0x0b
#define LEAF_TOPOLOGY_V2 0x1f /* also has modules, tiles and dies */
#define MAX_DOMAINS      8
#define DOMAIN_NONE      0
#define DOMAIN_THREAD    1

/*
 * Read the core's id from a topology leaf.  Each sub-leaf is a domain.  It says
 * how far to shift an APIC id to the right to get the id of the next larger
 * domain.  Returns false if the CPU lacks the leaf: then it has no logical
 * processors.
 */
static bool
ask_topology(uint32_t leaf, uint32_t *core)
{
	struct cpuid_regs r = cpuid(leaf, 0);

	if (FIELD(r.b, 15, 0) == 0)
		return false;
	*core = r.d;
	for (uint32_t i = 0; i < MAX_DOMAINS; i++) {
		r = cpuid(leaf, i);
		if (FIELD(r.c, 15, 8) == DOMAIN_NONE)
			break;
		if (FIELD(r.c, 15, 8) == DOMAIN_THREAD)
			*core = r.d >> FIELD(r.a, 4, 0);
	}
	return true;
}

/* The number of bits that hold n different values. */
static unsigned
bits_for(unsigned n)
{
	return n <= 1 ? 0 : 32 - (unsigned)__builtin_clz(n - 1);
}

/*
 * The core's id on a CPU without topology leaves.  The number of threads of a
 * core is the number of ids in a package, divided by the number of cores.  The
 * ids are valid only with CPUID.1:EDX.HTT.  Without leaf 4 there is one core.
 */
static uint32_t
core_by_leaf_4(void)
{
	struct cpuid_regs r = cpuid(1, 0), cache = cpuid(4, 0);
	unsigned ids = 1, cores = 1;

	if (FIELD(r.d, 28, 28) != 0)
		ids = FIELD(r.b, 23, 16);
	if (FIELD(cache.a, 4, 0) != 0)
		cores = FIELD(cache.a, 31, 26) + 1;
	if (bits_for(ids) <= bits_for(cores))
		return FIELD(r.b, 31, 24);
	return FIELD(r.b, 31, 24) >> (bits_for(ids) - bits_for(cores));
}

uint32_t
x86_core_id(void)
{
	uint32_t core;

	if (ask_topology(LEAF_TOPOLOGY_V2, &core) ||
	    ask_topology(LEAF_TOPOLOGY, &core))
		return core;
	return core_by_leaf_4();
}

bool
x86_core_is_shared(void)
{
	struct cpuid_regs r = cpuid(LEAF_TOPOLOGY, 0), one = cpuid(1, 0);
	uint32_t cache = cpuid(4, 0).a;

	if (FIELD(r.b, 15, 0) != 0)
		return FIELD(r.c, 15, 8) == DOMAIN_THREAD &&
		       FIELD(r.b, 15, 0) > 1;
	return FIELD(one.d, 28, 28) != 0 && FIELD(cache, 4, 0) != 0 &&
	       FIELD(one.b, 23, 16) > FIELD(cache, 31, 26) + 1;
}

static uint32_t core_of[MAXCPU];
static struct cpuset noted;

void
x86_topology_init_cpu(void)
{
	unsigned self = arch_curcpu()->c_id;

	if (self == 0)
		noted = (struct cpuset){ { 0 } };
	core_of[self] = x86_core_id();
	cpuset_add(&noted, self);
}

const struct cpuset *
x86_core_threads(unsigned cpu)
{
	static struct cpuset threads;

	threads = (struct cpuset){ { 0 } };
	for (unsigned i = 0; i < MAXCPU; i++) {
		if (cpuset_has(&noted, i) && cpuset_has(&noted, cpu) &&
		    core_of[i] == core_of[cpu])
			cpuset_add(&threads, i);
	}
	return &threads;
}
