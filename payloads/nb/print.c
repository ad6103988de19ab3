/* Prints the results, one line for each event, as nanoBench does. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "payloads/nb/nb.h"

#define NUMBER      64
#define MOST_DIGITS 12

/* A fraction: an aggregate of a series. */
struct fraction {
	wide_t fra_num, fra_den;
};

static struct fraction
aggregate_of(enum nb_aggregate a, const struct series *s)
{
	if (s->s_n == 0)
		return (struct fraction){ 0, 1 };
	switch (a) {
	case NB_AVG:
		return (struct fraction){ s->s_inner_sum, s->s_inner };
	case NB_MEDIAN:
		return (struct fraction){ s->s_upper_median, 1 };
	case NB_MIN:
		return (struct fraction){ s->s_min, 1 };
	default:
		return (struct fraction){ s->s_max, 1 };
	}
}

int64_t
nb_aggregate_of(enum nb_aggregate a, const struct series *s)
{
	struct fraction f = aggregate_of(a, s);

	return (int64_t)((2 * f.fra_num + f.fra_den) / (2 * f.fra_den));
}

static struct fraction
difference(struct fraction a, struct fraction b)
{
	return (struct fraction){ a.fra_num * b.fra_den - b.fra_num * a.fra_den,
		a.fra_den * b.fra_den };
}

/*
 * With `decimals` 0 or 2, rounded half away from zero.  A fraction that would
 * be 0.00 has more digits: a zero means that nothing was counted.
 */
static const char *
number_text(char *buf, struct fraction f, uint64_t divisor, unsigned decimals)
{
	uint64_t unit = decimals == 0 ? 1 : 100, v;
	wide_t den = f.fra_den * (wide_t)divisor;
	wide_t size = f.fra_num < 0 ? -f.fra_num : f.fra_num;
	const char *sign = f.fra_num < 0 ? "-" : "";

	v = (uint64_t)((size * (wide_t)unit * 2 + den) / (2 * den));
	while (v == 0 && size != 0 && decimals > 0 && decimals < MOST_DIGITS) {
		decimals++;
		unit *= 10;
		v = (uint64_t)((size * (wide_t)unit * 2 + den) / (2 * den));
	}
	if (v == 0)
		sign = "";
	if (decimals == 0)
		snprintf(buf, NUMBER, "%s%" PRIu64, sign, v);
	else
		snprintf(buf, NUMBER, "%s%" PRIu64 ".%0*" PRIu64, sign,
		    v / unit, (int)decimals, v % unit);
	return buf;
}

static uint64_t
divisor_of(const struct nb_options *o)
{
	if (o->nbo_no_normalization)
		return 1;
	return o->nbo_unroll * (o->nbo_loops > 0 ? o->nbo_loops : 1) *
	       o->nbo_divisor;
}

void
nb_print_name(const char *name)
{
	if (strpbrk(name, ",\"") == NULL) {
		fputs(name, stdout);
		return;
	}
	putchar('"');
	for (; *name != '\0'; name++) {
		if (*name == '"')
			putchar('"');
		putchar(*name);
	}
	putchar('"');
}

static void
print_method(const struct nb_options *o)
{
	static const char *const words[] = { "means without the lowest and "
					     "highest fifth",
		"medians", "minima", "maxima" };
	unsigned long long u = o->nbo_unroll;

	printf("# %s", o->nbo_name);
	if (o->nbo_cycles)
		printf(": %llu copies, cycle by cycle%s", u,
		    o->nbo_end_to_end ? ", with all overhead" : "");
	else if (o->nbo_end_to_end)
		printf(": %llu copies, with all overhead", u);
	else if (o->nbo_basic)
		printf(": %llu copies, less none", u);
	else
		printf(": %llu copies, less %llu", 2 * u, u);
	if (o->nbo_loops > 0)
		printf(", %llu times", (unsigned long long)o->nbo_loops);
	if (o->nbo_no_normalization || o->nbo_cycles)
		printf("; in all");
	else if (o->nbo_divisor == 1)
		printf("; for each copy");
	else
		printf("; for each of %llu instructions of a copy",
		    (unsigned long long)o->nbo_divisor);
	printf("; %s of %u runs after %u warm-ups\n", words[o->nbo_aggregate],
	    o->nbo_common.o_runs, o->nbo_common.o_warmups);
}

void
nb_print_titles(const struct nb_options *o)
{
	report_names("code");
	print_method(o);
	report_emulated(stdout);
	if (o->nbo_csv && !o->nbo_cycles)
		puts(o->nbo_range ? "event,value,min,max" : "event,value");
}

/* All readings of one series. */
static void
print_readings(const char *name, uint64_t copies, const struct series *s)
{
	if (s->s_n == 0)
		return;
	printf("# %s, %llu copies:", name, (unsigned long long)copies);
	for (unsigned i = 0; i < s->s_n; i++)
		printf(" %" PRId64, s->s_raw[i]);
	putchar('\n');
}

static void
print_verbose(const struct nb_options *o, const struct nb_result *r)
{
	bool alone = o->nbo_basic || o->nbo_end_to_end;
	const char *name = r->nbr_event->nbe_name;
	uint64_t u = o->nbo_unroll;

	print_readings(name, alone ? 0 : u, &r->nbr_count.q_overhead);
	print_readings(name, alone ? u : 2 * u, &r->nbr_count.q_raw);
}

static void
print_range(const struct nb_options *o, const struct quantity *q)
{
	const struct series *s = &q->q_raw, *less = &q->q_overhead;
	unsigned decimals = o->nbo_no_normalization ? 0 : 2;
	const struct fraction min = { (wide_t)s->s_min - less->s_max, 1 };
	const struct fraction max = { (wide_t)s->s_max - less->s_min, 1 };
	char low[NUMBER], high[NUMBER];

	number_text(low, min, divisor_of(o), decimals);
	number_text(high, max, divisor_of(o), decimals);
	printf(o->nbo_csv ? ",%s,%s" : " [%s;%s]", low, high);
}

void
nb_print(const struct nb_options *o, const struct nb_result *r)
{
	const struct quantity *q = &r->nbr_count;
	struct fraction f;
	char text[NUMBER];

	if (r->nbr_status == COUNTED) {
		f = difference(aggregate_of(o->nbo_aggregate, &q->q_raw),
		    aggregate_of(o->nbo_aggregate, &q->q_overhead));
		if (o->nbo_remove_empty && f.fra_num == 0)
			return;
		number_text(
		    text, f, divisor_of(o), o->nbo_no_normalization ? 0 : 2);
	} else {
		snprintf(
		    text, sizeof text, "<%s>", status_words[r->nbr_status]);
	}
	if (o->nbo_verbose && r->nbr_status == COUNTED)
		print_verbose(o, r);
	nb_print_name(r->nbr_event->nbe_name);
	printf(o->nbo_csv ? ",%s" : ": %s", text);
	if (o->nbo_range && r->nbr_status == COUNTED)
		print_range(o, q);
	else if (o->nbo_range && o->nbo_csv)
		fputs(",,", stdout);
	putchar('\n');
	if (r->nbr_status != COUNTED)
		printf(
		    "# <%s>: %s\n", status_words[r->nbr_status], r->nbr_reason);
}
