/*
 * Performance counters of x86 under TCG
 *
 * Copyright (c) 2025 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Intel architectural performance monitoring version 1 to 6, and AMD's four
 * legacy counters, six core counters and PerfMonV2.  Their counts follow from
 * the number of instructions that this vCPU has executed:
 *
 * - instructions: icount's number, less the passes that retired nothing
 *
 * - core cycles: that many times "pmu-cpi"
 *
 * - reference cycles: virtual nanoseconds, as the TSC, less halted time
 *
 * - near branches: counted by translated code
 *
 * - slots: eight in each core cycle
 *
 * Two rules make every count exact.  An instruction belongs to the enables and
 * the privilege level in force when it starts; one that faults has not retired
 * and belongs to none.  And a read does not see the instruction that reads.
 *
 * Nothing is counted while code runs.  pmu_sync() brings the counters that run
 * up to date.  It is called before each change of which counters run.
 *
 * pmu_arm() sets a timer to the earliest instruction at which a counter may
 * overflow, and icount stops the vCPU at exactly that instruction.
 *
 * A plugin may supply other events and the cycles (hw/core/pmu-planted.h).  It
 * says itself when one of their totals is reached.
 *
 * Without icount there are no instructions to count: cycles follow the virtual
 * clock at 1 GHz, and instructions and branches are announced as unavailable.
 *
 * docs/system/i386/tcg-pmu.rst lists the options.
 *
 * Intel SDM vol. 3B, "Performance Monitoring"; vol. 4, "Model-Specific
 * Registers".  AMD64 APM vol. 2, "Performance Monitoring Counters".
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "system/cpu-timers.h"
#include "system/tcg.h"
#include "hw/core/pmu-planted.h"
#include "hw/i386/apic.h"
#include "cpu.h"
#include "tcg/helper-tcg.h"

#define PMU_WIDTH       48
#define PMU_VALUE_MASK  MAKE_64BIT_MASK(0, PMU_WIDTH)
#define PMU_MAX_GP      10 /* from version 6 on */
#define PMU_MAX_GP_V5   8
#define PMU_MAX_GP_ATOM 6
#define PMU_MAX_CPI     64

/*
 * Version 6: four MSRs for each counter, of which the first is the counter and
 * the second its event select.  Intel SDM vol. 4, "IA-32 Architectural MSRs".
 */
#define MSR_V6_GP_FIRST    0x1900
#define MSR_V6_FIXED_FIRST 0x1980
#define MSR_V6_LAST        0x19ff
#define MSR_V6_STEP        4
#define MSR_PERF_METRICS   0x329

/* AMD64 APM vol. 2, "MSR Cross-Reference": PerfCntrGlobalStatusSet */
#define MSR_AMD_GLOBAL_STATUS_SET 0xc0000303

/* IA32_PERFEVTSELx and PERF_CTLx */
#define EVTSEL_CODE      0xffffULL
#define EVTSEL_USR       (1ULL << 16)
#define EVTSEL_OS        (1ULL << 17)
#define EVTSEL_EDGE      (1ULL << 18)
#define EVTSEL_PC        (1ULL << 19)
#define EVTSEL_INT       (1ULL << 20)
#define EVTSEL_ANY       (1ULL << 21)
#define EVTSEL_EN        (1ULL << 22)
#define EVTSEL_INV       (1ULL << 23)
#define EVTSEL_CMASK     (0xffULL << 24)
#define EVTSEL_EQ        (1ULL << 36)    /* Intel, version 6 */
#define EVTSEL_UMASK2    (0xffULL << 40) /* Intel, version 6 */
#define EVTSEL_GUESTONLY (1ULL << 40)    /* AMD */
#define EVTSEL_HOSTONLY  (1ULL << 41)    /* AMD */

/* One counter's nibble in IA32_FIXED_CTR_CTRL */
#define FIXED_OS  1
#define FIXED_USR 2
#define FIXED_ANY 4
#define FIXED_PMI 8

/* IA32_PERF_GLOBAL_STATUS: bit n is GP counter n, 32 + n fixed counter n */
#define STATUS_FIXED_SHIFT 32
#define STATUS_METRICS     (1ULL << 48)
#define STATUS_CTR_FRZ     (1ULL << 59)
#define STATUS_CLEAR_V2    (3ULL << 62)
#define STATUS_CLEAR_V3    (7ULL << 61)
#define STATUS_CLEAR_V4    ((0x3fULL << 58) | (1ULL << 55))
#define STATUS_SET_V4      ((0x1fULL << 58) | (1ULL << 55))
#define INUSE_PMI          (1ULL << 63)

#define RDPMC_METRICS (1U << 29)
#define RDPMC_FIXED   (1U << 30)

typedef enum {
    PMU_NOTHING,
    PMU_INSTRUCTIONS,
    PMU_CYCLES,
    PMU_REFERENCE,
    PMU_BRANCHES,
    PMU_SLOTS,
    PMU_NEVENTS,

    /* One of these, as the extra MSR of the event says */
    PMU_OFFCORE_0,
    PMU_OFFCORE_1,

    /* Supplied by a plugin: PMUPlanted from here on */
    PMU_PLUGIN,
} PMUEvent;

/* One counter's registers, decoded */
typedef struct PMUCounter {
    uint64_t *value;
    uint64_t status; /* its bit in the status register */
    PMUEvent event;
    uint8_t cmask;
    bool edge;
    bool invert;
    bool equal;
    bool intr;
    bool os, usr;
    bool guest, host; /* GuestOnly, HostOnly */
    bool enabled;     /* at one privilege level at least */
} PMUCounter;

/*
 * The shape of the PMU
 */

static bool pmu_is_intel(CPUX86State *env)
{
    return env_archcpu(env)->enable_pmu && IS_INTEL_CPU(env);
}

static bool pmu_is_amd(CPUX86State *env)
{
    return env_archcpu(env)->enable_pmu && IS_AMD_CPU(env);
}

static bool pmu_is_amd_v2(CPUX86State *env)
{
    return pmu_is_amd(env) &&
           (env->features[FEAT_8000_0022_EAX] & CPUID_8000_0022_EAX_PERFMON_V2);
}

/*
 * Family 1AH: counters freeze at an overflow that interrupts.
 * AMD64 APM vol. 2, "Debug-Control MSR (DebugCtl)".
 */
