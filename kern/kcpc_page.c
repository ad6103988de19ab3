/*
 * Counter pages: by them an LWP samples its set without a system call.
 *
 * A page belongs to no region, so that the program can neither unmap it nor
 * write it; it lies below all regions and goes when its LWP does.
 */
#include "kern/arch.h"
#include "kern/errno.h"
#include "kern/kcpc.h"
#include "kern/kcpc_impl.h"
#include "kern/lwp.h"
#include "kern/page.h"
#include "kern/proc.h"
#include "kern/timer.h"
#include "lib/printf.h"

#define PAGES_BASE 0x10000UL /* below: nothing, so that NULL faults */
#define PAGES      ((USER_BASE - PAGES_BASE) / PAGE_SIZE)
#define TRIES      8U

struct kcpc_page {
	struct cpc_page *kg_page;
	uintptr_t kg_uva;
	uintptr_t kg_read, kg_read_end; /* the read sequence */
	uintptr_t kg_fail;              /* and its other exit */
};

_Static_assert(sizeof(struct cpc_page) <= PAGE_SIZE, "it is one page");
_Static_assert(CPC_PAGE_REQS >= PCBE_MAXPIC, "every PIC has a place");

/* PICs that start from something else than the count. */
static __attribute__((noinline)) void
page_bias(struct cpc_page *cg, const struct kcpc_ctx *ctx)
{
	for (unsigned i = 0; i < ctx->kc_nreqs; i++)
		cg->cg_req[i].cq_last =
		    kcpc_ops->start_value(&ctx->kc_reqs[i].kr_cfg);
}

void
kcpc_page_open(struct kcpc_ctx *ctx)
{
	const struct kcpc_page *kg = ctx->kc_lwp->l_cpc_page;
	struct cpc_page *cg;

	if (kg == NULL)
		return;
	cg = kg->kg_page;
	cg->cg_seq++;
	cg->cg_set = ctx->kc_set;
	cg->cg_nreqs = ctx->kc_nreqs;
	cg->cg_tick = ctx->kc_vtick - ctx->kc_rawtick;
	for (unsigned i = 0; i < ctx->kc_nreqs; i++) {
		const struct kcpc_request *r = &ctx->kc_reqs[i];
		unsigned pic = (unsigned)r->kr_picnum;

		/* What program() loads is the count, cut to the width. */
		cg->cg_req[i].cq_data = r->kr_data;
		cg->cg_req[i].cq_last = r->kr_data;
		cg->cg_req[i].cq_index = kcpc_ops->read_index(pic);
		cg->cg_req[i].cq_shift = 64 - kcpc_ops->width(pic);
	}
	if (ctx->kc_pcbe.ps_biased)
		page_bias(cg, ctx);
}

void
kcpc_page_shut(struct kcpc_ctx *ctx)
{
	const struct kcpc_page *kg = ctx->kc_lwp->l_cpc_page;

	if (kg == NULL)
		return;
	kg->kg_page->cg_seq++;
	kg->kg_page->cg_set = 0;
}

/* A free address for the page, or 0. */
static uintptr_t
page_address(const struct lwp *l)
{
	struct as *as = &l->l_proc->p_as;

	for (unsigned i = 0; i < TRIES; i++) {
		uintptr_t slot = ((uintptr_t)l->l_id + i) % PAGES;
		uintptr_t uva = PAGES_BASE + slot * PAGE_SIZE;

		if (arch_translate(as, uva) == ~0ULL)
			return uva;
	}
	return 0;
}

static int
page_map(struct lwp *l, struct kcpc_page *kg)
{
	struct as *as = &l->l_proc->p_as;
	int err;

	if ((kg->kg_uva = page_address(l)) == 0)
		return ENOMEM;
	if ((kg->kg_page = page_zalloc(0)) == NULL)
		return ENOMEM;
	err = arch_map(as, kg->kg_uva, va_to_pa(kg->kg_page), PAGE_SIZE,
	    as->as_system ? PROT_READ : PROT_READ | PROT_USER);
	if (err != 0)
		page_free(kg->kg_page, 0);
	return err;
}

static int
page_make(struct lwp *l)
{
	struct kcpc_page *kg = kmalloc(sizeof *kg);
	int err;

	if (kg == NULL)
		return ENOMEM;
	if ((err = page_map(l, kg)) != 0) {
		kfree(kg);
		return err;
	}
	kg->kg_page->cg_mult = tick_scale.ts_mult;
	kg->kg_page->cg_lift = tick_scale.ts_lift;
	l->l_cpc_page = kg;
	return 0;
}

void
kcpc_page_free(struct lwp *l)
{
	struct kcpc_page *kg = l->l_cpc_page;

	if (kg == NULL)
		return;
	l->l_cpc_page = NULL;
	arch_unmap(&l->l_proc->p_as, kg->kg_uva, PAGE_SIZE);
	page_free(kg->kg_page, 0);
	kfree(kg);
}

intptr_t
kcpc_page_get(struct lwp *l, const uintptr_t *a)
{
	int err;

	if (kcpc_ops->advance != NULL)
		return -ENOTSUP; /* software has no PICs to read */
	if (l->l_cpc_page == NULL && (err = page_make(l)) != 0)
		return -err;
	l->l_cpc_page->kg_read = a[0];
	l->l_cpc_page->kg_read_end = a[1];
	l->l_cpc_page->kg_fail = a[2];
	kcpc_page_fill(l);
	return (intptr_t)l->l_cpc_page->kg_uva;
}

void
kcpc_page_interrupted(struct lwp *l)
{
	if (l->l_cpc_page != NULL)
		l->l_cpc_page->kg_page->cg_seq++;
}

bool
kcpc_read_fault(struct trapframe *tf)
{
	const struct kcpc_page *kg = lwp_self()->l_cpc_page;

	if (kg == NULL || tf_pc(tf) < kg->kg_read ||
	    tf_pc(tf) >= kg->kg_read_end)
		return false;
	tf_set_pc(tf, kg->kg_fail);
	return true;
}
