/* A PMU in software, and its backend, for host tests of kcpc and libcpc. */

#include "tests/lib/host/fake_pcbe.h"

#include <stddef.h>
#include <string.h>

#include "kern/arch.h"
#include "kern/sched/cpu.h"
#include "tests/lib/host/fake_kernel.h"

#define EVENT_INS    SOFT_CODE(SOFT_INSTRUCTIONS)
#define EVENT_CYC    SOFT_CODE(SOFT_CYCLES)
#define EVENT_BRANCH SOFT_CODE(SOFT_BRANCHES)

#define ATTRS                                                                  \
	(1U << CPC_ATTR_UMASK | 1U << CPC_ATTR_EDGE |                          \
	    1U << CPC_ATTR_ANYTHR) /* requires privilege */

const struct fake_shape fake_ordinary = {
	.npic = 4,
	.width = 48,
	.caps = CPC_CAP_OVERFLOW_INTERRUPT | CPC_CAP_OVERFLOW_PRECISE,
};
struct fake_shape fake_shape;
unsigned fake_configured, fake_freed;

/* The PICs that count each event of the software PMU on an asymmetric PMU. */
static const uint32_t event_pics[SOFT_NEVENT] = {
	[SOFT_INSTRUCTIONS] = ~0U,
	[SOFT_CYCLES] = 3,
	[SOFT_BRANCHES] = 1,
};

/* The hardware of each CPU. */
static struct pmu {
	uint64_t raw[PCBE_MAXPIC];
	uint32_t sel[PCBE_MAXPIC];
	uint32_t filter[PCBE_MAXPIC]; /* CPC_COUNT_* */
	bool interrupts[PCBE_MAXPIC];
	uint32_t running;
	uint32_t kept;
	uint32_t readable;
	uint64_t overflowed;
	uint64_t cycles;
} pmus[FAKE_NCPU];

static struct pmu *
this_pmu(void)
{
	return &pmus[arch_curcpu()->c_id];
}
#define pmu (*this_pmu())

static uint64_t
mask(void)
{
	return fake_shape.width == 64 ? ~0ULL : (1ULL << fake_shape.width) - 1;
}

static uint64_t
weight(uint32_t sel, uint64_t steps)
{
	switch (sel) {
	case EVENT_INS:
		return steps;
	case EVENT_CYC:
		return 3 * steps;
	case EVENT_BRANCH:
		return steps / 4;
	default:
		return sel * steps;
	}
}

static void
retire_steps(uint32_t privilege, uint64_t steps)
{
	uint64_t before;
	bool interrupt = false;
	unsigned pic;

	pmu.cycles += 3 * steps;
	for (pic = 0; pic < fake_shape.npic; pic++) {
		if ((pmu.running & 1U << pic) == 0 ||
		    (pmu.filter[pic] & privilege) == 0)
			continue;
		before = pmu.raw[pic];
		pmu.raw[pic] = (before + weight(pmu.sel[pic], steps)) & mask();
		if (pmu.raw[pic] < before) {
			pmu.overflowed |= 1ULL << pic;
			interrupt |= pmu.interrupts[pic];
		}
	}
	if (interrupt)
		fake_pmi();
}

void
fake_user(uint64_t steps)
{
	retire_steps(CPC_COUNT_USER, steps);
}

void
fake_system(uint64_t steps)
{
	retire_steps(CPC_COUNT_SYSTEM, steps);
}

void
fake_pmu_reset(void)
{
	unsigned c, pic;

	memset(pmus, 0, sizeof pmus);
	for (c = 0; c < FAKE_NCPU; c++) {
		for (pic = 0; pic < PCBE_MAXPIC; pic++)
			pmus[c].raw[pic] = 0xdeadbeefdeadbeef & mask();
	}
	fake_configured = fake_freed = 0;
}

uint32_t
fake_pmu_running(void)
{
	return pmu.running & ~pmu.kept;
}

bool
fake_pmu_any(void)
{
	unsigned c;

	for (c = 0; c < FAKE_NCPU; c++) {
		if ((pmus[c].running & ~pmus[c].kept) != 0)
			return true;
	}
	return false;
}

uint32_t
fake_pmu_readable(void)
{
	return pmu.readable;
}

uint64_t
fake_pmu_raw(unsigned pic)
{
	return pmu.raw[pic];
}

