/*
 * Numbers that perf stat makes of two counts, such as instructions per cycle.
 * They are computed when a count is printed.
 */
#include "payloads/stat/stat.h"

#include <strings.h>

double
mean_of(const struct series *s)
{
	return s->s_used == 0 ? 0 : (double)s->s_sum / s->s_used;
}

static const char *const cycles[] = { "cycles", "cpu-cycles", "PAPI_tot_cyc",
	NULL };
static const char *const branches[] = { "branches", "branch-instructions",
	NULL };
static const char *const task_clock[] = { "task-clock", NULL };
static const char *const references[] = { "cache-references", NULL };
static const char *const l1d[] = { "L1-dcache-loads", NULL };
static const char *const l1i[] = { "L1-icache-loads", NULL };
static const char *const llc[] = { "LLC-loads", NULL };
static const char *const dtlb[] = { "dTLB-loads", NULL };
static const char *const itlb[] = { "iTLB-loads", NULL };

static const struct metric {
	const char *name;
	const char *const *base; /* it is divided by one of these */
	double factor;
	const char *unit;
} metrics[] = {
	{ "instructions", cycles, 1, "insn per cycle" },
	{ "PAPI_tot_ins", cycles, 1, "insn per cycle" },
	{ "cycles", task_clock, 1, "GHz" },
	{ "cpu-cycles", task_clock, 1, "GHz" },
	{ "PAPI_tot_cyc", task_clock, 1, "GHz" },
	{ "branches", task_clock, 1e3, "M/sec" },
	{ "branch-instructions", task_clock, 1e3, "M/sec" },
	{ "branch-misses", branches, 100, "% of all branches" },
	{ "cache-misses", references, 100, "% of all cache refs" },
	{ "context-switches", task_clock, 1e9, "/sec" },
	{ "cpu-migrations", task_clock, 1e9, "/sec" },
	{ "page-faults", task_clock, 1e9, "/sec" },
	{ "L1-dcache-load-misses", l1d, 100, "% of all L1-dcache accesses" },
	{ "L1-icache-load-misses", l1i, 100, "% of all L1-icache accesses" },
	{ "LLC-load-misses", llc, 100, "% of all LL-cache accesses" },
	{ "dTLB-load-misses", dtlb, 100, "% of all dTLB cache accesses" },
	{ "iTLB-load-misses", itlb, 100, "% of all iTLB cache accesses" },
};

/* The mean of a base that counts what c counts, or 0. */
static double
base_of(const struct counted *c, const char *const *names)
{
	for (; *names != NULL; names++) {
		for (unsigned i = 0; i < st.nevent; i++) {
			const struct counted *b = &st.all[i];

			if (strcasecmp(b->cnt_event.e_name, *names) == 0 &&
			    (b->cnt_soft != SOFT_NONE ||
				b->cnt_event.e_flags == c->cnt_event.e_flags) &&
			    mean_of(&b->cnt_count) > 0)
				return mean_of(&b->cnt_count);
		}
	}
	return 0;
}

const char *
metric_of(const struct counted *c, double *value)
{
	double base;

	if (c->cnt_count.s_used == 0)
		return NULL;
	if (c->cnt_soft == SOFT_TASK_CLOCK && c->cnt_elapsed > 0) {
		*value = (double)c->cnt_count.s_sum / (double)c->cnt_elapsed;
		return "CPUs utilized";
	}
	for (unsigned i = 0; i < sizeof metrics / sizeof metrics[0]; i++) {
		const struct metric *m = &metrics[i];

		if (strcasecmp(c->cnt_event.e_name, m->name) != 0 ||
		    (base = base_of(c, m->base)) == 0)
			continue;
		*value = m->factor * mean_of(&c->cnt_count) / base;
		return m->unit;
	}
	return NULL;
}
