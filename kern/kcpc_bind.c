/*
 * From packed requests to a context that can be programmed: check, assign
 * PICs, have the backend configure each.
 */
#include "kern/kcpc_impl.h"

#include "kern/errno.h"
#include "kern/page.h"

/* The errno that goes with what a backend refuses. */
static int
subcode_errno(int subcode)
{
	switch (subcode) {
	case CPC_ATTR_REQUIRES_PRIVILEGE:
	case CPC_HV_NO_ACCESS:
		return EACCES;
	default:
		return EINVAL;
	}
}

static int
refuse(int *subcode, int code)
{
	*subcode = code;
	return subcode_errno(code);
}

/* What can be told without looking at events. */
static int
check(const struct kcpc_want *want, unsigned n, int *subcode)
{
	uint64_t pinned = 0;
	unsigned i;
	int pic;

	for (i = 0; i < n; i++) {
		if ((want[i].kw_req->cr_flags & ~CPC_REQ_ALL_FLAGS) != 0)
			return refuse(subcode, CPC_REQ_INVALID_FLAGS);
	}
	if (n > kcpc_npic)
		return EINVAL;
	for (i = 0; i < n; i++) {
		pic = want[i].kw_req->cr_picnum;
		if (pic < -1 || pic >= (int)kcpc_npic)
			return refuse(subcode, CPC_INVALID_PICNUM);
	}
	for (i = 0; i < n; i++) {
		pic = want[i].kw_req->cr_picnum;
		if (pic == -1)
			continue;
		if ((pinned & 1ULL << pic) != 0)
			return EINVAL;
		pinned |= 1ULL << pic;
	}
	return 0;
}

/* The request counts on this PIC from now on. */
static void
give(struct kcpc_ctx *ctx, struct kcpc_request *r, int pic)
{
	unsigned width = kcpc_ops->width((unsigned)pic);

	r->kr_picnum = pic;
	r->kr_span = width < 64 ? 1ULL << width : 0;
	ctx->kc_narrow |= width < 64;
	if ((r->kr_flags & CPC_OVF_NOTIFY_EMT) != 0)
		ctx->kc_notify |= 1U << pic;
	ctx->kc_pcbe.ps_pics |= 1U << pic;
}

static int
assign(struct kcpc_ctx *ctx, const struct kcpc_want *want, int *subcode)
{
	uint64_t can[PCBE_MAXPIC];
	int pic[PCBE_MAXPIC];
	unsigned i;

	for (i = 0; i < ctx->kc_nreqs; i++) {
		can[i] = want[i].kw_req->cr_event.ce_pics & kcpc_pics;
		if (want[i].kw_req->cr_picnum != -1)
			can[i] &= 1ULL << want[i].kw_req->cr_picnum;
	}
	if (!kcpc_assign(ctx->kc_nreqs, can, pic))
		return refuse(subcode, CPC_RESOURCE_UNAVAIL);
	for (i = 0; i < ctx->kc_nreqs; i++)
		give(ctx, &ctx->kc_reqs[i], pic[i]);
	ctx->kc_pcbe.ps_spare = (uint32_t)kcpc_pics & ~ctx->kc_pcbe.ps_pics;
	return 0;
}

static void
request_init(struct kcpc_request *r, const struct cpc_packreq *pr)
{
	r->kr_flags = pr->cr_flags;
	r->kr_preset = pr->cr_preset;
	r->kr_data = pr->cr_preset;
	r->kr_event.pe_code = pr->cr_event.ce_code;
	r->kr_event.pe_flags = pr->cr_event.ce_flags;
	r->kr_event.pe_pics = pr->cr_event.ce_pics;
}