/*
 * The backend.
 */

static uint32_t
all_pics(void)
{
	return (uint32_t)((1ULL << fake_shape.npic) - 1);
}

static unsigned
ncounters(void)
{
	return fake_shape.npic;
}

static unsigned
width(unsigned pic)
{
	(void)pic;
	return fake_shape.width;
}

/*
 * Not the PIC's number, so that a test notices if one is used for the other.
 */
static uint32_t
read_index(unsigned pic)
{
	return FAKE_READ_INDEX + pic;
}

static const char *
impl_name(void)
{
	return "Fake PMU";
}

static const char *
cpuref(void)
{
	return "See tests/lib/host/fake_pcbe.h";
}

static uint32_t
pics_of(unsigned event)
{
	return fake_shape.asymmetric ? event_pics[event] & all_pics()
	                             : all_pics();
}

static void
describe(struct cpc_pmu *pm)
{
	pm->pm_kind = CPC_PMU_SOFTWARE;
	pm->pm_general = all_pics();
	for (unsigned i = 0; i < SOFT_NEVENT; i++)
		pm->pm_own[i] = pics_of(i);
	pm->pm_generic = 1U << SOFT_INSTRUCTIONS | 1U << SOFT_CYCLES;
}

static uint64_t
known_event(enum pcbe_known which, struct pcbe_event *ev)
{
	unsigned event =
	    which == PCBE_INSTRUCTIONS ? SOFT_INSTRUCTIONS : SOFT_CYCLES;

	*ev = (struct pcbe_event){ .pe_code = SOFT_CODE(event),
		.pe_pics = pics_of(event) };
	return ev->pe_pics;
}

static uint64_t
overflow_bitmap(void)
{
	uint64_t overflowed = pmu.overflowed;

	pmu.overflowed = 0;
	return overflowed != 0 && fake_shape.imprecise ? ~0ULL : overflowed;
}

static int
check_attrs(unsigned nattrs, const struct pcbe_attr *at, bool privileged)
{
	unsigned i;

	for (i = 0; i < nattrs; i++) {
		if (at[i].pa_id == CPC_ATTR_UMASK && at[i].pa_val > 0xff) {
			kcpc_reason("umask is at most 0xff");
			return CPC_ATTRIBUTE_OUT_OF_RANGE;
		}
		if (at[i].pa_id == CPC_ATTR_ANYTHR && !privileged)
			return CPC_ATTR_REQUIRES_PRIVILEGE;
	}
	return 0;
}

/* Take a spare PIC.  Returns false if none is left. */
static bool
take_helper(struct pcbe_cfg *cfg, struct pcbe_set *set)
{
	uint32_t spare = set->ps_spare & ~set->ps_helpers;

	if (spare == 0)
		return false;
	cfg->pc_aux = spare & -spare;
	set->ps_helpers |= (uint32_t)cfg->pc_aux;
	return true;
}

static int
configure(struct pcbe_cfg *cfg, const struct pcbe_event *ev, unsigned nattrs,
    const struct pcbe_attr *at, struct pcbe_set *set)
{
	const uint16_t filter = CPC_COUNT_USER | CPC_COUNT_SYSTEM;
	int subcode;

	if (ev->pe_code >= SOFT_CODE(SOFT_NEVENT) ||
	    ((ev->pe_flags & PCBE_EVENT_RAW) != 0 && fake_shape.no_raw))
		return CPC_INVALID_EVENT;
	if ((subcode = check_attrs(nattrs, at, set->ps_privileged)) != 0)
		return subcode;
	if ((cfg->pc_flags & CPC_COUNT_HV) != 0 && fake_shape.no_hv)
		return CPC_HV_NO_ACCESS;
	if (fake_shape.one_filter && set->ps_n > 0 &&
	    ((cfg->pc_flags ^ set->ps_cfg[0].pc_flags) & filter) != 0)
		return CPC_CONFLICTING_REQS;
	if (fake_shape.helpers && cfg->pc_notify && !take_helper(cfg, set))
		return CPC_RESOURCE_UNAVAIL;
	cfg->pc_sel = ev->pe_code;
	cfg->pc_mask = mask();
	fake_configured++;
	return 0;
}