bool x86_pmu_amd_freezes(CPUX86State *env)
{
    return pmu_is_amd_v2(env) && extract32(env->cpuid_version, 8, 4) +
                                         extract32(env->cpuid_version, 20, 8) >=
                                     0x1a;
}

/* Architectural version on Intel, 0 elsewhere */
static unsigned pmu_version(CPUX86State *env)
{
    return pmu_is_intel(env) ? env_archcpu(env)->pmu_version : 0;
}

static unsigned pmu_ngp(CPUX86State *env)
{
    if (pmu_is_amd(env)) {
        return env->features[FEAT_8000_0001_ECX] & CPUID_EXT3_PERFCORE ? 6 : 4;
    }
    return pmu_is_intel(env) ? env_archcpu(env)->pmu_counters : 0;
}

static unsigned pmu_nfixed(CPUX86State *env)
{
    return pmu_version(env) >= 6   ? X86_PMU_FIXED
           : pmu_version(env) >= 2 ? MAX_FIXED_COUNTERS
                                   : 0;
}

/* The fourth is not in the state that KVM has, too. */
static uint64_t *pmu_fixed(CPUX86State *env, unsigned n)
{
    return n < MAX_FIXED_COUNTERS
               ? &env->msr_fixed_counters[n]
               : &env_archcpu(env)->pmu_extra[X86_PMU_FIXED_3];
}

static bool pmu_has_global_ctrl(CPUX86State *env)
{
    return pmu_version(env) >= 2 || pmu_is_amd_v2(env);
}

/* AnyThread came with version 3 and went with version 5. */
static bool pmu_has_any(CPUX86State *env)
{
    return pmu_version(env) == 3 || pmu_version(env) == 4;
}

static PMULies *pmu_lies(CPUX86State *env)
{
    return &env_archcpu(env)->pmu_lies;
}

/* The bits of a counter, fewer than announced if the PMU lies */
static uint64_t pmu_counter_mask(CPUX86State *env)
{
    return pmu_lies_mask(pmu_lies(env), PMU_WIDTH);
}

static uint64_t pmu_gp_bits(CPUX86State *env)
{
    return MAKE_64BIT_MASK(0, pmu_ngp(env));
}

static uint64_t pmu_all_bits(CPUX86State *env)
{
    uint64_t bits = pmu_gp_bits(env);

    if (pmu_version(env) >= 6) {
        bits |= STATUS_METRICS;
    }
    if (pmu_nfixed(env)) {
        bits |= MAKE_64BIT_MASK(STATUS_FIXED_SHIFT, pmu_nfixed(env));
    }
    return bits;
}

/*
 * From registers to counters
 */

/*
 * The events of the general counters: what bits of the event select choose the
 * event, and what is in these.  AMD's events here have no unit mask; bits 35:32
 * extend the event.  Intel's have no second unit mask: with one, the event is
 * another.
 */
typedef struct PMUChoice {
    uint64_t select;
    uint64_t mask;
    PMUEvent event;
} PMUChoice;

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

static const PMUChoice *pmu_choices(CPUX86State *env)
{
    return pmu_is_intel(env) ? pmu_choices_intel : pmu_choices_amd;
}

/*
 * The bits of an extra MSR, 0 if this model does not have the register.
 * Intel SDM vol. 4, the tables of the models' MSRs; vol. 3B, "Off-core Response
 * Performance Monitoring", "Load Latency Performance Monitoring Facility".
 */
static uint64_t pmu_extra_bits(CPUX86State *env, unsigned n)
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
    switch (n) {
    case X86_PMU_LD_LAT:
        return 0xffff;
    case X86_PMU_FRONTEND:
        return frontend;
    default:
        return offcore;
    }
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
static PMUPlanted pmu_supplied(PMUEvent event)
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

static uint64_t pmu_event_rate(CPUX86State *env, PMUEvent event);

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

    c->value = &env->msr_gp_counters[n];
    c->status = 1ULL << n;
    c->event = pmu_decode_event(env, evtsel);
    c->cmask = extract64(evtsel, 24, 8);
    c->edge = evtsel & EVTSEL_EDGE;
    c->invert = evtsel & EVTSEL_INV;
    c->equal = pmu_is_intel(env) && (evtsel & EVTSEL_EQ);
    c->intr = evtsel & EVTSEL_INT;
    c->os = evtsel & EVTSEL_OS;
    c->usr = evtsel & EVTSEL_USR;
    c->guest = pmu_is_amd(env) && (evtsel & EVTSEL_GUESTONLY);
    c->host = pmu_is_amd(env) && (evtsel & EVTSEL_HOSTONLY);
    c->enabled = evtsel & EVTSEL_EN;
}

static void pmu_decode_fixed(CPUX86State *env, unsigned n, PMUCounter *c)
{
    static const PMUEvent event[X86_PMU_FIXED] = {
        PMU_INSTRUCTIONS,
        PMU_CYCLES,
        PMU_REFERENCE,
        PMU_SLOTS,
    };
    unsigned ctrl = extract64(env->msr_fixed_ctr_ctrl, 4 * n, 4);

    c->value = pmu_fixed(env, n);
    c->status = 1ULL << (STATUS_FIXED_SHIFT + n);
    c->event = event[n];
    c->cmask = 0;
    c->edge = false;
    c->invert = false;
    c->equal = false;
    c->intr = ctrl & FIXED_PMI;
    c->os = ctrl & FIXED_OS;
    c->usr = ctrl & FIXED_USR;
    c->guest = false;
    c->host = false;
    c->enabled = true;
}

static unsigned pmu_ncounters(CPUX86State *env)
{
    return pmu_ngp(env) + pmu_nfixed(env);
}

static void pmu_decode(CPUX86State *env, unsigned n, PMUCounter *c)
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

/*
 * Does the counter count in the mode that @hflags describes?  GuestOnly and
 * HostOnly name the modes to count in, and both need EFER.SVME; with neither
 * bit the counter counts in all modes.
 * AMD64 APM vol. 2, "Performance Event-Select Registers".
 */
static bool pmu_counts_in(const PMUCounter *c, uint32_t hflags)
{
    if (c->guest || c->host) {
        if (!(hflags & HF_SVME_MASK) ||
            !(hflags & HF_GUEST_MASK ? c->guest : c->host)) {
            return false;
        }
    }
    return c->enabled && (hflags & HF_CPL_MASK ? c->usr : c->os);
}

/*
 * From the vCPU's life to events
 */

