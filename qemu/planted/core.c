/*
 * A machine with planted properties: what an instruction costs.
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The functions follow the rules of README.md in their order.  All arithmetic
 * is in integers: the same instructions on the same machine take the same
 * cycles.
 */

#include "core.h"
#include "cache.h"

#include <stdlib.h>
#include <string.h>

const char *const planted_class_name[PLANTED_CLASSES] = {
    "alu",    "mul",  "div",  "fp",    "fpdiv", "vector",
    "branch", "move", "load", "store", "other",
};

#define EVENT_NAME(name) #name
const char *const planted_event_name[PLANTED_EVENTS] = { PLANTED_EVENT_LIST(
    EVENT_NAME) };

/* When the last store to 8 bytes ends */
struct stored {
    uint64_t address; /* / 8, + 1; 0 if empty */
    uint64_t end;
};

/* The work of a class or form, as a CPU does it */
struct lane {
    struct planted_work work;
    uint64_t first; /* from enter to here none can start */
};

struct cpu {
    uint64_t total[PLANTED_EVENTS];
    uint64_t enter;    /* the cycle that instructions enter */
    uint64_t retire;   /* the cycle in which the youngest retired */
    uint32_t entered;  /* places of the cycle of entry that are taken */
    uint32_t retired;  /* how many in the cycle of retirement */
    uint64_t fetched;  /* the last line of code */
    uint16_t *taken;   /* a ring of cycles from enter on: a bit for each port.
                          Bytes would be aliases of all else here. */
    uint64_t mask;     /* of the ring, whose cycles are a power of two */
    struct lane *lane; /* of the classes, and then of the costs */
    uint64_t ready[PLANTED_REGS]; /* when a register has its value */
    struct stored *stored;
    uint32_t stores, room; /* of stored; room is a power of two */
    uint64_t stored_end;   /* the last end of all stores */
    uint8_t *predictor;    /* two bits each */
    bool no_prefetch;
    struct cache l1d, l1i, dtlb, itlb;
};

struct planted {
    struct planted_machine m;
    struct cache l2, llc;
    struct cpu *cpu; /* [PLANTED_CPUS] */
};

static uint64_t max_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The cycles until a line is there, by the level that has it */
static uint32_t reach(struct planted *p, struct cpu *c, struct cache *l1,
                      const struct planted_geometry *g, enum planted_event e,
                      uint64_t address)
{
    c->total[e]++;
    if (cache_access(l1, address)) {
        return g->latency;
    }
    c->total[e + 1]++;
    c->total[PLANTED_L2]++;
    if (cache_access(&p->l2, address)) {
        return p->m.l2.latency;
    }
    c->total[PLANTED_L2_MISS]++;
    c->total[PLANTED_LLC]++;
    if (cache_access(&p->llc, address)) {
        return p->m.llc.latency;
    }
    c->total[PLANTED_LLC_MISS]++;
    return p->m.memory;
}

/* The next line of the same page, without costs and events */
static void prefetch(struct planted *p, struct cpu *c, uint64_t address)
{
    if (address % 4096 && !cache_access(&c->l1d, address) &&
        !cache_access(&p->l2, address)) {
        cache_access(&p->llc, address);
    }
}

/* Every line that an access touches; the slowest decides. */
static uint32_t access_data(struct planted *p, struct cpu *c,
                            const struct planted_access *a)
{
    uint64_t line = p->m.l1d.line;
    uint64_t last = a->address + (a->size ? a->size - 1 : 0);
    uint64_t at;
    uint32_t longest = 0, cycles, walk = 0;

    if (!cache_access(&c->dtlb, a->address)) {
        c->total[PLANTED_DTLB_MISS]++;
        walk = p->m.dtlb.latency;
    }
    for (at = a->address & ~(line - 1); at <= last; at += line) {
        uint64_t misses = c->total[PLANTED_L1D_MISS];

        cycles = reach(p, c, &c->l1d, &p->m.l1d, PLANTED_L1D, at);
        if (p->m.next_line && !c->no_prefetch &&
            c->total[PLANTED_L1D_MISS] != misses) {
            prefetch(p, c, at + line);
        }
        longest = cycles > longest ? cycles : longest;
    }
    return walk + longest;
}

/* Ports: the cycles that are taken.  Nothing starts before that of entry. */

