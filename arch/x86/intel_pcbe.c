/*
 * The backend of Intel's architectural performance monitoring: whatever
 * CPUID.0AH tells of, on a model nobody has heard of too.  PICs are the
 * general counters, then the fixed ones.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring"; vol. 2A,
 * "CPUID" (leaf 0AH).
 */
#include <stddef.h>

#include "arch/x86/cpuid.h"
#include "arch/x86/evtsel.h"
#include "arch/x86/extra.h"
#include "arch/x86/intel_events.h"
#include "arch/x86/pic.h"
#include "arch/x86/pmu.h"
#include "arch/x86/pmu_access.h"
#include "arch/x86/pmu_regs.h"
#include "kern/arch.h"
#include "kern/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"

#define RAW_MAX      0xffULL
#define RAW_TOO_HIGH 0xffffffffU
#define WIDTH_MIN    32 /* of a counter that CPUID tells of */
#define WIDTH_MAX    63

/*
 * What CPUID tells of a CPU's PMU, and then of all CPUs' together: what each
 * of them has.
 */
struct intel_shape {
	unsigned is_version;
	unsigned is_ngp, is_gp_width;
	unsigned is_fixed; /* bit n: fixed counter n */
	unsigned is_fixed_width;
	unsigned is_events; /* bit n: architectural event n */
	unsigned is_cache;  /* the level of the last cache */
	bool is_full_width; /* IA32_A_PMCx */
	bool is_anythread;
};
static struct intel_shape shape;

/* Bits a name may have, on a machine that has all there is. */
#define NAMED_BITS                                                             \
	(0xffULL | EVTSEL_UMASK_MASK | EVTSEL_EDGE | EVTSEL_PC | EVTSEL_ANY |  \
	    EVTSEL_INV | EVTSEL_CMASK_MASK | EVTSEL_IN_TX | EVTSEL_IN_TXCP)

static const uint8_t attrs_v1[] = { ATTR_EDGE, ATTR_PC, ATTR_INV, ATTR_UMASK,
	ATTR_CMASK, ATTR_END };
static const uint8_t attrs_v3[] = { ATTR_EDGE, ATTR_INV, ATTR_UMASK, ATTR_CMASK,
	ATTR_ANYTHR, ATTR_END };
static const uint8_t attrs_v5[] = { ATTR_EDGE, ATTR_INV, ATTR_UMASK, ATTR_CMASK,
	ATTR_END };

/* What all CPUs have of these, and what one of them lacks. */
static uint8_t attrs_list[ATTR_END + 1] = { ATTR_END };
static uint64_t lacking;

static unsigned
low_bits(unsigned n)
{
	return n < 32 ? (1U << n) - 1 : ~0U;
}

/* Intel SDM vol. 2A, "CPUID" (leaf 04H). */
static unsigned
last_cache(void)
{
	unsigned type, level = 0;
	struct cpuid_regs r;

	for (uint32_t i = 0; i < 16; i++) {
		r = cpuid(4, i);
		if ((type = FIELD(r.a, 4, 0)) == 0)
			break;
		if (FIELD(r.a, 7, 5) > level)
			level = FIELD(r.a, 7, 5);
	}
	return level;
}

static bool
has_full_width(void)
{
	uint64_t cap;

	/* CPUID.1:ECX.PDCM */
	return FIELD(cpuid(1, 0).c, 15, 15) != 0 &&
	       pmu_rdmsr_safe(IA32_PERF_CAPABILITIES, &cap) == 0 &&
	       (cap & PERF_CAP_FW_WRITE) != 0;
}

static bool
width_is_sane(unsigned width)
{
	return width >= WIDTH_MIN && width <= WIDTH_MAX;
}

/*
 * A bit of EBX is set where the event is *not* available, and means something
 * only below the length in EAX.  Version 5 names fixed counters one by one.
 * Those from 4 on count parts of slots; no loop has a known number of these,
 * so that they could not be proved.
 */
