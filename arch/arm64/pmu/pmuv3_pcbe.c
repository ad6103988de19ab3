/*
 * The backend of Arm's PMUv3.  The PICs are the event counters.  The cycle
 * counter, PMCCNTR_EL0, is the tick and always runs, so PMCR_EL0.E stays 1.
 * PMCNTENSET_EL0 and PMCNTENCLR_EL0 start and stop PICs.
 * Arm ARM (DDI 0487), "The Performance Monitors Extension".
 */
#include <stddef.h>

#include "arch/arm64/arm64.h"
#include "arch/arm64/pmu/pmuv3_impl.h"
#include "arch/arm64/pmu/pmuv3_pics.h"
#include "arch/arm64/pmu/regs.h"
#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"

#define RAW_MAX    0xffffU
#define RAW_MAX_V3 0x3ffU /* before PMUv3p1 an event number has ten bits */

#define AT(type, field, at)                                                    \
	_Static_assert(offsetof(struct type, field) == (at), "pmuv3_pics.h")
AT(pcbe_set, ps_n, PS_N);
AT(pcbe_set, ps_pics, PS_PICS);
AT(pcbe_set, ps_cfg, PS_CFG);
AT(pcbe_set, ps_page, PS_PAGE);
AT(pcbe_cfg, pc_pic, PC_PIC);
AT(pcbe_cfg, pc_sel, PC_SEL);
AT(pcbe_cfg, pc_mask, PC_MASK);
_Static_assert(sizeof(struct pcbe_cfg) == PC_BYTES, "pmuv3_pics.h");
_Static_assert(sizeof(struct cpc_page_req) == CQ_BYTES, "pmuv3_pics.h");
AT(cpc_page, cg_seq, CG_SEQ);
AT(cpc_page, cg_tick, CG_TICK);
AT(cpc_page, cg_req, CG_REQ);
AT(cpc_page_req, cq_data, CQ_DATA);
AT(cpc_page_req, cq_last, CQ_LAST);
AT(cpc_sample, cs_tick, CS_TICK);
AT(cpc_sample, cs_value, CS_TICK + 8);

/*
 * ps_config is two masks, and FREEZE: the PICs that count, helpers included,
 * and those of them that interrupt.  A stopped PIC cannot overflow, so its
 * interrupt may stay enabled.
 */
#define COUNT(pics)        ((uint64_t)(pics))
#define INTERRUPT(pics)    ((uint64_t)(pics) << 32)
#define COUNTING(config)   ((uint32_t)(config))
#define INTERRUPTS(config) ((config) >> 32 & 0x7fffffff)
#define FREEZE             (1ULL << 63) /* the set stops at an overflow */

struct pmuv3 pmuv3;
const uint64_t *pmuv3_counts;

#define PMCR_RUN(version)                                                      \
	(PMCR_E | PMCR_LC | ((version) >= PMUVER_V3P5 ? PMCR_LP : 0))

/* After reset, enables and counts are undefined: clear them all. */
static void
silence_pmu(unsigned version)
{
	pmu_write_pmuserenr(0);
	pmu_write_pmcntenclr(~0ULL);
	pmu_write_pmintenclr(~0ULL);
	pmu_isb();
	pmu_write_pmovsclr(~0ULL);
	pmu_write_pmcr(PMCR_RUN(version) | PMCR_P | PMCR_C);
	pmu_write_pmccfiltr(PMEVTYPER_NSH); /* the tick runs at every level */
	pmu_isb();
	pmu_write_pmcntenset(PMCNTEN_CYCLES);
	pmu_isb();
}

