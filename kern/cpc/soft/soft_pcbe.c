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
#include "kern/cpc/soft/soft_impl.h"
#include "kern/proc/lwp.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

static char name[CPC_MAX_IMPL_NAME];

/*
 * Core types: with pics2= the CPUs of the lower half, and those of the upper
 * half.  PIC n has number n on both.
 */
static struct pcbe_type types[] = {
	{ .py_name = "soft_core" },
	{ .py_name = "soft_atom" },
};

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
	uint32_t nc_nmi_pics;   /* PICs whose overflow stops all */
	uint32_t nc_overflowed;
	bool nc_late;     /* with ns_late: an interrupt is on its way */
	unsigned nc_skid; /* instructions until the interrupt */
} soft_cpus[MAXCPU];

static struct soft_cpu *
this_cpu(void)
{
	return &soft_cpus[arch_curcpu()->c_id];
}

static unsigned
ncounters(void)
{
	return soft_has_types() && soft_shape.ns_pics2 > soft_shape.ns_pics
	           ? soft_shape.ns_pics2
	           : soft_shape.ns_pics;
}

static unsigned
width(unsigned)
{
	return soft_shape.ns_width;
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
	pm->pm_general = soft_general_pics(type);
	pm->pm_family = soft_shape.ns_model;
	for (unsigned i = 0; i < SOFT_NALL; i++)
		pm->pm_own[i] = soft_event_pics(i, type);
	pm->pm_generic = soft_shape.ns_papi ? (1U << SOFT_NEVENT) - 1 : 0;
}

static uint64_t
known_event(enum pcbe_known which, struct cpc_event *ev)
{
	unsigned event =
	    which == PCBE_INSTRUCTIONS ? SOFT_INSTRUCTIONS : SOFT_CYCLES;

	*ev = (struct cpc_event){ .ce_code = SOFT_CODE(event),
		.ce_pics = soft_event_pics(event, 0),
		.ce_flags = CPC_EVENT_GENERIC };
	return ev->ce_pics;
}

static uint64_t
overflow_bitmap(void)
{
	struct soft_cpu *nc = this_cpu();
	uint64_t overflowed = nc->nc_overflowed;

	nc->nc_overflowed = 0;
	return overflowed != 0 && soft_shape.ns_ovf == SOFT_OVF_IMPRECISE
	           ? ~0ULL
	           : overflowed;
}

static void
program(struct pcbe_set *set)
{
	struct soft_cpu *nc = this_cpu();

	ASSERT((set->ps_pics &
		   ~soft_first_pics(soft_npics(soft_this_type()))) == 0);
	ASSERT(set->ps_type == 0 || set->ps_type == soft_this_type());
	nc->nc_interrupts = 0;
	nc->nc_nmi_pics = soft_shape.ns_nmi ? set->ps_nmi_pics : 0;
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
		if (soft_shape.ns_ovf != SOFT_OVF_NONE &&
		    (cfg->pc_notify ||
			(soft_shape.ns_mute & 1U << cfg->pc_pic) == 0))
			nc->nc_interrupts |= 1U << cfg->pc_pic;
		if (soft_shape.ns_staggered) {
			nc->nc_running |= 1U << cfg->pc_pic;
			soft_pcbe_retire(1, CPC_COUNT_SYSTEM);
		}
	}
	pcbe_begin(set->ps_page, arch_tick());
	nc->nc_running = (set->ps_pics & ~soft_shape.ns_broken) | nc->nc_kept;
}

static void
allstop(void)
{
	struct soft_cpu *nc = this_cpu();
	uint32_t stopped = nc->nc_running & ~nc->nc_kept;

	for (; soft_shape.ns_forgets && stopped != 0; stopped &= stopped - 1)
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
	bool precise = soft_shape.ns_ovf != SOFT_OVF_IMPRECISE;

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
	if (soft_shape.ns_pmi == SOFT_PMI_NEVER)
		return false;
	return soft_shape.ns_late != 0
	           ? nc->nc_late
	           : (nc->nc_overflowed & nc->nc_interrupts) != 0;
}

/*
 * The number of the next n instructions up to an overflow that interrupts.  If
 * an interrupt is already due after its skid: up to the interrupt, or to an
 * overflow of ps_nmi_pics, which stops the PICs.
 */
