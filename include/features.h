/*
 * The C library's <features.h>, with all extensions visible.  Programs written
 * for illumos use gregs[] and REG_PC without a feature macro.  Included by the
 * C library's headers, before anything else.
 */
#ifndef BARECPC_FEATURES_H
#define BARECPC_FEATURES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include_next <features.h>

#endif /* BARECPC_FEATURES_H */
