/*
 * Prints counts as perf stat does: as a table, as fields (-x) and as JSON (-j).
 * man perf-stat, "CSV FORMAT" and "JSON FORMAT".
 */
#include "payloads/stat/stat.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/report.h"
#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"

const char *
event_text(char *buf, size_t size, const struct counted *c)
{
	if (c->cnt_soft == SOFT_NONE)
		return report_event(buf, size, &c->cnt_event);
	snprintf(buf, size, "%s", c->cnt_event.e_name);
	return buf;
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

/* A line of an event: its value as text, and perf's columns. */
struct line {
	const struct counted *of;
	const struct part *part; /* or NULL: of the whole program */
	char value[40], event[REPORT_EVENT];
	int64_t runtime;    /* ns */
	const char *unit;   /* of the value */
	const char *metric; /* the unit of a metric, or NULL */
	double ratio;       /* the metric */
};

#define THREAD_TEXT (sizeof((struct thread *)0)->thr_name + 12)

static const char *
thread_text(char *buf, size_t size, const struct thread *th)
{
	snprintf(buf, size, "%s-%" PRIu32, th->thr_name, th->thr_tid);
	return buf;
}

static void
print_json(const struct line *l)
{
	const struct part *pa = l->part;
	char thread[THREAD_TEXT];

	fputc('{', st.out);
	if (pa != NULL && st.interval != 0)
		fprintf(
		    st.out, "\"interval\" : %.9f, ", (double)pa->prt_end / 1e9);
	if (pa != NULL && pa->prt_thread != NULL) {
		fputs("\"thread\" : ", st.out);
		json_string(
		    st.out, thread_text(thread, sizeof thread, pa->prt_thread));
		fputs(", ", st.out);
	}
	fprintf(st.out,
	    "\"counter-value\" : \"%s\", \"unit\" : \"%s\", "
	    "\"event\" : ",
	    l->value, l->unit);
	json_string(st.out, l->event);
	if (st.runs > 1)
		fprintf(st.out, ", \"variance\" : %.2f",
		    percent_of(&l->of->cnt_count));
	fprintf(st.out,
	    ", \"event-runtime\" : %" PRId64 ", \"pcnt-running\" : 100.00",
	    l->runtime);
	if (l->metric != NULL)
		fprintf(st.out,
		    ", \"metric-value\" : %.6f, \"metric-unit\" : \"%s\"",
		    l->ratio, l->metric);
	fputs("}\n", st.out);
}

/* The last two fields are perf's metric and its unit. */
static void
print_fields(const struct line *l)
{
	const struct part *pa = l->part;
	const char *x = st.separator;
	char thread[THREAD_TEXT];

	if (pa != NULL && st.interval != 0)
		fprintf(st.out, "%.9f%s", (double)pa->prt_end / 1e9, x);
	if (pa != NULL && pa->prt_thread != NULL)
		fprintf(st.out, "%s%s",
		    thread_text(thread, sizeof thread, pa->prt_thread), x);
	fprintf(st.out, "%s%s%s%s%s", l->value, x, l->unit, x, l->event);
	if (st.runs > 1)
		fprintf(st.out, "%s%.2f%%", x, percent_of(&l->of->cnt_count));
	fprintf(st.out, "%s%" PRId64 "%s100.00%s", x, l->runtime, x, x);
	if (l->metric != NULL)
		fprintf(st.out, "%.2f%s%s\n", l->ratio, x, l->metric);
	else
		fprintf(st.out, "%s\n", x);
}

static void
print_noise(const struct series *s)
{
	if (percent_of(s) != 0)
		fprintf(st.out, "  ( +-%6.2f%% )", percent_of(s));
	fputc('\n', st.out);
}

static void
print_row(const struct line *l)
{
	/* An emulator's cycles are not a CPU's. */
	bool model = report_emulated(NULL) && l->metric != NULL &&
	             (strstr(l->metric, "cycle") != NULL ||
			 strcmp(l->metric, "GHz") == 0);
	const struct part *pa = l->part;
	char thread[THREAD_TEXT];

	if (pa != NULL && st.interval != 0)
		fprintf(st.out, "%17.9f ", (double)pa->prt_end / 1e9);
	if (pa != NULL && pa->prt_thread != NULL)
		fprintf(st.out, "%16s ",
		    thread_text(thread, sizeof thread, pa->prt_thread));
	fprintf(st.out, "%18s %-4s %-32s", l->value, l->unit, l->event);
	if (l->metric != NULL)
		fprintf(st.out, " # %9.3f  %s%s", l->ratio, l->metric,
		    model ? " (model)" : "");
	if (pa == NULL)
		print_noise(&l->of->cnt_count);
	else
		fputc('\n', st.out);
}

static void
print_line(struct line *l)
{
	event_text(l->event, sizeof l->event, l->of);
	if (st.json)
		print_json(l);
	else if (st.separator != NULL)
		print_fields(l);
	else
		print_row(l);
}

/* perf prints the task clock in ms.  A mean of runs need not be whole. */
static void
set_value(struct line *l, double value)
{
	bool clock = l->of->cnt_soft == SOFT_TASK_CLOCK;

	l->unit = clock ? "msec" : "";
	snprintf(l->value, sizeof l->value,
	    st.json ? "%.6f"
	    : clock ? "%.2f"
		    : "%.0f",
	    clock ? value / 1e6 : value);
}

void
print_part(const struct counted *c, const struct part *pa, double value)
{
	struct line l = { .of = c, .part = pa, .runtime = pa->prt_ns };

	set_value(&l, value);
	print_line(&l);
}

static void
print_threads(const struct counted *c)
{
	for (unsigned i = 0; i < st.nthread; i++) {
		const struct share *shr = &c->cnt_thread[i];
		const struct part pa = { &st.threads[i], 0, shr->shr_ns };

		print_part(c, &pa, (double)shr->shr_count);
	}
}

static void
print_one(const struct counted *c)
{
	struct line l = { .of = c, .unit = "", .runtime = mean_runtime(c) };

	if (c->cnt_count.s_used != 0) {
		set_value(&l, mean_of(&c->cnt_count));
		l.metric = metric_of(c, &l.ratio);
	} else {
		snprintf(l.value, sizeof l.value, "%s",
		    c->cnt_status == NOT_COUNTED ? "<not counted>"
						 : "<not supported>");
	}
	if (st.per_thread && c->cnt_count.s_used != 0)
		print_threads(c);
	else
		print_line(&l);
}

static void
print_head(void)
{
	fputs("\n Performance counter stats for '", st.out);
	for (char **word = st.program; *word != NULL; word++)
		fprintf(st.out, "%s%s", word == st.program ? "" : " ", *word);
	fputc('\'', st.out);
	if (st.runs > 1)
		fprintf(st.out, " (%u runs)", st.runs);
	fputs(":\n\n", st.out);
}

/* Print the time; of several runs the mean, to the third digit of its error. */
static void
print_time(void)
{
	double seconds = mean_of(&st.ns) / 1e9, error = st.ns.s_error / 1e9;
	int digits = 9;

	if (st.ns.s_used == 1) {
		fprintf(st.out, "\n %17.9f seconds time elapsed\n\n", seconds);
		return;
	}
	if (error > 0)
		digits = (int)fmin(fmax(ceil(-log10(error)), 0) + 2, 9);
	fprintf(st.out, "\n %17.*f +- %.*f seconds time elapsed", digits,
	    seconds, digits, error);
	print_noise(&st.ns);
	fputc('\n', st.out);
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
print_reason(FILE *f, const struct counted *c)
{
	if (c->cnt_spoiled != 0)
		fprintf(f, "# stat: %s: not counted in %u of %u runs: %s\n",
		    c->cnt_event.e_name, c->cnt_spoiled, st.runs, c->cnt_spoil);
	else if (c->cnt_reason != NULL && !was_printed(c))
		fprintf(f, "# stat: %s\n", c->cnt_reason);
}

/* Were the runs the same?  With -x and -j, print only that they were not. */
static void
print_reference(FILE *f, bool plain)
{
	if (st.reference_runs < 2 || (!plain && st.least == st.most))
		return;
	fprintf(
	    f, "# stat: reference %s: %" PRIu64, st.reference.e_name, st.least);
	if (st.least == st.most)
		fprintf(f, " in each of %u runs\n", st.reference_runs);
	else
		fprintf(f, "..%" PRIu64 ", spread %" PRIu64 " in %u runs\n",
		    st.most, st.most - st.least, st.reference_runs);
}

/* The lines that --aggregates and disturbed runs add. */
static void
print_runs(FILE *f)
{
	char event[REPORT_EVENT];

	for (unsigned i = 0; st.aggregates && i < st.nevent; i++) {
		const struct counted *c = &st.all[i];

		if (c->cnt_count.s_used == 0)
			continue;
		fprintf(f, "# stat: %s%s: ", event_text(event, sizeof event, c),
		    c->cnt_soft == SOFT_TASK_CLOCK ? ", ns" : "");
		series_print(f, &c->cnt_count, 0);
	}
	if (st.notes == NULL)
		return;
	close_or_fail(st.notes);
	fputs(st.notes_text, f);
	free(st.notes_text);
}

/* Print lines of notes.  With -j each is an object, as all lines are. */
static void
print_notes(char *text)
{
	static const char start[] = "# stat: ";

	if (!st.json) {
		fputs(text, st.out);
		return;
	}
	for (char *line = strtok(text, "\n"); line != NULL;
	     line = strtok(NULL, "\n")) {
		fputs("{\"note\" : ", st.out);
		json_string(st.out, line + strlen(start));
		fputs("}\n", st.out);
	}
}

/* Ctrl-C ended the run of these events. */
static void
print_cut(FILE *notes)
{
	char event[REPORT_EVENT];
	const char *join = "";

	fputs("# stat: interrupted: the counts end there: ", notes);
	for (unsigned i = 0; i < st.nevent; i++) {
		if (!st.all[i].cnt_keys.ck_cut)
			continue;
		fprintf(notes, "%s%s", join,
		    event_text(event, sizeof event, &st.all[i]));
		join = ", ";
	}
	fputc('\n', notes);
}

/* Say that some counts include the looks for Ctrl-C. */
static void
print_looks(FILE *notes)
{
	unsigned looks = 0;

	for (unsigned i = 0; i < st.nevent; i++) {
		const struct counted *c = &st.all[i];

		if ((c->cnt_soft == SOFT_SWITCHES ||
			(c->cnt_soft == SOFT_NONE &&
			    (c->cnt_event.e_flags & CPC_COUNT_SYSTEM) != 0)) &&
		    c->cnt_keys.ck_looks > looks)
			looks = c->cnt_keys.ck_looks;
	}
	if (looks != 0)
		fprintf(notes,
		    "# stat: context switches and the kernel's counts include "
		    "%u looks for Ctrl-C, each 200 ms%s\n",
		    looks,
		    st.interval == 0 && !st.per_thread ? ": -r 2 makes none"
						       : "");
}

void
print_all(void)
{
	bool plain = !st.json && st.separator == NULL;
	char *text;
	size_t bytes;
	FILE *notes = fail_unless_room(open_memstream(&text, &bytes));

	if (plain && st.interval == 0)
		print_head();
	/* -I has printed what was counted. */
	for (unsigned i = 0; i < st.nevent; i++) {
		const struct counted *c = st.by_place[i];

		if (st.interval == 0 || c->cnt_count.s_used == 0)
			print_one(c);
	}
	if (plain)
		print_time();
	for (unsigned i = 0; i < st.nevent; i++)
		print_reason(notes, &st.all[i]);
	if (st.left != 0)
		fprintf(notes,
		    "# stat: LWPs that outlived the program, and are not in "
		    "the counts: %u\n",
		    st.left);
	if (st.keys.ck_cut)
		print_cut(notes);
	else if (st.interrupted)
		fprintf(notes,
		    "# stat: interrupted after %u runs, which are counted\n",
		    st.ns.s_n);
	print_looks(notes);
	print_reference(notes, plain);
	print_runs(notes);
	close_or_fail(notes);
	print_notes(text);
	free(text);
}
