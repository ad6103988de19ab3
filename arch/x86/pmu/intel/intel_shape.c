/*
 * The shape of a CPU's PMU: as CPUID.0AH and 23H describe it, without the
 * registers that do not work.
 *
 * Intel SDM vol. 3B, "Architectural Performance Monitoring"; vol. 2A,
 * "CPUID" (leaves 0AH and 23H).
 */
#include "arch/x86/cpuid.h"
#include "arch/x86/pmu/access.h"
#include "arch/x86/pmu/intel/intel_impl.h"
#include "arch/x86/pmu/regs.h"
#include "lib/string.h"

#define WIDTH_MIN 32 /* CPUID values beyond these are wrong */
#define WIDTH_MAX 63

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

/*
 * Leaf 23H has a bit for each counter.  General counters after a gap, which no
 * known CPU has, are not used.
 */
static void
read_v6(struct intel_shape *is)
{
	struct cpuid_regs r = cpuid(0x23, 0);

	if (FIELD(r.b, 0, 0) == 0)
		is->is_lacking |= EVTSEL_UMASK2;
	if (FIELD(r.b, 1, 1) == 0)
		is->is_lacking |= EVTSEL_EQ;
	if (FIELD(r.a, 1, 1) == 0)
		return;
	r = cpuid(0x23, 1);
	if (r.a == 0)
		return;
	is->is_ngp = (unsigned)__builtin_ctzll(~(uint64_t)r.a);
	is->is_fixed = r.b;
}

static bool
width_is_sane(unsigned width)
{
	return width >= WIDTH_MIN && width <= WIDTH_MAX;
}

/*
 * A bit of EBX is set if the event is *absent*.  Only the bits below the length
 * in EAX count.  Version 5 has a bit for each fixed counter.  Fixed counters
 * from 4 on count parts of slots.  No loop has a known number of them, so the
 * proof would be impossible.
 */
