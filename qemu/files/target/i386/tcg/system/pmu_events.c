/*
 * Performance counters of x86 under TCG: the events that counters choose
 *
 * Copyright (c) 2025 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "pmu-internal.h"

#define EVTSEL_AMD_EVENT   ((0xfULL << 32) | 0xff)
#define EVTSEL_INTEL_EVENT (EVTSEL_UMASK2 | EVTSEL_CODE)

static const PMUChoice pmu_choices_intel[] = {
    { 0x00c0, EVTSEL_INTEL_EVENT, PMU_INSTRUCTIONS },
    { 0x003c, EVTSEL_INTEL_EVENT, PMU_CYCLES },
    { 0x013c, EVTSEL_INTEL_EVENT, PMU_REFERENCE },
    { 0x01a4, EVTSEL_INTEL_EVENT, PMU_SLOTS },
    { 0x00c4, EVTSEL_INTEL_EVENT, PMU_BRANCHES },
    { 0x01b7, EVTSEL_INTEL_EVENT, PMU_OFFCORE_0 },
    { 0x01bb, EVTSEL_INTEL_EVENT, PMU_OFFCORE_1 },
    { 0x010e, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_UOPS },
    { 0x0143, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_L1D },
    { 0x0151, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_L1D_MISS },
    { 0x0183, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_L1I },
    { 0x0283, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_L1I_MISS },
    { 0xff24, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_L2 },
    { 0x3f24, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_L2_MISS },
    { 0x4f2e, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_LLC },
    { 0x412e, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_LLC_MISS },
    { 0x0108, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_DTLB_MISS },
    { 0x0185, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_ITLB_MISS },
    { 0x00c5, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_BRANCH_MISS },
    { 0x02c2, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_SLOTS_RETIRING },
    { 0x0073, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_SLOTS_BAD },
    { 0x019c, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_SLOTS_FRONTEND },
    { 0x02a4, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_SLOTS_BACKEND },
    { 0x04a3, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_STALL },
    { 0x01a1, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_PORT },
    { 0x02a1, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_PORT + 1 },
    { 0x04a1, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_PORT + 2 },
    { 0x08a1, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_PORT + 3 },
    { 0x10a1, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_PORT + 4 },
    { 0x20a1, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_PORT + 5 },
    { 0x40a1, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_PORT + 6 },
    { 0x80a1, EVTSEL_INTEL_EVENT, PMU_PLUGIN + PMU_PLANTED_PORT + 7 },
    {}
};

static const PMUChoice pmu_choices_amd[] = {
    { 0xc0, EVTSEL_AMD_EVENT, PMU_INSTRUCTIONS },
    { 0x76, EVTSEL_AMD_EVENT, PMU_CYCLES },
    { 0xc2, EVTSEL_AMD_EVENT, PMU_BRANCHES },
    { 0xc1, EVTSEL_AMD_EVENT, PMU_PLUGIN + PMU_PLANTED_UOPS },
    { 0xc3, EVTSEL_AMD_EVENT, PMU_PLUGIN + PMU_PLANTED_BRANCH_MISS },
    {}
};

const PMUChoice *pmu_choices(CPUX86State *env)
{
    return pmu_is_intel(env) ? pmu_choices_intel : pmu_choices_amd;
}

/*
 * The bits of an extra MSR, 0 if this model does not have the register.
 * Intel SDM vol. 4, the tables of the models' MSRs; vol. 3B, "Off-core Response
 * Performance Monitoring", "Load Latency Performance Monitoring Facility".
 */
uint64_t pmu_extra_bits(CPUX86State *env, unsigned n)
{
    unsigned model = extract32(env->cpuid_version, 4, 4) |
                     extract32(env->cpuid_version, 16, 4) << 4;
    uint64_t offcore, frontend = 0;

    if (!pmu_is_intel(env) || extract32(env->cpuid_version, 8, 4) != 6) {
        return 0;
    }
    switch (model) {
    case 0x2a:
    case 0x3a: /* Sandy Bridge, Ivy Bridge */
        offcore = 0x3f807f8fffULL;
        break;
    case 0x3c:
    case 0x3f:
    case 0x3d:
    case 0x4f: /* Haswell, Broadwell */
        offcore = 0x3fffff8fffULL;
        break;
    case 0x4e:
    case 0x5e:
    case 0x55:
    case 0x8e:
    case 0x9e: /* Skylake */
        offcore = 0x3fffff8fffULL;
        frontend = 0x7fff17;
        break;
    default:
        return 0;
    }
    return n == X86_PMU_LD_LAT     ? 0xffff
           : n == X86_PMU_FRONTEND ? frontend
                                   : offcore;
}

