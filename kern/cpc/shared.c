/*
 * Counters of a CPU that a descriptor of /dev/cpc_shared has taken.  Source:
 * cpc_shared_open(3CPC).
 *
 * open(2) takes the CPU to which the LWP is bound, and the interlock of
 * kern/cpc/cpu_set.c begins.  The last close gives the CPU back.
 *
 * The descriptor, not an LWP, owns the context: any LWP that is bound to the
 * CPU may use it, and no processor binding is changed.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/file/file.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"

int
kcpc_shared_open(struct cpu **cp)
{
	struct lwp *l = lwp_self();
	struct cpc_refusal rf;
	int err;

	if (kcpc_ops == NULL)
		return ENXIO;
	if (l->l_bound < 0)
		return EINVAL;
	if ((err = kcpc_cpu_judge(l, (uintptr_t)l->l_bound, &rf)) != 0)
		return err;
	*cp = &cpus[l->l_bound];
	kcpc_cpu_claim(*cp);
	return 0;
}

void
kcpc_shared_close(struct cpu *c)
{
	kcpc_cpu_detach(c);
	kcpc_cpu_release(c);
}

int
kcpc_shared_find(const struct lwp *l, uintptr_t fd, struct cpu **cp)
{
	struct file *f = fd < NFD ? file_get((int)fd) : NULL;
	struct cpu *c;

	if (f == NULL || f->f_kind != FILE_CPC_SHARED)
		return EBADF;
	*cp = c = f->f_shared;
	return l->l_bound == (int)c->c_id && arch_curcpu() == c ? 0 : EAGAIN;
}

int
kcpc_shared_bind(
    struct cpu *c, const struct cpc_pack *pack, struct cpc_refusal *rf)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_type_judge(pack->cp_type, c, rf)) != 0 ||
	    (err = kcpc_ctx_create(pack, true, NULL, &ctx, rf)) != 0)
		return err;
	kcpc_cpu_detach(c);
	kcpc_cpu_attach(c, ctx);
	return 0;
}