/* Stop this CPU's PMU and read its shape.  The version is known. */
static void
probe_pmu(void *arg)
{
	struct pmuv3 *pv = arg;

	silence_pmu(pv->pv_version);
	pv->pv_nevent = (unsigned)PMCR_N(pmu_read_pmcr());
	/* Older versions may store PMCR_EL0.LP, without effect. */
	pv->pv_width = pv->pv_version >= PMUVER_V3P5 ? 64 : 32;
	pv->pv_ceid[0] = pmu_read_pmceid0();
	pv->pv_ceid[1] = pmu_read_pmceid1();
	if (pv->pv_version >= PMUVER_V3P7) {
		pv->pv_threshold = PMMIR_THWIDTH(pmu_read_pmmir());
		pv->pv_edge = PMMIR_EDGE(pmu_read_pmmir()) != 0;
		pmu_write_pmcr(PMCR_RUN(pv->pv_version) | PMCR_FZO);
		pv->pv_freezes = (pmu_read_pmcr() & PMCR_FZO) != 0;
		pmu_write_pmcr(PMCR_RUN(pv->pv_version));
	}
	/* Before PMUv3p1 the upper halves of PMCEID are reserved. */
	if (pv->pv_version < PMUVER_V3P1) {
		pv->pv_ceid[0] = (uint32_t)pv->pv_ceid[0];
		pv->pv_ceid[1] = (uint32_t)pv->pv_ceid[1];
	}
	if (pmuv3_counts != NULL) {
		pv->pv_ceid[0] &= pmuv3_counts[0];
		pv->pv_ceid[1] &= pmuv3_counts[1];
	}
}

/*
 * An LWP may run on any CPU.  So if CPUs differ, as big and little ones do, a
 * set without a core type gets only the PICs and events that all have.
 */
void
pmuv3_merge(struct pmuv3 *all, const struct pmuv3 *mine)
{
	if (mine->pv_width != all->pv_width)
		all->pv_widths_differ = true;
	all->pv_trapped |= mine->pv_trapped;
	if (mine->pv_version < all->pv_version)
		all->pv_version = mine->pv_version;
	if (mine->pv_nevent < all->pv_nevent)
		all->pv_nevent = mine->pv_nevent;
	if (all->pv_widths_differ)
		all->pv_nevent = 0;
	all->pv_ceid[0] &= mine->pv_ceid[0];
	all->pv_ceid[1] &= mine->pv_ceid[1];
	if (mine->pv_threshold < all->pv_threshold)
		all->pv_threshold = mine->pv_threshold;
	all->pv_edge &= mine->pv_edge;
	all->pv_freezes &= mine->pv_freezes;
}

static void
merge_shape(const struct pmuv3 *mine)
{
	if (mine->pv_version != pmuv3.pv_version ||
	    mine->pv_nevent != pmuv3.pv_nevent ||
	    mine->pv_ceid[0] != pmuv3.pv_ceid[0] ||
	    mine->pv_ceid[1] != pmuv3.pv_ceid[1] ||
	    mine->pv_threshold != pmuv3.pv_threshold ||
	    mine->pv_edge != pmuv3.pv_edge)
		printf("pcbe: CPU %u has another PMU: sets without a core type "
		       "get only what all CPUs have\n",
		    arch_curcpu()->c_id);
	pmuv3_merge(&pmuv3, mine);
}

/*
 * A hypervisor or EL3 may trap accesses to a PMU that is announced.  They are
 * undefined then.  Arm ARM (DDI 0487), "MDCR_EL2" and "MDCR_EL3" (TPM).
 */
void
pmuv3_pcbe_init(bool owns_el2, uint64_t midr)
{
	struct pmuv3 mine = { .pv_version = pmu_read_pmuver(),
		.pv_owns_el2 = owns_el2 };
	bool any =
	    mine.pv_version != PMUVER_NONE && mine.pv_version != PMUVER_IMPDEF;

	if (!any || arm64_try(probe_pmu, &mine) != 0)
		mine = (struct pmuv3){ .pv_trapped = any };
	if (arch_curcpu()->c_id == 0)
		pmuv3 = mine;
	else
		merge_shape(&mine);
	pmuv3_type_join(&mine, midr);
}

bool
pmuv3_has_event(unsigned number)
{
	return arm_has_common(pmuv3.pv_ceid, number);
}

void
pmuv3_pcbe_overflow(enum pmuv3_overflow how)
{
	pmuv3.pv_overflow = how;
	pmuv3_pcbe_ops.pcbe_caps = 0;
	pmuv3_pcbe_ops.pcbe_freezes = pmuv3.pv_freezes && how == PMUV3_PLAIN;
	pmuv3_pcbe_ops.pcbe_no_ovf_intr = 0;
	if (how != PMUV3_NO_INTR)
		pmuv3_pcbe_ops.pcbe_caps =
		    CPC_CAP_OVERFLOW_INTERRUPT | CPC_CAP_OVERFLOW_PRECISE;
	/* A helper PIC is worth its PIC for a notify request only. */
	if (how != PMUV3_PLAIN && pmuv3.pv_width < 64)
		pmuv3_pcbe_ops.pcbe_no_ovf_intr = pmuv3.pv_pics;
}