/*
 * The age of the vCPU: instructions passed through, the current one included,
 * or without icount nanoseconds.  In a helper this is right only where the
 * instruction ends its translation block, since a block is paid for as a whole.
 */
static int64_t pmu_age(CPUX86State *env)
{
    CPUState *cs = env_cpu(env);

    return icount_enabled() ? icount_get_cpu_raw(cs)
                            : qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static int64_t pmu_age_to_ns(int64_t age)
{
    return icount_enabled() ? icount_to_ns(age) : age;
}

/* At most how many events one unit of age can bring */
static uint64_t pmu_event_rate(CPUX86State *env, PMUEvent event)
{
    if (event >= PMU_PLUGIN) {
        return pmu_supplied(event) != PMU_PLANTED_NONE;
    }
    switch (event) {
    case PMU_INSTRUCTIONS:
    case PMU_BRANCHES:
        return icount_enabled() ? 1 : 0;
    case PMU_CYCLES:
        return icount_enabled() ? env_archcpu(env)->pmu_cpi : 1;
    case PMU_REFERENCE:
        return pmu_age_to_ns(1);
    case PMU_SLOTS:
        return pmu_supplied(event) != PMU_PLANTED_NONE ? 1
               : pmu_version(env) >= 6
                   ? X86_PMU_SLOTS * pmu_event_rate(env, PMU_CYCLES)
                   : 0;
    case PMU_OFFCORE_0:
    case PMU_OFFCORE_1:
        return icount_enabled() && pmu_extra_bits(env, event - PMU_OFFCORE_0);
    default:
        return 0;
    }
}

/*
 * Are there at most so many events in a cycle as is known here?  More than one
 * reference cycle may fall into a core cycle, and of what a plugin supplies no
 * cycle is known.
 */
static bool pmu_has_cmask(PMUEvent event)
{
    return event != PMU_REFERENCE && pmu_supplied(event) == PMU_PLANTED_NONE;
}

/*
 * With CMASK the counter counts cycles in which at least CMASK events happened,
 * or with INV fewer.  At most one instruction completes in a modelled cycle:
 * CMASK 1 sees each event in a cycle of its own, a larger one is never reached.
 * So it is the same with EQ, which asks for exactly CMASK events.  Each
 * cycle has eight slots.
 */
static uint64_t pmu_apply_cmask(const PMUCounter *c, uint64_t events,
                                uint64_t cycles)
{
    uint64_t matched;

    if (c->cmask == 0) {
        return events;
    }
    if (pmu_supplied(c->event) != PMU_PLANTED_NONE) {
        return 0;
    }
    if (c->event == PMU_SLOTS) {
        matched =
            (c->equal ? c->cmask == X86_PMU_SLOTS : c->cmask <= X86_PMU_SLOTS)
                ? cycles
                : 0;
    } else {
        matched = c->cmask == 1 ? MIN(events, cycles) : 0;
    }
    return c->invert ? cycles - matched : matched;
}

/*
 * Can an edge be told from the totals?  If an instruction takes one cycle, two
 * of them may complete in cycles that follow each other, and that is one edge.
 */
static bool pmu_has_edge(CPUX86State *env, PMUEvent event)
{
    return pmu_supplied(event) == PMU_PLANTED_NONE &&
           (event == PMU_CYCLES ||
            (event != PMU_REFERENCE && event != PMU_SLOTS &&
             env_archcpu(env)->pmu_cpi > 1));
}

/*
 * With the edge bit the counter counts the cycles in which the condition holds
 * and did not hold in the cycle before.  Without CMASK the condition is that an
 * event happens.
 *
 * The cycle after an instruction completes is one in which none completes: each
 * event is an edge, and so is its end.  Cycles hold until the vCPU halts, or
 * leaves the modes in which the counter counts: see pmu_count_entries().
 */
static uint64_t pmu_apply_edge(CPUX86State *env, const PMUCounter *c,
                               uint64_t events, uint64_t wakes)
{
    if (c->cmask > 1 || !pmu_has_edge(env, c->event)) {
        return 0;
    }
    if (c->event == PMU_CYCLES) {
        return c->cmask && c->invert ? 0 : wakes;
    }
    return events;
}

static uint64_t pmu_counter_rate(CPUX86State *env, const PMUCounter *c)
{
    uint64_t events = pmu_event_rate(env, c->event);
    uint64_t cycles = pmu_event_rate(env, PMU_CYCLES);

    if (c->edge) {
        return pmu_apply_edge(env, c, events, 1);
    }
    if (c->cmask && c->invert) {
        return cycles;
    }
    return pmu_apply_cmask(c, events, cycles);
}

/* The consequences of overflows */
typedef enum {
    PMU_FREEZE = 1, /* the counters stand from here on, if they may freeze */
    PMU_INTERRUPT = 2,
} PMUAction;

static void pmu_act(CPUX86State *env, unsigned actions)
{
    X86CPU *cpu = env_archcpu(env);

    if ((actions & PMU_FREEZE) &&
        (env->msr_debugctl & DEBUGCTL_FREEZE_PERFMON)) {
        if (pmu_version(env) >= 4 || x86_pmu_amd_freezes(env)) {
            env->msr_global_status |= STATUS_CTR_FRZ;
        } else {
            env->msr_global_ctrl = 0;
        }
    }
    if ((actions & PMU_INTERRUPT) && cpu->apic_state) {
        apic_deliver_pmi(cpu->apic_state, pmu_is_intel(env));
    }
}

/* Count @n events more.  The counters freeze at once where that interrupts. */
static unsigned pmu_add(CPUX86State *env, const PMUCounter *c, uint64_t n)
{
    PMULies *lies = pmu_lies(env);
    unsigned counter = ctz64(c->status);
    uint64_t sum = *c->value + pmu_lies_count(lies, counter, n);
    PMULiesOverflow fate = PMU_LIES_NOW;

    *c->value = sum & pmu_counter_mask(env);
    if (sum == *c->value) {
        return 0;
    }
    if (c->intr) {
        fate = pmu_lies_overflow(lies, counter, env->pmu.age);
    }
    if (fate != PMU_LIES_LOST) {
        env->msr_global_status |= c->status;
    }
    if (!c->intr || fate == PMU_LIES_LOST) {
        return 0;
    }
    return fate == PMU_LIES_NOW ? PMU_FREEZE | PMU_INTERRUPT
           : lies->late_freeze  ? 0
                                : PMU_FREEZE;
}

/* Interrupts that a PMU that lies has kept back: what is due */
static unsigned pmu_lies_interrupt(CPUX86State *env)
{
    PMULies *lies = pmu_lies(env);
    unsigned actions = 0;
    unsigned i;

    if (pmu_lies_next(lies) > env->pmu.age) {
        return 0;
    }
    for (i = 0; i < PMU_LIES_COUNTERS; i++) {
        if (pmu_lies_due(lies, i, env->pmu.age)) {
            actions = PMU_INTERRUPT | (lies->late_freeze ? PMU_FREEZE : 0);
            if (lies->twice) {
                env->msr_global_status |= 1ULL << i;
            }
        }
    }
    return actions;
}

/* Events that a plugin has counted since it was last asked */
static void pmu_count_supplied(CPUX86State *env, uint64_t *events)
{
    unsigned i;

    for (i = 0; i < PMU_PLUGIN + PMU_PLANTED_EVENTS; i++) {
        PMUPlanted supplied = pmu_supplied(i);

        if (supplied != PMU_PLANTED_NONE) {
            uint64_t total = pmu_planted_total(env_cpu(env), supplied);

            events[i] = total - env->pmu.supplied_seen[supplied];
            env->pmu.supplied_seen[supplied] = total;
        }
    }
}

/*
 * Bring the counters to what they are at @age.  The caller holds the big lock,
 * and the vCPU's thread or a stopped vCPU.
 */
static void pmu_sync_to(CPUX86State *env, int64_t age)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t events[PMU_PLUGIN + PMU_PLANTED_EVENTS] = {};
    uint64_t wakes = pmu->wakes - pmu->wakes_seen;
    unsigned i, actions = 0;

    /* A VMRUN that failed its checks was taken back after it was counted. */
    if (age < pmu->age) {
        return;
    }
    if (icount_enabled()) {
        events[PMU_INSTRUCTIONS] =
            (age - pmu->age) - (pmu->unretired - pmu->unretired_seen);
        events[PMU_BRANCHES] = pmu->branches - pmu->branches_seen;
    }
    events[PMU_CYCLES] = (age - pmu->age) * pmu_event_rate(env, PMU_CYCLES);
    events[PMU_REFERENCE] = pmu_age_to_ns(age - pmu->age);
    events[PMU_SLOTS] = X86_PMU_SLOTS * events[PMU_CYCLES];
    pmu_count_supplied(env, events);

    pmu->age = age;
    pmu->unretired_seen = pmu->unretired;
    pmu->branches_seen = pmu->branches;
    pmu->wakes_seen = pmu->wakes;

    for (i = 0; i < pmu_ncounters(env); i++) {
        PMUCounter c;

        pmu_decode(env, i, &c);
        if (!pmu_counts_in(&c, env->hflags)) {
            continue;
        }
        if (c.edge) {
            actions |= pmu_add(env, &c,
                               pmu_apply_edge(env, &c, events[c.event], wakes));
        } else {
            actions |= pmu_add(
                env, &c,
                pmu_apply_cmask(&c, events[c.event], events[PMU_CYCLES]));
        }
    }
    actions |= pmu_lies_interrupt(env);
    pmu_act(env, actions);
}