void
intel_shape_read(struct intel_shape *is)
{
	struct cpuid_regs r = cpuid(0xa, 0);

	memset(is, 0, sizeof *is);
	is->is_version = FIELD(r.a, 7, 0);
	is->is_ngp = FIELD(r.a, 15, 8);
	is->is_gp_width = FIELD(r.a, 23, 16);
	is->is_events = ~r.b & low_bits(FIELD(r.a, 31, 24));
	is->is_absent = r.b & low_bits(FIELD(r.a, 31, 24));
	if (is->is_version >= 2) {
		is->is_fixed = low_bits(FIELD(r.d, 4, 0));
		is->is_fixed_width = FIELD(r.d, 12, 5);
	}
	if (is->is_version >= 5)
		is->is_fixed |= r.c;
	read_v6(is);
	is->is_fixed &= low_bits(INTEL_NFIXED);
	is->is_per_thread = is->is_version >= 3;
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
lay_general(struct x86_pic *p, const struct intel_shape *is, unsigned n,
    bool full_width)
{
	bool old = n < INTEL_OLD_GP;

	p->xp_counter = !old         ? IA32_PMC_GP_CTR(n)
	                : full_width ? IA32_A_PMC(n)
	                             : IA32_PMC(n);
	p->xp_select = old ? IA32_PERFEVTSEL(n) : IA32_PMC_GP_CFG_A(n);
	p->xp_index = n;
	p->xp_short = old && !full_width;
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

void
intel_shape_probe(struct intel_shape *is)
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
		lay_general(&p, is, n, is->is_full_width);
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

static bool
keeps_value(uint32_t msr, uint64_t value)
{
	uint64_t v;

	return pmu_wrmsr_safe(msr, value) == 0 &&
	       pmu_rdmsr_safe(msr, &v) == 0 && v == value;
}

/* A missing register reads 0. */
void
intel_shape_probe_extras(struct intel_shape *is)
{
	for (unsigned i = EXTRA_NONE + 1; i < EXTRA_N; i++) {
		const struct x86_extra *x = &x86_extras[i];

		if (!keeps_value(x->xe_msr, x->xe_probe))
			continue;
		for (uint64_t bit = 1; bit != 0; bit <<= 1) {
			if (keeps_value(x->xe_msr, x->xe_probe | bit))
				is->is_extras[i] |= bit;
		}
		pmu_wrmsr_safe(x->xe_msr, 0);
	}
}

static bool
has_register(const struct x86_pics *ps, const struct x86_pic *p)
{
	for (unsigned n = 0; n < ps->xs_n; n++) {
		if (ps->xs_pic[n].xp_index == p->xp_index)
			return true;
	}
	return false;
}

static void
add_pic(struct x86_pics *ps, const struct x86_pic *p)
{
	if (has_register(ps, p) || ps->xs_n == PCBE_MAXPIC)
		return;
	ps->xs_pic[ps->xs_n++] = *p;
	ps->xs_all |= p->xp_global;
}

/*
 * The registers of the shapes are the same, as far as both have them: if their
 * width or kind differs, no PIC is offered.
 */
void
intel_shape_add(struct x86_pics *ps, const struct intel_shape *is)
{
	bool full_width =
	    ps->xs_n == 0 ? is->is_full_width : !ps->xs_pic[0].xp_short;
	struct x86_pic p;

	for (unsigned n = 0; n < is->is_ngp; n++) {
		lay_general(&p, is, n, full_width);
		add_pic(ps, &p);
	}
	for (unsigned n = 0; n < INTEL_NFIXED; n++) {
		lay_fixed(&p, is, n);
		if ((is->is_fixed >> n & 1) != 0)
			add_pic(ps, &p);
	}
	ps->xs_fixed |= is->is_fixed != 0;
}

void
intel_shape_lay_out(struct x86_pics *ps, const struct intel_shape *is)
{
	memset(ps, 0, sizeof *ps);
	if (is->is_version >= 2) {
		ps->xs_ctrl = IA32_PERF_GLOBAL_CTRL;
		ps->xs_status = IA32_PERF_GLOBAL_STATUS;
		ps->xs_clear = IA32_PERF_GLOBAL_OVF_CTRL;
	}
	intel_shape_add(ps, is);
}

static bool
shape_has(const struct intel_shape *is, uint32_t index)
{
	return (index & RDPMC_FIXED) != 0
	           ? (is->is_fixed >> (index - RDPMC_FIXED) & 1) != 0
	           : index < is->is_ngp;
}

uint32_t
intel_shape_pics(const struct intel_shape *is, const struct x86_pics *ps)
{
	uint32_t pics = 0;

	for (unsigned n = 0; n < ps->xs_n; n++)
		pics |= (uint32_t)shape_has(is, ps->xs_pic[n].xp_index) << n;
	return pics;
}

uint32_t
intel_shape_general(const struct intel_shape *is)
{
	uint32_t pics = intel_shape_pics(is, &x86_pics);

	for (unsigned n = 0; n < x86_pics.xs_n; n++) {
		if (intel_fixed_of(n) >= 0)
			pics &= ~(1U << n);
	}
	return pics;
}

static unsigned
min_unsigned(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * An LWP runs on any CPU.  If CPUs differ, as on hybrid parts, a set without a
 * core type gets only what all CPUs have.  So a set that some CPU could not run
 * is refused when it is bound.
 */
void
intel_shape_merge(struct intel_shape *all, const struct intel_shape *is)
{
	all->is_version = min_unsigned(all->is_version, is->is_version);
	all->is_ngp = min_unsigned(all->is_ngp, is->is_ngp);
	all->is_fixed &= is->is_fixed;
	if (all->is_fixed_width != is->is_fixed_width)
		all->is_fixed = 0;
	if (all->is_gp_width != is->is_gp_width)
		all->is_ngp = all->is_fixed = 0;
	all->is_events &= is->is_events;
	all->is_absent |= is->is_absent;
	if (all->is_cache != is->is_cache)
		all->is_cache = 0;
	all->is_full_width &= is->is_full_width;
	all->is_anythread &= is->is_anythread;
	all->is_per_thread &= is->is_per_thread;
	for (unsigned i = 0; i < EXTRA_N; i++)
		all->is_extras[i] &= is->is_extras[i];
	all->is_lacking |= is->is_lacking;
}