/* The event counters of a shape, without the witness's PIC. */
static uint64_t
pics_of(const struct pmuv3 *pv)
{
	return pmuv3.pv_pics & ((1ULL << pv->pv_nevent) - 1);
}

static unsigned
ncounters(void)
{
	return pmuv3.pv_pics == 0
	           ? 0
	           : 64 - (unsigned)__builtin_clzll(pmuv3.pv_pics);
}

static unsigned
width(unsigned pic)
{
	(void)pic;
	return pmuv3.pv_width;
}

/* PMEVCNTR<n>_EL0 */
static uint32_t
read_index(unsigned pic)
{
	return pic;
}

static const char *
impl_name(void)
{
	static const char *const names[] = { NULL, "Arm PMUv3", NULL, NULL,
		"Arm PMUv3p1", "Arm PMUv3p4", "Arm PMUv3p5", "Arm PMUv3p7",
		"Arm PMUv3p8", "Arm PMUv3p9" };
	size_t n = sizeof names / sizeof names[0];
	unsigned v = pmuv3.pv_version;

	return v < n && names[v] != NULL ? names[v] : "Arm PMUv3, later";
}

static const char *
cpuref(void)
{
	return "See the \"Arm Architecture Reference Manual for A-profile "
	       "architecture\" (DDI 0487), \"PMU events and event numbers\"; "
	       "raw codes: the technical reference manual of the CPU";
}

static void
describe(struct cpc_pmu *pm, unsigned type)
{
	const struct pmuv3 *pv = pmuv3_shape(type);

	pm->pm_kind = CPC_PMU_ARM;
	pm->pm_general = (uint32_t)pics_of(pv);
	pm->pm_family = pv->pv_implementer;
	pm->pm_model = pv->pv_part;
	pm->pm_events[0] = pv->pv_ceid[0];
	pm->pm_events[1] = pv->pv_ceid[1];
	pm->pm_listed = pmuv3_counts != NULL;
}

static uint64_t
known_event(enum pcbe_known which, struct cpc_event *ev)
{
	unsigned number =
	    which == PCBE_INSTRUCTIONS ? ARM_INST_RETIRED : ARM_CPU_CYCLES;

	*ev = (struct cpc_event){ .ce_code = number };
	if (pmuv3_has_event(number))
		ev->ce_pics = pics_of(&pmuv3);
	return ev->ce_pics;
}

/* A 32-bit counter must be folded before it wraps twice. */
static bool
needs_interrupt(const struct pcbe_cfg *cfg)
{
	return cfg->pc_notify ||
	       (pmuv3.pv_width < 64 && pmuv3.pv_overflow == PMUV3_PLAIN);
}

static uint64_t
make_config(const struct pcbe_set *set)
{
	uint64_t config = COUNT(set->ps_pics | set->ps_helpers);

	/* Any overflow freezes the set, so each has to interrupt. */
	if (pmuv3.pv_freezes && set->ps_freeze != 0)
		return config | INTERRUPT(set->ps_pics) | FREEZE;
	for (uint32_t i = 0; i < set->ps_n; i++) {
		if (needs_interrupt(&set->ps_cfg[i]))
			config |= INTERRUPT(1ULL << set->ps_cfg[i].pc_pic);
	}
	return config;
}

uint32_t
pmuv3_attrs(const struct pmuv3 *pv)
{
	if (pv->pv_threshold == 0)
		return 0;
	return 1U << CPC_ATTR_CMASK | 1U << CPC_ATTR_INV |
	       (uint32_t)pv->pv_edge << CPC_ATTR_EDGE;
}