/*
 * The mode is about to become that of @hflags: an edge of the core cycles that
 * only that mode counts, as in CPU_CLK_UNHALTED.RING0_TRANS.
 */
static void pmu_count_entries(CPUX86State *env, uint32_t hflags)
{
    unsigned i, actions = 0;

    for (i = 0; i < pmu_ncounters(env); i++) {
        PMUCounter c;

        pmu_decode(env, i, &c);
        if (c.edge && c.event == PMU_CYCLES && pmu_counts_in(&c, hflags) &&
            !pmu_counts_in(&c, env->hflags)) {
            actions |= pmu_add(env, &c, pmu_apply_edge(env, &c, 0, 1));
        }
    }
    pmu_act(env, actions);
}

/*
 * Set the timer to the first moment a counter that interrupts may overflow in
 * the mode that @hflags describes, if nothing changes.  A timer that is early
 * does no harm, it arms itself again: so one that is set stays unless it is
 * late.
 */
static void pmu_arm(CPUX86State *env, uint32_t hflags)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t soonest = UINT64_MAX;
    int64_t deadline, due;
    unsigned i;

    pmu->split = false;
    for (i = 0; i < pmu_ncounters(env); i++) {
        PMUCounter c;
        uint64_t rate;

        pmu_decode(env, i, &c);
        pmu->split |= c.enabled && (c.os != c.usr || c.guest || c.host);
        rate = pmu_counter_rate(env, &c);
        pmu_planted_disarm(env_cpu(env), i);
        if (c.intr && rate && pmu_counts_in(&c, hflags)) {
            uint64_t left = pmu_counter_mask(env) + 1 - *c.value;
            PMUPlanted supplied = pmu_supplied(c.event);

            left = pmu_lies_least(pmu_lies(env), ctz64(c.status), left);
            if (left && supplied != PMU_PLANTED_NONE) {
                pmu_planted_arm(env_cpu(env), i, supplied, left);
            } else if (left) {
                soonest = MIN(soonest, DIV_ROUND_UP(left, rate));
            }
        }
    }
    due = pmu_lies_next(pmu_lies(env));
    pmu_planted_disarm(env_cpu(env), PMU_PLANTED_LATE);
    if (due != INT64_MAX && pmu_planted(PMU_PLANTED_INSTRUCTIONS)) {
        pmu_planted_arm(env_cpu(env), PMU_PLANTED_LATE,
                        PMU_PLANTED_INSTRUCTIONS, MAX(due - pmu_age(env), 1));
    } else if (due != INT64_MAX) {
        soonest = MIN(soonest, MAX(due - pmu_age(env), 0));
    }

    if (soonest == UINT64_MAX) {
        timer_del(pmu->timer);
        return;
    }
    deadline = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + pmu_age_to_ns(soonest);
    if (!timer_pending(pmu->timer) ||
        deadline < timer_expire_time_ns(pmu->timer)) {
        timer_mod_ns(pmu->timer, deadline);
    }
}

/* The big lock, which delivery of an interrupt holds already */
static bool pmu_lock(void)
{
    bool locked = !bql_locked();

    if (locked) {
        bql_lock();
    }
    return locked;
}

static void pmu_unlock(bool locked)
{
    if (locked) {
        bql_unlock();
    }
}

