/*
 * The time and events of a profile's LWPs that the kernel counts; perf calls
 * them software events, and stat prints them.  Included by
 * kern/cpc/profile/profile.c and kern/cpc/start_stop.c.
 */
#ifndef KERN_CPC_PROFILE_USAGE_H
#define KERN_CPC_PROFILE_USAGE_H

#include "include/sys/cpc.h"

struct kcpc_ctx;

/* The context begins to count for its profile: all from 0. */
void kcpc_usage_begin(struct kcpc_ctx *ctx);
/* The context's LWP gets this CPU, or leaves it. */
void kcpc_usage_on(struct kcpc_ctx *ctx);
void kcpc_usage_off(struct kcpc_ctx *ctx);
/* The usage since the begin, or since the last call. */
struct cpc_profile_usage kcpc_usage_take(struct kcpc_ctx *ctx);
void kcpc_usage_add(
    struct cpc_profile_usage *sum, const struct cpc_profile_usage *is);

#endif /* KERN_CPC_PROFILE_USAGE_H */
