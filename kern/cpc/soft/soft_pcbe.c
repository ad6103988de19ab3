/*
 * The backend of the software PMU, for tests: any shape of PMU, on a machine
 * that has none.
 *
 * A program says how many instructions it retired (CPC_OP_ADVANCE), and the
 * PICs count them.  So every count is known exactly.  An instruction takes
 * three cycles, and every fourth is a branch.  Filters, widths and overflows
 * work as in hardware.  An overflow interrupt is a call of kcpc_pmi(), as an
 * interrupt controller's handler would make.
 */
#include "kern/cpc/soft/soft_pcbe.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

/* Weights are in quarters of an event, so that a branch has one. */
#define QUARTERS 4U

static const unsigned weights[SOFT_NALL] = {
	[SOFT_INSTRUCTIONS] = 1 * QUARTERS,
	[SOFT_CYCLES] = 3 * QUARTERS,
	[SOFT_BRANCHES] = 1,
	[SOFT_EC_REF] = 2,
	[SOFT_EC_HIT] = 1,
};

/*
 * umask=N adds N events to each instruction.  cmask=N counts 1 for an
 * instruction with at least N events.  anythr needs privilege and does nothing.
 */
#define ATTRS                                                                  \
	(1U << CPC_ATTR_UMASK | 1U << CPC_ATTR_CMASK | 1U << CPC_ATTR_ANYTHR)
/* The attributes of each model. */
static const uint32_t model_attrs[] = {
	[SOFT_PLAIN] = ATTRS,
	[SOFT_P4] = 1U << CPC_ATTR_EMASK | 1U << CPC_ATTR_SIBLING_USR |
	            1U << CPC_ATTR_SIBLING_SYS,
	[SOFT_ULTRA] = 0,
};

/*
 * pc_sel of a request: its weight, the ESCR that selects its event, and the
 * levels at which it counts the sibling CPU.
 */
#define SEL(weight, escr, sibling)                                             \
	((weight) | (uint64_t)(escr) << 32 | (uint64_t)(sibling) << 40)
#define SEL_WEIGHT(sel)  ((unsigned)(sel))
#define SEL_ESCR(sel)    ((sel) >> 32 & 0xff)
#define SEL_SIBLING(sel) ((sel) >> 40)

static struct soft_shape shape;
static char name[CPC_MAX_IMPL_NAME];

/* The registers of a PIC, and of the PMU of each CPU. */
struct soft_pic {
	uint64_t np_raw;
	unsigned np_weight;  /* quarters of an event per instruction */
	unsigned np_quarter; /* of an event that is incomplete */
	unsigned np_filter;  /* CPC_COUNT_* */
	unsigned np_sibling; /* the same, for the sibling CPU's instructions */
};

static struct soft_cpu {
	struct soft_pic nc_pic[PCBE_MAXPIC];
	uint32_t nc_running;
	uint32_t nc_kept;       /* PICs that run for good */
	uint32_t nc_interrupts; /* PICs whose overflow interrupts */
	uint32_t nc_urgent;     /* PICs whose overflow stops all */
	uint32_t nc_overflowed;
	bool nc_late;     /* with ns_late: an interrupt is on its way */
	unsigned nc_skid; /* instructions until the interrupt */
} soft_cpus[MAXCPU];

static struct soft_cpu *
this_cpu(void)
{
	return &soft_cpus[arch_curcpu()->c_id];
}

static uint64_t
pic_mask(void)
{
	return ~0ULL >> (64 - shape.ns_width);
}

static uint32_t
first_pics(unsigned n)
{
	return (uint32_t)((1ULL << n) - 1);
}

/*
 * Core types: with pics2= the CPUs of the lower half, and those of the upper
 * half.  PIC n has number n on both.
 */
static struct pcbe_type types[] = {
	{ .py_name = "soft_core" },
	{ .py_name = "soft_atom" },
};

static bool
has_types(void)
{
	return shape.ns_pics2 != 0 && ncpu > 1;
}

/* The type of this CPU, as in ps_type. */
static unsigned
this_type(void)
{
	return !has_types() ? 0 : arch_curcpu()->c_id < (ncpu + 1) / 2 ? 1 : 2;
}

/* The number of PICs; type 0: that all CPUs have. */
static unsigned
npics(unsigned type)
{
	unsigned n = shape.ns_pics, n2 = shape.ns_pics2;

	if (!has_types())
		return n;
	return type == 1 ? n : type == 2 ? n2 : n < n2 ? n : n2;
}

