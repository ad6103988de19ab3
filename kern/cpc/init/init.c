/*
 * Finds the backend and proves each PIC, once, at boot.
 */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/cpc/test/witness.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "lib/text.h"

const struct pcbe_ops *kcpc_ops;
struct kcpc_offer kcpc_offer[1 + PCBE_MAXTYPE];
struct kcpc_pic kcpc_pic[PCBE_MAXPIC];

/* Why the machine has no counters, and why a PIC is not used; NULL if used. */
static const char *no_pmu;
static const char *no_pic[PCBE_MAXPIC];
/* The backend whose PICs were proved, whether any is used or not. */
static const struct pcbe_ops *proved;
static unsigned nproved;

/* If CPUs differ, prove what all share, on this CPU. */
static void
prove_all(const struct pcbe_ops *ops, unsigned n)
{
	unsigned pic;

	kcpc_offer[0] = (struct kcpc_offer){ .ko_attrs = ops->pcbe_attrs };
	for (pic = 0; pic < n; pic++) {
		no_pic[pic] = kcpc_prove(ops, pic, 0);
		if (no_pic[pic] == NULL)
			kcpc_offer[0].ko_pics |= 1ULL << pic;
		else
			printf(
			    "pcbe: PIC %u is not used: %s\n", pic, no_pic[pic]);
	}
}

/* Let overflows interrupt this CPU, if an interrupt controller decides that. */
static void
enable_pmi(const struct pcbe_ops *ops)
{
	if ((ops->pcbe_caps & PCBE_CAP_OVERFLOW_INTERRUPT) != 0 &&
	    ops->advance == NULL)
		arch_pmi_enable();
}

/* Does an overflow of this PIC raise an interrupt that names the PIC? */
static bool
names_its_pic(const struct pcbe_ops *ops, unsigned pic)
{
	return (ops->pcbe_no_ovf_intr >> pic & 1) == 0 &&
	       (ops->pcbe_caps & PCBE_CAP_OVERFLOW_PRECISE) != 0;
}

static void
learn_pics(const struct pcbe_ops *ops, unsigned n)
{
	for (unsigned pic = 0; pic < n; pic++) {
		struct kcpc_pic *kp = &kcpc_pic[pic];

		kp->kpc_index = ops->read_index(pic);
		kp->kpc_mask = ~0ULL >> (64 - ops->width(pic));
		kp->kpc_no_ovf_intr =
		    kp->kpc_mask != ~0ULL && !names_its_pic(ops, pic);
	}
}

bool pcbe_announced_only, pcbe_any_event;
const struct cpc_model *pcbe_models;
unsigned pcbe_nmodels;

void
kcpc_init(const struct pcbe_ops *instead)
{
	const struct pcbe_ops *ops = instead;
	unsigned n;

	proved = NULL;
	nproved = 0;
	if (ops == NULL && (ops = arch_pcbe(&no_pmu)) == NULL) {
		printf("pcbe: %s\n", no_pmu);
		return;
	}
	n = ops->ncounters();
	ASSERT(n >= 1 && n <= PCBE_MAXPIC);
	learn_pics(ops, n);
	if (ops->pcbe_ntypes != 0)
		n = 32 - (unsigned)__builtin_clz(ops->pcbe_shared);
	prove_all(ops, n);
	if (ops->pcbe_ntypes != 0)
		kcpc_types_init(ops);
	proved = ops;
	nproved = n;
	if (kcpc_offer[0].ko_pics == 0) {
		no_pmu = no_pic[0];
		printf("pcbe: %s: no PIC counts right, none is used\n",
		    ops->impl_name());
		return;
	}
	kcpc_offer[0].ko_npic = n;
	kcpc_prove_alone(ops, (unsigned)__builtin_ctzll(kcpc_offer[0].ko_pics));
	kcpc_ops = ops;
	printf("pcbe: %s: %d of %u PICs proved, %u bits\n", ops->impl_name(),
	    __builtin_popcountll(kcpc_offer[0].ko_pics), n, ops->width(0));
	if (ops->advance != NULL)
		printf("pcbe: software PMU: it counts what programs report to "
		       "it, not what this CPU does\n");
	enable_pmi(ops);
}

void
kcpc_cpu_init(unsigned cpu)
{
	static bool done[MAXCPU];

	if (!done[cpu] && kcpc_ops != NULL)
		enable_pmi(kcpc_ops);
	witness_cpu_init();
	done[cpu] = true;
}

void
kcpc_keep_back(unsigned pic, const char *why)
{
	no_pic[pic] = why;
	for (unsigned t = 0; t <= PCBE_MAXTYPE; t++)
		kcpc_offer[t].ko_pics &= ~(1ULL << pic);
}

static void
text_add_pics(struct text *t)
{
	unsigned pic;

	text_add(t, ",\"npic\":%u,\"pics\":[", nproved);
	for (pic = 0; pic < nproved; pic++) {
		text_add(t, "%s{\"pic\":%u,\"width\":%u,\"unproved\":",
		    pic != 0 ? "," : "", pic, proved->width(pic));
		text_add_string(t, no_pic[pic]);
		text_add(t, "}");
	}
	text_add(t, "],\"overflow_proof\":");
	text_add_string(t, proved != NULL ? proved->pcbe_overflow_proof : NULL);
}

/* The numbers of CPUs, as "0-3,8". */
static void
text_add_cpus(struct text *t, const struct cpuset *cs)
{
	const char *comma = "";
	unsigned end;

	for (unsigned i = cpuset_next(cs, cs, 0); i < MAXCPU;
	     i = cpuset_next(cs, cs, end)) {
		for (end = i + 1; end < ncpu && cpuset_has(cs, end);)
			end++;
		text_add(t, "%s%u", comma, i);
		if (end - i > 1)
			text_add(t, "-%u", end - 1);
		comma = ",";
		if (end >= ncpu)
			break;
	}
}

static void
text_add_types(struct text *t)
{
	text_add(t, ",\"core_types\":[");
	for (unsigned n = 0; n < kcpc_ops->pcbe_ntypes; n++) {
		const struct pcbe_type *py = &kcpc_ops->pcbe_types[n];

		text_add(t, "%s{\"name\":", n != 0 ? "," : "");
		text_add_string(t, py->py_name);
		text_add(t, ",\"cpus\":\"");
		text_add_cpus(t, &py->py_cpus);
		text_add(t, "\",\"npic\":%u,\"pics\":%u}",
		    kcpc_offer[n + 1].ko_npic,
		    (unsigned)kcpc_offer[n + 1].ko_pics);
	}
	text_add(t, "]");
}

void
kcpc_describe(struct text *t)
{
	text_add(t, "\"pmu\":");
	text_add_string(t, kcpc_ops != NULL ? kcpc_ops->impl_name() : NULL);
	if (kcpc_ops == NULL) {
		text_add(t, ",\"pmu_reason\":");
		text_add_string(t, no_pmu);
	}
	text_add_pics(t);
	if (kcpc_ops != NULL) {
		text_add(t, ",\"caps\":%u", kcpc_caps());
		text_add(t, ",\"user_read\":%s",
		    kcpc_ops->pcbe_no_user_read ? "false" : "true");
		text_add(t, ",\"counts_all_cpus\":%s",
		    kcpc_crosstalk != NULL ? "true" : "false");
		text_add(t, ",\"software\":%s",
		    kcpc_ops->advance != NULL ? "true" : "false");
		if (kcpc_ops->pcbe_ntypes != 0)
			text_add_types(t);
	}
}
