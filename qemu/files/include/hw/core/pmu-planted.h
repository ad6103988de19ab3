/*
 * Events that a plugin counts and a PMU shows
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A plugin that models a machine counts what QEMU does not have: cycles, misses
 * of caches.  It supplies totals that grow, one for each vCPU; a PMU reads them
 * as it reads the number of instructions.  accel/tcg/planted.c is between them.
 */

#ifndef HW_CORE_PMU_PLANTED_H
#define HW_CORE_PMU_PLANTED_H

#include "hw/core/pmu-lies.h"

#define PMU_PLANTED_PORTS 8

/* The number of what is no counter: interrupts that are late */
#define PMU_PLANTED_LATE 30

typedef enum PMUPlanted {
    PMU_PLANTED_CYCLES,
    PMU_PLANTED_UOPS,
    PMU_PLANTED_L1D,
    PMU_PLANTED_L1D_MISS,
    PMU_PLANTED_L1I,
    PMU_PLANTED_L1I_MISS,
    PMU_PLANTED_L2,
    PMU_PLANTED_L2_MISS,
    PMU_PLANTED_LLC,
    PMU_PLANTED_LLC_MISS,
    PMU_PLANTED_DTLB_MISS,
    PMU_PLANTED_ITLB_MISS,
    PMU_PLANTED_BRANCH_MISS,
    PMU_PLANTED_NS,
    PMU_PLANTED_INSTRUCTIONS,
    PMU_PLANTED_BRANCHES,
    PMU_PLANTED_SLOTS,
    PMU_PLANTED_SLOTS_RETIRING,
    PMU_PLANTED_SLOTS_BAD,
    PMU_PLANTED_SLOTS_FRONTEND,
    PMU_PLANTED_SLOTS_BACKEND,
    PMU_PLANTED_SLOTS_STALL,
    PMU_PLANTED_STALL,
    PMU_PLANTED_STALL_FRONTEND,
    PMU_PLANTED_STALL_BACKEND,
    PMU_PLANTED_SMIS,
    PMU_PLANTED_PORT,
    PMU_PLANTED_EVENTS = PMU_PLANTED_PORT + PMU_PLANTED_PORTS,
    PMU_PLANTED_NONE = PMU_PLANTED_EVENTS,
} PMUPlanted;

typedef struct PMUPlantedTarget {
    /* Bring the counters up to date, and interrupt if one has overflowed. */
    void (*sync)(CPUState *cpu);
    /*
     * Instructions that icount has charged and that did not retire.  NULL: one
     * that faults is known by the address that its exception has.
     */
    uint64_t (*unretired)(CPUState *cpu);
} PMUPlantedTarget;

/* The target's PMU: call it before the first vCPU runs. */
void pmu_planted_set_target(const PMUPlantedTarget *target);

/* Does a plugin supply this event? */
bool pmu_planted(PMUPlanted event);

/* The events of this vCPU, up to the last instruction that has been settled */
uint64_t pmu_planted_total(CPUState *cpu, PMUPlanted event);

/*
 * The instruction that the vCPU executes is about to change what counts: what
 * it costs belongs to what counted when it began.
 */
void pmu_planted_settle(CPUState *cpu);

/* An exception or an interrupt is about to change the vCPU's address. */
void pmu_planted_leave(CPUState *cpu, bool exception);

/* Call sync() when so many events more have been counted, if @left is not 0. */
void pmu_planted_arm(CPUState *cpu, unsigned int counter, PMUPlanted event,
                     uint64_t left);
void pmu_planted_disarm(CPUState *cpu, unsigned int counter);

/*
 * A number of the machine that the plugin has given a name: 0 if it has not.
 * A cache has its own with "-size", "-ways" and "-line".
 */
uint64_t pmu_planted_fact(const char *name, const char *of);

/* A cache that registers describe.  False if the plugin does not say. */
typedef struct PMUPlantedCache {
    uint32_t size, ways, line, sets;
} PMUPlantedCache;
bool pmu_planted_cache(const char *name, PMUPlantedCache *cache);

/* The lies that the machine wants, where no property has set them */
void pmu_planted_lies(PMULies *lies);

/* A turn of a vCPU begins: how much later than its end is the next deadline? */
void pmu_planted_turn(CPUState *cpu, int64_t slack);

/* The ns that a plugin has added since the last call */
int64_t pmu_planted_take_time(void);

#endif
