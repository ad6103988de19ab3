/*
 * Machines: read from a file, or drawn from a seed
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PLANTED_FILE_H
#define PLANTED_FILE_H

#include "core.h"

#define FILE_FREQUENCIES 8
#define FILE_CACHES      4

/* Something that takes the CPU away, again and again; @every is 0 if nothing */
struct file_pause {
    uint64_t first, every; /* ns that the CPU executes */
    uint64_t length;       /* cycles, or ns */
};

/* Disturbances and lies: README.md, "Faults" */
struct file_faults {
    uint32_t late;      /* interrupts, in instructions */
    uint32_t late_seed; /* not 0: it is drawn from 0 to late */
    bool late_freeze;
    bool shared_msrs;
    uint32_t announced[FILE_CACHES]; /* l1d, l1i, l2, llc: bytes, or 0 */
    struct file_pause smi;           /* in cycles, which count */
    struct file_pause hypervisor;    /* in ns */
    unsigned frequencies;
    struct {
        uint64_t at; /* ns that the CPU executes */
        uint32_t mhz;
    } frequency[FILE_FREQUENCIES];
};

/* False if the file is wrong: then *why is one line, which the caller frees. */
bool file_read(const char *name, struct planted_machine *m,
               struct file_faults *f, char **why);

/* Draw a machine.  The same seed gives the same machine. */
void file_draw(uint64_t seed, struct planted_machine *m, struct file_faults *f);

#endif
