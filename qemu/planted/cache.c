/*
 * Planted caches, and TLBs with lines of one page
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 *
 * README.md has the rules, under "Caches".
 */

#include "cache.h"

#include <stdlib.h>

const char *const planted_policy_name[PLANTED_POLICIES] = { "lru", "fifo",
                                                            "plru", "random",
                                                            "qlru" };

void *get_zeroed(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p) {
        abort();
    }
    return p;
}

void cache_init(struct cache *c, const struct planted_geometry *g,
                uint32_t page, uint64_t seed)
{
    uint64_t lines = g->size / g->line;

    c->ways = g->ways;
    c->sets = lines / g->ways;
    c->shift = __builtin_ctz(page ? page : g->line);
    c->policy = g->policy;
    c->qlru = g->qlru;
    c->line = get_zeroed(lines, sizeof(*c->line));
    c->age = get_zeroed(lines, sizeof(*c->age));
    c->tree = get_zeroed(c->sets, sizeof(*c->tree));
    for (c->hints = 1; c->hints < 2 * lines; c->hints *= 2) {
        continue;
    }
    c->hint = get_zeroed(c->hints, sizeof(*c->hint));
    c->random = seed;
}

void cache_free(struct cache *c)
{
    free(c->line);
    free(c->age);
    free(c->tree);
    free(c->hint);
}

/* All nodes from the root to the way point away from it. */
static void tree_touch(struct cache *c, uint32_t set, uint32_t way)
{
    uint32_t node = 1, half;

    for (half = c->ways / 2; half; half /= 2) {
        bool right = way & half;

        if (right) {
            c->tree[set] &= ~(1ULL << node);
        } else {
            c->tree[set] |= 1ULL << node;
        }
        node = 2 * node + right;
    }
}

static uint32_t tree_victim(const struct cache *c, uint32_t set)
{
    uint32_t node = 1, way = 0, half;

    for (half = c->ways / 2; half; half /= 2) {
        bool right = c->tree[set] >> node & 1;

        way += right ? half : 0;
        node = 2 * node + right;
    }
    return way;
}

/* The generator of the rules: xorshift64* */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * 0x2545f4914f6cdd1dULL) >> 32;
}

/* A line was used, or filled.  If none has the age 3 any more, they get older.
 */
static void qlru_touch(struct cache *c, uint32_t set, uint32_t way, bool hit)
{
    const uint64_t *line = &c->line[(uint64_t)set * c->ways];
    uint64_t *age = &c->age[(uint64_t)set * c->ways];
    uint8_t update = c->qlru[4];
    uint64_t oldest = 0;
    uint32_t i;

    if (!hit) {
        age[way] = c->qlru[2];
    } else {
        age[way] = age[way] < 2 ? 0 : c->qlru[3 - age[way]];
    }
    for (i = 0; i < c->ways; i++) {
        if (line[i] && age[i] == 3) {
            return;
        }
        if (line[i] && (update % 2 == 0 || i != way) && age[i] > oldest) {
            oldest = age[i];
        }
    }
    for (i = 0; i < c->ways; i++) {
        if (line[i] && (update % 2 == 0 || i != way)) {
            age[i] += update < 2 ? 3 - oldest : 1;
        }
    }
}

/* The first line of age 3, or with R2 the last one */
static uint32_t qlru_victim(const struct cache *c, uint32_t set)
{
    const uint64_t *age = &c->age[(uint64_t)set * c->ways];
    bool last = c->qlru[3] == 2;
    uint32_t i;

    for (i = 0; i < c->ways; i++) {
        uint32_t way = last ? c->ways - 1 - i : i;

        if (age[way] == 3) {
            return way;
        }
    }
    return last ? c->ways - 1 : 0;
}

static uint32_t cache_victim(struct cache *c, uint32_t set)
{
    const uint64_t *line = &c->line[(uint64_t)set * c->ways];
    const uint64_t *age = &c->age[(uint64_t)set * c->ways];
    uint32_t way, oldest = 0;

    for (way = 0; way < c->ways; way++) {
        if (!line[way]) {
            return way;
        }
        if (age[way] < age[oldest]) {
            oldest = way;
        }
    }
    switch (c->policy) {
    case PLANTED_PLRU:
        return tree_victim(c, set);
    case PLANTED_QLRU:
        return qlru_victim(c, set);
    case PLANTED_RANDOM:
        return next_random(&c->random) % c->ways;
    default:
        return oldest;
    }
}

bool cache_use(struct cache *c, uint64_t number)
{
    uint32_t set = (number - 1) & (c->sets - 1);
    uint8_t *hint = &c->hint[number & (c->hints - 1)];
    uint64_t *line = &c->line[(uint64_t)set * c->ways];
    uint32_t way = *hint;
    bool hit = true;

    c->last = number;
    if (line[way] != number) {
        for (way = 0; way < c->ways && line[way] != number; way++) {
            continue;
        }
        hit = way < c->ways;
        if (!hit) {
            way = cache_victim(c, set);
            line[way] = number;
        }
        *hint = way;
    }
    if (c->policy == PLANTED_QLRU) {
        qlru_touch(c, set, way, hit);
    } else if (!hit || c->policy == PLANTED_LRU) {
        c->age[(uint64_t)set * c->ways + way] = ++c->now;
    }
    if (c->policy == PLANTED_PLRU) {
        tree_touch(c, set, way);
    }
    return hit;
}
