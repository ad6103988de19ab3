/*
 * The time on a CPU, the switches and the page faults of the LWPs of a profile.
 */
#include "kern/cpc/profile/profile_impl.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/proc/lwp.h"
#include "kern/sched/timer.h"

void
kcpc_usage_begin(struct kcpc_ctx *ctx)
{
	ctx->kc_usage = (struct kcpc_usage){
		.us_faults_before = ctx->kc_lwp->l_faults,
	};
}

void
kcpc_usage_on(struct kcpc_ctx *ctx)
{
	struct kcpc_usage *us = &ctx->kc_usage;
	const struct cpu *c = arch_curcpu();

	us->us_since = gethrtime();
	us->us_on = true;
	us->us_is.cu_migrations += us->us_cpu != NULL && us->us_cpu != c;
	us->us_cpu = c;
}

/* Add the time since us_since, of an LWP that is on its CPU. */
static void
add_time(struct kcpc_usage *us)
{
	hrtime_t now = gethrtime();

	us->us_is.cu_task_ns += (uint64_t)(now - us->us_since);
	us->us_since = now;
}

void
kcpc_usage_off(struct kcpc_ctx *ctx)
{
	struct kcpc_usage *us = &ctx->kc_usage;

	if (!us->us_on)
		return;
	add_time(us);
	us->us_on = false;
	us->us_is.cu_switches++;
}

struct cpc_profile_usage
kcpc_usage_take(struct kcpc_ctx *ctx)
{
	struct kcpc_usage *us = &ctx->kc_usage;

	if (us->us_on)
		add_time(us);
	us->us_is.cu_faults = ctx->kc_lwp->l_faults - us->us_faults_before;
	us->us_faults_before = ctx->kc_lwp->l_faults;
	struct cpc_profile_usage is = us->us_is;
	us->us_is = (struct cpc_profile_usage){ 0 };
	return is;
}

void
kcpc_usage_add(
    struct cpc_profile_usage *sum, const struct cpc_profile_usage *is)
{
	sum->cu_task_ns += is->cu_task_ns;
	sum->cu_switches += is->cu_switches;
	sum->cu_migrations += is->cu_migrations;
	sum->cu_faults += is->cu_faults;
}
