/*
 * Performance counters of x86 under TCG: the registers
 *
 * Copyright (c) 2025 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "pmu-internal.h"

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
    BQL_LOCK_GUARD();

    pmu_sync_to(env, pmu_age(env) - (icount_enabled() ? 1 : 0));
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

    BQL_LOCK_GUARD();
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
