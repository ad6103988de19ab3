/*
 * If a set can be bound, kcpc binds it, with the backend's real masks.  A
 * random set must get PICs if configure() accepts any assignment, and
 * otherwise none.  A set has names, numbers, attributes and requested PICs.
 */
#include "tests/lib/host/named.h"
/* this header names the backend `ops` */
#include "tests/lib/host/x86/intel_shapes.h"

#include <stdlib.h>
#include <string.h>

#include "kern/cpc/kcpc_impl.h"
#include "kern/mm/page.h"

#define NREQ  5
#define NATTR 2

/* The parts of the kernel that kern/cpc/context.c uses. */
const struct pcbe_ops *kcpc_ops;
struct kcpc_type kcpc_types[1 + PCBE_MAXTYPE];
struct kcpc_pic kcpc_pic[PCBE_MAXPIC];
const char *kcpc_crosstalk;
uint64_t kcpc_stray;

/* No context of this test is bound. */
void
kcpc_drop(struct lwp *l)
{
	abort();
}

void
kcpc_cpu_drop(struct kcpc_ctx *ctx)
{
	abort();
}

uint32_t
kcpc_caps(void)
{
	return CPC_CAP_OVERFLOW_INTERRUPT;
}

void *
kmalloc(size_t bytes)
{
	return malloc(bytes);
}

void
kfree(void *p)
{
	free(p);
}

void
timer_stop(struct timer *t)
{
}

/* A generator with a fixed seed, so that a failure repeats (Marsaglia). */
static uint64_t seed;

static unsigned
random_below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % n);
}

/* Architectural names, presets, names of fixed PICs, and a number. */
static const char *const architectural[] = { "inst_retired.any_p",
	"br_inst_retired.all_branches", "instr_retired.any",
	"cpu_clk_unhalted.core", "cpu_clk_unhalted.ref", "PAPI_tot_ins",
	"PAPI_tot_cyc", "PAPI_br_ins", "0xc0" };
#define NARCH (sizeof architectural / sizeof architectural[0])

/* Names of Skylake for any general PIC, four, one, and a fixed PIC as well. */
static const char *const tabled[] = { "INST_RETIRED:ANY_P",
	"INSTRUCTION_RETIRED", "INST_RETIRED:ANY_P:c=1",
	"CYCLE_ACTIVITY:STALLS_L2_MISS", "L1D_PEND_MISS:PENDING",
	"CPU_CLK_UNHALTED:THREAD_P", "OFFCORE_RESPONSE_0:DMND_DATA_RD",
	"OFFCORE_RESPONSE_0:DMND_RFO", "UNHALTED_CORE_CYCLES" };
#define NTABLED (sizeof tabled / sizeof tabled[0])

/* A set as the library passes it to the kernel. */
static struct {
	struct cpc_pack head;
	struct cpc_packreq req[NREQ];
	struct cpc_packattr attr[NREQ * NATTR];
} pack;

static void
resolve(const char *name, struct cpc_event *ev)
{
	assert_true(named_event(ops, name, ev) != 0);
}

static void
random_attrs(struct cpc_packreq *pr, struct cpc_packattr *attr)
{
	pr->cr_nattrs = random_below(3) != 0 ? 0 : 1 + random_below(NATTR);
	for (unsigned i = 0; i < pr->cr_nattrs; i++) {
		do
			attr[i].cpa_id = random_below(CPC_ATTR_IDS);
		while ((ops->pcbe_attrs >> attr[i].cpa_id & 1) == 0);
		attr[i].cpa_value = random_below(4);
	}
}

static struct cpc_packattr *
attrs_of(const struct cpc_packreq *pr)
{
	return CPC_PACK_ATTRS(&pack.head) + pr->cr_attr;
}

static void
random_set(bool with_table)
{
	unsigned k;

	memset(&pack, 0, sizeof pack);
	pack.head.cp_nreqs = (uint16_t)(1 + random_below(NREQ));
	pack.head.cp_nattrs = pack.head.cp_nreqs * NATTR;
	for (unsigned i = 0; i < pack.head.cp_nreqs; i++) {
		struct cpc_packreq *pr = &pack.req[i];

		k = random_below(with_table ? NARCH + NTABLED : NARCH);
		resolve(k < NARCH ? architectural[k] : tabled[k - NARCH],
		    &pr->cr_event);
		pr->cr_flags = USER;
		pr->cr_attr = i * NATTR;
		pr->cr_picnum = random_below(6) == 0
		                    ? (int)random_below(kcpc_types[0].kt_npic)
		                    : -1;
		if ((pr->cr_event.ce_flags & CPC_EVENT_GENERIC) == 0)
			random_attrs(pr, attrs_of(pr));
	}
}

static int
configure(struct x86_set *s, unsigned i, unsigned pic)
{
	const struct cpc_packreq *pr = &pack.req[i];

	s->set.ps_cfg = s->cfg;
	s->cfg[i] =
	    (struct pcbe_cfg){ .pc_pic = (uint8_t)pic, .pc_flags = USER };
	return ops->configure(&s->cfg[i], &pr->cr_event, pr->cr_nattrs,
	    attrs_of(pr), &s->set, &named_refusal);
}

/* Can requests i and up have PICs that are not taken? */
static bool
can_assign(const struct x86_set *so_far, unsigned i, uint64_t taken)
{
	struct x86_set s;

	if (i == pack.head.cp_nreqs)
		return true;
	for (unsigned pic = 0; pic < kcpc_types[0].kt_npic; pic++) {
		if ((taken >> pic & 1) != 0 ||
		    (pack.req[i].cr_event.ce_pics >> pic & 1) == 0 ||
		    (pack.req[i].cr_picnum != -1 &&
			pack.req[i].cr_picnum != (int)pic))
			continue;
		s = *so_far;
		if (configure(&s, i, pic) != 0)
			continue;
		s.set.ps_n++;
		if (can_assign(&s, i + 1, taken | 1ULL << pic))
			return true;
	}
	return false;
}

static bool
can_bind(void)
{
	struct kcpc_ctx *ctx;
	struct cpc_refusal rf;

	if (kcpc_ctx_create(&pack.head, true, 0, NULL, &ctx, &rf) != 0)
		return false;
	kcpc_ctx_destroy(ctx);
	return true;
}

static void
compare_random_sets(
    const struct fake_cpu *shape, bool with_table, unsigned rounds)
{
	unsigned found = 0;
	bool bound;

	boot(shape);
	kcpc_ops = ops;
	kcpc_types[0].kt_npic = ops->ncounters();
	kcpc_types[0].kt_pics = (1ULL << ops->ncounters()) - 1;
	kcpc_types[0].kt_attrs = ops->pcbe_attrs;
	seed = 0x9e3779b97f4a7c15;
	for (unsigned i = 0; i < rounds; i++) {
		random_set(with_table);
		bound = can_bind();
		set_init(&set, ops);
		assert_int_equal(bound, can_assign(&set, 0, 0));
		found += bound;
	}
	/* Both results occurred often. */
	assert_in_range(found, rounds / 10, rounds * 9 / 10);
}

/* CPC-BIND-22, CPC-PCBE-04 */
TEST(sets_of_architectural_events)
{
	compare_random_sets(&nehalem, false, 20000);
	compare_random_sets(&ice_lake, false, 20000);
}

TEST(sets_of_a_table)
{
	compare_random_sets(&skylake_whole, true, 20000);
}