/* Set the bits of the attributes, which mean what they mean on x86. */
static int
add_attrs(uint64_t *sel, const struct pmuv3 *pv, unsigned nattrs,
    const struct cpc_packattr *attrs, struct cpc_refusal *rf)
{
	unsigned bits = pv->pv_threshold < PMEVTYPER_TH_BITS
	                    ? pv->pv_threshold
	                    : PMEVTYPER_TH_BITS;
	uint64_t times = 0;
	bool fewer = false, edge = false;

	for (unsigned i = 0; i < nattrs; i++) {
		uint32_t id = attrs[i].cpa_id;

		if ((pmuv3_attrs(pv) >> id & 1) == 0)
			return CPC_INVALID_ATTRIBUTE;
		if (id == CPC_ATTR_CMASK)
			times = attrs[i].cpa_value;
		else if (id == CPC_ATTR_INV)
			fewer = attrs[i].cpa_value != 0;
		else
			edge = attrs[i].cpa_value != 0;
	}
	if (times >> bits != 0)
		return pcbe_refuse(rf, CPC_ATTRIBUTE_OUT_OF_RANGE,
		    "cmask is at most %#x", (1U << bits) - 1);
	*sel |= PMEVTYPER_TH(times);
	if (times != 0)
		*sel |= fewer ? PMEVTYPER_TC_LT : PMEVTYPER_TC_GE;
	if (edge)
		*sel |= PMEVTYPER_TE | (times == 0 ? PMEVTYPER_TC_NE : 0);
	return 0;
}

static int
configure(struct pcbe_cfg *cfg, const struct cpc_event *ev, unsigned nattrs,
    const struct cpc_packattr *attrs, struct pcbe_set *set,
    struct cpc_refusal *rf)
{
	const struct pmuv3 *pv = pmuv3_shape(set->ps_type);
	unsigned max = pv->pv_version >= PMUVER_V3P1 ? RAW_MAX : RAW_MAX_V3;
	uint32_t spare = set->ps_spare & ~set->ps_helpers;
	int subcode;

	cfg->pc_aux = 0;
	if (ev->ce_code > max)
		return pcbe_refuse(rf, CPC_INVALID_EVENT,
		    "an event's number is at most %#x", max);
	cfg->pc_sel = ev->ce_code;
	if ((subcode = add_attrs(&cfg->pc_sel, pv, nattrs, attrs, rf)) != 0)
		return subcode;
	if (pmuv3_counts != NULL &&
	    !arm_has_common(pv->pv_ceid, (unsigned)ev->ce_code))
		return pcbe_refuse(rf, CPC_RESOURCE_UNAVAIL,
		    "this emulator does not model event %#x",
		    (unsigned)ev->ce_code);
	if ((cfg->pc_flags & CPC_COUNT_HV) != 0 && !pmuv3.pv_owns_el2)
		return CPC_HV_NO_ACCESS;
	cfg->pc_mask = pmuv3_in_width(~0ULL);
	if (cfg->pc_notify && pmuv3.pv_overflow == PMUV3_PAIRED) {
		cfg->pc_aux = spare & -spare; /* the lowest */
		if (cfg->pc_aux == 0)
			return pcbe_refuse(rf, CPC_RESOURCE_UNAVAIL,
			    "overflow notification needs a second PIC as "
			    "helper; "
			    "none is free");
		set->ps_helpers |= (uint32_t)cfg->pc_aux;
	}
	if ((cfg->pc_flags & CPC_COUNT_USER) == 0)
		cfg->pc_sel |= PMEVTYPER_U;
	if ((cfg->pc_flags & CPC_COUNT_SYSTEM) == 0)
		cfg->pc_sel |= PMEVTYPER_P;
	if ((cfg->pc_flags & CPC_COUNT_HV) != 0)
		cfg->pc_sel |= PMEVTYPER_NSH;
	set->ps_config = PCBE_CONFIG_NEW;
	return 0;
}

/*
 * The CPU ran another configuration last.  With user reads open a program can
 * read every PIC, so clear the counts that belong to other sets.  A kept PIC,
 * which the last set may have used, is not in pv_pics.
 */
static void
select_pics(uint64_t config)
{
	struct cpu *c = arch_curcpu();
	uint64_t stale = COUNTING(c->c_pmu_config & ~config) & pmuv3.pv_pics;

	for (; stale != 0; stale &= stale - 1)
		pmu_write_pmevcntr((unsigned)__builtin_ctzll(stale), 0);
	pmu_write_pmintenclr(pmuv3.pv_pics);
	pmu_write_pmintenset(INTERRUPTS(config));
	if (pmuv3.pv_freezes)
		pmu_write_pmcr(PMCR_RUN(pmuv3.pv_version) |
			       ((config & FREEZE) != 0 ? PMCR_FZO : 0));
	c->c_pmu_config = config;
}

