/*
 * What the files of the Intel backend share; included by them alone.
 */
#ifndef ARCH_X86_PMU_INTEL_INTEL_IMPL_H
#define ARCH_X86_PMU_INTEL_INTEL_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86/pmu/pic.h"
#include "kern/cpc/pcbe.h"

/* What a CPU's PMU has, and then what that of each CPU has. */
struct intel_shape {
	unsigned is_version;
	unsigned is_ngp, is_gp_width;
	unsigned is_fixed; /* bit n: fixed counter n */
	unsigned is_fixed_width;
	unsigned is_events; /* bit n: architectural event n */
	unsigned is_absent; /* bit n: CPUID says there is no event n */
	unsigned is_cache;  /* the level of the last cache */
	bool is_full_width; /* IA32_A_PMCx */
	bool is_anythread;
	bool is_per_thread; /* counts what its own hardware thread does */
};
extern struct intel_shape intel_shape; /* of all CPUs */

static inline unsigned
low_bits(unsigned n)
{
	return n < 32 ? (1U << n) - 1 : ~0U;
}

/* intel_shape.c: what CPUID tells of this CPU's PMU. */
void intel_shape_read(struct intel_shape *is);
/*
 * Take from a shape what the CPU does not have after all: hypervisors pass
 * CPUID on and keep registers back.
 */
void intel_shape_probe(struct intel_shape *is);
/* Take from *all what one CPU lacks. */
void intel_shape_merge(struct intel_shape *all, const struct intel_shape *is);
/* The PICs of a shape. */
void intel_shape_lay_out(struct x86_pics *ps, const struct intel_shape *is);

/* intel_pcbe.c: bits of the select that raise #GP. */
extern uint64_t intel_lacking;
/* Which of the fixed counters a PIC is, or -1. */
int intel_fixed_of(unsigned pic);
/*
 * NULL if general PICs count the event select; else why not, in static storage:
 * CPUID says that the architectural event is absent, or the emulator that it
 * does not model the event.
 */
const char *intel_general_lack(uint64_t select);

/* intel_cfg.c: the operations of kern/cpc/pcbe.h. */
uint64_t intel_attr_pics(
    uint64_t pics, unsigned nattrs, const struct pcbe_attr *attrs);
int intel_configure(struct pcbe_cfg *cfg, const struct pcbe_event *ev,
    unsigned nattrs, const struct pcbe_attr *attrs, struct pcbe_set *set);

#endif /* ARCH_X86_PMU_INTEL_INTEL_IMPL_H */