/* Names were resolved to positions in the backend's list, one by one. */
static int
attrs_take(struct pcbe_attr *attrs, const struct kcpc_want *want)
{
	unsigned i, id, nnames = 0;

	while (kcpc_ops->list_attrs(nnames) != NULL)
		nnames++;
	for (i = 0; i < want->kw_req->cr_nattrs; i++) {
		id = want->kw_attrs[i].ca_id;
		if (id >= nnames)
			return CPC_INVALID_ATTRIBUTE;
		if ((want->kw_req->cr_event.ce_flags & CPC_EVENT_GENERIC) != 0)
			return CPC_ATTRIBUTE_OUT_OF_RANGE;
		attrs[i].pa_id = id;
		attrs[i].pa_val = want->kw_attrs[i].ca_value;
	}
	return 0;
}

static int
configure_one(struct kcpc_ctx *ctx, unsigned i, const struct kcpc_want *want)
{
	struct kcpc_request *r = &ctx->kc_reqs[i];
	struct pcbe_attr attrs[CPC_MAX_ATTRS];
	int subcode;

	if ((subcode = attrs_take(attrs, want)) != 0)
		return subcode;
	r->kr_cfg.pc_pic = (uint8_t)r->kr_picnum;
	r->kr_cfg.pc_notify = (r->kr_flags & CPC_OVF_NOTIFY_EMT) != 0;
	r->kr_cfg.pc_flags = (uint16_t)r->kr_flags;
	r->kr_cfg.pc_datap = &r->kr_data;
	subcode = kcpc_ops->configure(&r->kr_cfg, &r->kr_event,
	    want->kw_req->cr_nattrs, attrs, &ctx->kc_pcbe);
	if (subcode == 0)
		ctx->kc_pcbe.ps_cfg[ctx->kc_pcbe.ps_n++] = &r->kr_cfg;
	return subcode;
}

static void
unconfigure(struct kcpc_ctx *ctx)
{
	struct pcbe_set *ps = &ctx->kc_pcbe;

	while (ps->ps_n > 0) {
		ps->ps_n--;
		kcpc_ops->free(ps->ps_cfg[ps->ps_n], ps);
	}
}

static int
configure(struct kcpc_ctx *ctx, const struct kcpc_want *want, int *subcode)
{
	unsigned i;
	int code;

	for (i = 0; i < ctx->kc_nreqs; i++) {
		if ((ctx->kc_reqs[i].kr_flags & CPC_OVF_NOTIFY_EMT) != 0 &&
		    (kcpc_caps() & CPC_CAP_OVERFLOW_INTERRUPT) == 0)
			return ENOTSUP;
	}
	for (i = 0; i < ctx->kc_nreqs; i++) {
		if ((code = configure_one(ctx, i, &want[i])) != 0) {
			unconfigure(ctx);
			return refuse(subcode, code);
		}
	}
	return 0;
}

int
kcpc_ctx_create(const struct kcpc_want *want, unsigned n, bool privileged,
    struct kcpc_ctx **ctxp, int *subcode)
{
	struct kcpc_ctx *ctx;
	unsigned i;
	int err;

	if ((err = check(want, n, subcode)) != 0)
		return err;
	ctx = kmalloc(sizeof *ctx + n * sizeof ctx->kc_reqs[0]);
	if (ctx == NULL)
		return ENOMEM;
	ctx->kc_flags = KCPC_CTX_FREEZE | KCPC_CTX_NONPRIV;
	ctx->kc_pcbe.ps_user_read = true;
	ctx->kc_pcbe.ps_privileged = privileged;
	ctx->kc_nreqs = n;
	for (i = 0; i < n; i++)
		request_init(&ctx->kc_reqs[i], want[i].kw_req);
	if ((err = assign(ctx, want, subcode)) != 0)
		goto free_ctx;
	if ((err = configure(ctx, want, subcode)) != 0)
		goto free_ctx;

	*ctxp = ctx;
	return 0;

free_ctx:
	kfree(ctx);
	return err;
}

void
kcpc_ctx_destroy(struct kcpc_ctx *ctx)
{
	unconfigure(ctx);
	kfree(ctx);
}
