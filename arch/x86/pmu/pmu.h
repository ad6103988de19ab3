/*
 * The search for a backend, and what the two backends share.  That is the event
 * select but for some bits, and the events that an emulator lists.  Included by
 * arch/x86/ and tests/host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/cpc/pcbe.h"

/* The result of a backend's search on a CPU. */
enum pmu_found {
	PMU_NONE,  /* CPUID reports no PMU */
	PMU_MUTE,  /* its registers do not keep a written value */
	PMU_FOUND, /* its shape is known, and its PICs are stopped */
};

/*
 * Look for this CPU's PMU.  Call once on each CPU, the boot CPU first, with
 * interrupts off.  The kernel offers the PICs and events that all CPUs have.
 * Any register may be missing.
 */
enum pmu_found intel_pcbe_init(void);
enum pmu_found amd_pcbe_init(void);
extern struct pcbe_ops intel_pcbe_ops, amd_pcbe_ops;

/* pmu.c: the same, with the backend of this machine's vendor. */
void x86_pmu_init_cpu(void);

/* Does the attribute set an extra MSR, not a part of the event select? */
static inline bool
evtsel_attr_is_extra(uint32_t attr)
{
	return attr >= CPC_ATTR_MSR_OFFCORE && attr <= CPC_ATTR_MSR_FRONTEND;
}

/*
 * Add the attributes to an event select.  Bit n of `mask` allows attribute n.
 * An attribute `umask` replaces the unit mask of the event.  Returns 0 or a
 * CPC_* subcode.
 */
int evtsel_add_attrs(uint64_t *sel, uint32_t mask, unsigned nattrs,
    const struct cpc_packattr *attrs, bool privileged);
/*
 * The bits to enable a PIC, to interrupt at its overflow, and to count at the
 * privilege levels of `flags` (CPC_COUNT_*).  CPC_COUNT_HV has no bit: a
 * hypervisor does not count on our PICs.
 */
uint64_t evtsel_control(unsigned flags);

/*
 * Read the emulator's list: from CPUID leaves (docs/x86.md), else from the
 * command line.  Call once, on the boot CPU.  Without a list, every event
 * counts as modelled.
 */
void x86_models_read(void);

/* Give the list to the library. */
void x86_models_describe(struct cpc_pmu *pm);

/*
 * For configure(): does the PMU model the event select?  0, if there is no
 * list, too, or CPC_RESOURCE_UNAVAIL, with the reason in rf.
 */
int x86_models_check(uint64_t select, struct cpc_refusal *rf);

/*
 * The word for records.  "listed" means that the emulator lists its events, and
 * that the kernel counts no other.  "unknown" means a hypervisor without a
 * list: its PMU may be an emulator's.  "all" means no hypervisor.
 */
const char *x86_models_name(void);
