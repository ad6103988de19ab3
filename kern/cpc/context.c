/*
 * Makes a context of packed requests: checks them, assigns PICs, and has the
 * backend configure each request.  Has the list of all contexts.
 */
#include "kern/cpc/kcpc.h"

#include "kern/cpc/kcpc_impl.h"
#include "kern/mm/page.h"
#include "kern/platform/errno.h"
#include "lib/string.h"

/* The checks that need no event; *all becomes the union of the flags. */
static int
check_requests(const struct cpc_pack *pack, unsigned npic, uint32_t *all,
    struct cpc_refusal *rf)
{
	uint64_t pinned = 0;
	uint32_t flags = 0;
	bool known = true, twice = false;
	int pic;

	for (unsigned i = 0; i < pack->cp_nreqs; i++) {
		flags |= pack->cp_req[i].cr_flags;
		pic = pack->cp_req[i].cr_picnum;
		if (pic == -1)
			continue;
		if (pic < 0 || pic >= (int)npic) {
			known = false;
			continue;
		}
		twice |= (pinned & 1ULL << pic) != 0;
		pinned |= 1ULL << pic;
	}
	*all = flags;
	/* The order decides which error a set with several reports. */
	if ((flags & ~CPC_REQ_ALL_FLAGS) != 0)
		return kcpc_refuse(rf, CPC_REQ_INVALID_FLAGS);
	if (pack->cp_nreqs > npic)
		return EINVAL;
	if (!known)
		return kcpc_refuse(rf, CPC_INVALID_PICNUM);
	return twice ? EINVAL : 0;
}

/* Request i counts on this PIC from now on. */
static void
request_place(struct kcpc_ctx *ctx, unsigned i, unsigned pic)
{
	struct cpc_page_req *cq = &ctx->kc_pcbe.ps_page->cg_req[i];

	cq->cq_index = kcpc_pic[pic].kpc_index;
	cq->cq_mask = kcpc_pic[pic].kpc_mask;
	if (kcpc_pic[pic].kpc_no_ovf_intr)
		ctx->kc_flags |= KCPC_CTX_NO_OVF_INTR;
	ctx->kc_pcbe.ps_cfg[i] = (struct pcbe_cfg){ .pc_pic = (uint8_t)pic };
	ctx->kc_pcbe.ps_pics |= 1U << pic;
}

/* Check what the backend does not; 0 or a subcode. */
static int
check_attrs(const struct cpc_packreq *pr, const struct cpc_packattr *attrs,
    const struct kcpc_type *kt)
{
	for (unsigned i = 0; i < pr->cr_nattrs; i++) {
		unsigned id = attrs[i].cpa_id;

		if (id >= CPC_ATTR_IDS || (kt->kt_attrs >> id & 1) == 0)
			return CPC_INVALID_ATTRIBUTE;
		if ((pr->cr_event.ce_flags & CPC_EVENT_GENERIC) != 0)
			return CPC_ATTRIBUTE_OUT_OF_RANGE;
	}
	return 0;
}

/* Bit n: request i can be on PIC n.  If no PIC takes its attributes, on any. */
static uint64_t
request_coverage(
    const struct cpc_pack *pack, unsigned i, const struct kcpc_type *kt)
{
	const struct cpc_packreq *pr = &pack->cp_req[i];
	const struct cpc_packattr *attrs = CPC_PACK_ATTRS(pack) + pr->cr_attr;
	uint64_t pics = pr->cr_event.ce_pics & kt->kt_pics, some = 0;

	if (pr->cr_picnum != -1)
		pics &= 1ULL << pr->cr_picnum;
	if (pr->cr_nattrs != 0 && kcpc_ops->attr_pics != NULL &&
	    check_attrs(pr, attrs, kt) == 0)
		some = kcpc_ops->attr_pics(pics, pr->cr_nattrs, attrs);
	return some != 0 ? some : pics;
}

static int
assign_pics(struct kcpc_ctx *ctx, const struct cpc_pack *pack,
    const struct kcpc_type *kt, struct cpc_refusal *rf)
{
	uint64_t can[PCBE_MAXPIC];
	struct kcpc_short too_few;
	int pic[PCBE_MAXPIC];

	for (unsigned i = 0; i < ctx->kc_nreqs; i++)
		can[i] = request_coverage(pack, i, kt);
	if (!kcpc_assign(ctx->kc_nreqs, can, pic, &too_few))
		return kcpc_refuse_short(rf, &too_few);
	for (unsigned i = 0; i < ctx->kc_nreqs; i++)
		request_place(ctx, i, (unsigned)pic[i]);
	ctx->kc_pcbe.ps_spare = (uint32_t)kt->kt_pics & ~ctx->kc_pcbe.ps_pics;
	return 0;
}

static int
configure_one(struct kcpc_ctx *ctx, const struct cpc_packreq *pr,
    const struct cpc_packattr *attrs, const struct kcpc_type *kt,
    struct cpc_refusal *rf)
{
	struct kcpc_request *r = &ctx->kc_reqs[ctx->kc_pcbe.ps_n];
	struct pcbe_cfg *cfg = &ctx->kc_pcbe.ps_cfg[ctx->kc_pcbe.ps_n];
	int subcode;