static uint64_t
until_interrupt(const struct soft_cpu *nc, unsigned privilege, uint64_t n)
{
	uint32_t which = nc->nc_interrupts;

	if (is_due(nc)) {
		n = nc->nc_skid < n ? nc->nc_skid : n;
		which = nc->nc_nmi_pics;
	}
	for (unsigned pic = 0; pic < ncounters(); pic++) {
		const struct soft_pic *np = &nc->nc_pic[pic];
		uint64_t left =
		    soft_pic_mask() - np->np_raw; /* one more overflows */

		if (!pic_counts(nc, pic, privilege) || np->np_weight == 0 ||
		    (which & 1U << pic) == 0 || left > n * 1024)
			continue;
		uint64_t need = (left + 1) * QUARTERS - np->np_quarter;
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
	np->np_raw = (before + quarters / QUARTERS) & soft_pic_mask();
	return quarters / QUARTERS > soft_pic_mask() - before;
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
		nc->nc_skid = soft_shape.ns_late != 0 ? soft_shape.ns_late
		                                      : soft_shape.ns_skid;
	if ((nc->nc_overflowed & nc->nc_nmi_pics) != 0)
		nc->nc_running = nc->nc_kept;
	return overflowed & nc->nc_interrupts;
}

/* At most so many at once: their quarters of events fit in 64 bits. */
#define CHUNK (1ULL << 48)

static void
interrupt(struct soft_cpu *nc)
{
	nc->nc_late = false;
	kcpc_pmi();
	if (soft_shape.ns_pmi == SOFT_PMI_TWICE)
		kcpc_pmi();
}

static void
advance(uint64_t n, unsigned privilege)
{
	struct soft_cpu *nc = this_cpu();
	uint64_t chunk;

	if (soft_shape.ns_model == SOFT_P4)
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

/* A raw event, or the first event that the PIC counts. */
static bool
proof_event(unsigned pic, unsigned type, struct cpc_event *ev)
{
	unsigned event = 0;

	*ev = (struct cpc_event){ .ce_code = 1, .ce_pics = 1ULL << pic };
	if (soft_shape.ns_raw && (soft_general_pics(type) >> pic & 1) != 0)
		return true;
	while (event < SOFT_NALL - 1 &&
	       (soft_event_pics(event, type) >> pic & 1) == 0)
		event++;
	ev->ce_code = SOFT_CODE(event);
	ev->ce_flags = CPC_EVENT_GENERIC;
	return event == SOFT_INSTRUCTIONS;
}

/* Without interrupts: nothing handles them yet. */
static void
spin(uint64_t n)
{
	soft_pcbe_retire(n * PCBE_SPIN_INSNS, CPC_COUNT_SYSTEM);
	this_cpu()->nc_late = false;
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
	.attr_pics = soft_attr_pics,
	.configure = soft_configure,
	.program = program,
	.stop = stop,
	.allstop = allstop,
	.sample = sample,
	.proof_event = proof_event,
	.spin = spin,
	.pcbe_no_user_read = true,
	.advance = advance,
};

static void
make_types(uint32_t attrs)
{
	soft_ops.pcbe_ntypes = soft_has_types() ? 2 : 0;
	soft_ops.pcbe_types = types;
	soft_ops.pcbe_shared = soft_first_pics(soft_npics(0));
	for (unsigned t = 0; t < 2; t++) {
		types[t].py_pics = soft_first_pics(soft_npics(t + 1));
		types[t].py_attrs = attrs;
		types[t].py_cpus = (struct cpuset){ { 0 } };
	}
	for (unsigned i = 0; i < ncpu; i++)
		cpuset_add(&types[i >= (ncpu + 1) / 2].py_cpus, i);
}

const struct pcbe_ops *
soft_pcbe(const struct soft_shape *ns, const char *word)
{
	soft_shape = *ns;
	word = strchr(word, ',');
	snprintf(name, sizeof name, "Software PMU (pmu=software%s)",
	    word != NULL ? word : "");
	memset(soft_cpus, 0, ncpu * sizeof soft_cpus[0]);
	soft_ops.pcbe_attrs = soft_attrs();
	make_types(soft_ops.pcbe_attrs);
	soft_ops.pcbe_caps = 0;
	soft_ops.pcbe_no_ovf_intr = 0;
	if (ns->ns_ovf != SOFT_OVF_NONE)
		soft_ops.pcbe_caps |= CPC_CAP_OVERFLOW_INTERRUPT;
	if (ns->ns_ovf == SOFT_OVF_PRECISE)
		soft_ops.pcbe_caps |= CPC_CAP_OVERFLOW_PRECISE;
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
