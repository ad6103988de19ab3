/*
 * The decoder: registers and kinds of work of an instruction
 *
 * Copyright (c) 2026 the barecpc authors
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef PLANTED_FORMS_H
#define PLANTED_FORMS_H

#include "core.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct forms;

/* A decoder for "x86_64" or "aarch64"; NULL for another target. */
struct forms *forms_new(const char *target);

#define FORMS_TEXT 64

/*
 * Decode one instruction.  False if the decoder does not know it: *form is then
 * work of the class "other", without registers, *name is NULL, and the text is
 * empty.  *name is libLLVM's, and the text has the kinds of its operands.
 */
bool forms_decode(struct forms *, const uint8_t *bytes, size_t length,
                  struct planted_form *form, const char **name,
                  char text[FORMS_TEXT]);

/* The decoder's name and version */
const char *forms_version(void);

#ifdef __cplusplus
}
#endif

#endif