/* General PICs: they count any event, fixed PICs one only. */
static uint32_t
general_pics(unsigned type)
{
	return first_pics(npics(type) - shape.ns_fixed);
}

static uint32_t
event_mask(unsigned event, unsigned type)
{
	uint32_t pics = type != 2 ? shape.ns_event[event] : ~0U;

	if (type == 2 || (type == 0 && has_types()))
		pics &= shape.ns_event2[event];
	return pics;
}

static uint32_t
event_pics(unsigned event, unsigned type)
{
	const struct soft_model_event *fv;
	uint32_t pics;

	if (shape.ns_model != SOFT_PLAIN) {
		fv = soft_model_event(shape.ns_model, event);
		return fv->fv_pics[0] | fv->fv_pics[1];
	}
	if (event >= SOFT_NEVENT)
		return 0;
	pics = event_mask(event, type) & general_pics(type);
	if (event < shape.ns_fixed)
		pics |= 1U << (shape.ns_pics - shape.ns_fixed + event);
	return pics;
}

static unsigned
ncounters(void)
{
	return has_types() && shape.ns_pics2 > shape.ns_pics ? shape.ns_pics2
	                                                     : shape.ns_pics;
}

static unsigned
width(unsigned pic)
{
	(void)pic;
	return shape.ns_width;
}

/* Not used: libcpc gets no counter page, and calls the kernel. */
static uint32_t
read_index(unsigned pic)
{
	return pic;
}

static const char *
impl_name(void)
{
	return name;
}

static const char *
cpuref(void)
{
	return "See docs/boot.md, \"The software PMU\": no event of this CPU "
	       "is counted";
}

static void
describe(struct cpc_pmu *pm, unsigned type)
{
	pm->pm_kind = CPC_PMU_SOFTWARE;
	pm->pm_general = general_pics(type);
	pm->pm_family = shape.ns_model;
	for (unsigned i = 0; i < SOFT_NALL; i++)
		pm->pm_own[i] = event_pics(i, type);
	pm->pm_generic = shape.ns_papi ? (1U << SOFT_NEVENT) - 1 : 0;
}

static uint64_t
known_event(enum pcbe_known which, struct pcbe_event *ev)
{
	unsigned event =
	    which == PCBE_INSTRUCTIONS ? SOFT_INSTRUCTIONS : SOFT_CYCLES;

	*ev = (struct pcbe_event){ .pe_code = SOFT_CODE(event),
		.pe_pics = event_pics(event, 0),
		.pe_flags = PCBE_EVENT_GENERIC };
	return ev->pe_pics;
}

static uint64_t
overflow_bitmap(void)
{
	struct soft_cpu *nc = this_cpu();
	uint64_t overflowed = nc->nc_overflowed;

	nc->nc_overflowed = 0;
	return overflowed != 0 && shape.ns_ovf == SOFT_OVF_IMPRECISE
	           ? ~0ULL
	           : overflowed;
}

/* Set *weight to the quarters of an event per instruction; 0 or a subcode. */
static int
event_weight(const struct pcbe_event *ev, unsigned nattrs,
    const struct pcbe_attr *attrs, bool privileged, unsigned *weight)
{
	uint64_t umask = 0, cmask = 0;

	for (unsigned i = 0; i < nattrs; i++) {
		if (attrs[i].pa_id == CPC_ATTR_UMASK)
			umask = attrs[i].pa_val;
		else if (attrs[i].pa_id == CPC_ATTR_CMASK)
			cmask = attrs[i].pa_val;
		else if (!privileged)
			return CPC_ATTR_REQUIRES_PRIVILEGE;
	}
	if (umask > SOFT_FIELD_MAX || cmask > SOFT_FIELD_MAX)
		return CPC_ATTRIBUTE_OUT_OF_RANGE;
	*weight = ev->pe_code < SOFT_CODE(0)
	              ? (unsigned)ev->pe_code * QUARTERS
	              : weights[ev->pe_code - SOFT_CODE(0)];
	*weight += (unsigned)umask * QUARTERS;
	if (cmask != 0)
		*weight = *weight >= cmask * QUARTERS ? QUARTERS : 0;
	return 0;
}

/*
 * The same for an event of a model.  *sel becomes pc_sel, but for its ESCR.  A
 * preset of PAPI counts without a mask.
 */