static void ring_grow(struct cpu *c, uint64_t cycle)
{
    uint64_t cycles = c->mask + 1, at;
    uint16_t *taken;

    while (cycle - c->enter >= cycles) {
        cycles *= 2;
    }
    taken = get_zeroed(cycles, sizeof(*taken));
    for (at = c->enter; at <= c->enter + c->mask; at++) {
        taken[at & (cycles - 1)] = c->taken[at & c->mask];
    }
    free(c->taken);
    c->taken = taken;
    c->mask = cycles - 1;
}

/* The first cycle from which ports are free as long as needed, and they */
static __attribute__((noinline)) uint64_t
search_cycle(struct cpu *c, const struct planted_work *w, uint64_t cycle,
             uint32_t *ports)
{
    uint32_t i;

    for (;; cycle++) {
        if (cycle + w->busy - c->enter > c->mask) {
            ring_grow(c, cycle + w->busy);
        }
        *ports = w->ports;
        for (i = 0; i < w->busy && *ports; i++) {
            *ports &= ~c->taken[(cycle + i) & c->mask];
        }
        if (*ports) {
            return cycle;
        }
    }
}

/* A micro-op of a kind whose inputs are ready: the cycle in which it starts */
__attribute__((always_inline)) static inline uint64_t
start_uop(struct cpu *c, struct lane *l, uint64_t ready)
{
    uint64_t first = max_of(l->first, c->enter);
    uint64_t cycle = max_of(ready, first);
    uint32_t ports = l->work.ports & ~c->taken[cycle & c->mask], i;

    if (!ports || l->work.busy > 1 || cycle - c->enter >= c->mask) {
        cycle = search_cycle(c, &l->work, cycle, &ports);
    }
    /* Cycles that were searched from that of entry on are not searched again.
     */
    l->first = ready <= first ? cycle : first;
    ports &= -ports;
    c->taken[cycle & c->mask] |= ports;
    for (i = 1; i < l->work.busy; i++) {
        c->taken[(cycle + i) & c->mask] |= ports;
    }
    c->total[PLANTED_PORT0 + __builtin_ctz(ports)]++;
    return cycle;
}

/* Stores: a load waits for older ones to the same bytes */

static struct stored *stored_find(const struct cpu *c, uint64_t address)
{
    /* Neighbours share a line of the host's cache. */
    uint64_t i =
        ((address >> 2) * 0x9e3779b97f4a7c15ULL) >> 32 << 2 | (address & 3);

    for (;; i++) {
        struct stored *s = &c->stored[i & (c->room - 1)];

        if (!s->address || s->address == address + 1) {
            return s;
        }
    }
}

/* Forget those that end before the cycle of entry, and make room. */
static void stored_clean(struct cpu *c)
{
    struct stored *old = c->stored;
    uint32_t room = c->room, i, left = 0;

    for (i = 0; i < room; i++) {
        left += old[i].address && old[i].end > c->enter;
    }
    c->room = left * 4 > room ? room * 2 : room ? room : 1024;
    c->stored = get_zeroed(c->room, sizeof(*c->stored));
    c->stores = left;
    for (i = 0; i < room; i++) {
        if (old[i].address && old[i].end > c->enter) {
            *stored_find(c, old[i].address - 1) = old[i];
        }
    }
    free(old);
}

/* The end of the last store to the bytes, if it is later than a cycle */
static uint64_t stored_end(const struct cpu *c, const struct planted_access *a,
                           uint64_t end)
{
    uint64_t at;

    if (c->stored_end <= end) {
        return end;
    }
    for (at = a->address / 8; at <= (a->address + a->size - 1) / 8; at++) {
        const struct stored *s = stored_find(c, at);

        end = s->address && s->end > end ? s->end : end;
    }
    return end;
}

static void store_ends(struct cpu *c, const struct planted_access *a,
                       uint64_t end)
{
    uint64_t at;

    for (at = a->address / 8; at <= (a->address + a->size - 1) / 8; at++) {
        struct stored *s;

        if (c->stores * 2 >= c->room) {
            stored_clean(c);
        }
        s = stored_find(c, at);
        c->stores += !s->address;
        s->address = at + 1;
        s->end = end;
    }
    c->stored_end = max_of(c->stored_end, end);
}

