/*
 * Counters of a CPU that a descriptor of /dev/cpc_shared has taken.  Source:
 * cpc_shared_open(3CPC).
 *
 * open(2) takes the CPU to which the LWP is bound, and the interlock of
 * kern/cpc/cpu_set.c begins.  Until an event is bound, the CPU has an empty
 * context, which never runs.  The last close gives the CPU back.
 *
 * The descriptor, not an LWP, owns the context: any LWP that is bound to the
 * CPU may use it, and no processor binding is changed.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/file/file.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"

struct kcpc_shared {
	struct kcpc_ctx kx_empty;
	struct kcpc_ctx *kx_ctx; /* of the bound event, or kx_empty */
};

int
kcpc_shared_open(struct kcpc_shared **kxp)
{
	struct lwp *l = lwp_self();
	struct kcpc_shared *kx;
	struct cpc_refusal rf;
	int err;

	if (kcpc_ops == NULL)
		return ENXIO;
	if (l->l_bound < 0)
		return EINVAL;
	if ((err = kcpc_cpu_judge(l, (uintptr_t)l->l_bound, &rf)) != 0)
		return err;
	if ((kx = kmalloc(sizeof *kx)) == NULL)
		return ENOMEM;
	kx->kx_empty = (struct kcpc_ctx){ .kc_flags = KCPC_CTX_FREEZE };
	kx->kx_ctx = &kx->kx_empty;
	kcpc_cpu_take(&cpus[l->l_bound], kx->kx_ctx);
	*kxp = kx;
	return 0;
}

/* Make ctx the context of the CPU, and end that of the event bound so far. */
static void
context_replace(struct kcpc_shared *kx, struct kcpc_ctx *ctx)
{
	struct kcpc_ctx *old = kx->kx_ctx;

	kcpc_halt(old);
	kx->kx_ctx = ctx;
	ctx->kc_cpu = old->kc_cpu;
	ctx->kc_cpu->c_cpc = ctx;
	if (old != &kx->kx_empty) {
		kcpc_instance_remove(old);
		kcpc_ctx_destroy(old);
	}
}

void
kcpc_shared_close(struct kcpc_shared *kx)
{
	context_replace(kx, &kx->kx_empty);
	kcpc_cpu_give(kx->kx_empty.kc_cpu);
	kfree(kx);
}

int
kcpc_shared_find(const struct lwp *l, uintptr_t fd, struct kcpc_shared **kxp)
{
	struct file *f = fd < NFD ? file_get((int)fd) : NULL;
	const struct cpu *c;

	if (f == NULL || f->f_kind != FILE_CPC_SHARED)
		return EBADF;
	*kxp = f->f_shared;
	c = f->f_shared->kx_empty.kc_cpu;
	return l->l_bound == (int)c->c_id && arch_curcpu() == c ? 0 : EAGAIN;
}

int
kcpc_shared_bind(
    struct kcpc_shared *kx, const struct cpc_pack *pack, struct cpc_refusal *rf)
{
	struct kcpc_ctx *ctx;
	int err;

	if ((err = kcpc_type_judge(pack->cp_type, kx->kx_empty.kc_cpu, rf)) !=
		0 ||
	    (err = kcpc_ctx_create(pack, true, NULL, &ctx, rf)) != 0)
		return err;
	ctx->kc_notify = 0; /* an overflow does not freeze it */
	ctx->kc_pcbe.ps_user_read = false;
	context_replace(kx, ctx);
	kcpc_instance_add(ctx);
	kcpc_start(ctx);
	return 0;
}

const struct kcpc_ctx *
kcpc_shared_ctx(const struct kcpc_shared *kx)
{
	return kx->kx_ctx;
}

int
kcpc_shared_sample(struct kcpc_shared *kx, size_t n, struct cpc_sample *s)
{
	if (kx->kx_ctx == &kx->kx_empty)
		return EINVAL;
	return kcpc_ctx_sample(kx->kx_ctx, n, s);
}

void
kcpc_shared_rele(struct kcpc_shared *kx)
{
	context_replace(kx, &kx->kx_empty);
}