	if ((subcode = check_attrs(pr, attrs, kt)) != 0)
		return subcode;
	cfg->pc_flags = (uint16_t)kcpc_request_flags(pr);
	if ((cfg->pc_flags & CPC_COUNT_HV) != 0 && !ctx->kc_pcbe.ps_privileged)
		return CPC_HV_NO_ACCESS;
	cfg->pc_notify = (pr->cr_flags & CPC_OVF_NOTIFY_EMT) != 0;
	subcode = kcpc_ops->configure(
	    cfg, &pr->cr_event, pr->cr_nattrs, attrs, &ctx->kc_pcbe, rf);
	if (subcode != 0)
		return subcode;
	r->kr_code = pr->cr_event.ce_code;
	r->kr_preset = pr->cr_preset;
	*kcpc_count(ctx, ctx->kc_pcbe.ps_n++) = pr->cr_preset;
	if (cfg->pc_notify)
		ctx->kc_notify |= 1U << cfg->pc_pic;
	return 0;
}

static int
configure_all(struct kcpc_ctx *ctx, const struct cpc_pack *pack,
    const struct kcpc_type *kt, struct cpc_refusal *rf)
{
	const struct cpc_packattr *attrs = CPC_PACK_ATTRS(pack);

	for (unsigned i = 0; i < ctx->kc_nreqs; i++) {
		const struct cpc_packreq *pr = &pack->cp_req[i];
		int code = configure_one(ctx, pr, attrs + pr->cr_attr, kt, rf);

		if (code != 0) {
			rf->cf_request = (int32_t)i;
			return kcpc_refuse(rf, code);
		}
	}
	return 0;
}

/*
 * The memory of the context that went last is kept for the next one.  So a
 * program that binds and unbinds in turn never allocates, however many other
 * contexts there are.  When the last context goes, only `first` is kept.
 *
 * With kmalloc() and kfree() each time, bind+unbind of one request costs 200
 * instructions more.
 */
static struct kcpc_ctx first, *spare = &first;

static struct kcpc_ctx *
ctx_alloc(unsigned n)
{
	struct kcpc_ctx *ctx = spare;

	if (ctx == NULL && (ctx = kmalloc(sizeof *ctx)) == NULL)
		return NULL;
	spare = NULL;
	memset(ctx, 0, offsetof(struct kcpc_ctx, kc_cfg));
	ctx->kc_nreqs = n;
	ctx->kc_pcbe.ps_cfg = ctx->kc_cfg;
	return ctx;
}

static void
ctx_free(struct kcpc_ctx *ctx)
{
	struct kcpc_ctx *old = spare;

	if (old == &first) {
		kfree(ctx);
		return;
	}
	spare = ctx;
	kfree(old);
}

/* program() sets cq_last. */
void
kcpc_page_move(struct kcpc_ctx *ctx, struct cpc_page *to)
{
	const struct cpc_page *from = ctx->kc_pcbe.ps_page;

	to->cg_tick = from->cg_tick;
	kcpc_page_show(to, to->cg_set, from->cg_frozen);
	to->cg_hrtime = from->cg_hrtime;
	for (unsigned i = 0; i < ctx->kc_nreqs; i++) {
		to->cg_req[i].cq_data = from->cg_req[i].cq_data;
		to->cg_req[i].cq_index = from->cg_req[i].cq_index;
		to->cg_req[i].cq_mask = from->cg_req[i].cq_mask;
	}
	ctx->kc_pcbe.ps_page = to;
}

struct kcpc_ctx *
kcpc_ctx_copy(const struct kcpc_ctx *from)
{
	unsigned n = from->kc_nreqs;
	struct kcpc_ctx *ctx = ctx_alloc(n);

	if (ctx == NULL)
		return NULL;
	memcpy(ctx, from, offsetof(struct kcpc_ctx, kc_cfg));
	memcpy(ctx->kc_cfg, from->kc_cfg, n * sizeof from->kc_cfg[0]);
	memcpy(ctx->kc_reqs, from->kc_reqs, n * sizeof from->kc_reqs[0]);
	ctx->kc_pcbe.ps_cfg = ctx->kc_cfg;
	kcpc_page_move(ctx, &ctx->kc_own);
	ctx->kc_fold = (struct timer){ 0 };
	ctx->kc_pack = NULL;
	return ctx;
}

int
kcpc_ctx_create(const struct cpc_pack *pack, bool privileged, unsigned cpu,
    struct cpc_page *page, struct kcpc_ctx **ctxp, struct cpc_refusal *rf)
{
	const struct kcpc_type *kt = &kcpc_types[pack->cp_type];
	struct kcpc_ctx *ctx;
	uint32_t flags;
	int err;