/*
 * The timer: in the vCPU's thread between two vCPUs' turns, or in the main
 * loop's while all are idle.  A halted vCPU's deadline would be a few
 * instructions it does not execute away, again and again: it waits for the
 * vCPU to go on.
 */
static void pmu_timer(void *opaque)
{
    X86CPU *cpu = opaque;
    CPUX86State *env = &cpu->env;

    pmu_planted_settle(CPU(cpu));
    pmu_sync_to(env, pmu_age(env));
    if (CPU(cpu)->halted) {
        env->pmu.arm_pending = true;
    } else {
        pmu_arm(env, env->hflags);
    }
}

/* A total that pmu_arm() named is reached, or a timer: count, and go on. */
static void pmu_reached(CPUState *cs)
{
    CPUX86State *env = &X86_CPU(cs)->env;

    pmu_sync_to(env, pmu_age(env));
    pmu_arm(env, env->hflags);
}

static uint64_t pmu_unretired(CPUState *cs)
{
    return cpu_env(cs)->pmu.unretired; /* each instruction asks: no cast */
}

static const PMUPlantedTarget pmu_target = {
    .sync = pmu_reached,
    .unretired = pmu_unretired,
};

/*
 * Called by the rest of target/i386
 */

/*
 * A copy of a cache's description that says what is planted.  CPUID's leaves
 * cannot say all: then it stays as it is.  The second and the third level are
 * all CPUs'.
 */
static CPUCacheInfo *pmu_planted_info(CPUCacheInfo *old, const char *name)
{
    PMUPlantedCache c;
    CPUCacheInfo *new;

    if (!old || !pmu_planted_cache(name, &c) || c.line > 4096 ||
        c.size % (old->level == 3 ? 512 * KiB : KiB)) {
        return old;
    }
    new = g_memdup2(old, sizeof(*old));
    new->size = c.size;
    new->line_size = c.line;
    new->associativity = c.ways;
    new->sets = c.sets;
    new->partitions = new->lines_per_tag = 1;
    new->inclusive = new->complex_indexing = false;
    if (old->level > 1) {
        new->share_level = CPU_TOPOLOGY_LEVEL_DIE;
    }
    return new;
}

void x86_pmu_planted_caches(CPUX86State *env)
{
    CPUCaches *all[] = { &env->cache_info_cpuid4, &env->cache_info_amd };
    unsigned i;

    for (i = 0; i < ARRAY_SIZE(all); i++) {
        all[i]->l1d_cache = pmu_planted_info(all[i]->l1d_cache, "l1d");
        all[i]->l1i_cache = pmu_planted_info(all[i]->l1i_cache, "l1i");
        all[i]->l2_cache = pmu_planted_info(all[i]->l2_cache, "l2");
        all[i]->l3_cache = pmu_planted_info(all[i]->l3_cache, "llc");
    }
}

bool x86_pmu_realize(X86CPU *cpu, Error **errp)
{
    int max_gp;

    pmu_planted_set_target(&pmu_target);
    pmu_planted_lies(&cpu->pmu_lies);
    if (!cpu->enable_pmu) {
        return true;
    }
    if (cpu->pmu_version < 1 || cpu->pmu_version > 6) {
        error_setg(errp, "pmu-version should be between 1 and 6");
        return false;
    }
    max_gp = cpu->pmu_version >= 6 ? PMU_MAX_GP : PMU_MAX_GP_V5;
    if (cpu->pmu_counters < 1 || cpu->pmu_counters > max_gp) {
        error_setg(errp, "pmu-counters should be between 1 and %d", max_gp);
        return false;
    }
    if (cpu->pmu_cpi < 1 || cpu->pmu_cpi > PMU_MAX_CPI) {
        error_setg(errp, "pmu-cpi should be between 1 and %d", PMU_MAX_CPI);
        return false;
    }
    if (cpu->core_type == X86_CORE_TYPE_ATOM) {
        cpu->pmu_counters = MIN(cpu->pmu_counters, PMU_MAX_GP_ATOM);
    }
    cpu->env.pmu.timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, pmu_timer, cpu);
    return true;
}

/*
 * CPUID.40000101H: the events modelled, a subleaf for each, and after the last
 * one zeros.
 *
 *   EAX  the event in bits 31:0 of the event select
 *
 *   EBX  which of these bits choose the event
 *
 *   ECX  which of the others the model obeys
 *
 *   EDX  1
 *
 * If a bit is set that is in neither EBX nor ECX, the count is not the
 * manual's. Events that cannot be counted without icount are not in the list
 * then.
 */
void x86_pmu_events_leaf(CPUX86State *env, uint32_t n, uint32_t *eax,
                         uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    const PMUChoice *choice = pmu_choices(env);

    for (; choice->mask; choice++) {
        if (pmu_event_rate(env, choice->event) != 0 && n-- == 0) {
            break;
        }
    }
    *eax = choice->select;
    *ebx = (uint32_t)choice->mask;
    *ecx = *edx = 0;
    if (choice->mask) {
        *ecx = EVTSEL_USR | EVTSEL_OS | EVTSEL_PC | EVTSEL_INT | EVTSEL_EN;
        if (pmu_has_cmask(choice->event)) {
            *ecx |= EVTSEL_INV | EVTSEL_CMASK;
        }
        if (pmu_has_edge(env, choice->event)) {
            *ecx |= EVTSEL_EDGE;
        }
        *edx = 1;
    }
}

void x86_pmu_unrealize(X86CPU *cpu)
{
    if (cpu->env.pmu.timer) {
        timer_free(cpu->env.pmu.timer);
        cpu->env.pmu.timer = NULL;
    }
}

/* The registers as power-on leaves them: the general counters' gate is open. */
void x86_pmu_reset(X86CPU *cpu)
{
    CPUX86State *env = &cpu->env;

    memset(cpu->pmu_extra, 0, sizeof(cpu->pmu_extra));
    env->msr_global_ctrl = pmu_gp_bits(env);
    if (pmu_is_intel(env)) {
        env->msr_ia32_misc_enable |= MSR_IA32_MISC_ENABLE_PERFMON |
                                     MSR_IA32_MISC_ENABLE_BTS_UNAVAILABLE |
                                     MSR_IA32_MISC_ENABLE_PEBS_UNAVAILABLE;
    }
    env->pmu.arm_pending = true;
}

