/*
 * Types and functions that the files of the Intel backend share.  Included by
 * these files only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "arch/x86/pmu/pic.h"
#include "arch/x86/pmu/pmu.h"
#include "kern/cpc/pcbe.h"

/* The PMU of one CPU, or the part that all CPUs have. */
struct intel_shape {
	unsigned is_version;
	unsigned is_ngp, is_gp_width;
	unsigned is_fixed; /* bit n: fixed counter n */
	unsigned is_fixed_width;
	unsigned is_events; /* bit n: architectural event n */
	unsigned is_absent; /* bit n: CPUID says that event n is absent */
	unsigned is_cache;  /* the level of the last cache */
	bool is_full_width; /* IA32_A_PMCx exist */
	bool is_anythread;
	bool is_per_thread; /* counts its own hardware thread only */
	/* The bits that each register of enum event_extra takes. */
	uint64_t is_extras[EXTRA_N];
	uint64_t is_lacking; /* bits of the event select that raise #GP */
};
extern struct intel_shape intel_shape; /* the part that all CPUs have */
/* Do threads of a core share the extra MSRs, and has a core two? */
extern bool intel_extras_shared;
extern struct intel_shape intel_type_shape[PCBE_MAXTYPE]; /* core_type.c */

/* The shape that a set of this ps_type uses. */
static inline const struct intel_shape *
intel_shape_of(unsigned type)
{
	return type == 0 ? &intel_shape : &intel_type_shape[type - 1];
}

static inline unsigned
low_bits(unsigned n)
{
	return n < 32 ? (1U << n) - 1 : ~0U;
}

/* intel_shape.c: the shape of this CPU's PMU, as CPUID reports it. */
void intel_shape_read(struct intel_shape *is);
/*
 * Remove from a shape the registers that do not work.  Hypervisors pass CPUID
 * on and hide registers.
 */
void intel_shape_probe(struct intel_shape *is);
/*
 * Find the bits that each extra MSR of this CPU takes.  0: the CPU lacks it.
 * Later, other sets count by these registers, and a set may be for another CPU.
 * So configure() writes none of them.
 */
void intel_shape_probe_extras(struct intel_shape *is);
/* Remove from *all everything that one CPU lacks. */
void intel_shape_merge(struct intel_shape *all, const struct intel_shape *is);
/* Fill in the PICs of a shape. */
void intel_shape_lay_out(struct x86_pics *ps, const struct intel_shape *is);
/* Add the PICs of another shape that *ps has not. */
void intel_shape_add(struct x86_pics *ps, const struct intel_shape *is);
/* The PICs of *ps that a shape has, and those that are general counters. */
uint32_t intel_shape_pics(
    const struct intel_shape *is, const struct x86_pics *ps);
uint32_t intel_shape_general(const struct intel_shape *is);

/*
 * core_type.c.  A type is a ps_type.  intel_type_join() notes the type of this
 * CPU; intel_types_lay_out() fills in the PICs of all types, first those that
 * all have.
 */
/* CPUID.1AH:EAX[31:24] of a type, or 0. */
unsigned intel_core_of(unsigned type);
void intel_type_join(const struct intel_shape *mine);
void intel_types_lay_out(struct x86_pics *ps);

/* intel_pcbe.c: the attributes of a shape, bit n is attribute n. */
uint32_t intel_shape_attrs(const struct intel_shape *is);
/* The number of the fixed counter that a PIC is, or -1. */
int intel_fixed_of(unsigned pic);
/*
 * Returns 0 if general PICs of the shape count the event select.  Otherwise
 * returns the subcode, with the reason in rf.  CPUID says that the
 * architectural event is absent, or the emulator does not model the event.
 */
int intel_general_check(
    const struct intel_shape *is, uint64_t select, struct cpc_refusal *rf);

/* intel_configure.c: operations of kern/cpc/pcbe.h. */
uint64_t intel_attr_pics(
    uint64_t pics, unsigned nattrs, const struct cpc_packattr *attrs);
int intel_configure(struct pcbe_cfg *cfg, const struct cpc_event *ev,
    unsigned nattrs, const struct cpc_packattr *attrs, struct pcbe_set *set,
    struct cpc_refusal *rf);
