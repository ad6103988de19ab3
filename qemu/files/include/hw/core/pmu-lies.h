/*
 * A PMU that lies: faults of a PMU model that a guest should notice
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A program that checks a PMU is itself checked with a PMU that miscounts.  The
 * properties "pmu-lie-..." of a CPU choose the fault.  All are off by default.
 * A counter has the number of its overflow status bit.  On x86 32 + n is fixed
 * counter n, on Arm 31 is the cycle counter.
 */
#ifndef HW_CORE_PMU_LIES_H
#define HW_CORE_PMU_LIES_H

#define PMU_LIES_COUNTERS 64

/* After how many instructions an overflow interrupt comes a second time */
#define PMU_LIES_DOUBLE 5000

typedef struct PMULies {
    /* The properties */
    uint64_t still;     /* a mask of the counters that stand still */
    uint32_t extra;     /* of so many events one is counted twice */
    uint32_t lose;      /* each overflow of this number is lost */
    uint32_t twice;     /* each overflow of this number interrupts twice */
    uint32_t late;      /* instructions until the overflow interrupts */
    uint64_t late_seed; /* not 0: draw 0 to "late" for each; the state */
    bool late_freeze;   /* a freeze comes with the interrupt */
    bool shared;        /* threads of a core share the extra MSRs */
    uint8_t width;      /* bits of a counter, 0: as announced */
    bool kernel;        /* a counter of user mode counts the kernel, too */

    uint32_t overflows;               /* overflows that should interrupt */
    uint64_t seen[PMU_LIES_COUNTERS]; /* events since the last write */
    int64_t due[PMU_LIES_COUNTERS];   /* the age to interrupt at, or 0 */
} PMULies;

/* The bits of a counter's value, of which the PMU announces @announced */
static inline uint64_t pmu_lies_mask(const PMULies *lies, unsigned announced)
{
    return MAKE_64BIT_MASK(
        0, lies->width && lies->width < announced ? lies->width : announced);
}

/* How much @counter grows by @n events.  It is never more than twice @n. */
static inline uint64_t pmu_lies_count(PMULies *lies, unsigned counter,
                                      uint64_t n)
{
    uint64_t before = lies->seen[counter];

    if (lies->still & (1ULL << counter)) {
        return 0;
    }
    if (!lies->extra) {
        return n;
    }
    lies->seen[counter] += n;
    return n + (before + n) / lies->extra - before / lies->extra;
}

/* At least how many events make @counter grow by @n; 0 if it stands still */
static inline uint64_t pmu_lies_least(const PMULies *lies, unsigned counter,
                                      uint64_t n)
{
    if (lies->still & (1ULL << counter)) {
        return 0;
    }
    return lies->extra ? n - n / 2 : n;
}

/* Software wrote @value: what the counter holds */
static inline uint64_t pmu_lies_written(PMULies *lies, unsigned counter,
                                        uint64_t value)
{
    lies->seen[counter] = 0;
    return value & pmu_lies_mask(lies, 64);
}

typedef enum {
    PMU_LIES_NOW,   /* the overflow interrupts */
    PMU_LIES_LATER, /* its interrupt is due later */
    PMU_LIES_LOST,  /* it leaves no trace */
} PMULiesOverflow;

/* How late the next interrupt is: xorshift64* draws it, if it is drawn. */
static inline uint32_t pmu_lies_lateness(PMULies *lies)
{
    if (!lies->late_seed) {
        return lies->late;
    }
    lies->late_seed ^= lies->late_seed >> 12;
    lies->late_seed ^= lies->late_seed << 25;
    lies->late_seed ^= lies->late_seed >> 27;
    return ((lies->late_seed * 0x2545f4914f6cdd1dULL) >> 32) %
           ((uint64_t)lies->late + 1);
}

/* The fate of an overflow that interrupts */
static inline PMULiesOverflow pmu_lies_overflow(PMULies *lies, unsigned counter,
                                                int64_t age)
{
    lies->overflows++;
    if (lies->lose && lies->overflows % lies->lose == 0) {
        return PMU_LIES_LOST;
    }
    if (lies->late) {
        uint32_t late = pmu_lies_lateness(lies);

        if (late) {
            lies->due[counter] = age + late;
            return PMU_LIES_LATER;
        }
    }
    if (lies->twice && lies->overflows % lies->twice == 0) {
        lies->due[counter] = age + PMU_LIES_DOUBLE;
    }
    return PMU_LIES_NOW;
}

/* Is an interrupt of @counter due?  True once. */
static inline bool pmu_lies_due(PMULies *lies, unsigned counter, int64_t age)
{
    if (!lies->due[counter] || lies->due[counter] > age) {
        return false;
    }
    lies->due[counter] = 0;
    return true;
}

/* A mask of the counters whose interrupt is late */
static inline uint64_t pmu_lies_hidden(const PMULies *lies)
{
    uint64_t hidden = 0;
    unsigned i;

    for (i = 0; lies->late && i < PMU_LIES_COUNTERS; i++) {
        hidden |= lies->due[i] ? 1ULL << i : 0;
    }
    return hidden;
}

/* The age at which the next interrupt is due, or INT64_MAX */
static inline int64_t pmu_lies_next(const PMULies *lies)
{
    int64_t next = INT64_MAX;
    unsigned i;

    if (lies->late || lies->twice) {
        for (i = 0; i < PMU_LIES_COUNTERS; i++) {
            if (lies->due[i]) {
                next = MIN(next, lies->due[i]);
            }
        }
    }
    return next;
}

#endif