/* Make the registers say what has been counted up to now. */
void x86_pmu_sync(X86CPU *cpu)
{
    bool locked;

    if (!cpu->env.pmu.timer) {
        return;
    }
    locked = pmu_lock();
    pmu_sync_to(&cpu->env, pmu_age(&cpu->env));
    pmu_unlock(locked);
}

/*
 * The registers were just loaded: count from here.  The clock may not have
 * been loaded yet, so the deadline waits until the vCPU runs.
 */
void x86_pmu_loaded(X86CPU *cpu)
{
    X86PMUState *pmu = &cpu->env.pmu;

    if (!pmu->timer) {
        return;
    }
    pmu->age = pmu_age(&cpu->env);
    pmu->unretired_seen = pmu->unretired;
    pmu->branches_seen = pmu->branches;
    pmu->wakes_seen = pmu->wakes;
    pmu->halted = CPU(cpu)->halted;
    pmu->arm_pending = true;
}

void x86_pmu_exec_enter(X86CPU *cpu)
{
    CPUX86State *env = &cpu->env;
    bool locked;

    if (env->pmu.halted) {
        env->pmu.halted = false;
        env->pmu.wakes++;
    }
    if (!env->pmu.arm_pending || !env->pmu.timer) {
        return;
    }
    locked = pmu_lock();
    env->pmu.arm_pending = false;
    pmu_arm(env, env->hflags);
    pmu_unlock(locked);
}

void x86_pmu_exec_exit(X86CPU *cpu)
{
    cpu->env.pmu.halted |= CPU(cpu)->halted;
}

/*
 * The mode (privilege level, EFER.SVME, host or guest) is about to become that
 * of @hflags, and some counter counts in some modes only.  All instructions
 * that change it end their translation block.  So icount may be read here, even
 * if the translator did not say so.
 */
void x86_pmu_change_mode(CPUX86State *env, uint32_t hflags)
{
    bool locked = pmu_lock();

    env_cpu(env)->neg.can_do_io = true;
    pmu_planted_settle(env_cpu(env));
    pmu_sync_to(env, pmu_age(env));
    pmu_count_entries(env, hflags);
    pmu_arm(env, hflags);
    pmu_unlock(locked);
}

/*
 * The registers
 */

typedef enum {
    REG_FOREIGN, /* not a register of this PMU */
    REG_ABSENT,  /* would be one of it, but this one has fewer: #GP */
    REG_PLAIN,
    REG_SIGN_EXTEND, /* takes 32 bits, reads all */
    REG_CONST,       /* read only, writes raise #GP */
    REG_CONST_QUIET, /* read only, writes are ignored */
    REG_CLEAR,       /* writes clear bits of the value, reads as 0 */
    REG_SET,         /* writes set bits of the value, reads as 0 */
    REG_INUSE,
} PMURegKind;

typedef struct PMUReg {
    PMURegKind kind;
    uint64_t *value;
    uint64_t bits; /* those that can be written ... */
    bool strict;   /* ... and #GP for the others */
} PMUReg;

static PMUReg pmu_reg(PMURegKind kind, uint64_t *value, uint64_t bits)
{
    return (PMUReg){ .kind = kind, .value = value, .bits = bits };
}

static PMUReg pmu_reg_strict(PMURegKind kind, uint64_t *value, uint64_t bits)
{
    return (PMUReg){ kind, value, bits, true };
}

static const PMUReg pmu_reg_foreign = { .kind = REG_FOREIGN };
static const PMUReg pmu_reg_absent = { .kind = REG_ABSENT };

static PMUReg pmu_intel_evtsel(CPUX86State *env, unsigned n)
{
    uint64_t bits = MAKE_64BIT_MASK(0, 32);

    if (n >= pmu_ngp(env)) {
        return pmu_reg_absent;
    }
    if (!pmu_has_any(env)) {
        bits &= ~EVTSEL_ANY;
    }
    if (pmu_version(env) >= 6) {
        bits |= EVTSEL_EQ | EVTSEL_UMASK2;
    }
    return pmu_reg_strict(REG_PLAIN, &env->msr_gp_evtsel[n], bits);
}

static PMUReg pmu_intel_full_width(CPUX86State *env, unsigned n)
{
    if (!(env->features[FEAT_1_ECX] & CPUID_EXT_PDCM) ||
        !(env->features[FEAT_PERF_CAPABILITIES] & PERF_CAP_FULL_WRITE) ||
        n >= pmu_ngp(env)) {
        return pmu_reg_absent;
    }
    return pmu_reg_strict(REG_PLAIN, &env->msr_gp_counters[n], PMU_VALUE_MASK);
}

/* 0x38d to 0x392 */
static PMUReg pmu_intel_global(CPUX86State *env, uint32_t msr)
{
    unsigned version = pmu_version(env);
    uint64_t all = pmu_all_bits(env);
    uint64_t bits;

    if (version < 2) {
        return pmu_reg_absent;
    }
    switch (msr) {
    case MSR_CORE_PERF_FIXED_CTR_CTRL:
        bits = MAKE_64BIT_MASK(0, 4 * pmu_nfixed(env));
        if (!pmu_has_any(env)) {
            bits &= ~(FIXED_ANY * 0x1111111111111111ULL);
        }
        return pmu_reg_strict(REG_PLAIN, &env->msr_fixed_ctr_ctrl, bits);
    case MSR_CORE_PERF_GLOBAL_STATUS:
        return pmu_reg(REG_CONST, &env->msr_global_status, 0);
    case MSR_CORE_PERF_GLOBAL_CTRL:
        return pmu_reg_strict(REG_PLAIN, &env->msr_global_ctrl, all);
    case MSR_CORE_PERF_GLOBAL_OVF_CTRL:
        bits = all | STATUS_CLEAR_V2;
        bits |= version >= 3 ? STATUS_CLEAR_V3 : 0;
        bits |= version >= 4 ? STATUS_CLEAR_V4 : 0;
        return pmu_reg_strict(REG_CLEAR, &env->msr_global_status, bits);
    }
    if (version < 4) {
        return pmu_reg_absent;
    }
    if (msr == MSR_CORE_PERF_GLOBAL_STATUS_SET) {
        return pmu_reg_strict(REG_SET, &env->msr_global_status,
                              all | STATUS_SET_V4);
    }
    return pmu_reg(REG_INUSE, NULL, 0);
}

