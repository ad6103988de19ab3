/*
 * Events that a plugin counts and a PMU shows, and time that a plugin adds
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * With icount all vCPUs run in one thread.  icount is exact at the start of a
 * translation block only: each has one instruction.  Time that passed waits
 * until icount counts the instructions, too.
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/plugin.h"
#include "exec/exec-all.h"
#include "hw/core/cpu.h"
#include "hw/core/pmu-planted.h"
#include "system/cpu-timers.h"

#define PLANTED_CPUS     64
#define PLANTED_COUNTERS 32

/* In the order of PMUPlanted */
static const char planted_names[] =
    "CYCLES UOPS L1D L1D_MISS L1I L1I_MISS L2 L2_MISS LLC LLC_MISS DTLB_MISS "
    "ITLB_MISS BRANCH_MISS NS INSTRUCTIONS BRANCHES SLOTS SLOTS_RETIRING "
    "SLOTS_BAD SLOTS_FRONTEND SLOTS_BACKEND SLOTS_STALL STALL STALL_FRONTEND "
    "STALL_BACKEND SMIS PORT0 PORT1 PORT2 PORT3 PORT4 PORT5 PORT6 PORT7";

#define PLANTED_FACTS 64

static struct {
    const char *name;
    uint64_t value;
} planted_facts[PLANTED_FACTS];
static unsigned int planted_nfacts;

/* Totals of the first vCPU; the next one's are so many bytes later. */
static struct {
    const void *first;
    size_t stride;
} planted_totals[PMU_PLANTED_EVENTS];
static const PMUPlantedTarget *planted_target;
static qemu_plugin_begin_cb_t planted_begin;
static qemu_plugin_settle_cb_t planted_settle;
static int64_t planted_slack, planted_ns;

/* The totals at which a PMU wants to stop */
typedef struct PlantedStops {
    unsigned int n;
    struct {
        const uint64_t *total;
        uint64_t at;
        unsigned int counter;
    } stop[PLANTED_COUNTERS];
} PlantedStops;
static PlantedStops planted_stops[PLANTED_CPUS];

/* The instructions that icount has charged this vCPU for, this one included */
static uint64_t planted_charged(CPUState *cpu)
{
    return cpu->icount_total + cpu->icount_budget -
           (cpu->neg.icount_decr.u16.low + cpu->icount_extra);
}

/* Does the PMU say what did not retire? */
static bool planted_knows_faults(void)
{
    return planted_target && planted_target->unretired;
}

static uint64_t planted_retired(CPUState *cpu)
{
    return planted_charged(cpu) -
           (planted_knows_faults() ? planted_target->unretired(cpu) : 0);
}

/*
 * The PMU's side
 */

void pmu_planted_set_target(const PMUPlantedTarget *target)
{
    planted_target = target;
}

bool pmu_planted(PMUPlanted event)
{
    return event < PMU_PLANTED_EVENTS && planted_totals[event].first;
}

static const uint64_t *planted_total(CPUState *cpu, PMUPlanted event)
{
    return planted_totals[event].first +
           planted_totals[event].stride * cpu->cpu_index;
}

uint64_t pmu_planted_total(CPUState *cpu, PMUPlanted event)
{
    return *planted_total(cpu, event);
}

void pmu_planted_leave(CPUState *cpu, bool exception)
{
    if (planted_settle) {
        planted_settle(cpu->cpu_index, cpu->cc->get_pc(cpu),
                       planted_retired(cpu), planted_charged(cpu),
                       exception && !planted_knows_faults());
    }
}

void pmu_planted_settle(CPUState *cpu)
{
    pmu_planted_leave(cpu, false);
}

void pmu_planted_arm(CPUState *cpu, unsigned int counter, PMUPlanted event,
                     uint64_t left)
{
    PlantedStops *s = &planted_stops[cpu->cpu_index];
    uint64_t total = pmu_planted_total(cpu, event) + left;

    if (!left || total < left) {
        return; /* not in 2^64 events */
    }
    pmu_planted_disarm(cpu, counter);
    s->stop[s->n].total = planted_total(cpu, event);
    s->stop[s->n].at = total;
    s->stop[s->n++].counter = counter;
}

void pmu_planted_disarm(CPUState *cpu, unsigned int counter)
{
    PlantedStops *s = &planted_stops[cpu->cpu_index % PLANTED_CPUS];
    unsigned int i;

    for (i = 0; i < s->n; i++) {
        if (s->stop[i].counter == counter) {
            s->stop[i] = s->stop[--s->n];
        }
    }
}

