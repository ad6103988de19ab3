/*
 * A machine with planted properties: what an instruction costs.
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * README.md has the rules.  This is plain C without QEMU and without a decoder.
 */

#ifndef PLANTED_CORE_H
#define PLANTED_CORE_H

#include <stdbool.h>
#include <stdint.h>

#define PLANTED_CPUS     64
#define PLANTED_PORTS    8
#define PLANTED_REGS     512 /* numbers of registers, flags among them */
#define PLANTED_OPERANDS 24
#define PLANTED_COSTS    20000
#define PLANTED_AHEAD                                                          \
    65536 /* cycles that instructions enter before others retire */
#define PLANTED_ACCESSES 64 /* of one instruction; more are not modelled */

/* Kinds of work that a micro-op does */
enum planted_class {
    PLANTED_ALU,
    PLANTED_MUL,
    PLANTED_DIV,
    PLANTED_FP,
    PLANTED_FPDIV,
    PLANTED_VECTOR,
    PLANTED_BRANCH,
    PLANTED_MOVE,
    PLANTED_LOAD,
    PLANTED_STORE,
    PLANTED_OTHER,
    PLANTED_CLASSES
};
extern const char *const planted_class_name[PLANTED_CLASSES];

/* The totals of each CPU, by the names of the PMU's hook.  SLOTS are places
 * that a cause left empty, STALLs are cycles. */
#define PLANTED_EVENT_LIST(X)                                                  \
    X(CYCLES), X(UOPS), X(L1D), X(L1D_MISS), X(L1I), X(L1I_MISS), X(L2),       \
        X(L2_MISS), X(LLC), X(LLC_MISS), X(DTLB_MISS), X(ITLB_MISS),           \
        X(BRANCH_MISS), X(SLOTS_BAD), X(SLOTS_FRONTEND), X(SLOTS_BACKEND),     \
        X(SLOTS_STALL), X(STALL_FRONTEND), X(STALL_BACKEND), X(STALL),         \
        X(PORT0), X(PORT1), X(PORT2), X(PORT3), X(PORT4), X(PORT5), X(PORT6),  \
        X(PORT7)
#define PLANTED_EVENT(name) PLANTED_##name
enum planted_event { PLANTED_EVENT_LIST(PLANTED_EVENT), PLANTED_EVENTS };
extern const char *const planted_event_name[PLANTED_EVENTS];

enum planted_policy {
    PLANTED_LRU,
    PLANTED_FIFO,
    PLANTED_PLRU,
    PLANTED_RANDOM,
    PLANTED_QLRU,
    PLANTED_POLICIES
};
extern const char *const planted_policy_name[PLANTED_POLICIES];

struct planted_work {
    uint32_t latency; /* cycles */
    uint32_t busy;    /* cycles that the port is taken */
    uint32_t ports;   /* a bit for each port that can do it */
    uint32_t uops;    /* how many micro-ops it is */
};

/* The work of one form: README.md has its text */
struct planted_cost {
    const char *form;
    struct planted_work work;
};

struct planted_geometry {
    uint64_t size; /* bytes; of a TLB, entries */
    uint32_t ways;
    uint32_t line;    /* bytes; of a TLB, 1 */
    uint32_t latency; /* cycles of a hit; of a TLB, those of a walk */
    enum planted_policy policy;
    uint8_t qlru[5]; /* H's two digits, M, R and U */
};

struct planted_machine {
    char name[64];
    uint32_t mhz;
    uint32_t width;
    uint32_t ports;
    struct planted_work work[PLANTED_CLASSES];
    struct planted_cost *costs; /* of the forms that have their own */
    unsigned cost_count;
    struct planted_geometry l1d, l1i, l2, llc, dtlb, itlb;
    uint32_t memory;  /* cycles of an access that misses everywhere */
    uint32_t entries; /* of the predictor's table */
    uint32_t penalty; /* cycles after a branch that was predicted wrong */
    uint64_t seed;    /* of what is random in the machine */
    bool next_line;   /* a prefetcher of L1D */
};

/* An instruction as the decoder knows it */
struct planted_form {
    uint16_t work;   /* but for loads and stores: enum planted_class, or from
                        PLANTED_CLASSES on the number of a cost */
    bool moves_only; /* a plain load or store: no other work */
    bool branch;
    bool conditional;
    bool waits;   /* for all older instructions, and younger ones for it */
    bool idiom;   /* the result does not depend on the inputs */
    bool no_work; /* takes a place, but no port */
    uint8_t reads, writes;
    uint16_t read[PLANTED_OPERANDS], write[PLANTED_OPERANDS];
};

struct planted_access {
    uint64_t address; /* physical */
    uint32_t size;
    bool store;
};

/* An instruction that was executed */
struct planted_step {
    const struct planted_form *form;
    uint64_t pc;
    uint64_t fetch; /* physical address */
    uint32_t size;
    bool taken; /* of a conditional branch */
    bool waits; /* the privilege level changed, or the PMU was read */
    unsigned accesses;
    struct planted_access access[PLANTED_ACCESSES];
};

struct planted;

/* NULL and a message in *why if the machine cannot be built. */
struct planted *planted_new(const struct planted_machine *, const char **why);
void planted_free(struct planted *);

/* The total of a CPU's events.  All CPUs' are at the same distance. */
const uint64_t *planted_total(const struct planted *, unsigned cpu,
                              enum planted_event);

/* Turn a CPU's prefetcher on, as it is at first, or off. */
void planted_prefetch(struct planted *, unsigned cpu, bool on);

/* An instruction of a CPU retired.  It returns the cycles that passed since the
 * one before. */
uint64_t planted_step(struct planted *, unsigned cpu,
                      const struct planted_step *);

/* The CPU, which has executed something, does nothing for some cycles, which it
 * returns. */
uint64_t planted_pause(struct planted *, unsigned cpu, uint64_t cycles);

#endif
