/* Differences are signed in lists, order, text and records. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events/machine.h"
#include "payloads/common/events/errata.h"
#include "payloads/common/events/perf_names.h"
#include "payloads/common/report.h"
#include "payloads/common/results/json.h"
#include "tests/lib/host/support.h"

/* Functions that report.o and report_record.o need from files of the image. */
static char *record;

void
json_record(int argc, char *const *argv,
    void (*members)(FILE *f, const void *arg), const void *arg)
{
	size_t len;

	free(record);
	FILE *f = open_memstream(&record, &len);
	members(f, arg);
	fclose(f);
}

void
json_member(FILE *f, const char *key, const char *value)
{
	fprintf(f, ",\"%s\":\"%s\"", key, value);
}

void
json_looks(FILE *f, unsigned looks, bool cut)
{
}

void
json_string(FILE *f, const char *s)
{
	fprintf(f, "\"%s\"", s);
}

void
json_privilege(FILE *f, unsigned flags)
{
}

static const char *machine = "";

const char *
json_machine(void)
{
	return machine;
}

/* The machine of errata_here.o knows one name, and perf's name of it. */
const struct machine *
machine_here(void)
{
	static char any;

	return (const struct machine *)(const void *)&any;
}

bool
machine_name(const struct machine *mc, const char *name, struct cpc_event *ce)
{
	ce->ce_code = 0xc0;
	return strcmp(name, "inst_retired.any_p") == 0;
}

bool
perf_name_is(const char *name)
{
	return strcmp(name, "instructions") == 0;
}

bool
perf_name_native(const char *name, unsigned n, char *buf, size_t size)
{
	snprintf(buf, size, "inst_retired.any%s", n == 0 ? "" : "_p");
	return n < 2;
}

int
options_levels(const char *name)
{
	return -1;
}

static void
fill_series(struct series *s, const int64_t *values, unsigned n)
{
	series_open(s, n);
	for (unsigned i = 0; i < n; i++)
		series_add(s, values[i]);
	series_close(s, NULL);
}

TEST(aggregates_are_signed)
{
	static const int64_t values[] = { 7, -7120, 3, -1, 12 };
	struct series s;

	fill_series(&s, values, 5);
	assert_true((int64_t)s.s_min == -7120);
	assert_true((int64_t)s.s_median == 3);
	assert_true((int64_t)s.s_max == 12);
	assert_int_equal(series_range(&s), 7132);
	assert_int_equal(s.s_negative, 2);
	assert_true((int64_t)s.s_raw[1] == -7120);
	series_free(&s);
}

TEST(extremes_do_not_overflow)
{
	static const int64_t values[] = { INT64_MAX, INT64_MIN };
	struct quantity q = { 0 };

	fill_series(&q.q_raw, values, 2);
	fill_series(&q.q_overhead, values, 1);
	assert_true(series_range(&q.q_raw) == UINT64_MAX);
	assert_true(quantity_net(&q) == 1); /* modulo 2^64, but defined */
	series_free(&q.q_raw);
	series_free(&q.q_overhead);
}

