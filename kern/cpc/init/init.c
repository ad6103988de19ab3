/* Finds the backend and proves each PIC, once, at boot. */
#include "kern/cpc/kcpc.h"

#include "kern/arch.h"
#include "kern/cpc/kcpc_impl.h"
#include "kern/cpc/test/witness.h"
#include "kern/sched/cpu.h"
#include "kern/sched/klock.h"
#include "kern/sched/xcall.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "lib/text.h"

const struct pcbe_ops *kcpc_ops;
struct kcpc_type kcpc_types[1 + PCBE_MAXTYPE];
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

	kcpc_types[0] = (struct kcpc_type){ .kt_name = "of no core type",
		.kt_attrs = ops->pcbe_attrs };
	memset(&kcpc_types[0].kt_cpus, 0xff, sizeof kcpc_types[0].kt_cpus);
	for (pic = 0; pic < n; pic++) {
		no_pic[pic] = kcpc_prove(ops, pic, 0);
		if (no_pic[pic] == NULL)
			kcpc_types[0].kt_pics |= 1ULL << pic;
		else
			printf(
			    "pcbe: PIC %u is not used: %s\n", pic, no_pic[pic]);
	}
}

struct prove_call {
	const struct pcbe_ops *pz_ops;
	unsigned pz_type;
	uint32_t pz_todo, pz_proved;
};

static void
prove_here(void *arg)
{
	struct prove_call *pl = arg;
	const char *why;

	for (uint32_t left = pl->pz_todo; left != 0; left &= left - 1) {
		unsigned pic = (unsigned)__builtin_ctz(left);

		if ((why = kcpc_prove(pl->pz_ops, pic, pl->pz_type)) == NULL)
			pl->pz_proved |= 1U << pic;
		else
			printf("pcbe: PIC %u of CPU %u is not used: %s\n", pic,
			    arch_curcpu()->c_id, why);
	}
}

/* Sets without a type use a PIC of all types only if each has proved it. */
static void
prove_types(const struct pcbe_ops *ops)
{
	kernel_lock(); /* for xcall() */
	for (unsigned t = 0; t < ops->pcbe_ntypes; t++) {
		const struct pcbe_type *py = &ops->pcbe_types[t];
		struct cpu *c =
		    &cpus[cpuset_next(&py->py_cpus, &py->py_cpus, 0)];
		struct prove_call pl = { ops, t + 1, py->py_pics, 0 };

		if (c == arch_curcpu())
			prove_here(&pl);
		else
			xcall(c, prove_here, &pl);
		kcpc_types[t + 1] = (struct kcpc_type){
			.kt_name = py->py_name,
			.kt_cpus = py->py_cpus,
			.kt_pics = pl.pz_proved,
			.kt_npic = 32 - (unsigned)__builtin_clz(py->py_pics),
			.kt_attrs = py->py_attrs,
		};
		kcpc_types[0].kt_pics &= pl.pz_proved | ~py->py_pics;
		printf("pcbe: core type %s: %d of %d PICs proved, from CPU %u "
		       "on\n",
		    py->py_name, __builtin_popcount(pl.pz_proved),
		    __builtin_popcount(py->py_pics), c->c_id);
	}
	kernel_unlock();
}

/* Let overflows interrupt this CPU, if an interrupt controller decides that. */
static void
enable_pmi(const struct pcbe_ops *ops)
{
	if ((ops->pcbe_caps & CPC_CAP_OVERFLOW_INTERRUPT) != 0 &&
	    ops->advance == NULL)
		arch_pmi_enable();
}

static void
learn_pics(const struct pcbe_ops *ops, unsigned n)
{
	for (unsigned pic = 0; pic < n; pic++) {
		struct kcpc_pic *kp = &kcpc_pic[pic];

		kp->kpc_index = ops->read_index(pic);
		kp->kpc_mask = ~0ULL >> (64 - ops->width(pic));
		/* Does no overflow interrupt name the PIC? */
		kp->kpc_no_ovf_intr =
		    kp->kpc_mask != ~0ULL &&
		    ((ops->pcbe_no_ovf_intr >> pic & 1) != 0 ||
			(ops->pcbe_caps & CPC_CAP_OVERFLOW_PRECISE) == 0);
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
		prove_types(ops);
	proved = ops;
	nproved = n;
	if (kcpc_types[0].kt_pics == 0) {
		no_pmu = no_pic[0];
		printf("pcbe: %s: no PIC counts right, none is used\n",
		    ops->impl_name());
		return;
	}
	kcpc_types[0].kt_npic = n;
	kcpc_prove_alone(ops, (unsigned)__builtin_ctzll(kcpc_types[0].kt_pics));
	kcpc_ops = ops;
	printf("pcbe: %s: %d of %u PICs proved, %u bits\n", ops->impl_name(),
	    __builtin_popcountll(kcpc_types[0].kt_pics), n, ops->width(0));
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
		kcpc_types[t].kt_pics &= ~(1ULL << pic);
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
	for (unsigned n = 1; n <= kcpc_ops->pcbe_ntypes; n++) {
		const struct kcpc_type *kt = &kcpc_types[n];

		text_add(t, "%s{\"name\":", n != 1 ? "," : "");
		text_add_string(t, kt->kt_name);
		text_add(t, ",\"cpus\":\"");
		text_add_cpus(t, &kt->kt_cpus);
		text_add(t, "\",\"npic\":%u,\"pics\":%u}", kt->kt_npic,
		    (unsigned)kt->kt_pics);
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
