/* The kernel's software PMU, with what only host tests need. */
#include "tests/lib/host/kcpc/fake_pcbe.h"

#include <stddef.h>

#include "kern/arch.h"
#include "kern/cpc/soft/soft_pcbe.h"
#include "kern/sched/cpu.h"
#include "kern/sched/xcall.h"
#include "tests/lib/host/kcpc/fake_kernel.h"

#define ATTRS                                                                  \
	(1U << CPC_ATTR_UMASK | 1U << CPC_ATTR_EDGE |                          \
	    1U << CPC_ATTR_ANYTHR) /* requires privilege */

const struct fake_shape fake_ordinary = {
	.npic = 4,
	.width = 48,
	.caps = CPC_CAP_OVERFLOW_INTERRUPT | CPC_CAP_OVERFLOW_PRECISE,
};
struct fake_shape fake_shape;

static const struct pcbe_ops *soft;

/* State of each CPU that the software PMU does not have. */
static struct pmu {
	uint32_t kept;
	uint32_t readable;
	uint64_t cycles;
} pmus[FAKE_NCPU];

static struct pmu *
this_pmu(void)
{
	return &pmus[arch_curcpu()->c_id];
}

static void
retire_steps(unsigned privilege, uint64_t steps)
{
	this_pmu()->cycles += 3 * steps;
	if (soft != NULL && soft_pcbe_retire(steps, privilege) != 0)
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
	for (unsigned c = 0; c < FAKE_NCPU; c++)
		pmus[c] = (struct pmu){ 0 };
}

static uint32_t
running_on(unsigned cpu)
{
	return soft_pcbe_running(cpu) & ~pmus[cpu].kept;
}

uint32_t
fake_pmu_running(void)
{
	return running_on(arch_curcpu()->c_id);
}

bool
fake_pmu_any(void)
{
	for (unsigned c = 0; c < FAKE_NCPU; c++) {
		if (running_on(c) != 0)
			return true;
	}
	return false;
}

uint32_t
fake_pmu_readable(void)
{
	return this_pmu()->readable;
}

uint64_t
fake_pmu_raw(unsigned pic)
{
	return soft_pcbe_raw(arch_curcpu()->c_id, pic);
}

/* The backend.  Ticks are cycles, so that they depend on steps only. */

static uint64_t
tick_error(void)
{
	return this_pmu()->cycles - arch_tick();
}

/* Not the PIC's number: a test notices a confusion. */
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
	return "See tests/lib/host/kcpc/fake_pcbe.h";
}

static void
describe(struct cpc_pmu *pm, unsigned type)
{
	soft->describe(pm, type);
	pm->pm_generic = 1U << SOFT_INSTRUCTIONS | 1U << SOFT_CYCLES;
}

static int
check_attrs(unsigned nattrs, const struct cpc_packattr *at, bool privileged,
    struct cpc_refusal *rf)
{
	for (unsigned i = 0; i < nattrs; i++) {
		if (at[i].cpa_id == CPC_ATTR_UMASK && at[i].cpa_value > 0xff)
			return pcbe_refuse(rf, CPC_ATTRIBUTE_OUT_OF_RANGE,
			    "umask is at most 0xff");
		if (at[i].cpa_id == CPC_ATTR_ANYTHR && !privileged)
			return CPC_ATTR_REQUIRES_PRIVILEGE;
	}
	return 0;
}

/* An attribute changes no count. */
static int
configure(struct pcbe_cfg *cfg, const struct cpc_event *ev, unsigned nattrs,
    const struct cpc_packattr *at, struct pcbe_set *set, struct cpc_refusal *rf)
{
	int subcode = check_attrs(nattrs, at, set->ps_privileged, rf);

	return subcode != 0 ? subcode
	                    : soft->configure(cfg, ev, 0, NULL, set, rf);
}

static void
program(struct pcbe_set *set)
{
	soft->program(set);
	set->ps_page->cg_tick -= tick_error();
	this_pmu()->readable = set->ps_user_read ? set->ps_pics : 0;
}