static int
model_sel(const struct pcbe_event *ev, unsigned nattrs,
    const struct pcbe_attr *attrs, bool privileged, uint64_t *sel)
{
	unsigned event = (unsigned)ev->pe_code - SOFT_CODE(0), sibling = 0;
	const struct soft_model_event *fv =
	    soft_model_event(shape.ns_model, event);
	bool counts =
	    fv->fv_counted == 0 || (ev->pe_flags & PCBE_EVENT_GENERIC) != 0;

	for (unsigned i = 0; i < nattrs; i++) {
		if (attrs[i].pa_id == CPC_ATTR_EMASK) {
			if ((attrs[i].pa_val & ~(uint64_t)fv->fv_emask) != 0)
				return CPC_ATTRIBUTE_OUT_OF_RANGE;
			counts = (attrs[i].pa_val & fv->fv_counted) != 0;
			continue;
		}
		if (!privileged)
			return CPC_ATTR_REQUIRES_PRIVILEGE;
		if (attrs[i].pa_val != 0)
			sibling |= attrs[i].pa_id == CPC_ATTR_SIBLING_USR
			               ? CPC_COUNT_USER
			               : CPC_COUNT_SYSTEM;
	}
	*sel = SEL(counts ? weights[event] : 0, 0, sibling);
	return 0;
}

/*
 * The ESCR by which the PIC counts the event, or 0 if it needs none.  False if
 * another request of the set has it.
 */
static bool
model_escr(const struct pcbe_event *ev, unsigned pic,
    const struct pcbe_set *set, unsigned *escr)
{
	const struct soft_model_event *fv = soft_model_event(
	    shape.ns_model, (unsigned)ev->pe_code - SOFT_CODE(0));

	*escr = fv->fv_escr[(fv->fv_pics[0] >> pic & 1) == 0];
	for (unsigned i = 0; i < set->ps_n && *escr != 0; i++) {
		if (SEL_ESCR(set->ps_cfg[i].pc_sel) == *escr) {
			kcpc_reason("request %u has the ESCR by which PIC %u "
				    "counts this event",
			    i, pic);
			return false;
		}
	}
	return true;
}

static int
configure_model(struct pcbe_cfg *cfg, const struct pcbe_event *ev,
    unsigned nattrs, const struct pcbe_attr *attrs, const struct pcbe_set *set)
{
	unsigned escr;
	int subcode;

	subcode =
	    model_sel(ev, nattrs, attrs, set->ps_privileged, &cfg->pc_sel);
	if (subcode != 0)
		return subcode;
	if (!model_escr(ev, cfg->pc_pic, set, &escr))
		return CPC_RESOURCE_UNAVAIL;
	cfg->pc_sel |= SEL(0, escr, 0);
	return 0;
}

/* Can the PIC count this event?  ev comes from a program, unchecked. */
static int
check_event(const struct pcbe_event *ev, unsigned pic, unsigned type)
{
	bool general = (general_pics(type) & 1U << pic) != 0;

	if (ev->pe_code < SOFT_CODE(0))
		return shape.ns_raw && general ? 0 : CPC_INVALID_EVENT;
	if (ev->pe_code >= SOFT_CODE(SOFT_NALL) ||
	    (event_pics((unsigned)ev->pe_code - SOFT_CODE(0), type) &
		1U << pic) == 0)
		return CPC_INVALID_EVENT;
	return 0;
}

static bool
filters_conflict(const struct pcbe_cfg *cfg, const struct pcbe_set *set)
{
	const unsigned filter = CPC_COUNT_USER | CPC_COUNT_SYSTEM;

	return shape.ns_shared == SOFT_SHARED_FILTER && set->ps_n > 0 &&
	       ((cfg->pc_flags ^ set->ps_cfg[0].pc_flags) & filter) != 0;
}

/* Fixed PICs take no attributes. */
static uint64_t
attr_pics(uint64_t pics, unsigned nattrs, const struct pcbe_attr *attrs)
{
	(void)nattrs;
	(void)attrs;
	return shape.ns_fixed == 0 ? pics : pics & general_pics(0);
}