static PMUReg pmu_intel_extra(CPUX86State *env, unsigned n)
{
    uint64_t bits = pmu_extra_bits(env, n);

    return bits ? pmu_reg_strict(REG_PLAIN, &env_archcpu(env)->pmu_extra[n],
                                 bits)
                : pmu_reg_foreign;
}

static PMUReg pmu_intel_fixed(CPUX86State *env, unsigned n)
{
    return n < pmu_nfixed(env)
               ? pmu_reg_strict(REG_PLAIN, pmu_fixed(env, n), PMU_VALUE_MASK)
               : pmu_reg_absent;
}

/* The third and fourth MSR of a counter reload it, which is not modelled. */
static PMUReg pmu_intel_v6(CPUX86State *env, uint32_t msr)
{
    bool fixed = msr >= MSR_V6_FIXED_FIRST;
    uint32_t at = msr - (fixed ? MSR_V6_FIXED_FIRST : MSR_V6_GP_FIRST);
    unsigned n = at / MSR_V6_STEP;

    if (pmu_version(env) < 6) {
        return pmu_reg_absent;
    }
    if (fixed) {
        return at % MSR_V6_STEP == 0 ? pmu_intel_fixed(env, n) : pmu_reg_absent;
    }
    switch (at % MSR_V6_STEP) {
    case 0:
        return n < pmu_ngp(env)
                   ? pmu_reg_strict(REG_PLAIN, &env->msr_gp_counters[n],
                                    PMU_VALUE_MASK)
                   : pmu_reg_absent;
    case 1:
        return pmu_intel_evtsel(env, n);
    default:
        return pmu_reg_absent;
    }
}

static PMUReg pmu_intel_reg(CPUX86State *env, uint32_t msr)
{
    unsigned n;

    switch (msr) {
    case MSR_P6_EVNTSEL0 ... MSR_P6_EVNTSEL0 + PMU_MAX_GP - 1:
        return pmu_intel_evtsel(env, msr - MSR_P6_EVNTSEL0);
    case MSR_P6_PERFCTR0 ... MSR_P6_PERFCTR0 + PMU_MAX_GP - 1:
        n = msr - MSR_P6_PERFCTR0;
        return n < pmu_ngp(env)
                   ? pmu_reg(REG_SIGN_EXTEND, &env->msr_gp_counters[n],
                             PMU_VALUE_MASK)
                   : pmu_reg_absent;
    case MSR_IA32_PMC0 ... MSR_IA32_PMC0 + PMU_MAX_GP - 1:
        return pmu_intel_full_width(env, msr - MSR_IA32_PMC0);
    case MSR_CORE_PERF_FIXED_CTR0 ... MSR_CORE_PERF_FIXED_CTR2 + 1:
        return pmu_intel_fixed(env, msr - MSR_CORE_PERF_FIXED_CTR0);
    case MSR_V6_GP_FIRST ... MSR_V6_LAST:
        return pmu_intel_v6(env, msr);
    case MSR_PERF_METRICS:
        return pmu_version(env) >= 6
                   ? pmu_reg(REG_PLAIN,
                             &env_archcpu(env)->pmu_extra[X86_PMU_METRICS],
                             UINT64_MAX)
                   : pmu_reg_foreign;
    case MSR_CORE_PERF_FIXED_CTR_CTRL ... MSR_CORE_PERF_GLOBAL_INUSE:
        return pmu_intel_global(env, msr);
    case MSR_OFFCORE_RSP_0 ... MSR_OFFCORE_RSP_1:
        return pmu_intel_extra(env, X86_PMU_OFFCORE_RSP_0 +
                                        (msr - MSR_OFFCORE_RSP_0));
    case MSR_PEBS_LD_LAT_THRESHOLD ... MSR_PEBS_FRONTEND:
        return pmu_intel_extra(env, X86_PMU_LD_LAT +
                                        (msr - MSR_PEBS_LD_LAT_THRESHOLD));
    case MSR_IA32_PERF_CAPABILITIES:
        return env->features[FEAT_1_ECX] & CPUID_EXT_PDCM
                   ? pmu_reg(REG_CONST, &env->features[FEAT_PERF_CAPABILITIES],
                             0)
                   : pmu_reg_absent;
    case MSR_IA32_DEBUGCTL:
        return pmu_reg(
            REG_PLAIN, &env->msr_debugctl,
            DEBUGCTL_FREEZE_IN_SMM |
                (pmu_version(env) >= 2 ? DEBUGCTL_FREEZE_PERFMON : 0));
    }
    return pmu_reg_foreign;
}

static uint64_t pmu_amd_status(CPUX86State *env)
{
    return pmu_gp_bits(env) | (x86_pmu_amd_freezes(env) ? STATUS_CTR_FRZ : 0);
}

static PMUReg pmu_amd_reg(CPUX86State *env, uint32_t msr)
{
    unsigned n;

    switch (msr) {
    case MSR_K7_EVNTSEL0 ... MSR_K7_EVNTSEL0 + 3:
        n = msr - MSR_K7_EVNTSEL0;
        return pmu_reg(REG_PLAIN, &env->msr_gp_evtsel[n], UINT64_MAX);
    case MSR_K7_PERFCTR0 ... MSR_K7_PERFCTR0 + 3:
        n = msr - MSR_K7_PERFCTR0;
        return pmu_reg(REG_PLAIN, &env->msr_gp_counters[n], PMU_VALUE_MASK);
    case MSR_F15H_PERF_CTL0 ... MSR_F15H_PERF_CTL0 + 2 * 6 - 1:
        if (!(env->features[FEAT_8000_0001_ECX] & CPUID_EXT3_PERFCORE)) {
            return pmu_reg_foreign;
        }
        n = (msr - MSR_F15H_PERF_CTL0) / 2;
        return msr & 1 ? pmu_reg(REG_PLAIN, &env->msr_gp_counters[n],
                                 PMU_VALUE_MASK)
                       : pmu_reg(REG_PLAIN, &env->msr_gp_evtsel[n], UINT64_MAX);
    }
    if (!pmu_is_amd_v2(env)) {
        return pmu_reg_foreign;
    }
    switch (msr) {
    case MSR_AMD64_PERF_CNTR_GLOBAL_STATUS:
        return pmu_reg(REG_CONST_QUIET, &env->msr_global_status, 0);
    case MSR_AMD64_PERF_CNTR_GLOBAL_CTL:
        return pmu_reg(REG_PLAIN, &env->msr_global_ctrl, pmu_gp_bits(env));
    case MSR_AMD_GLOBAL_STATUS_SET:
        return pmu_reg(REG_SET, &env->msr_global_status, pmu_amd_status(env));
    case MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_CLR:
        return pmu_reg(REG_CLEAR, &env->msr_global_status, pmu_amd_status(env));
    case MSR_IA32_DEBUGCTL:
        return x86_pmu_amd_freezes(env) ? pmu_reg(REG_PLAIN, &env->msr_debugctl,
                                                  DEBUGCTL_FREEZE_PERFMON)
                                        : pmu_reg_foreign;
    }
    return pmu_reg_foreign;
}

