/*
 * Prints rows of results as a table, and computes their medians.
 */
#include "payloads/common/report.h"

#include <inttypes.h>
#include <libcpc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"

const char *const status_words[] = {
	[COUNTED] = "counted",
	[NOT_SUPPORTED] = "not supported",
	[NOT_COUNTED] = "not counted",
};

void
series_open(struct series *s, unsigned n)
{
	memset(s, 0, sizeof *s);
	s->s_raw = fail_unless_room(calloc(n, sizeof *s->s_raw));
}

void
series_add(struct series *s, int64_t v)
{
	s->s_raw[s->s_n++] = v;
}

static int
compare_values(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

void
series_close(struct series *s)
{
	int64_t *sorted;
	unsigned i;

	if (s->s_n == 0)
		return;
	sorted = fail_unless_room(malloc(s->s_n * sizeof *sorted));
	memcpy(sorted, s->s_raw, s->s_n * sizeof *sorted);
	qsort(sorted, s->s_n, sizeof *sorted, compare_values);
	s->s_min = sorted[0];
	s->s_median = sorted[(s->s_n - 1) / 2];
	s->s_max = sorted[s->s_n - 1];
	for (i = 0; i < s->s_n && sorted[i] < 0; i++)
		s->s_negative++;
	free(sorted);
}

void
series_free(struct series *s)
{
	free(s->s_raw);
	memset(s, 0, sizeof *s);
}

uint64_t
series_range(const struct series *s)
{
	return (uint64_t)s->s_max - (uint64_t)s->s_min;
}

int64_t
quantity_net(const struct quantity *q)
{
	return (int64_t)((uint64_t)q->q_raw.s_median -
			 (uint64_t)q->q_overhead.s_median);
}

const char *
report_event(char *buf, size_t len, const struct event *e)
{
	static const char *const suffixes[] = { "", ":u", ":k", ":uk" };
	unsigned n = ((e->e_flags & CPC_COUNT_USER) != 0) |
	             ((e->e_flags & CPC_COUNT_SYSTEM) != 0) << 1;

	if (options_levels(e->e_name) != -1)
		n = 0;
	snprintf(buf, len, "%s%s", e->e_name, suffixes[n]);
	return buf;
}

const char *
report_ratio(char *buf, size_t len, int64_t value, uint64_t divisor)
{
	uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
	unsigned __int128 milli =
	    ((unsigned __int128)magnitude * 1000 + divisor / 2) / divisor;
	uint64_t whole = (uint64_t)(milli / 1000);

	snprintf(buf, len, "%s%" PRIu64 ".%03u",
	    value < 0 && milli != 0 ? "-" : "", whole,
	    (unsigned)(milli % 1000));
	return buf;
}

#define ROW "%-16s %-18s %15s %13s %12s %12s %8s %8s\n"

/* Print the facts that hold for every row, and the columns' titles. */
static void
print_titles(const struct options *o)
{
	char cpu[64] = "a CPU", pmu[64] = "no counters",
	     vmm[32] = "not barecpc";
	char arch[16] = "this machine", priv[16] = "user";

	report_machine("arch", arch, sizeof arch);
	report_machine("cpu", cpu, sizeof cpu);
	report_machine("pmu", pmu, sizeof pmu);
	report_machine("vmm", vmm, sizeof vmm);
	report_machine("priv", priv, sizeof priv);
	printf("# %s: %s, %s, %s; payloads at %s privilege\n", arch, cpu, pmu,
	    vmm, priv);
	printf("# count, tick and hrtime (ns): medians of %u runs after %u "
	       "warm-ups, less the overhead; range: max - min of count\n",
	    o->o_runs, o->o_warmups);
	printf(ROW, "payload", "event", "count", "per-iteration", "tick",
	    "hrtime", "range", "overhead");
}

static const char *
format_net(char *buf, size_t len, const struct quantity *q)
{
	if (q->q_raw.s_n == 0)
		snprintf(buf, len, "-");
	else
		snprintf(buf, len, "%" PRId64, quantity_net(q));
	return buf;
}

static void
print_row(const struct result *r)
{
	char event[REPORT_EVENT], count[32], ratio[40] = "-", tick[32],
					     hrtime[32];
	char range[32] = "-", overhead[32] = "-";

	if (r->r_status == COUNTED) {
		format_net(count, sizeof count, &r->r_count);
		report_ratio(ratio, sizeof ratio, quantity_net(&r->r_count),
		    r->r_iterations);
		snprintf(range, sizeof range, "%" PRIu64,
		    series_range(&r->r_count.q_raw));
		if (r->r_count.q_overhead.s_n != 0)
			snprintf(overhead, sizeof overhead, "%" PRId64,
			    r->r_count.q_overhead.s_median);
		format_net(tick, sizeof tick, &r->r_tick);
	} else {
		snprintf(
		    count, sizeof count, "<%s>", status_words[r->r_status]);
		snprintf(tick, sizeof tick, "-");
	}
	printf(ROW, r->r_label, report_event(event, sizeof event, r->r_event),
	    count, ratio, tick, format_net(hrtime, sizeof hrtime, &r->r_hrtime),
	    range, overhead);
}

/*
 * Print why there is no number, once for each reason.  If the machine counts
 * nothing at all, print it with the titles only, once in a suite.
 */
static void
print_reason(const struct options *o, const struct result *r)
{
	static char said[160];

	if (strcmp(said, r->r_reason) == 0)
		return;
	snprintf(said, sizeof said, "%s", r->r_reason);
	if (o->o_titles || !r->r_machine)
		printf("# <%s>: %s\n", status_words[r->r_status], r->r_reason);
}

static void
print_negative(
    const struct result *r, const char *what, const struct quantity *q)
{
	char event[REPORT_EVENT];

	if (q->q_raw.s_negative == 0)
		return;
	printf("# negative differences: %s: %s of %s, %u of %u, at least "
	       "%" PRId64 ": measure longer runs\n",
	    r->r_label, what, report_event(event, sizeof event, r->r_event),
	    q->q_raw.s_negative, q->q_raw.s_n, q->q_raw.s_min);
}

void
report_result(const struct options *o, const struct result *r)
{
	static bool titled;

	if (o->o_titles && !titled)
		print_titles(o);
	titled = true;
	print_row(r);
	if (r->r_status != COUNTED)
		print_reason(o, r);
	print_negative(r, "count", &r->r_count);
	print_negative(r, "tick", &r->r_tick);
	print_negative(r, "hrtime", &r->r_hrtime);
	fflush(stdout);
	report_record(o, r);
}