static int
configure(struct pcbe_cfg *cfg, const struct pcbe_event *ev, unsigned nattrs,
    const struct pcbe_attr *attrs, struct pcbe_set *set)
{
	uint32_t spare = set->ps_spare & ~set->ps_helpers;
	unsigned weight = 0;
	int subcode;

	if ((subcode = check_event(ev, cfg->pc_pic, set->ps_type)) != 0)
		return subcode;
	if (nattrs != 0 &&
	    (general_pics(set->ps_type) & 1U << cfg->pc_pic) == 0)
		return CPC_INVALID_ATTRIBUTE;
	if (shape.ns_model != SOFT_PLAIN) {
		subcode = configure_model(cfg, ev, nattrs, attrs, set);
	} else {
		subcode = event_weight(
		    ev, nattrs, attrs, set->ps_privileged, &weight);
		cfg->pc_sel = SEL(weight, 0, 0);
	}
	if (subcode != 0)
		return subcode;
	if ((cfg->pc_flags & CPC_COUNT_HV) != 0 && !shape.ns_hv)
		return CPC_HV_NO_ACCESS;
	if (filters_conflict(cfg, set)) {
		kcpc_reason("all PICs count at the privileges of request 0");
		return CPC_CONFLICTING_REQS;
	}
	cfg->pc_aux = 0;
	if (shape.ns_helpers && cfg->pc_notify) {
		if (spare == 0) {
			kcpc_reason("overflow notification needs a second PIC "
				    "as helper; none is free");
			return CPC_RESOURCE_UNAVAIL;
		}
		cfg->pc_aux = spare & -spare;
		set->ps_helpers |= (uint32_t)cfg->pc_aux;
	}
	cfg->pc_mask = pic_mask();
	return 0;
}

static void
free_cfg(struct pcbe_cfg *cfg, struct pcbe_set *set)
{
	set->ps_helpers &= ~(uint32_t)cfg->pc_aux;
}

static void
program(struct pcbe_set *set)
{
	struct soft_cpu *nc = this_cpu();

	ASSERT((set->ps_pics & ~first_pics(npics(this_type()))) == 0);
	ASSERT(set->ps_type == 0 || set->ps_type == this_type());
	nc->nc_interrupts = 0;
	nc->nc_urgent = shape.ns_nmi ? set->ps_urgent : 0;
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];
		struct cpc_page_req *cq = &set->ps_page->cg_req[i];
		struct soft_pic *np = &nc->nc_pic[cfg->pc_pic];

		cq->cq_last = cq->cq_data & cfg->pc_mask;
		np->np_raw = cq->cq_last;
		np->np_weight = SEL_WEIGHT(cfg->pc_sel);
		np->np_sibling = (unsigned)SEL_SIBLING(cfg->pc_sel);
		np->np_quarter = 0;
		np->np_filter = cfg->pc_flags;
		if (shape.ns_ovf != SOFT_OVF_NONE &&
		    (cfg->pc_notify ||
			(shape.ns_mute & 1U << cfg->pc_pic) == 0))
			nc->nc_interrupts |= 1U << cfg->pc_pic;
		if (shape.ns_staggered) {
			nc->nc_running |= 1U << cfg->pc_pic;
			soft_pcbe_retire(1, CPC_COUNT_SYSTEM);
		}
	}
	pcbe_begin(set->ps_page, arch_tick());
	nc->nc_running = (set->ps_pics & ~shape.ns_broken) | nc->nc_kept;
}

static void
allstop(void)
{
	struct soft_cpu *nc = this_cpu();
	uint32_t stopped = nc->nc_running & ~nc->nc_kept;

	for (; shape.ns_forgets && stopped != 0; stopped &= stopped - 1)
		nc->nc_pic[__builtin_ctz(stopped)].np_raw--;
	nc->nc_running = nc->nc_kept;
}

static void
keep(struct pcbe_set *set)
{
	program(set);
	this_cpu()->nc_kept = set->ps_pics;
}

static uint64_t
stop(struct pcbe_set *set)
{
	struct soft_cpu *nc = this_cpu();
	bool precise = shape.ns_ovf != SOFT_OVF_IMPRECISE;

	allstop();
	set->ps_page->cg_tick += arch_tick();
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];

		pcbe_fold(&set->ps_page->cg_req[i], cfg->pc_mask,
		    nc->nc_pic[cfg->pc_pic].np_raw,
		    precise && (nc->nc_overflowed >> cfg->pc_pic & 1) != 0);
	}
	return overflow_bitmap() & set->ps_pics;
}

static bool
sample(const struct pcbe_set *set, struct cpc_sample *s)
{
	const struct soft_cpu *nc = this_cpu();

	s->cs_tick = set->ps_page->cg_tick + arch_tick();
	for (unsigned i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];
		const struct cpc_page_req *cq = &set->ps_page->cg_req[i];
		uint64_t now = nc->nc_pic[cfg->pc_pic].np_raw;

		s->cs_value[i] =
		    cq->cq_data + ((now - cq->cq_last) & cfg->pc_mask);
	}
	return (nc->nc_overflowed & set->ps_pics) == 0;
}