/* The front end */

static void next_cycle(struct cpu *c)
{
    c->taken[c->enter & c->mask] = 0;
    c->enter++;
    c->entered = 0;
}

/* Places that are not taken until then are lost to a cause. */
static void enter_later(struct planted *p, struct cpu *c, uint64_t cycle,
                        enum planted_event cause)
{
    uint64_t most = c->enter + c->mask + 1;
    uint64_t lost = p->m.width * (cycle - c->enter) - c->entered;
    uint64_t empty = cycle - c->enter - (c->entered > 0);

    c->total[cause] += lost;
    if (cause != PLANTED_SLOTS_BAD) {
        c->total[PLANTED_SLOTS_STALL] += lost;
        c->total[PLANTED_STALL] += empty;
        c->total[cause == PLANTED_SLOTS_FRONTEND ? PLANTED_STALL_FRONTEND
                                                 : PLANTED_STALL_BACKEND] +=
            empty;
    }
    while (c->enter < cycle && c->enter < most) {
        uint64_t at = c->enter & c->mask;
        uint64_t n = cycle < most ? cycle : most;

        n = n - c->enter < c->mask + 1 - at ? n - c->enter : c->mask + 1 - at;
        memset(&c->taken[at], 0, n * sizeof(*c->taken));
        c->enter += n;
    }
    c->enter = cycle;
    c->entered = 0;
}

static inline void enter_at(struct planted *p, struct cpu *c, uint64_t cycle,
                            enum planted_event cause)
{
    if (cycle > c->enter) {
        enter_later(p, c, cycle, cause);
    }
}

/* A micro-op takes a place of the width: the cycle in which it enters */
static uint64_t take_place(struct planted *p, struct cpu *c)
{
    if (c->entered == p->m.width) {
        next_cycle(c);
    }
    c->entered++;
    return c->enter;
}

static void fetch(struct planted *p, struct cpu *c,
                  const struct planted_step *s)
{
    uint64_t line = p->m.l1i.line;
    uint64_t at;

    if (s->fetch >= c->fetched && s->fetch + s->size <= c->fetched + line) {
        return;
    }
    for (at = s->fetch & ~(line - 1); at < s->fetch + s->size; at += line) {
        uint32_t cycles = 0;

        if (at == c->fetched) {
            continue;
        }
        c->fetched = at;
        if (!cache_access(&c->itlb, at)) {
            c->total[PLANTED_ITLB_MISS]++;
            cycles = p->m.itlb.latency;
        }
        cycles +=
            reach(p, c, &c->l1i, &p->m.l1i, PLANTED_L1I, at) - p->m.l1i.latency;
        enter_at(p, c, c->enter + cycles, PLANTED_SLOTS_FRONTEND);
    }
}

/* Was the branch predicted wrong?  The table learns. */
static bool mispredicted(struct planted *p, struct cpu *c,
                         const struct planted_step *s)
{
    uint8_t *state = &c->predictor[s->pc & (p->m.entries - 1)];
    bool wrong = (*state >= 2) != s->taken;

    if (s->taken) {
        *state += *state < 3;
    } else {
        *state -= *state > 0;
    }
    return wrong;
}

static void retire(struct planted *p, struct cpu *c, uint64_t end)
{
    if (end > c->retire) {
        c->retire = end;
        c->retired = 0;
    } else if (c->retired == p->m.width) {
        c->retire++;
        c->retired = 0;
    }
    c->retired++;
}

/* The loads or the stores: the cycle in which the last one ends */
static uint64_t do_accesses(struct planted *p, struct cpu *c,
                            const struct planted_step *s, bool stores,
                            uint64_t ready)
{
    uint64_t end = ready, start, own;
    unsigned i;

    for (i = 0; i < s->accesses; i++) {
        const struct planted_access *a = &s->access[i];

        if (a->store != stores) {
            continue;
        }
        start = max_of(ready, take_place(p, c));
        if (stores) {
            start = start_uop(c, &c->lane[PLANTED_STORE], start);
            access_data(p, c, a);
            own = start + p->m.work[PLANTED_STORE].latency;
            store_ends(c, a, own);
        } else {
            start = stored_end(c, a, start);
            start = start_uop(c, &c->lane[PLANTED_LOAD], start);
            own = start + access_data(p, c, a);
        }
        end = max_of(end, own);
        c->total[PLANTED_UOPS]++;
    }
    return end;
}

