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

/* False if the file is wrong: then *why is one line, which the caller frees. */
bool file_read(const char *name, struct planted_machine *m, char **why);

/* Draw a machine.  The same seed gives the same machine. */
void file_draw(uint64_t seed, struct planted_machine *m);

#endif