/*
 * There is no memory to be counted here.  But a guest can see which requests it
 * counts: demand reads (bit 0) are instructions, demand writes alone (bit 1)
 * branches, others nothing.
 */
static PMUEvent pmu_offcore_event(uint64_t requests)
{
    return requests & 1   ? PMU_INSTRUCTIONS
           : requests & 2 ? PMU_BRANCHES
                          : PMU_NOTHING;
}

/* The plugin's event that an event is, or PMU_PLANTED_NONE */
PMUPlanted pmu_supplied(PMUEvent event)
{
    static const PMUPlanted own[PMU_NEVENTS] = {
        [PMU_NOTHING] = PMU_PLANTED_NONE,
        [PMU_INSTRUCTIONS] = PMU_PLANTED_INSTRUCTIONS,
        [PMU_CYCLES] = PMU_PLANTED_CYCLES,
        [PMU_REFERENCE] = PMU_PLANTED_NS,
        [PMU_BRANCHES] = PMU_PLANTED_BRANCHES,
        [PMU_SLOTS] = PMU_PLANTED_SLOTS,
    };
    PMUPlanted supplied = event >= PMU_PLUGIN   ? event - PMU_PLUGIN
                          : event < PMU_NEVENTS ? own[event]
                                                : PMU_PLANTED_NONE;

    return pmu_planted(supplied) ? supplied : PMU_PLANTED_NONE;
}

static PMUEvent pmu_decode_event(CPUX86State *env, uint64_t evtsel)
{
    const PMUChoice *choice = pmu_choices(env);

    while (choice->mask && (evtsel & choice->mask) != choice->select) {
        choice++;
    }
    switch (choice->event) {
    case PMU_OFFCORE_0:
    case PMU_OFFCORE_1:
        return pmu_offcore_event(
            env_archcpu(env)->pmu_extra[choice->event - PMU_OFFCORE_0]);
    case PMU_SLOTS:
        return pmu_event_rate(env, PMU_SLOTS) ? PMU_SLOTS : PMU_NOTHING;
    case PMU_PLUGIN ... PMU_PLUGIN + PMU_PLANTED_EVENTS - 1:
        return pmu_supplied(choice->event) == PMU_PLANTED_NONE ? PMU_NOTHING
                                                               : choice->event;
    default:
        return choice->event;
    }
}

static void pmu_decode_gp(CPUX86State *env, unsigned n, PMUCounter *c)
{
    uint64_t evtsel = env->msr_gp_evtsel[n];

    *c = (PMUCounter){
        .value = &env->msr_gp_counters[n],
        .status = 1ULL << n,
        .event = pmu_decode_event(env, evtsel),
        .cmask = extract64(evtsel, 24, 8),
        .edge = evtsel & EVTSEL_EDGE,
        .invert = evtsel & EVTSEL_INV,
        .equal = pmu_is_intel(env) && (evtsel & EVTSEL_EQ),
        .intr = evtsel & EVTSEL_INT,
        .os = evtsel & EVTSEL_OS,
        .usr = evtsel & EVTSEL_USR,
        .guest = pmu_is_amd(env) && (evtsel & EVTSEL_GUESTONLY),
        .host = pmu_is_amd(env) && (evtsel & EVTSEL_HOSTONLY),
        .enabled = evtsel & EVTSEL_EN,
    };
}

static void pmu_decode_fixed(CPUX86State *env, unsigned n, PMUCounter *c)
{
    static const PMUEvent event[X86_PMU_FIXED] = { PMU_INSTRUCTIONS, PMU_CYCLES,
                                                   PMU_REFERENCE, PMU_SLOTS };
    unsigned ctrl = extract64(env->msr_fixed_ctr_ctrl, 4 * n, 4);

    *c = (PMUCounter){
        .value = pmu_fixed(env, n),
        .status = 1ULL << (STATUS_FIXED_SHIFT + n),
        .event = event[n],
        .intr = ctrl & FIXED_PMI,
        .os = ctrl & FIXED_OS,
        .usr = ctrl & FIXED_USR,
        .enabled = true,
    };
}

unsigned pmu_ncounters(CPUX86State *env)
{
    return pmu_ngp(env) + pmu_nfixed(env);
}

void pmu_decode(CPUX86State *env, unsigned n, PMUCounter *c)
{
    if (n < pmu_ngp(env)) {
        pmu_decode_gp(env, n, c);
    } else {
        pmu_decode_fixed(env, n - pmu_ngp(env), c);
    }
    if (pmu_has_global_ctrl(env) &&
        (!(env->msr_global_ctrl & c->status) ||
         (env->msr_global_status & STATUS_CTR_FRZ))) {
        c->enabled = false;
    }
    c->enabled = c->enabled && (c->os || c->usr);
    c->os |= c->usr && pmu_lies(env)->kernel;
}