	if (kcpc_crosstalk != NULL) {
		pcbe_refuse(rf, 0, "%s", kcpc_crosstalk);
		return kcpc_refuse(rf, CPC_RESOURCE_UNAVAIL);
	}
	if ((err = check_requests(pack, kt->kt_npic, &flags, rf)) != 0)
		return err;
	if ((ctx = ctx_alloc(pack->cp_nreqs)) == NULL)
		return ENOMEM;
	if (page == NULL)
		page = &ctx->kc_own;
	page->cg_tick = 0;
	kcpc_page_show(page, 0, 0);
	ctx->kc_pcbe.ps_page = page;
	ctx->kc_pcbe.ps_user_read = !kcpc_ops->pcbe_no_user_read;
	ctx->kc_pcbe.ps_privileged = privileged;
	ctx->kc_pcbe.ps_type = (uint8_t)pack->cp_type;
	ctx->kc_pcbe.ps_cpu = cpu;
	if ((err = assign_pics(ctx, pack, kt, rf)) != 0)
		goto free_ctx;
	err = ENOTSUP;
	if ((flags & CPC_OVF_NOTIFY_EMT) != 0 &&
	    (kcpc_caps() & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
		goto free_ctx;
	if ((err = configure_all(ctx, pack, kt, rf)) != 0)
		goto free_ctx;

	*ctxp = ctx;
	return 0;

free_ctx:
	ctx_free(ctx);
	return err;
}

void
kcpc_ctx_destroy(struct kcpc_ctx *ctx)
{
	if (ctx->kc_pack != NULL)
		kfree(ctx->kc_pack);
	ctx_free(ctx);
}

/*
 * Which sets are bound: a list of all contexts, the newest first.  The kernel
 * lock guards it.
 *
 * Bind and unbind search nothing, so a plain list is enough.  With 1,000
 * contexts a set that is created, bound, unbound and destroyed costs 20,700
 * instructions; alone, 15,000 (x86-64).
 */
static struct kcpc_ctx *all_bound;

static struct kcpc_stat stats;

struct kcpc_ctx *
kcpc_instance(const struct proc *p, cpc_setid_t set)
{
	struct kcpc_ctx *ctx = all_bound;

	while (ctx != NULL && (ctx->kc_proc != p || ctx->kc_set != set))
		ctx = ctx->kc_next;
	return ctx;
}

uint32_t
kcpc_instances(const struct proc *p, cpc_setid_t set)
{
	uint32_t n = 0;

	for (struct kcpc_ctx *ctx = all_bound; ctx != NULL; ctx = ctx->kc_next)
		n += ctx->kc_proc == p && ctx->kc_set == set;
	return n;
}

struct kcpc_ctx *
kcpc_newest_bound_by(const struct lwp *l)
{
	struct kcpc_ctx *ctx = all_bound;

	while (ctx != NULL && ctx->kc_binder != l)
		ctx = ctx->kc_next;
	return ctx;
}

/* The number of PICs that a context holds, helpers included. */
static uint32_t
pics_held(const struct kcpc_ctx *ctx)
{
	uint32_t extra = ctx->kc_pcbe.ps_helpers;

	return ctx->kc_nreqs +
	       (extra != 0 ? (uint32_t)__builtin_popcount(extra) : 0);
}

void
kcpc_instance_add(struct kcpc_ctx *ctx)
{
	ctx->kc_next = all_bound;
	ctx->kc_link = &all_bound;
	if (all_bound != NULL)
		all_bound->kc_link = &ctx->kc_next;
	all_bound = ctx;
	stats.ks_contexts++;
	stats.ks_pics += pics_held(ctx);
}

void
kcpc_instance_remove(struct kcpc_ctx *ctx)
{
	*ctx->kc_link = ctx->kc_next;
	if (ctx->kc_next != NULL)
		ctx->kc_next->kc_link = ctx->kc_link;
	stats.ks_contexts--;
	stats.ks_pics -= pics_held(ctx);
}

/* In one walk: with many instances a search for each would take too long. */
void
kcpc_revoke(struct proc *p, cpc_setid_t set)
{
	struct kcpc_ctx *ctx, *next;

	for (ctx = all_bound; ctx != NULL; ctx = next) {
		next = ctx->kc_next;
		if (ctx->kc_proc != p || ctx->kc_set != set)
			continue;
		if (ctx->kc_cpu != NULL)
			kcpc_cpu_drop(ctx);
		else
			kcpc_drop(ctx->kc_lwp);
	}
}

void
kcpc_each_instance(void (*fn)(struct kcpc_ctx *ctx))
{
	for (struct kcpc_ctx *ctx = all_bound; ctx != NULL; ctx = ctx->kc_next)
		fn(ctx);
}

bool
pcbe_any_bound(
    bool (*fn)(const struct pcbe_set *set, const void *arg), const void *arg)
{
	const struct kcpc_ctx *ctx = all_bound;

	while (ctx != NULL && !fn(&ctx->kc_pcbe, arg))
		ctx = ctx->kc_next;
	return ctx != NULL;
}

void
kcpc_asked(bool refused)
{
	stats.ks_asked++;
	stats.ks_refused += refused;
}

void
kcpc_stat(struct kcpc_stat *st)
{
	*st = stats;
	st->ks_stray = kcpc_stray;
}
