/* Prints rows of results as a table. */
#include "payloads/common/report.h"

#include <inttypes.h>
#include <libcpc.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/events/errata.h"
#include "payloads/common/meter.h"
#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"

const char *const status_words[] = {
	[COUNTED] = "counted",
	[NOT_SUPPORTED] = "not supported",
	[NOT_COUNTED] = "not counted",
	[STUCK] = "stuck",
};

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

/* Did the suite's program `spin` fail before this one? */
static bool
spin_failed(void)
{
	return strstr(json_machine(), "\"spin_failed\":true") != NULL;
}

/* Are counts the same in every boot? */
static bool
is_exact_machine(void)
{
	char clock[16] = "", accel[16] = "";

	report_machine("clock", clock, sizeof clock);
	report_machine("accel", accel, sizeof accel);
	return strcmp(clock, "virtual") == 0 && strcmp(accel, "tcg") == 0;
}

bool
report_emulated(FILE *f)
{
	const char *machine = json_machine();
	bool emulated = strstr(machine, "\"vmm\":\"tcg\"") != NULL ||
	                strstr(machine, "nested-kvm") != NULL;

	if (emulated && f != NULL)
		fputs("# emulated: instructions are exact; cycles are the "
		      "emulator's model, not a CPU's\n",
		    f);
	return emulated;
}

void
report_names(const char *what)
{
	char cpu[64] = "a CPU", pmu[64] = "no counters",
	     vmm[32] = "not barecpc";
	char arch[16] = "this machine", priv[16] = "user";

	report_machine("arch", arch, sizeof arch);
	report_machine("cpu", cpu, sizeof cpu);
	report_machine("pmu", pmu, sizeof pmu);
	report_machine("vmm", vmm, sizeof vmm);
	report_machine("priv", priv, sizeof priv);
	printf("# %s: %s, %s, %s; %s at %s privilege\n", arch, cpu, pmu, vmm,
	    what, priv);
}