/* The work of a form: the cycle in which its last micro-op ends */
static inline uint64_t do_work(struct planted *p, struct cpu *c, struct lane *l,
                               uint64_t ready)
{
    uint64_t end = ready, start;
    uint32_t i;

    for (i = 0; i < l->work.uops; i++) {
        start = max_of(ready, take_place(p, c));
        if (l->work.ports) {
            start = start_uop(c, l, start);
        }
        end = max_of(end, start + l->work.latency);
        c->total[PLANTED_UOPS]++;
    }
    return end;
}

static void cpu_init(struct planted *p, struct cpu *c)
{
    uint64_t seed = p->m.seed + 4 * (c - p->cpu);
    unsigned i;

    cache_init(&c->l1d, &p->m.l1d, 0, seed + 1);
    cache_init(&c->l1i, &p->m.l1i, 0, seed + 2);
    cache_init(&c->dtlb, &p->m.dtlb, 4096, seed + 3);
    cache_init(&c->itlb, &p->m.itlb, 4096, seed + 4);
    c->predictor = get_zeroed(p->m.entries, 1);
    memset(c->predictor, 1, p->m.entries);
    stored_clean(c);
    c->fetched = 1ULL << 63;
    c->mask = 1023;
    c->taken = get_zeroed(c->mask + 1, sizeof(*c->taken));
    c->lane = get_zeroed(PLANTED_CLASSES + p->m.cost_count, sizeof(*c->lane));
    for (i = 0; i < PLANTED_CLASSES + p->m.cost_count; i++) {
        c->lane[i].work = i < PLANTED_CLASSES
                              ? p->m.work[i]
                              : p->m.costs[i - PLANTED_CLASSES].work;
    }
}

void planted_prefetch(struct planted *p, unsigned cpu, bool on)
{
    p->cpu[cpu].no_prefetch = !on;
}

uint64_t planted_step(struct planted *p, unsigned cpu,
                      const struct planted_step *s)
{
    const struct planted_form *f = s->form;
    struct cpu *c = &p->cpu[cpu];
    bool waits = s->waits || f->waits;
    uint64_t ready, end, before = c->retire;
    unsigned i;

    if (!c->taken) {
        cpu_init(p, c);
    }
    if (c->enter + (waits ? 0 : PLANTED_AHEAD) < c->retire) {
        enter_later(p, c, c->retire - (waits ? 0 : PLANTED_AHEAD),
                    PLANTED_SLOTS_BACKEND);
    }
    fetch(p, c, s);

    ready = c->enter;
    for (i = 0; i < f->reads && !f->idiom; i++) {
        ready = max_of(ready, c->ready[f->read[i]]);
    }
    end = s->accesses ? do_accesses(p, c, s, false, ready) : ready;
    if (f->no_work) {
        end = max_of(end, take_place(p, c));
        c->total[PLANTED_UOPS]++;
    } else if (!f->moves_only || !s->accesses) {
        end = do_work(p, c, &c->lane[f->work], end);
    }
    for (i = 0; i < f->writes; i++) {
        c->ready[f->write[i]] = end;
    }
    end = s->accesses ? do_accesses(p, c, s, true, end) : end;
    retire(p, c, end);

    if (f->conditional && mispredicted(p, c, s)) {
        c->total[PLANTED_BRANCH_MISS]++;
        enter_at(p, c, end + p->m.penalty, PLANTED_SLOTS_BAD);
    }
    if (waits) {
        enter_at(p, c, c->retire, PLANTED_SLOTS_BACKEND);
    }
    c->total[PLANTED_CYCLES] = c->retire;
    return c->retire - before;
}

uint64_t planted_pause(struct planted *p, unsigned cpu, uint64_t cycles)
{
    struct cpu *c = &p->cpu[cpu];

    c->retire += cycles;
    c->retired = 0;
    enter_at(p, c, c->retire, PLANTED_SLOTS_BACKEND);
    c->total[PLANTED_CYCLES] = c->retire;
    return cycles;
}