static void
allstop(void)
{
	soft->allstop();
	this_pmu()->readable = 0;
}

static void
keep(struct pcbe_set *set)
{
	soft->keep(set);
	this_pmu()->kept = set->ps_pics;
}

static uint64_t
stop(struct pcbe_set *set)
{
	uint64_t pics = soft->stop(set);

	set->ps_page->cg_tick += tick_error();
	this_pmu()->readable = 0;
	return pics;
}

static bool
sample(const struct pcbe_set *set, struct cpc_sample *s)
{
	bool right = soft->sample(set, s);

	s->cs_tick += tick_error();
	return right;
}

static const struct cpuset *
siblings(unsigned cpu)
{
	static const struct cpuset first = { { 1 } }, others = { { 6 } };

	return cpu == 0 ? &first : &others;
}

static void
spin_here(void *n)
{
	soft->spin(*(const uint64_t *)n);
}

static void
spin(uint64_t n)
{
	soft->spin(n);
	if (fake_shape.leaks && arch_curcpu() != &cpus[0])
		xcall(&cpus[0], spin_here, &n);
}

static struct pcbe_ops ops;
const struct pcbe_ops *fake_ops = &ops;

/* The shape of the software PMU that the test asks for. */
static struct soft_shape
soft_shape(void)
{
	struct soft_shape ns = soft_shape_default;

	ns.ns_pics = fake_shape.npic;
	ns.ns_width = fake_shape.width;
	if ((fake_shape.caps & CPC_CAP_OVERFLOW_PRECISE) == 0 ||
	    fake_shape.imprecise)
		ns.ns_ovf = SOFT_OVF_IMPRECISE;
	if (fake_shape.asymmetric) {
		ns.ns_event[SOFT_CYCLES] = 3;
		ns.ns_event[SOFT_BRANCHES] = 1;
	}
	ns.ns_mute = fake_shape.mute ? ~0U : 0;
	ns.ns_broken = fake_shape.broken;
	ns.ns_helpers = fake_shape.helpers;
	ns.ns_shared =
	    fake_shape.one_filter ? SOFT_SHARED_FILTER : SOFT_SHARED_NO;
	ns.ns_raw = !fake_shape.no_raw;
	ns.ns_hv = !fake_shape.no_hv;
	ns.ns_keeps = fake_shape.keeps;
	ns.ns_forgets = fake_shape.forgets;
	ns.ns_staggered = fake_shape.staggered;
	ns.ns_pics2 = fake_shape.npic2;
	if (fake_shape.npic2 != 0) {
		ns.ns_event[SOFT_BRANCHES] = 0;
		ns.ns_event2[SOFT_CYCLES] = 1;
	}
	return ns;
}

/* The kernel calls this at boot to find its backend. */
const struct pcbe_ops *
arch_pcbe(const char **why_not)
{
	if (fake_shape.npic == 0) {
		*why_not = "PMU absent: this test took it away";
		return NULL;
	}
	struct soft_shape ns = soft_shape();
	soft = soft_pcbe(&ns, "software");
	ops = *soft;
	ops.read_index = read_index;
	ops.impl_name = impl_name;
	ops.cpuref = cpuref;
	ops.pcbe_attrs = ATTRS;
	ops.attr_pics = NULL;
	ops.describe = describe;
	ops.configure = configure;
	ops.program = program;
	ops.stop = stop;
	ops.allstop = allstop;
	ops.sample = sample;
	ops.spin = spin;
	ops.advance = NULL;
	ops.pcbe_no_user_read = false;
	ops.pcbe_overflow_proof = "comes";
	ops.pcbe_caps = fake_shape.caps;
	ops.keep = soft->keep != NULL ? keep : NULL;
	ops.pcbe_no_ovf_intr = fake_shape.mute ? ~0ULL : 0;
	ops.siblings = fake_shape.shared ? siblings : NULL;
	return &ops;
}