/* Print the facts that hold for every row, and the columns' titles. */
static void
print_titles(const struct options *o)
{
	report_names("payloads");
	printf("# count, tick and hrtime (ns): medians of %u runs after %u "
	       "warm-ups, less the overhead; range: max - min of count\n",
	    o->o_runs, o->o_warmups);
	if (!is_exact_machine())
		puts("# the range of the runs of one boot does not bound that "
		     "of another: barecpc run --boots N shows the spread");
	report_emulated(stdout);
	if (o->o_undisturbed)
		puts("# disturbed runs are excluded; the last lines say which");
	printf(REPORT_ROW, "payload", "event", "count", "per-iteration", "tick",
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
		format_net(count, sizeof count - 1, &r->r_count);
		if (spin_failed())
			strcat(count, "!");
		ratio_text(ratio, sizeof ratio, quantity_net(&r->r_count),
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
	printf(REPORT_ROW, r->r_label,
	    report_event(event, sizeof event, r->r_event), count, ratio, tick,
	    format_net(hrtime, sizeof hrtime, &r->r_hrtime), range, overhead);
}

static char *said; /* the last reason that was printed, or NULL */
static bool counted;

/*
 * Print why there is no number, once for each reason.  If the machine counts
 * nothing at all, print it with the titles only, once in a suite.
 */
static void
print_reason(const struct options *o, const struct result *r)
{
	char *text = fail_unless_room(strdup(r->r_reason)), *s;

	while ((s = strchr(text, '\n')) != NULL)
		*s = ' '; /* a reason is one line of the table */
	bool again = said != NULL && strcmp(said, text) == 0;
	free(said);
	said = text;
	if (again)
		return;
	if (o->o_titles || !r->r_machine)
		printf("# <%s>: %s\n", status_words[r->r_status], said);
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
	    q->q_raw.s_negative, q->q_raw.s_used, q->q_raw.s_min);
}

/* Say if the runs differ by more than what they measure. */
static void
print_noisy(const struct result *r, const char *what, const struct quantity *q)
{
	char event[REPORT_EVENT];

	if (!quantity_noisy(q))
		return;
	printf("# spread larger than the effect: %s: %s of %s, %" PRId64
	       ", range %" PRIu64,
	    r->r_label, what, report_event(event, sizeof event, r->r_event),
	    quantity_net(q), series_range(&q->q_raw));
	if (q->q_overhead.s_n != 0)
		printf(
		    ", of the overhead %" PRIu64, series_range(&q->q_overhead));
	puts(": measure longer runs");
}

/* Print all aggregates, less the overhead's median: --aggregates. */
static void
print_aggregates(
    const struct result *r, const char *what, const struct quantity *q)
{
	char event[REPORT_EVENT];

	if (q->q_raw.s_used == 0)
		return;
	printf("# %s: %s of %s: ", r->r_label, what,
	    report_event(event, sizeof event, r->r_event));
	series_print(stdout, &q->q_raw, q->q_overhead.s_median);
}

/* The lines of report_last_lines(). */
static struct lines {
	FILE *ln_file;
	char *ln_text;
	size_t ln_bytes;
} last_lines;

static void
keep_disturbed(const struct result *r, const char *what, const struct runs *rn)
{
	struct lines *ln = &last_lines;
	char event[REPORT_EVENT], row[REPORT_EVENT + 80];

	if (rn == NULL || rn->rn_ndisturbed == 0)
		return;
	if (ln->ln_file == NULL)
		ln->ln_file = fail_unless_room(
		    open_memstream(&ln->ln_text, &ln->ln_bytes));
	snprintf(row, sizeof row, "%s %s", r->r_label,
	    report_event(event, sizeof event, r->r_event));
	runs_print(ln->ln_file, "# ", row, what, rn);
}

void
report_last_lines(void)
{
	struct lines *ln = &last_lines;

	if (ln->ln_file == NULL)
		return;
	close_or_fail(ln->ln_file);
	fputs(ln->ln_text, stdout);
	free(ln->ln_text);
	memset(ln, 0, sizeof *ln);
	fflush(stdout);
}

/* Print each erratum once. */
static void
print_errata(const struct result *r)
{
	const char *event = r->r_event->e_name, *text;
	static uint64_t printed;

	for (unsigned n = 0;
	     (text = errata_here(event, r->r_code, r->r_pic, &n)) != NULL;) {
		if ((printed >> n % 64 & 1) == 0)
			printf("# erratum of %s: %s\n", event, text);
		printed |= 1ULL << n % 64;
	}
}

int
report_status(const struct meter *m, bool right)
{
	if (!right || counted || said == NULL)
		return right ? 0 : 1;
	/* The kernel's log has the reason of a machine without counters. */
	if (m->m_cpc != NULL)
		fprintf(stderr, "%s: nothing was counted: %s\n", usage_name(),
		    said);
	return STATUS_NOTHING_COUNTED;
}

struct result
report_believed(const struct result *r)
{
	struct result believed = *r;
	const char *how = errata_stuck(r->r_code);

	if (r->r_status == COUNTED && how != NULL) {
		believed.r_status = STUCK;
		believed.r_reason = how;
		believed.r_count = (struct quantity){ 0 };
	}
	return believed;
}

void
report_result(const struct options *o, const struct result *counted_as)
{
	const struct result believed = report_believed(counted_as);
	const struct result *r = &believed;
	static bool titled, warned;

	if (o->o_titles && !titled)
		print_titles(o);
	titled = true;
	print_row(r);
	if (!warned && spin_failed())
		puts("# !: spin failed in this suite: this machine's counts "
		     "may be wrong");
	warned = true;
	counted = counted || r->r_status == COUNTED;
	if (r->r_status == COUNTED)
		print_errata(r);
	else
		print_reason(o, r);
	print_negative(r, "count", &r->r_count);
	print_negative(r, "tick", &r->r_tick);
	print_negative(r, "hrtime", &r->r_hrtime);
	print_noisy(r, "count", &r->r_count);
	print_noisy(r, "tick", &r->r_tick);
	print_noisy(r, "hrtime", &r->r_hrtime);
	if (o->o_aggregates) {
		print_aggregates(r, "count", &r->r_count);
		print_aggregates(r, "tick", &r->r_tick);
		print_aggregates(r, "hrtime", &r->r_hrtime);
	}
	keep_disturbed(r, "run", r->r_runs);
	keep_disturbed(r, "overhead run", r->r_empty);
	fflush(stdout);
	report_record(o, r);
}