static PMUReg pmu_find_reg(CPUX86State *env, uint32_t msr)
{
    /* MSR_MISC_FEATURE_CONTROL (Intel SDM vol. 4), which the plugin sees */
    if (msr == 0x1a4 && pmu_ngp(env) && pmu_planted(PMU_PLANTED_CYCLES)) {
        return pmu_reg(REG_PLAIN,
                       &env_archcpu(env)->pmu_extra[X86_PMU_PREFETCHERS], 15);
    }
    if (pmu_is_intel(env)) {
        return pmu_intel_reg(env, msr);
    }
    return pmu_is_amd(env) ? pmu_amd_reg(env, msr) : pmu_reg_foreign;
}

/* IA32_PERF_GLOBAL_INUSE: which counters somebody has programmed */
static uint64_t pmu_inuse(CPUX86State *env)
{
    uint64_t inuse = 0;
    unsigned i;

    for (i = 0; i < pmu_ngp(env); i++) {
        if (env->msr_gp_evtsel[i] & 0xff) {
            inuse |= 1ULL << i;
        }
        if (env->msr_gp_evtsel[i] & EVTSEL_INT) {
            inuse |= INUSE_PMI;
        }
    }
    for (i = 0; i < pmu_nfixed(env); i++) {
        unsigned ctrl = extract64(env->msr_fixed_ctr_ctrl, 4 * i, 4);

        if (ctrl & (FIXED_OS | FIXED_USR)) {
            inuse |= 1ULL << (STATUS_FIXED_SHIFT + i);
        }
        if (ctrl & FIXED_PMI) {
            inuse |= INUSE_PMI;
        }
    }
    return inuse;
}

/* The counters as they were before the current instruction */
static void pmu_sync_for_read(CPUX86State *env)
{
    bool locked = pmu_lock();

    pmu_sync_to(env, pmu_age(env) - (icount_enabled() ? 1 : 0));
    pmu_unlock(locked);
}

/* Software wrote an extra MSR that the threads of a core share. */
static void pmu_share(CPUX86State *env, unsigned n)
{
    unsigned shift = apicid_core_offset(&env->topo_info);
    CPUState *cs;

    CPU_FOREACH(cs)
    {
        X86CPU *other = X86_CPU(cs);

        if (&other->env != env &&
            other->apic_id >> shift == env_archcpu(env)->apic_id >> shift) {
            pmu_sync_to(&other->env, pmu_age(&other->env));
            other->pmu_extra[n] = env_archcpu(env)->pmu_extra[n];
            other->env.pmu.arm_pending = true;
        }
    }
}

/* Software wrote the register: a PMU that lies may not keep all of a counter */
static void pmu_written(CPUX86State *env, uint64_t *value)
{
    unsigned i;

    for (i = 0; i < pmu_ncounters(env); i++) {
        PMUCounter c;

        pmu_decode(env, i, &c);
        if (c.value == value) {
            *value = pmu_lies_written(pmu_lies(env), ctz64(c.status), *value);
        }
    }
}

/*
 * False if the register does not belong to the PMU.  All that can be wrong with
 * the access is found before icount is looked at, for a fault takes icount
 * back.
 */
bool x86_pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val, uintptr_t ra)
{
    PMUReg reg = pmu_find_reg(env, msr);
    bool locked;

    switch (reg.kind) {
    case REG_FOREIGN:
        return false;
    case REG_CONST_QUIET:
        return true;
    case REG_ABSENT:
    case REG_CONST:
    case REG_INUSE:
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    case REG_SIGN_EXTEND:
        val = (int32_t)val;
        break;
    default:
        break;
    }
    if (reg.strict && (val & ~reg.bits)) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
    val &= reg.bits;

    locked = pmu_lock();
    pmu_planted_settle(env_cpu(env));
    pmu_sync_to(env, pmu_age(env));
    switch (reg.kind) {
    case REG_CLEAR:
        *reg.value &= ~val;
        break;
    case REG_SET:
        *reg.value |= val;
        break;
    default:
        *reg.value = val;
        pmu_written(env, reg.value);
        if (pmu_lies(env)->shared &&
            (msr == MSR_OFFCORE_RSP_0 || msr == MSR_OFFCORE_RSP_1)) {
            pmu_share(env, X86_PMU_OFFCORE_RSP_0 + (msr - MSR_OFFCORE_RSP_0));
        }
        break;
    }
    pmu_arm(env, env->hflags);
    pmu_unlock(locked);
    return true;
}

bool x86_pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val, uintptr_t ra)
{
    PMUReg reg = pmu_find_reg(env, msr);

    switch (reg.kind) {
    case REG_FOREIGN:
        return false;
    case REG_ABSENT:
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    case REG_CLEAR:
    case REG_SET:
        *val = 0;
        return true;
    case REG_INUSE:
        *val = pmu_inuse(env);
        return true;
    default:
        pmu_sync_for_read(env);
        *val = *reg.value;
        return true;
    }
}

/* False if there is no PMU here; privilege is the caller's to check. */
bool x86_pmu_rdpmc(CPUX86State *env, uint32_t index, uint64_t *val,
                   uintptr_t ra)
{
    unsigned fixed = index & ~RDPMC_FIXED;
    uint64_t *counter = NULL;

    if (pmu_ngp(env) == 0) {
        return false;
    }
    if (index < pmu_ngp(env)) {
        counter = &env->msr_gp_counters[index];
    } else if ((index & RDPMC_FIXED) && fixed < pmu_nfixed(env)) {
        counter = pmu_fixed(env, fixed);
    } else if (index == RDPMC_METRICS && pmu_version(env) >= 6) {
        counter = &env_archcpu(env)->pmu_extra[X86_PMU_METRICS];
    } else {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
    pmu_sync_for_read(env);
    *val = *counter;
    return true;
}