static const char *check_geometry(const struct planted_geometry *g)
{
    if (!is_power(g->line) || !g->ways || g->ways > 64 ||
        g->size % ((uint64_t)g->line * g->ways) ||
        g->size / g->line > 1U << 26 ||
        !is_power(g->size / g->line / g->ways)) {
        return "a cache or TLB has at most 64 ways and 2^26 lines; its sets "
               "and the bytes of a line are powers of two";
    }
    if (g->policy == PLANTED_PLRU && !is_power(g->ways)) {
        return "a cache with plru has a power of two of ways";
    }
    return NULL;
}

/* The ports' bits are as long as the slowest access. */
static const char *check_cycles(const struct planted_machine *m)
{
    const uint32_t all[] = { m->l1d.latency, m->l1i.latency,  m->l2.latency,
                             m->llc.latency, m->dtlb.latency, m->itlb.latency,
                             m->memory,      m->penalty };
    unsigned i;

    for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (all[i] > PLANTED_AHEAD) {
            return "latencies, walks, memory and penalty are at most 65536 "
                   "cycles";
        }
    }
    return NULL;
}

static const char *check_work(const struct planted_machine *m,
                              const struct planted_work *w, bool access)
{
    if (w->ports >> m->ports || !w->busy || w->busy > 1000 ||
        w->latency > 1000 || !w->uops || w->uops > 16) {
        return "each class and form has ports of the machine, 1 to 16 uops, is "
               "busy for 1 to 1000 cycles and takes at most 1000";
    }
    return access && (!w->ports || w->uops != 1)
               ? "a load and a store have ports, and are one micro-op"
               : NULL;
}

static const char *check(const struct planted_machine *m)
{
    const struct planted_geometry *all[] = { &m->l1d, &m->l1i,  &m->l2,
                                             &m->llc, &m->dtlb, &m->itlb };
    const char *why;
    unsigned i;

    if (!m->mhz || m->mhz > 10000 || !m->width || m->width > 16 || !m->ports ||
        m->ports > PLANTED_PORTS || !is_power(m->entries) ||
        m->entries > 1U << 24) {
        return "mhz is 1 to 10000, width 1 to 16, ports 1 to 8, and the "
               "predictor has a power of two of entries";
    }
    for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
        why = check_geometry(all[i]);
        if (why) {
            return why;
        }
    }
    for (i = 0; i < PLANTED_CLASSES; i++) {
        why =
            check_work(m, &m->work[i], i == PLANTED_LOAD || i == PLANTED_STORE);
        if (why) {
            return why;
        }
    }
    if (m->cost_count > PLANTED_COSTS) {
        return "at most 20000 forms have costs of their own";
    }
    for (i = 0; i < m->cost_count; i++) {
        why = check_work(m, &m->costs[i].work, false);
        if (why) {
            return why;
        }
    }
    if (m->l1i.latency > m->l2.latency || m->l1i.latency > m->llc.latency ||
        m->l1i.latency > m->memory) {
        return "no level is faster than l1i";
    }
    return check_cycles(m);
}

struct planted *planted_new(const struct planted_machine *m, const char **why)
{
    struct planted *p;

    *why = check(m);
    if (*why) {
        return NULL;
    }
    p = get_zeroed(1, sizeof(*p));
    p->cpu = get_zeroed(PLANTED_CPUS, sizeof(*p->cpu));
    p->m = *m;
    /* The generator's state must not be 0. */
    p->m.seed |= 1ULL << 63;
    cache_init(&p->l2, &p->m.l2, 0, p->m.seed + 1000);
    cache_init(&p->llc, &p->m.llc, 0, p->m.seed + 2000);
    return p;
}

void planted_free(struct planted *p)
{
    unsigned cpu;

    for (cpu = 0; cpu < PLANTED_CPUS; cpu++) {
        struct cpu *c = &p->cpu[cpu];

        cache_free(&c->l1d);
        cache_free(&c->l1i);
        cache_free(&c->dtlb);
        cache_free(&c->itlb);
        free(c->taken);
        free(c->lane);
        free(c->stored);
        free(c->predictor);
    }
    cache_free(&p->l2);
    cache_free(&p->llc);
    free(p->cpu);
    free(p);
}

const uint64_t *planted_total(const struct planted *p, unsigned cpu,
                              enum planted_event e)
{
    return &p->cpu[cpu].total[e];
}
