/*
 * The C library's <features.h>, asked to show all it has: illumos's headers
 * do, and programs written for it name gregs[] and REG_PC without asking.
 * Included by the C library's headers, before anything else.
 */
#ifndef BARECPC_FEATURES_H
#define BARECPC_FEATURES_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include_next <features.h>

#endif /* BARECPC_FEATURES_H */
