/*
 * Prints counts as perf stat does: as a table, as fields (-x) and as JSON (-j).
 * man perf-stat, "CSV FORMAT" and "JSON FORMAT".
 */
#include "payloads/tools/stat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/json.h"
#include "payloads/common/report.h"

static double
mean_of(const struct series *s)
{
	return s->s_used == 0 ? 0 : (double)s->s_sum / s->s_used;
}

static double
percent_of(const struct series *s)
{
	return s->s_sum == 0 ? 0 : 100 * s->s_error / mean_of(s);
}

/* How long the event was counted in a run, on average. */
static int64_t
mean_runtime(const struct counted *c)
{
	return c->cnt_count.s_used != 0 ? c->cnt_ns / c->cnt_count.s_used : 0;
}

static void
print_json(const struct counted *c, const char *value, const char *event)
{
	fprintf(stderr,
	    "{\"counter-value\" : \"%s\", \"unit\" : \"\", "
	    "\"event\" : ",
	    value);
	json_string(stderr, event);
	if (st.runs > 1)
		fprintf(
		    stderr, ", \"variance\" : %.2f", percent_of(&c->cnt_count));
	fprintf(stderr,
	    ", \"event-runtime\" : %" PRId64 ", \"pcnt-running\" : 100.00}\n",
	    mean_runtime(c));
}

/* The last two fields are perf's metric and its unit, which are empty. */
static void
print_fields(const struct counted *c, const char *value, const char *event)
{
	const char *x = st.separator;

	fprintf(stderr, "%s%s%s%s", value, x, x, event);
	if (st.runs > 1)
		fprintf(stderr, "%s%.2f%%", x, percent_of(&c->cnt_count));
	fprintf(
	    stderr, "%s%" PRId64 "%s100.00%s%s\n", x, mean_runtime(c), x, x, x);
}

static void
print_noise(const struct series *s)
{
	if (percent_of(s) != 0)
		fprintf(stderr, "  ( +-%6.2f%% )", percent_of(s));
	fputc('\n', stderr);
}

static void
print_one(const struct counted *c)
{
	char value[40], event[REPORT_EVENT];

	report_event(event, sizeof event, &c->cnt_event);
	if (c->cnt_count.s_used != 0)
		snprintf(value, sizeof value, st.json ? "%.6f" : "%.0f",
		    mean_of(&c->cnt_count));
	else
		snprintf(value, sizeof value, "%s",
		    c->cnt_status == NOT_COUNTED ? "<not counted>"
						 : "<not supported>");
	if (st.json) {
		print_json(c, value, event);
	} else if (st.separator != NULL) {
		print_fields(c, value, event);
	} else {
		fprintf(stderr, "%18s      %-32s", value, event);
		print_noise(&c->cnt_count);
	}
}

static void
print_head(void)
{
	fputs("\n Performance counter stats for '", stderr);
	for (char **word = st.program; *word != NULL; word++)
		fprintf(stderr, "%s%s", word == st.program ? "" : " ", *word);
	fputc('\'', stderr);
	if (st.runs > 1)
		fprintf(stderr, " (%u runs)", st.runs);
	fputs(":\n\n", stderr);
}

/* Print the time; of several runs the mean, to the third digit of its error. */
static void
print_time(void)
{
	double seconds = mean_of(&st.ns) / 1e9, error = st.ns.s_error / 1e9;
	int digits = 9;

	if (st.ns.s_used == 1) {
		fprintf(stderr, "\n %17.9f seconds time elapsed\n\n", seconds);
		return;
	}
	if (error > 0)
		digits = (int)fmin(fmax(ceil(-log10(error)), 0) + 2, 9);
	fprintf(stderr, "\n %17.*f +- %.*f seconds time elapsed", digits,
	    seconds, digits, error);
	print_noise(&st.ns);
	fputc('\n', stderr);
}

/* Has the reason been printed for an earlier event? */
static bool
was_printed(const struct counted *c)
{
	for (const struct counted *other = st.all; other < c; other++) {
		if (other->cnt_reason != NULL &&
		    strcmp(other->cnt_reason, c->cnt_reason) == 0)
			return true;
	}
	return false;
}

/* Print why an event was not counted, or not in every run. */
static void
print_reason(const struct counted *c)
{
	if (c->cnt_revoked != 0)
		fprintf(stderr,
		    "# stat: %s: not counted in %u of %u runs: a set was "
		    "bound to a CPU\n",
		    c->cnt_event.e_name, c->cnt_revoked, st.runs);
	else if (c->cnt_reason != NULL && !was_printed(c))
		fprintf(stderr, "# stat: %s\n", c->cnt_reason);
}

/* Were the runs the same?  With -x and -j, print only that they were not. */
static void
print_reference(bool plain)
{
	if (st.reference_runs < 2 || (!plain && st.least == st.most))
		return;
	fprintf(stderr, "# stat: reference %s: %" PRIu64, st.reference.e_name,
	    st.least);
	if (st.least == st.most)
		fprintf(stderr, " in each of %u runs\n", st.reference_runs);
	else
		fprintf(stderr,
		    "..%" PRIu64 ", spread %" PRIu64 " in %u runs\n", st.most,
		    st.most - st.least, st.reference_runs);
}

/* The lines that --aggregates and disturbed runs add. */
static void
print_runs(void)
{
	char event[REPORT_EVENT];

	for (unsigned i = 0; st.aggregates && i < st.nevent; i++) {
		const struct counted *c = &st.all[i];

		if (c->cnt_count.s_used == 0)
			continue;
		fprintf(stderr, "# stat: %s: ",
		    report_event(event, sizeof event, &c->cnt_event));
		series_print(stderr, &c->cnt_count, 0);
	}
	if (st.notes == NULL)
		return;
	fclose(st.notes);
	fputs(st.notes_text, stderr);
	free(st.notes_text);
}

void
print_all(void)
{
	bool plain = !st.json && st.separator == NULL;
	unsigned i;

	if (plain)
		print_head();
	for (i = 0; i < st.nevent; i++)
		print_one(&st.all[i]);
	if (plain)
		print_time();
	for (i = 0; i < st.nevent; i++)
		print_reason(&st.all[i]);
	if (st.left != 0)
		fprintf(stderr,
		    "# stat: LWPs that outlived the program, and are not in "
		    "the counts: %u\n",
		    st.left);
	print_reference(plain);
	print_runs();
}
