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
#include "pmu-internal.h"

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
int64_t pmu_age(CPUX86State *env)
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
uint64_t pmu_event_rate(CPUX86State *env, PMUEvent event)
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
bool pmu_has_cmask(PMUEvent event)
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
bool pmu_has_edge(CPUX86State *env, PMUEvent event)
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
void pmu_sync_to(CPUX86State *env, int64_t age)
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
void pmu_count_entries(CPUX86State *env, uint32_t hflags)
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
void pmu_arm(CPUX86State *env, uint32_t hflags)
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

/*
 * The timer: in the vCPU's thread between two vCPUs' turns, or in the main
 * loop's while all are idle.  A halted vCPU's deadline would be a few
 * instructions it does not execute away, again and again: it waits for the
 * vCPU to go on.
 */
void pmu_timer(void *opaque)
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

const PMUPlantedTarget pmu_target = {
    .sync = pmu_reached,
    .unretired = pmu_unretired,
};
