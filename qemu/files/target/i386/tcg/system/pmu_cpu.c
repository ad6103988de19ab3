/*
 * Performance counters of x86 under TCG: what the CPU calls
 *
 * Copyright (c) 2025 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "pmu-internal.h"

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
    BQL_LOCK_GUARD();

    if (cpu->env.pmu.timer) {
        pmu_sync_to(&cpu->env, pmu_age(&cpu->env));
    }
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

    if (env->pmu.halted) {
        env->pmu.halted = false;
        env->pmu.wakes++;
    }
    if (env->pmu.arm_pending && env->pmu.timer) {
        BQL_LOCK_GUARD();
        env->pmu.arm_pending = false;
        pmu_arm(env, env->hflags);
    }
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
    BQL_LOCK_GUARD();

    env_cpu(env)->neg.can_do_io = true;
    pmu_planted_settle(env_cpu(env));
    pmu_sync_to(env, pmu_age(env));
    pmu_count_entries(env, hflags);
    pmu_arm(env, hflags);
}
