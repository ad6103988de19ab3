/*
 * Performance counters of x86 under TCG: what its files share
 *
 * Copyright (c) 2025 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#pragma once

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

/*
 * The shape of the PMU
 */

static inline bool pmu_is_intel(CPUX86State *env)
{
    return env_archcpu(env)->enable_pmu && IS_INTEL_CPU(env);
}

static inline bool pmu_is_amd(CPUX86State *env)
{
    return env_archcpu(env)->enable_pmu && IS_AMD_CPU(env);
}

static inline bool pmu_is_amd_v2(CPUX86State *env)
{
    return pmu_is_amd(env) &&
           (env->features[FEAT_8000_0022_EAX] & CPUID_8000_0022_EAX_PERFMON_V2);
}

/* Architectural version on Intel, 0 elsewhere */
static inline unsigned pmu_version(CPUX86State *env)
{
    return pmu_is_intel(env) ? env_archcpu(env)->pmu_version : 0;
}

static inline unsigned pmu_ngp(CPUX86State *env)
{
    if (pmu_is_amd(env)) {
        return env->features[FEAT_8000_0001_ECX] & CPUID_EXT3_PERFCORE ? 6 : 4;
    }
    return pmu_is_intel(env) ? env_archcpu(env)->pmu_counters : 0;
}

static inline unsigned pmu_nfixed(CPUX86State *env)
{
    return pmu_version(env) >= 6   ? X86_PMU_FIXED
           : pmu_version(env) >= 2 ? MAX_FIXED_COUNTERS
                                   : 0;
}

/* The fourth is not in the state that KVM has, too. */
static inline uint64_t *pmu_fixed(CPUX86State *env, unsigned n)
{
    return n < MAX_FIXED_COUNTERS
               ? &env->msr_fixed_counters[n]
               : &env_archcpu(env)->pmu_extra[X86_PMU_FIXED_3];
}

static inline bool pmu_has_global_ctrl(CPUX86State *env)
{
    return pmu_version(env) >= 2 || pmu_is_amd_v2(env);
}

/* AnyThread came with version 3 and went with version 5. */
static inline bool pmu_has_any(CPUX86State *env)
{
    return pmu_version(env) == 3 || pmu_version(env) == 4;
}

static inline PMULies *pmu_lies(CPUX86State *env)
{
    return &env_archcpu(env)->pmu_lies;
}

/* The bits of a counter, fewer than announced if the PMU lies */
static inline uint64_t pmu_counter_mask(CPUX86State *env)
{
    return pmu_lies_mask(pmu_lies(env), PMU_WIDTH);
}

static inline uint64_t pmu_gp_bits(CPUX86State *env)
{
    return MAKE_64BIT_MASK(0, pmu_ngp(env));
}

static inline uint64_t pmu_all_bits(CPUX86State *env)
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

const PMUChoice *pmu_choices(CPUX86State *env);
uint64_t pmu_extra_bits(CPUX86State *env, unsigned n);
PMUPlanted pmu_supplied(PMUEvent event);
unsigned pmu_ncounters(CPUX86State *env);
void pmu_decode(CPUX86State *env, unsigned n, PMUCounter *c);
int64_t pmu_age(CPUX86State *env);
uint64_t pmu_event_rate(CPUX86State *env, PMUEvent event);
bool pmu_has_cmask(PMUEvent event);
bool pmu_has_edge(CPUX86State *env, PMUEvent event);
void pmu_sync_to(CPUX86State *env, int64_t age);
void pmu_count_entries(CPUX86State *env, uint32_t hflags);
void pmu_arm(CPUX86State *env, uint32_t hflags);
void pmu_timer(void *opaque);
extern const PMUPlantedTarget pmu_target;