static void
program(struct pcbe_set *set)
{
	const struct pcbe_cfg *cfg;
	struct cpc_page_req *cq;
	unsigned i;

	for (i = 0; i < set->ps_n; i++) {
		cfg = &set->ps_cfg[i];
		cq = &set->ps_page->cg_req[i];
		cq->cq_last = cq->cq_data & mask();
		pmu.raw[cfg->pc_pic] = cq->cq_last;
		pmu.sel[cfg->pc_pic] = (uint32_t)cfg->pc_sel;
		pmu.filter[cfg->pc_pic] = cfg->pc_flags;
		pmu.interrupts[cfg->pc_pic] =
		    cfg->pc_notify || !fake_shape.mute;
		pmu.running |= 1U << cfg->pc_pic;
		if (fake_shape.staggered)
			fake_system(1);
	}
	pcbe_begin(set->ps_page, pmu.cycles);
	pmu.running = set->ps_pics | pmu.kept;
	pmu.readable = set->ps_user_read ? set->ps_pics : 0;
}

static void
allstop(void)
{
	uint32_t stopped = pmu.running & ~pmu.kept;

	for (; fake_shape.forgets && stopped != 0; stopped &= stopped - 1)
		pmu.raw[__builtin_ctz(stopped)]--;
	pmu.running = pmu.kept;
	pmu.readable = 0;
}

static void
keep(struct pcbe_set *set)
{
	program(set);
	pmu.kept = set->ps_pics;
	fake_freed += set->ps_n; /* a kept PIC is never freed */
}

static uint64_t
stop(struct pcbe_set *set)
{
	uint64_t told = fake_shape.imprecise ? 0 : pmu.overflowed;
	unsigned i;

	allstop();
	set->ps_page->cg_tick += pmu.cycles;
	for (i = 0; i < set->ps_n; i++) {
		const struct pcbe_cfg *cfg = &set->ps_cfg[i];

		pcbe_fold(&set->ps_page->cg_req[i], cfg->pc_mask,
		    pmu.raw[cfg->pc_pic], (told >> cfg->pc_pic & 1) != 0);
	}
	return overflow_bitmap() & set->ps_pics;
}

static bool
sample(const struct pcbe_set *set, struct cpc_sample *s)
{
	unsigned i;

	s->cs_tick = set->ps_page->cg_tick + pmu.cycles;
	for (i = 0; i < set->ps_n; i++) {
		const struct cpc_page_req *cq = &set->ps_page->cg_req[i];

		s->cs_value[i] =
		    cq->cq_data +
		    ((pmu.raw[set->ps_cfg[i].pc_pic] - cq->cq_last) & mask());
	}
	return (pmu.overflowed & set->ps_pics) == 0;
}

static void
release(struct pcbe_cfg *cfg, struct pcbe_set *set)
{
	set->ps_helpers &= ~(uint32_t)cfg->pc_aux;
	fake_freed++;
}

static const struct cpuset *
siblings(unsigned cpu)
{
	static const struct cpuset first = { { 1 } }, others = { { 6 } };

	return cpu == 0 ? &first : &others;
}

static const char *
prove(unsigned pic)
{
	return (fake_shape.broken & 1U << pic) != 0
	           ? "reads \"0\" after 1000 instructions"
	           : NULL;
}

static struct pcbe_ops ops = {
	.ncounters = ncounters,
	.width = width,
	.read_index = read_index,
	.impl_name = impl_name,
	.cpuref = cpuref,
	.pcbe_attrs = ATTRS,
	.describe = describe,
	.known_event = known_event,
	.overflow_bitmap = overflow_bitmap,
	.configure = configure,
	.program = program,
	.stop = stop,
	.allstop = allstop,
	.sample = sample,
	.free = release,
	.prove = prove,
};
const struct pcbe_ops *fake_ops = &ops;

/* The kernel calls this at boot to find its backend. */
const struct pcbe_ops *
arch_pcbe(const char **why_not)
{
	if (fake_shape.npic == 0) {
		*why_not = "PMU absent: this test took it away";
		return NULL;
	}
	ops.pcbe_caps = fake_shape.caps;
	ops.keep = fake_shape.keeps ? keep : NULL;
	ops.pcbe_no_ovf_intr = fake_shape.mute ? all_pics() : 0;
	ops.siblings = fake_shape.shared ? siblings : NULL;
	return &ops;
}
