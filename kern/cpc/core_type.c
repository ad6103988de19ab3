/*
 * Core types: on some machines the CPUs have different PMUs (struct pcbe_type).
 *
 * A set without a core type uses what all CPUs share, and its LWP runs on all
 * of them.  A set of a core type may use everything that its CPUs have.  While
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
#include "kern/sched/cpu.h"
#include "kern/sched/klock.h"
#include "kern/sched/sched.h"
#include "kern/sched/xcall.h"
#include "lib/printf.h"

unsigned
kcpc_type_of(const struct cpu *c)
{
	for (unsigned t = 0; t < kcpc_ops->pcbe_ntypes; t++) {
		if (cpuset_has(&kcpc_ops->pcbe_types[t].py_cpus, c->c_id))
			return t + 1;
	}
	return 0;
}

const char *
kcpc_type_name(unsigned type)
{
	return type != 0 ? kcpc_ops->pcbe_types[type - 1].py_name
	                 : "of no core type";
}

static const struct cpuset *
cpus_of(unsigned type)
{
	return &kcpc_ops->pcbe_types[type - 1].py_cpus;
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
	if (l->l_bound < 0 || cpuset_has(cpus_of(type), (unsigned)l->l_bound))
		return 0;
	pcbe_refuse(rf, 0,
	    "the LWP is bound to CPU %d, which is %s: unbind it, or "
	    "bind it to a CPU that is %s",
	    l->l_bound, kcpc_type_name(kcpc_type_of(&cpus[l->l_bound])),
	    kcpc_type_name(type));
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

	while (err == 0 && !cpuset_has(cpus_of(type), arch_curcpu()->c_id)) {
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
	if (!lwp_run_only(l, cpus_of(type))) {
		pcbe_refuse(rf, 0,
		    "no CPU that is online and in the LWP's affinity is "
		    "%s: widen the affinity, or name another core type",
		    kcpc_type_name(type));
		return kcpc_refuse(rf, CPC_PBIND_FAILED);
	}
	l->l_core_type = type;
	if (l == lwp_self() && (err = move_to_type(l, type, rf)) != 0)
		kcpc_type_leave(l);
	return err;
}

void
kcpc_type_leave(struct lwp *l)
{
	l->l_core_type = 0;
	lwp_run_only(l, NULL);
}

void
kcpc_type_inherit(const struct kcpc_ctx *ctx, struct lwp *child)
{
	unsigned type = ctx->kc_pcbe.ps_type;

	/* If no CPU is left, the child's context becomes invalid. */
	if (type != 0 && lwp_run_only(child, cpus_of(type)))
		child->l_core_type = type;
}

int
kcpc_type_judge(unsigned type, const struct cpu *c, struct cpc_refusal *rf)
{
	int err;

	if (type == 0 || type == kcpc_type_of(c))
		return 0;
	if ((err = check_type(type, rf)) != 0)
		return err;
	pcbe_refuse(rf, 0,
	    "CPU %u is %s, and the set counts on %s: bind it to a CPU "
	    "of that type",
	    c->c_id, kcpc_type_name(kcpc_type_of(c)), kcpc_type_name(type));
	return kcpc_refuse(rf, CPC_PBIND_FAILED);
}

/*
 * The proof at boot
 */

struct prove_call {
	const struct pcbe_ops *pz_ops;
	unsigned pz_type;
	uint32_t pz_todo, pz_proved;
};

static void
prove_here(void *arg)
{
	struct prove_call *pl = arg;
	const char *why;

	for (uint32_t left = pl->pz_todo; left != 0; left &= left - 1) {
		unsigned pic = (unsigned)__builtin_ctz(left);

		if ((why = kcpc_prove(pl->pz_ops, pic, pl->pz_type)) == NULL)
			pl->pz_proved |= 1U << pic;
		else
			printf("pcbe: PIC %u of CPU %u is not used: %s\n", pic,
			    arch_curcpu()->c_id, why);
	}
}

/*
 * A PIC that all types have is used by sets without a type only if each type
 * has proved it.
 */
void
kcpc_types_init(const struct pcbe_ops *ops)
{
	kernel_lock(); /* for xcall() */
	for (unsigned t = 0; t < ops->pcbe_ntypes; t++) {
		const struct pcbe_type *py = &ops->pcbe_types[t];
		struct cpu *c =
		    &cpus[cpuset_next(&py->py_cpus, &py->py_cpus, 0)];
		struct prove_call pl = { ops, t + 1, py->py_pics, 0 };

		if (c == arch_curcpu())
			prove_here(&pl);
		else
			xcall(c, prove_here, &pl);
		kcpc_offer[t + 1] = (struct kcpc_offer){
			.ko_pics = pl.pz_proved,
			.ko_npic = 32 - (unsigned)__builtin_clz(py->py_pics),
			.ko_attrs = py->py_attrs,
		};
		kcpc_offer[0].ko_pics &= pl.pz_proved | ~py->py_pics;
		printf("pcbe: core type %s: %d of %d PICs proved, from CPU %u "
		       "on\n",
		    py->py_name, __builtin_popcount(pl.pz_proved),
		    __builtin_popcount(py->py_pics), c->c_id);
	}
	kernel_unlock();
}
