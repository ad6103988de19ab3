/*
 * Counter pages: an LWP reads its page to sample its set without a system call.
 *
 * A page belongs to no region, so the program can neither unmap it nor write
 * it.  It lies above all regions and goes with its LWP.  include/sys/cpc.h has
 * its layout and the order of reads.
 */
#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/mm/page.h"
#include "kern/mm/usercopy.h"
#include "kern/platform/errno.h"
#include "kern/proc/lwp.h"
#include "kern/proc/proc.h"
#include "kern/sched/timer.h"

#define PAGES ((USER_TOP - REGION_TOP) / PAGE_SIZE)

_Static_assert(
    sizeof(struct cpc_page) + CPC_PAGE_REQS * sizeof(struct cpc_page_req) <=
	PAGE_SIZE,
    "a counter page with all requests is one page");
_Static_assert(
    CPC_PAGE_REQS >= PCBE_MAXPIC, "a counter page has an entry for every PIC");
_Static_assert(
    PAGES <= PROC_CPC_WORDS * 64, "p_cpc_pages has a bit for every address");

/* Move the counts of a context that began without a page into the page. */
static void
page_adopt(struct lwp *l)
{
	struct kcpc_ctx *ctx = l->l_cpc;

	if (ctx == NULL || (ctx->kc_flags & KCPC_CTX_UNAVAILABLE) != 0)
		return;
	kcpc_stop(ctx);
	kcpc_page_move(ctx, l->l_cpc_page->kg_page);
	if (kcpc_running(ctx))
		kcpc_start(ctx);
}

/* A free address for a page, or 0.  A process has 1,023 of them. */
static uintptr_t
page_address(const struct proc *p)
{
	for (unsigned i = 0; i < PROC_CPC_WORDS; i++) {
		uint64_t free = ~p->p_cpc_pages[i];
		unsigned place;

		if (free == 0)
			continue;
		place = i * 64 + (unsigned)__builtin_ctzll(free);
		return place < PAGES ? REGION_TOP + place * PAGE_SIZE : 0;
	}
	return 0;
}

/* Mark the address as used, or as free again. */
static void
page_bit_flip(struct proc *p, uintptr_t uva)
{
	size_t place = (uva - REGION_TOP) / PAGE_SIZE;

	p->p_cpc_pages[place / 64] ^= 1ULL << place % 64;
}

static int
page_map(struct lwp *l, struct kcpc_page *kg)
{
	struct as *as = l->l_proc->p_as;

	if ((kg->kg_page = page_zalloc(0)) == NULL)
		return ENOMEM;
	int err = arch_map(as, kg->kg_uva, va_to_pa(kg->kg_page), PAGE_SIZE,
	    as->as_system ? PROT_READ : PROT_READ | PROT_USER);
	if (err != 0)
		page_free(kg->kg_page, 0);
	return err;
}

static int
page_make(struct lwp *l, uintptr_t uva)
{
	struct kcpc_page *kg;
	int err;

	if (uva == 0 || (kg = kmalloc(sizeof *kg)) == NULL)
		return ENOMEM;
	kg->kg_uva = uva;
	if ((err = page_map(l, kg)) != 0) {
		kfree(kg);
		return err;
	}
	kg->kg_page->cg_mult = tick_scale.ts_mult;
	kg->kg_page->cg_lift = tick_scale.ts_lift;
	page_bit_flip(l->l_proc, uva);
	l->l_cpc_page = kg;
	page_adopt(l);
	return 0;
}

void
kcpc_page_free(struct lwp *l)
{
	struct kcpc_page *kg = l->l_cpc_page;

	if (kg == NULL)
		return;
	l->l_cpc_page = NULL;
	page_bit_flip(l->l_proc, kg->kg_uva);
	arch_unmap(l->l_proc->p_as, kg->kg_uva, PAGE_SIZE);
	page_free(kg->kg_page, 0);
	kfree(kg);
}

/*
 * Give the child a page at the address of its parent's.  In vfork(2) both have
 * the same memory: until the child is gone, the page shows no set.
 */
static int
page_copy(const struct lwp *parent, struct lwp *child)
{
	const struct kcpc_page *kg = parent->l_cpc_page;
	struct kcpc_ctx *ctx = parent->l_cpc;
	int err;

	if (child->l_proc->p_vforked && ctx != NULL) {
		ctx->kc_page_set = 0;
		kcpc_page_shut(ctx);
	}
	if (kg == NULL || child->l_proc->p_vforked)
		return 0;
	if ((err = page_make(child, kg->kg_uva)) != 0)
		return err;
	child->l_cpc_page->kg_read = kg->kg_read;
	child->l_cpc_page->kg_read_end = kg->kg_read_end;
	child->l_cpc_page->kg_fail = kg->kg_fail;
	return 0;
}

int
kcpc_fork(const struct lwp *parent, struct lwp *child)
{
	int err;

	if ((err = page_copy(parent, child)) != 0)
		return err;
	if ((err = kcpc_profile_fork(parent, child)) != 0)
		kcpc_page_free(child);
	return err;
}

void
kcpc_vforked(const struct lwp *parent)
{
	struct kcpc_ctx *ctx = parent->l_cpc;

	if (ctx == NULL || (ctx->kc_flags & KCPC_CTX_UNAVAILABLE) != 0 ||
	    kcpc_is_pctx(ctx))
		return;
	bool running = kcpc_running(ctx);
	ctx->kc_page_set = CPC_PAGE_SET(ctx->kc_set, ctx->kc_nreqs);
	kcpc_page_show(ctx->kc_pcbe.ps_page, running ? ctx->kc_page_set : 0,
	    running ? 0 : ctx->kc_page_set);
}

intptr_t
kcpc_op_page(const uintptr_t *a)
{
	struct lwp *l = lwp_self();
	int err;

	if (kcpc_ops->pcbe_no_user_read)
		return -ENOTSUP;
	/* A fault continues at kg_fail, which must be in user space. */
	for (unsigned i = 0; i < 3; i++) {
		if (a[i] >= USER_TOP)
			return -usercopy_fault(a[i]);
	}
	/* The parent would find the address after vfork(2), but no page. */
	if (l->l_proc->p_vforked)
		return -ENOMEM;
	if (l->l_cpc_page == NULL &&
	    (err = page_make(l, page_address(l->l_proc))) != 0)
		return -err;
	l->l_cpc_page->kg_read = a[0];
	l->l_cpc_page->kg_read_end = a[1];
	l->l_cpc_page->kg_fail = a[2];
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
