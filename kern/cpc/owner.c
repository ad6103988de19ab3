/*
 * The rules that say what a CPU's PICs count for: LWPs or the CPU itself, and
 * which sets.
 *
 * While any CPU is claimed, no LWP has counters.  The first claim makes all
 * contexts of LWPs invalid.  No set can be bound to an LWP again until the last
 * claim is gone.  So a CPU's PICs have one owner.  A switch of LWPs acts on
 * valid contexts of LWPs only.
 *
 * On some machines the CPUs have different PMUs (struct pcbe_type).  A set
 * without a core type uses what all CPUs share, and its LWP runs on all of
 * them.  A set of a core type may use everything that its CPUs have.  While
 * an LWP has such a set, its affinity is restricted to them.
 *
 * A program can still bring its LWP to another CPU: by processor_bind(2), or
 * when all CPUs of the type go offline.  The context then becomes invalid, as
 * kern/cpc/start_stop.c says, and nothing is programmed there.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/cpu.h"
#include "kern/sched/sched.h"

unsigned kcpc_ncpuset;

/* Does c share its PMU with a CPU that is online?  `counting`: and claimed? */
static bool
has_sibling(const struct cpu *c, bool counting)
{
	const struct cpuset *with, *online = sched_cpus();

	if (kcpc_ops->siblings == NULL)
		return false;
	with = kcpc_ops->siblings(c->c_id);
	for (unsigned i = cpuset_next(with, online, 0); i < MAXCPU;
	     i = cpuset_next(with, online, i + 1)) {
		if (i != c->c_id && (!counting || cpus[i].c_claimed))
			return true;
	}
	return false;
}

int
kcpc_lwp_check(void)
{
	const struct cpuset *online = sched_cpus();

	if (kcpc_ncpuset != 0)
		return EAGAIN;
	if (kcpc_ops->siblings == NULL)
		return 0;
	for (unsigned i = cpuset_next(online, online, 0); i < MAXCPU;
	     i = cpuset_next(online, online, i + 1)) {
		if (has_sibling(&cpus[i], false))
			return EACCES;
	}
	return 0;
}

void
kcpc_cpu_online(struct cpu *c)
{
	if (kcpc_ops != NULL && has_sibling(c, false))
		kcpc_each_instance(kcpc_invalidate);
}

int
kcpc_cpu_free(const struct cpu *c)
{
	if (c->c_claimed)
		return EAGAIN;
	return has_sibling(c, true) ? EACCES : 0;
}

int
kcpc_cpu_check(const struct lwp *l, uintptr_t cpu, struct cpc_refusal *rf)
{
	if (cpu >= ncpu)
		return kcpc_refuse(rf, CPC_PBIND_FAILED);
	if (!cpuset_has(sched_cpus(), (unsigned)cpu)) {
		kcpc_refuse(rf, CPC_PBIND_FAILED);
		return ENOSYS;
	}
	return l->l_proc->p_cpc_cpu ? kcpc_cpu_free(&cpus[cpu]) : EACCES;
}

void
kcpc_cpu_claim(struct cpu *c)
{
	if (kcpc_ncpuset++ == 0)
		kcpc_each_instance(kcpc_invalidate);
	c->c_claimed = true;
}

void
kcpc_cpu_release(struct cpu *c)
{
	c->c_claimed = false;
	kcpc_ncpuset--;
}

/* Core types */

static unsigned
type_of(const struct cpu *c)
{
	unsigned t = kcpc_ops->pcbe_ntypes;

	while (t != 0 && !cpuset_has(&kcpc_types[t].kt_cpus, c->c_id))
		t--;
	return t;
}

static int
check_type(unsigned type, struct cpc_refusal *rf)
{
	if (type <= kcpc_ops->pcbe_ntypes)
		return 0;
	pcbe_refuse(rf, 0, "there is no core type %u: the machine has %u",
	    type - 1, kcpc_ops->pcbe_ntypes);
	return kcpc_refuse(rf, CPC_PBIND_FAILED);
}

/* Can the LWP not run on a CPU of this type?  Says why. */
static int
check_place(const struct lwp *l, unsigned type, struct cpc_refusal *rf)
{
	if (l->l_bound < 0 ||
	    cpuset_has(&kcpc_types[type].kt_cpus, (unsigned)l->l_bound))
		return 0;
	pcbe_refuse(rf, 0,
	    "the LWP is bound to CPU %d, which is %s: unbind it, or "
	    "bind it to a CPU that is %s",
	    l->l_bound, kcpc_types[type_of(&cpus[l->l_bound])].kt_name,
	    kcpc_types[type].kt_name);
	return kcpc_refuse(rf, CPC_PBIND_FAILED);
}

/*
 * The current LWP yields until it runs on a CPU of its type.  Others run in
 * between: they may bind it elsewhere.
 */
static int
move_to_type(struct lwp *l, unsigned type, struct cpc_refusal *rf)
{
	int err = 0;

	while (err == 0 &&
	       !cpuset_has(&kcpc_types[type].kt_cpus, arch_curcpu()->c_id)) {
		if (!cpuset_meets(&l->l_affinity, sched_cpus()))
			return kcpc_refuse(rf, CPC_PBIND_FAILED);
		if ((err = check_place(l, type, rf)) == 0)
			sched_yield();
	}
	return err;
}

int
kcpc_type_enter(struct lwp *l, unsigned type, struct cpc_refusal *rf)
{
	int err;

	if ((err = check_type(type, rf)) != 0 ||
	    (err = check_place(l, type, rf)) != 0)
		return err;
	if (!lwp_run_only(l, &kcpc_types[type].kt_cpus)) {
		pcbe_refuse(rf, 0,
		    "no CPU that is online and in the LWP's affinity is "
		    "%s: widen the affinity, or name another core type",
		    kcpc_types[type].kt_name);
		return kcpc_refuse(rf, CPC_PBIND_FAILED);
	}
	if (l == lwp_self() && (err = move_to_type(l, type, rf)) != 0)
		lwp_run_only(l, NULL);
	return err;
}

void
kcpc_type_inherit(const struct kcpc_ctx *ctx, struct lwp *child)
{
	unsigned type = ctx->kc_pcbe.ps_type;

	/* If no CPU is left, the child's context becomes invalid. */
	if (type != 0)
		lwp_run_only(child, &kcpc_types[type].kt_cpus);
}

int
kcpc_type_check(unsigned type, const struct cpu *c, struct cpc_refusal *rf)
{
	int err;

	if ((err = check_type(type, rf)) != 0 ||
	    cpuset_has(&kcpc_types[type].kt_cpus, c->c_id))
		return err;
	pcbe_refuse(rf, 0,
	    "CPU %u is %s, and the set counts on %s: bind it to a CPU "
	    "of that type",
	    c->c_id, kcpc_types[type_of(c)].kt_name, kcpc_types[type].kt_name);
	return kcpc_refuse(rf, CPC_PBIND_FAILED);
}
