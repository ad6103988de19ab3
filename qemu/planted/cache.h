/*
 * Planted caches, and TLBs with lines of one page
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PLANTED_CACHE_H
#define PLANTED_CACHE_H

#include "core.h"

#include <stddef.h>

struct cache {
    uint32_t sets, ways, shift;
    enum planted_policy policy;
    const uint8_t *qlru; /* its parameters */
    uint64_t *line;      /* [sets * ways]: its number + 1, 0 if empty */
    uint64_t
        *age; /* [sets * ways]: when used (LRU) or filled (FIFO), or QLRU's */
    uint64_t *tree; /* [sets]: the bits of tree-PLRU */
    uint8_t *hint;  /* by the line: the way that is tried first */
    uint32_t hints; /* a power of two */
    uint64_t last;  /* the line that was used last + 1 */
    uint64_t now;
    uint64_t random;
};

/* The lines of a TLB are pages.  A cache has 0 for page. */
void cache_init(struct cache *, const struct planted_geometry *, uint32_t page,
                uint64_t seed);
void cache_free(struct cache *);

/* A line that is not the one that was used last, or of QLRU */
bool cache_use(struct cache *, uint64_t line);

/* The line is there (true), or takes the place of another one. */
static inline bool cache_access(struct cache *c, uint64_t address)
{
    uint64_t line = (address >> c->shift) + 1;

    /* Only QLRU tells a second use from the first. */
    return (line == c->last && c->policy != PLANTED_QLRU) || cache_use(c, line);
}

static inline bool is_power(uint64_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/* It does not fail. */
void *get_zeroed(size_t n, size_t size);

#endif