static void
read_shape(struct intel_shape *is)
{
	struct cpuid_regs r = cpuid(0xa, 0);

	memset(is, 0, sizeof *is);
	is->is_version = FIELD(r.a, 7, 0);
	is->is_ngp = FIELD(r.a, 15, 8);
	is->is_gp_width = FIELD(r.a, 23, 16);
	is->is_events = ~r.b & low_bits(FIELD(r.a, 31, 24));
	if (is->is_version >= 2) {
		is->is_fixed = low_bits(FIELD(r.d, 4, 0));
		is->is_fixed_width = FIELD(r.d, 12, 5);
	}
	if (is->is_version >= 5)
		is->is_fixed |= r.c;
	is->is_fixed &= low_bits(INTEL_NFIXED);
	is->is_anythread = is->is_version >= 3 &&
	                   !(is->is_version >= 5 && FIELD(r.d, 15, 15) != 0);
	is->is_cache = last_cache();
	is->is_full_width = has_full_width();
	if (is->is_ngp > PCBE_MAXPIC - INTEL_NFIXED)
		is->is_ngp = PCBE_MAXPIC - INTEL_NFIXED;
	if (!width_is_sane(is->is_gp_width))
		is->is_ngp = 0;
	if (!width_is_sane(is->is_fixed_width))
		is->is_fixed = 0;
}

static void
lay_general(struct x86_pic *p, const struct intel_shape *is, unsigned n)
{
	p->xp_counter = is->is_full_width ? IA32_A_PMC(n) : IA32_PMC(n);
	p->xp_select = IA32_PERFEVTSEL(n);
	p->xp_index = n;
	p->xp_short = !is->is_full_width;
	p->xp_mask = (1ULL << is->is_gp_width) - 1;
	p->xp_global = PERF_GLOBAL_GP(n);
}

static void
lay_fixed(struct x86_pic *p, const struct intel_shape *is, unsigned n)
{
	p->xp_counter = IA32_FIXED_CTR(n);
	p->xp_select = 0;
	p->xp_index = RDPMC_FIXED + n;
	p->xp_short = false;
	p->xp_mask = (1ULL << is->is_fixed_width) - 1;
	p->xp_global = PERF_GLOBAL_FIXED(n);
}

/* The PICs of a shape. */
static void
lay_out(struct x86_pics *ps, const struct intel_shape *is)
{
	unsigned n;

	memset(ps, 0, sizeof *ps);
	if (is->is_version >= 2) {
		ps->xs_ctrl = IA32_PERF_GLOBAL_CTRL;
		ps->xs_status = IA32_PERF_GLOBAL_STATUS;
		ps->xs_clear = IA32_PERF_GLOBAL_OVF_CTRL;
	}
	ps->xs_fixed = is->is_fixed != 0;
	for (n = 0; n < is->is_ngp; n++)
		lay_general(&ps->xs_pic[ps->xs_n++], is, n);
	for (n = 0; n < INTEL_NFIXED; n++) {
		if ((is->is_fixed >> n & 1) != 0)
			lay_fixed(&ps->xs_pic[ps->xs_n++], is, n);
	}
	for (n = 0; n < ps->xs_n; n++)
		ps->xs_all |= ps->xs_pic[n].xp_global;
}

/*
 * Take from a shape what the CPU does not have after all: hypervisors pass
 * CPUID on and keep registers back.
 */
static void
probe(struct intel_shape *is)
{
	struct x86_pic p;
	unsigned n;

	if (is->is_version >= 2 &&
	    (pmu_wrmsr_safe(IA32_PERF_GLOBAL_CTRL, 0) != 0 ||
		pmu_wrmsr_safe(IA32_FIXED_CTR_CTRL, 0) != 0)) {
		is->is_version = 1;
		is->is_fixed = 0;
		is->is_anythread = false;
	}
	for (n = 0; n < is->is_ngp; n++) {
		lay_general(&p, is, n);
		if (!x86_pic_keeps(&p))
			break;
	}
	is->is_ngp = n;
	for (n = 0; n < INTEL_NFIXED; n++) {
		lay_fixed(&p, is, n);
		if ((is->is_fixed >> n & 1) != 0 && !x86_pic_keeps(&p))
			is->is_fixed &= ~(1U << n);
	}
}