static bool
pic_counts(const struct soft_cpu *nc, unsigned pic, unsigned privilege)
{
	return (nc->nc_running & 1U << pic) != 0 &&
	       (nc->nc_pic[pic].np_filter & privilege) != 0;
}

/* Is an interrupt on its way? */
static bool
is_due(const struct soft_cpu *nc)
{
	if (shape.ns_pmi == SOFT_PMI_NEVER)
		return false;
	return shape.ns_late != 0
	           ? nc->nc_late
	           : (nc->nc_overflowed & nc->nc_interrupts) != 0;
}

/*
 * The number of the next n instructions up to an overflow that interrupts.  If
 * an interrupt is already due after its skid: up to the interrupt, or to an
 * urgent overflow, which stops the PICs.
 */
static uint64_t
until_interrupt(const struct soft_cpu *nc, unsigned privilege, uint64_t n)
{
	uint32_t which = nc->nc_interrupts;

	if (is_due(nc)) {
		n = nc->nc_skid < n ? nc->nc_skid : n;
		which = nc->nc_urgent;
	}
	for (unsigned pic = 0; pic < ncounters(); pic++) {
		const struct soft_pic *np = &nc->nc_pic[pic];
		uint64_t left =
		    pic_mask() - np->np_raw; /* one more overflows */
		uint64_t need;

		if (!pic_counts(nc, pic, privilege) || np->np_weight == 0 ||
		    (which & 1U << pic) == 0 || left > n * 1024)
			continue;
		need = (left + 1) * QUARTERS - np->np_quarter;
		need = (need + np->np_weight - 1) / np->np_weight;
		n = need < n ? need : n;
	}
	return n;
}

/* The PIC counts n instructions.  Returns whether it overflowed. */
static bool
pic_add(struct soft_pic *np, uint64_t n)
{
	uint64_t quarters = n * np->np_weight + np->np_quarter;
	uint64_t before = np->np_raw;

	np->np_quarter = quarters % QUARTERS;
	np->np_raw = (before + quarters / QUARTERS) & pic_mask();
	return quarters / QUARTERS > pic_mask() - before;
}

/*
 * The sibling CPU's PICs count the instructions of this one if their requests
 * asked for it.  Only a set bound to a CPU does, which gets no signal: an
 * overflow is folded later.
 */
static void
retire_for_sibling(struct soft_cpu *nc, uint64_t n, unsigned privilege)
{
	for (unsigned pic = 0; pic < ncounters(); pic++) {
		if ((nc->nc_running & 1U << pic) != 0 &&
		    (nc->nc_pic[pic].np_sibling & privilege) != 0 &&
		    pic_add(&nc->nc_pic[pic], n))
			nc->nc_overflowed |= 1U << pic;
	}
}

uint32_t
soft_pcbe_retire(uint64_t n, unsigned privilege)
{
	struct soft_cpu *nc = this_cpu();
	bool quiet = !is_due(nc);
	uint32_t overflowed = 0;

	if (!quiet)
		nc->nc_skid -= (unsigned)n;
	for (unsigned pic = 0; pic < ncounters(); pic++) {
		if (pic_counts(nc, pic, privilege) &&
		    pic_add(&nc->nc_pic[pic], n))
			overflowed |= 1U << pic;
	}
	nc->nc_overflowed |= overflowed;
	nc->nc_late |= (overflowed & nc->nc_interrupts) != 0;
	if (quiet)
		nc->nc_skid =
		    shape.ns_late != 0 ? shape.ns_late : shape.ns_skid;
	if ((nc->nc_overflowed & nc->nc_urgent) != 0)
		nc->nc_running = nc->nc_kept;
	return overflowed & nc->nc_interrupts;
}

/* At most so many at once: their quarters of events fit in 64 bits. */
#define CHUNK (1ULL << 48)

static void
interrupt(struct soft_cpu *nc)
{
	nc->nc_late = false;
	kcpc_pmi(arch_lwp_frame(lwp_self()));
	if (shape.ns_pmi == SOFT_PMI_TWICE)
		kcpc_pmi(arch_lwp_frame(lwp_self()));
}