/* The output of report_result(). */
static char *
report_output(const struct options *o, const struct result *r)
{
	static char text[4096];
	FILE *f = tmpfile();

	fflush(stdout);
	int was = dup(STDOUT_FILENO);
	dup2(fileno(f), STDOUT_FILENO);
	report_result(o, r);
	report_last_lines();
	fflush(stdout);
	dup2(was, STDOUT_FILENO);
	close(was);
	rewind(f);
	size_t n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

TEST(a_negative_difference_is_marked)
{
	static const int64_t counts[] = { 4000, 4000, 4000 };
	static const int64_t times[] = { 5, -7120, -3 };
	const struct event e = { .e_name = "cycles" };
	struct options o = { .o_runs = 3 };
	struct result r = { .r_label = "spin/pic0",
		.r_event = &e,
		.r_method = "",
		.r_iterations = 2000,
		.r_verified = true };

	fill_series(&r.r_count.q_raw, counts, 3);
	fill_series(&r.r_hrtime.q_raw, times, 3);
	const char *text = report_output(&o, &r);
	assert_non_null(
	    strstr(text, " 4000         2.000            -           -3"));
	assert_non_null(strstr(text,
	    "\n# negative differences: spin/pic0: hrtime of cycles, 2 of 3, at "
	    "least -7120: measure longer runs\n"));
	assert_null(strstr(text, "count of"));
	assert_non_null(strstr(text,
	    "\n# spread larger than the effect: spin/pic0: hrtime of cycles, "
	    "-3, range 7125: measure longer runs\n"));
	assert_non_null(strstr(record,
	    "\"hrtime_ns\":{\"net\":-3,\"spread_larger\":true,"
	    "\"measured\":{\"min\":-7120,"
	    "\"median\":-3,\"max\":5,\"range\":7125,\"negative\":2,"
	    "\"mean\":-2372.667,\"trimmed_mean\":-2372.667,"
	    "\"standard_error\":2373.668,\"at_minimum\":0.333,"
	    "\"raw\":[5,-7120,-3]}"));
	assert_non_null(strstr(record,
	    "\"negative\":0,\"mean\":4000.000,\"trimmed_mean\":4000.000,"
	    "\"standard_error\":0.000,\"at_minimum\":1.000,"
	    "\"raw\":[4000,4000,4000]"));
	series_free(&r.r_count.q_raw);
	series_free(&r.r_hrtime.q_raw);
	free(record);
	record = NULL;
}

/* Two rows, and a third after one with another reason. */
TEST(a_reason_is_one_line_and_printed_once)
{
	const struct event e = { .e_name = "cycles" };
	struct options o = { .o_runs = 3 };
	struct result r = { .r_label = "triad/8",
		.r_event = &e,
		.r_status = NOT_COUNTED,
		.r_reason = "first line\nsecond line",
		.r_method = "none",
		.r_iterations = 1,
		.r_verified = true };

	assert_non_null(strstr(report_output(&o, &r),
	    "\n# <not counted>: first line second line\n"));
	assert_null(strstr(report_output(&o, &r), "#"));
	assert_non_null(strstr(record, "first line\nsecond line"));
	r.r_reason = "another";
	assert_non_null(
	    strstr(report_output(&o, &r), "\n# <not counted>: another\n"));
	free(record);
	record = NULL;
}

/* The errata in the record of a CPU's event. */
static const char *
errata_of(const char *event, int64_t code, int pic)
{
	const struct event e = { .e_name = event };
	struct options o = { .o_runs = 3 };
	struct result r = { .r_label = "spin",
		.r_event = &e,
		.r_code = code,
		.r_pic = pic,
		.r_method = "none",
		.r_iterations = 1,
		.r_verified = true };

	report_output(&o, &r);
	const char *from = strstr(record, "\"errata\":[\"");
	return from == NULL ? "" : from + strlen("\"errata\":[\"");
}

#define CPU(vendor, family, model)                                             \
	"\"vendor\":\"" vendor "\",\"family\":" family ",\"model\":" model

TEST(an_event_that_stands_still_is_stuck)
{
	static const int64_t counts[] = { 0, 0, 0 };
	const struct event e = { .e_name = "branches" };
	struct options o = { .o_runs = 3 };
	struct result r = { .r_label = "spin",
		.r_event = &e,
		.r_code = 33,
		.r_method = "none",
		.r_iterations = 1,
		.r_verified = true };

	errata_found(33, 0, 2000, "branches");
	errata_found(44, 4000, 2000, "branches");
	fill_series(&r.r_count.q_raw, counts, 3);
	assert_non_null(strstr(report_output(&o, &r), "<stuck>"));
	assert_non_null(strstr(record,
	    "\"status\":\"stuck\",\"reason\":\"counts 0 of 2000 branches "
	    "in a loop\""));
	assert_non_null(
	    strstr(record, "\"count\":null,\"per_iteration\":null"));
	r.r_code = 34;
	report_record(&o, &r);
	assert_non_null(strstr(record, "\"status\":\"counted\""));
	series_free(&r.r_count.q_raw);
	machine = "";
	free(record);
	record = NULL;
}

TEST(an_erratum_is_noted_by_cpu_and_event)
{
	static const struct {
		const char *cpu, *event;
		int64_t code;
		int pic;
		const char *noted;
	} cases[] = {
		{ CPU("GenuineIntel", "6", "175"), "any", 0xc0, 0,
		    "SRF7: FAR" },
		{ CPU("GenuineIntel", "6", "175"), "any", 0xc4, 0,
		    "SRF7: FAR" },
		{ CPU("GenuineIntel", "6", "221"), "any", 0xc0, 0,
		    "SRF7: FAR" },
		{ CPU("GenuineIntel", "6", "221"), "any", 0xc4, 0, "" },
		{ CPU("GenuineIntel", "6", "175"), "any", 0x40000000, 8,
		    "SRF7: FAR" },
		{ CPU("GenuineIntel", "6", "175"), "any", 0x3c, 0, "" },
		/* The code is that of the name. */
		{ CPU("GenuineIntel", "6", "175"), "instructions", -1, -1,
		    "SRF7: FAR" },
		{ CPU("GenuineIntel", "6", "175"), "cycles", -1, -1, "" },
		{ CPU("GenuineIntel", "6", "60"), "any", 0x81d0, 0,
		    "HSD29, HSM30: with two threads" },
		{ CPU("GenuineIntel", "6", "58"), "any", 0x81d0, 0, "BV98: " },
		{ CPU("GenuineIntel", "6", "61"), "any", 0x81d0, 0, "" },
		{ CPU("GenuineIntel", "6", "61"), "any", 0x21d0, 0, "BDM35: " },
		{ CPU("GenuineIntel", "6", "85"), "any", 0x3c, 3, "TSX force" },
		{ CPU("GenuineIntel", "6", "85"), "any", 0x3c, 2, "" },
		{ CPU("AuthenticAMD", "25", "1"), "any", 0x1000000c7, 0,
		    "1292: " },
		{ CPU("AuthenticAMD", "25", "1"), "any", 0xc7, 0, "" },
		{ CPU("AuthenticAMD", "25", "16"), "any", 0xc0, 0, "" },
		{ CPU("AuthenticAMD", "23", "49"), "any", 0xc0, 0,
		    "as 1292 of family 19h: " },
		/* An emulator has the model, and not the erratum. */
		{ CPU("GenuineIntel", "6", "175") ",\"vmm\":\"tcg\"", "any",
		    0xc0, 0, "" },
		{ "\"midr\":\"0x410fd0c0\"", "any", 0xc0, 0, "" },
		/* The program found it itself, on an emulator, too. */
		{ "\"vmm\":\"tcg\"", "any", 44, 0,
		    "counts 4000 of 2000 branches in a loop" },
		{ "\"vmm\":\"tcg\"", "any", 45, 0, "" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *noted;

		machine = cases[i].cpu;
		noted = errata_of(cases[i].event, cases[i].code, cases[i].pic);
		if (*cases[i].noted == '\0' ? *noted != '\0'
					    : strncmp(noted, cases[i].noted,
						  strlen(cases[i].noted)) != 0)
			fail_msg("case %zu: %s", i, noted);
	}
	machine = "";
	free(record);
	record = NULL;
}

static int64_t mperf;

static struct condition
interrupts(int64_t n)
{
	struct condition c = { .cn_tick = 1000,
		.cn_hrtime = 1000,
		.cn_mperf = mperf,
		.cn_aperf = mperf * 5 / 4 };

	for (unsigned k = 0; k < COND_N; k++)
		c.cn_count[k] = COND_UNKNOWN;
	c.cn_count[COND_INTERRUPTS] = n;
	return c;
}

/* Four runs, of which the third took an interrupt. */
static const char *
disturbed_text(bool exclude)
{
	static const int64_t counts[] = { 4000, 4000, 4700, 4000 };
	const struct event e = { .e_name = "cycles" };
	struct options o = {
		.o_runs = 4, .o_undisturbed = exclude, .o_aggregates = true
	};
	struct runs rn;
	struct result r = { .r_label = "triad/8",
		.r_event = &e,
		.r_method = "",
		.r_iterations = 2000,
		.r_runs = &rn,
		.r_verified = true };
	struct condition c;

	runs_open(&rn, 4);
	for (unsigned i = 0; i < 4; i++) {
		c = interrupts(i == 2);
		runs_add(&rn, &c);
	}
	runs_judge(&rn, NULL, exclude, 1000000000);
	series_open(&r.r_count.q_raw, 4);
	for (unsigned i = 0; i < 4; i++)
		series_add(&r.r_count.q_raw, counts[i]);
	series_close(&r.r_count.q_raw, rn.rn_excluded);
	const char *text = report_output(&o, &r);
	series_free(&r.r_count.q_raw);
	runs_free(&rn);
	return text;
}

TEST(a_disturbed_run_is_marked)
{
	const char *text = disturbed_text(false);
	const char *row = strstr(text, "\ntriad/8 "), *mark;

	mark = strstr(text,
	    "\n# disturbed: triad/8 cycles: run 3 of 4: 1 interrupt, most runs "
	    "0\n# disturbed: triad/8 cycles: 1 of 4 runs: not excluded "
	    "(--undisturbed)\n");
	assert_non_null(mark);
	assert_true(mark > row);
	assert_non_null(strstr(text,
	    "count of cycles: min 4000, median 4000, mean 4175.000, trimmed "
	    "mean 4175.000, standard error 175.000, 3 of 4 runs at the "
	    "minimum\n"));
	assert_non_null(strstr(record,
	    "\"conditions\":{\"measured\":{\"interrupts\":[0,0,1,0],"
	    "\"nmis\":null,\"smis\":null,\"throttles\":null,"
	    "\"errors\":null,\"settings\":null,\"kernel\":null,"
	    "\"rate\":null,\"core_mhz\":null,"
	    "\"disturbed\":[{\"run\":3,\"reasons\":[\"1 interrupt, most runs "
	    "0\"]}],\"excluded\":0},\"overhead\":null}"));
	free(record);
	record = NULL;
}

/* By APERF and MPERF, or on arm64 by tick and hrtime; else unknown. */
TEST(the_core_has_a_rate)
{
	machine = "\"arch\":\"arm64\",\"tick_hz\":25000000";
	disturbed_text(false);
	assert_non_null(strstr(record, "\"rate\":null,\"core_mhz\":1000.000,"));
	free(record);
	record = NULL;
	machine = "\"arch\":\"x86_64\",\"tick_hz\":2400000000";
	disturbed_text(false);
	assert_non_null(strstr(record, "\"rate\":null,\"core_mhz\":null,"));
	free(record);
	record = NULL;
	mperf = 1000;
	disturbed_text(false);
	assert_non_null(strstr(record,
	    "\"rate\":[1.250,1.250,1.250,1.250],\"core_mhz\":3000.000,"));
	free(record);
	record = NULL;
	machine = "";
	mperf = 0;
}

TEST(an_excluded_run_is_said)
{
	const char *text = disturbed_text(true);

	assert_non_null(strstr(
	    text, "\n# disturbed: triad/8 cycles: 1 of 4 runs: excluded\n"));
	assert_non_null(strstr(text,
	    "mean 4000.000, trimmed mean 4000.000, standard error 0.000, 3 of "
	    "3 runs at the minimum\n"));
	assert_non_null(strstr(record, "\"raw\":[4000,4000,4700,4000]"));
	assert_non_null(strstr(record, "\"excluded\":1}"));
	free(record);
	record = NULL;
}