uint64_t pmu_planted_fact(const char *name, const char *of)
{
    g_autofree char *full = g_strconcat(name, of, NULL);
    unsigned int i;

    for (i = 0; i < planted_nfacts; i++) {
        if (g_str_equal(planted_facts[i].name, full)) {
            return planted_facts[i].value;
        }
    }
    return 0;
}

bool pmu_planted_cache(const char *name, PMUPlantedCache *cache)
{
    cache->size = pmu_planted_fact(name, "-size");
    cache->ways = pmu_planted_fact(name, "-ways");
    cache->line = pmu_planted_fact(name, "-line");
    if (!cache->ways || !cache->line) {
        return false;
    }
    cache->sets = cache->size / cache->ways / cache->line;
    return true;
}

void pmu_planted_lies(PMULies *lies)
{
    if (!lies->late) {
        lies->late = pmu_planted_fact("late", "");
        lies->late_seed = pmu_planted_fact("late-seed", "");
    }
    lies->late_freeze |= pmu_planted_fact("late-freeze", "");
    lies->shared |= pmu_planted_fact("shared-msrs", "");
}

void pmu_planted_turn(CPUState *cpu, int64_t slack)
{
    planted_slack = slack;
    if (planted_settle) {
        /* The same code at two addresses has branches of its own at each. */
        cpu->tcg_cflags = (cpu->tcg_cflags & ~(CF_PCREL | CF_COUNT_MASK)) | 1;
    }
}

int64_t pmu_planted_take_time(void)
{
    int64_t ns = planted_ns;

    planted_ns = 0;
    return ns;
}

/*
 * The plugin's side
 */

bool qemu_plugin_planted_machine(qemu_plugin_begin_cb_t begin,
                                 qemu_plugin_settle_cb_t settle)
{
    planted_begin = begin;
    planted_settle = settle;
    /* icount adds one ns for each instruction, which the plugin takes off. */
    return icount_enabled() == ICOUNT_PRECISE && icount_to_ns(1) == 1;
}

bool qemu_plugin_pmu_supply(const char *name, const uint64_t *first,
                            size_t stride)
{
    g_auto(GStrv) names = g_strsplit(planted_names, " ", 0);
    unsigned int i;

    for (i = 0; i < PMU_PLANTED_EVENTS; i++) {
        if (g_str_equal(name, names[i])) {
            planted_totals[i].first = first;
            planted_totals[i].stride = stride;
            return true;
        }
    }
    return false;
}

bool qemu_plugin_planted_fact(const char *name, uint64_t value)
{
    if (planted_nfacts == PLANTED_FACTS) {
        return false;
    }
    planted_facts[planted_nfacts].name = name;
    planted_facts[planted_nfacts++].value = value;
    return true;
}

uint64_t qemu_plugin_insn_place(uint64_t vaddr, unsigned int *mode)
{
    CPUState *cpu = current_cpu;
    MemTxAttrs attrs;
    hwaddr page =
        cpu_get_phys_page_attrs_debug(cpu, vaddr & TARGET_PAGE_MASK, &attrs);

    *mode = cpu_mmu_index(cpu, true);
    return page + (vaddr & ~TARGET_PAGE_MASK);
}

/* The PMU arms those that it needs again. */
static void planted_reached(CPUState *cpu)
{
    PlantedStops *s = &planted_stops[cpu->cpu_index];
    unsigned int i = s->n;
    BQL_LOCK_GUARD();

    while (i-- > 0) {
        if (*s->stop[i].total >= s->stop[i].at) {
            s->stop[i] = s->stop[--s->n];
        }
    }
    planted_target->sync(cpu);
}

static void planted_execute(unsigned int index, void *insn)
{
    CPUState *cpu = current_cpu;
    const PlantedStops *s = &planted_stops[index];
    int64_t ns = planted_begin(index, insn, planted_retired(cpu) - 1,
                               planted_charged(cpu));
    bool due, reached = false;
    unsigned int i;

    planted_ns += ns;
    planted_slack -= ns;
    due = planted_slack + cpu->neg.icount_decr.u16.low + cpu->icount_extra < 0;
    for (i = 0; i < s->n; i++) {
        reached |= *s->stop[i].total >= s->stop[i].at;
    }
    if (!due && !reached) {
        return;
    }
    /* Leave before the instruction, whose callback comes again later. */
    cpu_restore_state(cpu, (uintptr_t)__builtin_return_address(0));
    cpu->neg.can_do_io = true;
    if (reached) {
        planted_reached(cpu);
    }
    if (due) {
        cpu_exit(cpu);
    }
    cpu_loop_exit(cpu);
}

void qemu_plugin_register_planted_cb(struct qemu_plugin_insn *insn, void *data)
{
    qemu_plugin_register_vcpu_insn_exec_cb(insn, planted_execute,
                                           QEMU_PLUGIN_CB_R_REGS, data);
}