static void
advance(uint64_t n, unsigned privilege)
{
	struct soft_cpu *nc = this_cpu();
	uint64_t chunk;

	if (shape.ns_model == SOFT_P4)
		retire_for_sibling(
		    &soft_cpus[arch_curcpu()->c_id ^ 1], n, privilege);
	while (n > 0 && (nc->nc_running != 0 || is_due(nc))) {
		chunk = until_interrupt(nc, privilege, n < CHUNK ? n : CHUNK);
		soft_pcbe_retire(chunk, privilege);
		n -= chunk;
		if (is_due(nc) && nc->nc_skid == 0)
			interrupt(nc);
	}
}

static const struct cpuset *
siblings(unsigned cpu)
{
	static struct cpuset pair;

	pair = (struct cpuset){ { 0 } };
	cpuset_add(&pair, cpu & ~1U);
	cpuset_add(&pair, cpu | 1U);
	return &pair;
}

/* Counts instructions of its own; fails for a PIC of `broken=`. */
static const char *
prove(unsigned pic)
{
	const uint64_t n = 1000;
	struct {
		struct cpc_page page;
		struct cpc_page_req req;
	} counts = { 0 };
	struct pcbe_cfg cfg = {
		.pc_pic = (uint8_t)pic,
		.pc_flags = CPC_COUNT_SYSTEM,
		.pc_sel = QUARTERS,
		.pc_mask = pic_mask(),
	};
	struct pcbe_set set = {
		.ps_n = 1,
		.ps_pics = 1U << pic,
		.ps_type = (uint8_t)this_type(),
		.ps_cfg = &cfg,
		.ps_page = &counts.page,
	};

	program(&set);
	advance(n, CPC_COUNT_SYSTEM);
	stop(&set);
	/* Whether start and stop count themselves is part of the shape. */
	if (counts.req.cq_data == n + shape.ns_staggered - shape.ns_forgets)
		return NULL;
	return "reads 0 after 1000 instructions";
}

static struct pcbe_ops soft_ops = {
	.ncounters = ncounters,
	.width = width,
	.read_index = read_index,
	.impl_name = impl_name,
	.cpuref = cpuref,
	.describe = describe,
	.known_event = known_event,
	.overflow_bitmap = overflow_bitmap,
	.attr_pics = attr_pics,
	.configure = configure,
	.program = program,
	.stop = stop,
	.allstop = allstop,
	.sample = sample,
	.free = free_cfg,
	.prove = prove,
	.pcbe_no_user_read = true,
	.advance = advance,
};

static void
make_types(uint32_t attrs)
{
	soft_ops.pcbe_ntypes = has_types() ? 2 : 0;
	soft_ops.pcbe_types = types;
	soft_ops.pcbe_shared = first_pics(npics(0));
	for (unsigned t = 0; t < 2; t++) {
		types[t].py_pics = first_pics(npics(t + 1));
		types[t].py_attrs = attrs;
		types[t].py_cpus = (struct cpuset){ { 0 } };
	}
	for (unsigned i = 0; i < ncpu; i++)
		cpuset_add(&types[i >= (ncpu + 1) / 2].py_cpus, i);
}

const struct pcbe_ops *
soft_pcbe(const struct soft_shape *ns, const char *word)
{
	shape = *ns;
	word = strchr(word, ',');
	snprintf(name, sizeof name, "Software PMU (pmu=software%s)",
	    word != NULL ? word : "");
	memset(soft_cpus, 0, ncpu * sizeof soft_cpus[0]);
	soft_ops.pcbe_attrs = model_attrs[ns->ns_model];
	make_types(soft_ops.pcbe_attrs);
	soft_ops.pcbe_caps = 0;
	soft_ops.pcbe_no_ovf_intr = 0;
	if (ns->ns_ovf != SOFT_OVF_NONE)
		soft_ops.pcbe_caps |= PCBE_CAP_OVERFLOW_INTERRUPT;
	if (ns->ns_ovf == SOFT_OVF_PRECISE)
		soft_ops.pcbe_caps |= PCBE_CAP_OVERFLOW_PRECISE;
	soft_ops.siblings =
	    ns->ns_shared == SOFT_SHARED_SIBLINGS ? siblings : NULL;
	soft_ops.keep = ns->ns_keeps ? keep : NULL;
	if (ns->ns_width < 64)
		soft_ops.pcbe_no_ovf_intr =
		    ns->ns_ovf == SOFT_OVF_NONE ? ~0ULL : ns->ns_mute;
	return &soft_ops;
}

uint32_t
soft_pcbe_running(unsigned cpu)
{
	return soft_cpus[cpu].nc_running;
}

uint64_t
soft_pcbe_raw(unsigned cpu, unsigned pic)
{
	return soft_cpus[cpu].nc_pic[pic].np_raw;
}