static unsigned
lesser(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * An LWP runs on any CPU: of CPUs that differ, as on hybrid parts, only what
 * all have is offered, so that a set which could not run on some of them is
 * refused when it is bound.
 */
static void
merge(struct intel_shape *all, const struct intel_shape *is)
{
	all->is_version = lesser(all->is_version, is->is_version);
	all->is_ngp = lesser(all->is_ngp, is->is_ngp);
	all->is_fixed &= is->is_fixed;
	if (all->is_fixed_width != is->is_fixed_width)
		all->is_fixed = 0;
	if (all->is_gp_width != is->is_gp_width)
		all->is_ngp = all->is_fixed = 0;
	all->is_events &= is->is_events;
	if (all->is_cache != is->is_cache)
		all->is_cache = 0;
	all->is_full_width &= is->is_full_width;
	all->is_anythread &= is->is_anythread;
}

/* Those of the version, then of the registers beside. */
static void
list_the_attrs(void)
{
	static const struct {
		enum event_extra extra;
		enum evtsel_attr attr;
	} beside[] = {
		{ EXTRA_OFFCORE0, ATTR_MSR_OFFCORE },
		{ EXTRA_LDLAT, ATTR_MSR_LDLAT },
		{ EXTRA_FRONTEND, ATTR_MSR_FRONTEND },
	};
	const uint8_t *of_version = shape.is_anythread      ? attrs_v3
	                            : shape.is_version >= 3 ? attrs_v5
	                                                    : attrs_v1;
	unsigned n = 0;

	for (; of_version[n] != ATTR_END; n++)
		attrs_list[n] = of_version[n];
	for (unsigned i = 0; i < sizeof beside / sizeof beside[0]; i++) {
		if (x86_extra_exists(beside[i].extra))
			attrs_list[n++] = (uint8_t)beside[i].attr;
	}
	attrs_list[n] = ATTR_END;
}

/*
 * Bits of the event select that this machine lacks, where they would raise
 * #GP.  RTM: Intel SDM vol. 3B, "Performance Monitoring and Intel TSX".
 */
static void
find_lacking_bits(void)
{
	if (!shape.is_anythread)
		lacking |= EVTSEL_ANY;
	if (FIELD(cpuid(7, 0).b, 11, 11) == 0)
		lacking |= EVTSEL_IN_TX | EVTSEL_IN_TXCP;
}

enum pmu_found
intel_pcbe_init(void)
{
	struct intel_shape mine;
	struct x86_pics pics;

	read_shape(&mine);
	if (mine.is_version == 0)
		return PMU_NONE;
	probe(&mine);
	if (mine.is_ngp == 0)
		return PMU_MUTE;
	lay_out(&pics, &mine);
	x86_pics_silence(&pics);
	if (arch_curcpu()->c_id == 0) {
		shape = mine;
		intel_pcbe_ops.pcbe_table =
		    events_cpu_intel(x86_features.family, x86_features.model,
			x86_features.stepping);
	} else if (memcmp(&shape, &mine, sizeof shape) != 0) {
		printf("pcbe: CPU %u has another PMU: what all CPUs have is "
		       "offered\n",
		    arch_curcpu()->c_id);
		merge(&shape, &mine);
	}
	lay_out(&x86_pics, &shape);
	x86_pic_ops(&intel_pcbe_ops);
	if (intel_pcbe_ops.pcbe_table.es_pmu != NULL)
		x86_extra_probe();
	list_the_attrs();
	find_lacking_bits();
	return PMU_FOUND;
}

static const char *
impl_name(void)
{
	static char name[64];

	snprintf(name, sizeof name,
	    "Intel Arch PerfMon v%u on Family %u Model %u", shape.is_version,
	    x86_features.family, x86_features.model);
	return name;
}

static const char *
cpuref(void)
{
	return "See the \"Intel 64 and IA-32 Architectures Software "
	       "Developer's Manual\" (325462), \"Performance Monitoring\"; "
	       "raw codes: Intel's event lists of the CPU, perfmon-events";
}

static const char *
list_attrs(unsigned n)
{
	return evtsel_attr_name(attrs_list, n);
}

/* Which of the fixed counters a PIC is, or -1. */
static int
fixed_of(unsigned pic)
{
	uint32_t index = x86_pics.xs_pic[pic].xp_index;

	return (index & RDPMC_FIXED) != 0 ? (int)(index - RDPMC_FIXED) : -1;
}

/* Bit n: PIC n counts the event. */
static uint64_t
coverage(const struct intel_event *e)
{
	uint64_t pics = 0;
	unsigned pic;

	if (e->ie_cache != 0 && e->ie_cache != shape.is_cache)
		return 0;
	if ((e->ie_code & RDPMC_FIXED) == 0 &&
	    (shape.is_events >> e->ie_bit & 1) != 0)
		pics = low_bits(shape.is_ngp);
	for (pic = shape.is_ngp; pic < x86_pics.xs_n; pic++) {
		if (fixed_of(pic) == e->ie_fixed)
			pics |= 1ULL << pic;
	}
	return pics;
}

static const char *
list_events(unsigned pic, unsigned *at)
{
	while (*at < intel_nevents) {
		const struct intel_event *e = &intel_events[(*at)++];

		if ((coverage(e) >> pic & 1) != 0)
			return e->ie_name;
	}
	return NULL;
}

static uint64_t
event_coverage(
    const char *name, bool is_num, uint64_t num, struct pcbe_event *ev)
{
	for (unsigned i = 0; i < intel_nevents; i++) {
		const struct intel_event *e = &intel_events[i];

		if (strcmp(name, e->ie_name) == 0) {
			ev->pe_code = e->ie_code;
			ev->pe_flags = e->ie_generic ? PCBE_EVENT_GENERIC : 0;
			ev->pe_pics = coverage(e);
			return ev->pe_pics;
		}
	}
	if (!is_num)
		return 0;
	ev->pe_code = num <= RAW_MAX ? num : RAW_TOO_HIGH;
	ev->pe_flags = PCBE_EVENT_RAW;
	ev->pe_pics = low_bits(shape.is_ngp);
	return ev->pe_pics;
}

/* Does fixed counter n count what this code means? */
static bool
fixed_counts(unsigned n, uint64_t code)
{
	for (unsigned i = 0; i < intel_nevents; i++) {
		if (intel_events[i].ie_fixed == (int)n &&
		    intel_events[i].ie_code == code)
			return true;
	}
	return false;
}

static int
configure_fixed(struct pcbe_cfg *cfg, unsigned n, uint64_t code,
    unsigned nattrs, const struct pcbe_attr *attrs, bool privileged)
{
	uint64_t any = 0, ctrl = FIXED_CTRL_PMI;
	int subcode;

	if (!fixed_counts(n, code))
		return CPC_INVALID_EVENT;
	for (unsigned i = 0; i < nattrs; i++) {
		if (evtsel_attr_name(attrs_list, attrs[i].pa_id) == NULL ||
		    attrs_list[attrs[i].pa_id] != ATTR_ANYTHR)
			return CPC_INVALID_ATTRIBUTE;
	}
	subcode = evtsel_add_attrs(&any, attrs_list, nattrs, attrs, privileged);
	if ((cfg->pc_flags & CPC_COUNT_USER) != 0)
		ctrl |= FIXED_CTRL_USR;
	if ((cfg->pc_flags & CPC_COUNT_SYSTEM) != 0)
		ctrl |= FIXED_CTRL_OS;
	if (any != 0)
		ctrl |= FIXED_CTRL_ANY;
	cfg->pc_sel = ctrl << FIXED_CTRL_SHIFT(n);
	return subcode;
}

/*
 * What a name of the tables is on this machine.  Fixed PICs count what the
 * architecture gave them and take none of the event select's modifiers.
 */
static uint64_t
table_event(const struct event_code *ec, struct pcbe_event *ev)
{
	uint64_t pics = ec->ec_pics & low_bits(shape.is_ngp);
	uint32_t fixed = (uint32_t)(ec->ec_pics >> 32);

	ev->pe_code = evtsel_of(ec);
	if ((ev->pe_code & lacking) != 0 ||
	    (ec->ec_extra != EXTRA_NONE && !x86_extra_exists(ec->ec_extra)))
		ev->pe_flags |= CPC_EVENT_LACKING;
	if (pics == 0 && fixed != 0)
		ev->pe_code = INTEL_FIXED_CODE((unsigned)__builtin_ctz(fixed));
	for (unsigned pic = shape.is_ngp; pic < x86_pics.xs_n; pic++) {
		unsigned n = (unsigned)fixed_of(pic);

		if ((fixed >> n & 1) != 0 && fixed_counts(n, ev->pe_code))
			pics |= 1ULL << pic;
	}
	return pics;
}

/* The register beside the event select, by name or by attribute. */
static int
take_extra(const struct pcbe_event *ev, unsigned nattrs,
    const struct pcbe_attr *attrs, struct pcbe_set *set)
{
	enum event_extra extra = PCBE_EVENT_EXTRA(ev->pe_flags);
	uint64_t value = ev->pe_extra;

	for (unsigned i = 0; i < nattrs; i++) {
		switch (attrs_list[attrs[i].pa_id]) {
		case ATTR_MSR_OFFCORE:
			if (extra != EXTRA_OFFCORE1)
				extra = (ev->pe_code & 0xff) == 0xbb
				            ? EXTRA_OFFCORE1
				            : EXTRA_OFFCORE0;
			break;
		case ATTR_MSR_LDLAT:
			extra = EXTRA_LDLAT;
			break;
		case ATTR_MSR_FRONTEND:
			extra = EXTRA_FRONTEND;
			break;
		default:
			continue;
		}
		value = attrs[i].pa_val;
	}
	return extra == EXTRA_NONE ? 0 : x86_extra_take(set, extra, value);
}

static int
configure_general(struct pcbe_cfg *cfg, const struct pcbe_event *ev,
    unsigned nattrs, const struct pcbe_attr *attrs, struct pcbe_set *set)
{
	bool raw = (ev->pe_flags & PCBE_EVENT_RAW) != 0;
	int subcode;

	if ((ev->pe_code & ~(raw ? RAW_MAX : NAMED_BITS)) != 0 ||
	    (ev->pe_code & ~(uint64_t)(INTEL_NFIXED - 1)) ==
		INTEL_FIXED_CODE(0))
		return CPC_INVALID_EVENT;
	if ((ev->pe_code & lacking) != 0)
		return CPC_RESOURCE_UNAVAIL;
	if ((ev->pe_code & EVTSEL_ANY) != 0 && !set->ps_privileged)
		return CPC_ATTR_REQUIRES_PRIVILEGE;
	cfg->pc_sel = ev->pe_code | evtsel_control(cfg->pc_flags);
	subcode = evtsel_add_attrs(
	    &cfg->pc_sel, attrs_list, nattrs, attrs, set->ps_privileged);
	return subcode != 0 ? subcode : take_extra(ev, nattrs, attrs, set);
}

static int
configure(struct pcbe_cfg *cfg, const struct pcbe_event *ev, unsigned nattrs,
    const struct pcbe_attr *attrs, struct pcbe_set *set)
{
	int fixed = fixed_of(cfg->pc_pic);
	int subcode;

	if (fixed >= 0)
		subcode = configure_fixed(cfg, (unsigned)fixed, ev->pe_code,
		    nattrs, attrs, set->ps_privileged);
	else
		subcode = configure_general(cfg, ev, nattrs, attrs, set);
	if (subcode == 0)
		x86_pic_take(cfg, set);
	return subcode;
}

/* Each PIC by an event of its own; instructions where it can count them. */
static const char *
prove(unsigned pic)
{
	static const char *const events[] = { "instr_retired.any",
		"cpu_clk_unhalted.thread", "cpu_clk_unhalted.ref",
		"topdown.slots" };
	const char *ins = "inst_retired.any_p";
	struct pcbe_event ev;
	int fixed = fixed_of(pic);

	if (fixed >= 0)
		return x86_prove(
		    &intel_pcbe_ops, pic, events[fixed], fixed == 0);
	if (event_coverage(ins, false, 0, &ev) != 0)
		return x86_prove(&intel_pcbe_ops, pic, ins, true);
	return x86_prove(
	    &intel_pcbe_ops, pic, "cpu_clk_unhalted.thread_p", false);
}

struct pcbe_ops intel_pcbe_ops = {
	.impl_name = impl_name,
	.cpuref = cpuref,
	.list_events = list_events,
	.list_attrs = list_attrs,
	.event_coverage = event_coverage,
	.table_event = table_event,
	.configure = configure,
	.prove = prove,
};
