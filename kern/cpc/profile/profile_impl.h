/*
 * Declarations that the files of kern/cpc/profile/ share.  Included by them and
 * by kern/cpc/start_stop.c.
 */
#pragma once

#include <stdint.h>

#include "include/sys/cpc.h"

struct kcpc_ctx;
struct kcpc_image;

/*
 * usage.c: the time and events of a profile's LWPs that the kernel counts; perf
 * calls them software events, and stat prints them.  The context begins to
 * count for its profile: all from 0.
 */
void kcpc_usage_begin(struct kcpc_ctx *ctx);
/* The context's LWP gets this CPU, or leaves it. */
void kcpc_usage_on(struct kcpc_ctx *ctx);
void kcpc_usage_off(struct kcpc_ctx *ctx);
/* The usage since the begin, or since the last call. */
struct cpc_profile_usage kcpc_usage_take(struct kcpc_ctx *ctx);
void kcpc_usage_add(
    struct cpc_profile_usage *sum, const struct cpc_profile_usage *is);

/*
 * program.c: the list of programs that a profile has counted, by number.
 * The number of a program or library in the list; adds it if it is new.
 * CPC_PROFILE_NO_IMAGE if there is no memory or no number left for it.
 */
unsigned kcpc_image_of(
    struct kcpc_image **list, struct cpc_profile_image is, const char *path);
/* Copy program n to user memory.  0, ENOENT past the last, or EFAULT. */
int kcpc_image_get(const struct kcpc_image *list, uintptr_t n, uintptr_t uva);
void kcpc_image_free_all(struct kcpc_image *list);