/* Each helper starts one count lower than the PIC it serves. */
static inline void
load_helpers(const struct pcbe_set *set)
{
	for (uint32_t i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];
		uint64_t data = set->ps_page->cg_req[i].cq_data;

		if (cfg->pc_aux != 0)
			pmu_load((unsigned)__builtin_ctzll(cfg->pc_aux),
			    cfg->pc_sel, (data - 1) & cfg->pc_mask);
	}
}

static inline void
start(struct pcbe_set *set)
{
	uint32_t pics = COUNTING(set->ps_config);

	pmu_write_pmovsclr(pics);
	if (set->ps_user_read)
		pmu_write_pmuserenr(PMUSERENR_ER | PMUSERENR_CR);
	pmuv3_start(set, pics);
}

static void
program_slow(struct pcbe_set *set)
{
	if (set->ps_config == PCBE_CONFIG_NEW)
		set->ps_config = make_config(set);
	if (arch_curcpu()->c_pmu_config != set->ps_config)
		select_pics(set->ps_config);
	load_helpers(set);
	start(set);
}

static void
program(struct pcbe_set *set)
{
	if (set->ps_helpers != 0 ||
	    arch_curcpu()->c_pmu_config != set->ps_config)
		program_slow(set);
	else
		start(set);
}

static inline void
stop_pics(uint64_t pics)
{
	pmu_write_pmcntenclr(pics);
	pmu_write_pmuserenr(0);
	pmu_isb();
}

static void
allstop(void)
{
	struct cpu *c = arch_curcpu();

	pmu_write_pmintenclr(pmuv3.pv_pics);
	/* PMCR_EL0.FZO stays, so that a set without it writes it. */
	c->c_pmu_config &= COUNT(~0U) | FREEZE;
	stop_pics(pmuv3.pv_pics);
}

/* The bits keep the interrupt asserted, so clear those that are returned. */
static uint64_t
overflow_bitmap(void)
{
	uint64_t pics = pmu_read_pmovsclr() & pmuv3.pv_pics;

	pmu_write_pmovsclr(pics);
	pmu_isb();
	return pics;
}

static uint64_t
stop(struct pcbe_set *set)
{
	struct cpc_page *page = set->ps_page;
	uint32_t pics = COUNTING(set->ps_config);
	uint64_t overflowed;

	stop_pics(pics);
	page->cg_tick += pmu_read_pmccntr();
	/* The witness's PIC may be among them, so use the set's PICs only. */
	if ((overflowed = pmu_read_pmovsclr()) != 0)
		return pmuv3_fold_overflowed(set, overflowed & pics);
	return pmuv3_fold(set);
}

/* Once removed from pv_pics, these PICs are never stopped or cleared. */
static void
keep(struct pcbe_set *set)
{
	pmuv3.pv_pics &= ~(uint64_t)set->ps_pics;
	pmuv3_start(set, set->ps_pics);
}

static bool
proof_event(unsigned pic, unsigned type, struct cpc_event *ev)
{
	bool insns = pmuv3_has_event(ARM_INST_RETIRED);

	(void)type;
	*ev = (struct cpc_event){ .ce_pics = 1ULL << pic,
		.ce_code = insns ? ARM_INST_RETIRED : ARM_CPU_CYCLES };
	return insns;
}

static void
spin(uint64_t n)
{
	pmuv3_spin(0, n);
}

struct pcbe_ops pmuv3_pcbe_ops = {
	.ncounters = ncounters,
	.width = width,
	.read_index = read_index,
	.impl_name = impl_name,
	.cpuref = cpuref,
	.describe = describe,
	.known_event = known_event,
	.overflow_bitmap = overflow_bitmap,
	.configure = configure,
	.program = program,
	.stop = stop,
	.allstop = allstop,
	.sample = pmuv3_sample,
	.keep = keep,
	.proof_event = proof_event,
	.spin = spin,
};
