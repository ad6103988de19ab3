/* Writes one row of results as a JSON record (docs/records.md). */
#include "payloads/common/report.h"

#include "payloads/common/events/errata.h"
#include "payloads/common/results/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const struct options *o;
	const struct result *r;
};

const char *
report_machine(const char *key, char *buf, size_t len)
{
	char member[64];
	const char *at;
	size_t n;

	snprintf(member, sizeof member, "\"%s\":\"", key);
	if ((at = strstr(json_machine(), member)) == NULL)
		return NULL;
	at += strlen(member);
	for (n = 0; *at != '\0' && *at != '"' && n + 1 < len; n++) {
		if (*at == '\\' && at[1] != '\0')
			at++;
		buf[n] = *at++;
	}
	buf[n] = '\0';
	return buf;
}

uint64_t
report_tick_hz(void)
{
	static const char member[] = "\"tick_hz\":";
	const char *at = strstr(json_machine(), member);

	return at == NULL ? 0 : strtoull(at + strlen(member), NULL, 10);
}

static void
json_quantity(FILE *f, const char *key, const struct quantity *q)
{
	fprintf(f, ",\"%s\":", key);
	if (q->q_raw.s_n == 0) {
		fputs("null", f);
		return;
	}
	fprintf(f, "{\"net\":%" PRId64 ",\"spread_larger\":%s,\"measured\":",
	    quantity_net(q), quantity_noisy(q) ? "true" : "false");
	series_json(f, &q->q_raw);
	fputs(",\"overhead\":", f);
	if (q->q_overhead.s_n == 0)
		fputs("null", f);
	else
		series_json(f, &q->q_overhead);
	fputc('}', f);
}

/* One condition of all runs, or null if no run knows it. */
static void
json_condition(FILE *f, const struct runs *rn, enum condition_kind k)
{
	const char *join = "[";

	fprintf(f, "\"%s\":", condition_words[k]);
	if (rn->rn_usual.cn_count[k] == COND_UNKNOWN) {
		fputs("null,", f);
		return;
	}
	for (unsigned i = 0; i < rn->rn_n; i++) {
		int64_t count = rn->rn_run[i].cn_count[k];

		fputs(join, f);
		if (count == COND_UNKNOWN)
			fputs("null", f);
		else
			fprintf(f, "%" PRId64, count);
		join = ",";
	}
	fputs("],", f);
}

/*
 * The usual rate of the core's clock.  MPERF has the TSC's rate (Intel SDM vol.
 * 3B, "Hardware Feedback (APERF, MPERF)").  On arm64 a tick is a core's cycle.
 */
static void
json_core_mhz(FILE *f, const struct condition *usual)
{
	char mhz[40] = "null", arch[16];

	if (usual->cn_mperf != 0)
		ratio_text(mhz, sizeof mhz,
		    (wide_t)usual->cn_aperf * report_tick_hz() / 1000000,
		    (uint64_t)usual->cn_mperf);
	else if (usual->cn_hrtime != 0 &&
		 report_machine("arch", arch, sizeof arch) != NULL &&
		 strcmp(arch, "arm64") == 0)
		ratio_text(mhz, sizeof mhz, (wide_t)usual->cn_tick * 1000,
		    (uint64_t)usual->cn_hrtime);
	fprintf(f, "\"core_mhz\":%s,", mhz);
}

/* The clock's rate in each run, as a ratio to the base rate. */
static void
json_rate(FILE *f, const struct runs *rn)
{
	const char *join = "[";
	char ratio[40];

	fputs("\"rate\":", f);
	if (rn->rn_usual.cn_mperf == 0) {
		fputs("null,", f);
		return;
	}
	for (unsigned i = 0; i < rn->rn_n; i++) {
		const struct condition *c = &rn->rn_run[i];

		fprintf(f, "%s%s", join,
		    c->cn_mperf == 0 ? "null"
				     : ratio_text(ratio, sizeof ratio,
					   c->cn_aperf, (uint64_t)c->cn_mperf));
		join = ",";
	}
	fputs("],", f);
}

static void
json_disturbed(FILE *f, const struct runs *rn)
{
	const char *join = "";
	char text[120];

	fputs("\"disturbed\":[", f);
	for (unsigned i = 0; i < rn->rn_n; i++) {
		if (!rn->rn_disturbed[i])
			continue;
		fprintf(f, "%s{\"run\":%u,\"reasons\":", join, i + 1);
		for (unsigned n = 0;
		     runs_reason(text, sizeof text, rn, i, n) != NULL; n++) {
			fputc(n == 0 ? '[' : ',', f);
			json_string(f, text);
		}
		fputs("]}", f);
		join = ",";
	}
	fputc(']', f);
}

static void
json_runs(FILE *f, const char *key, const struct runs *rn)
{
	fprintf(f, "\"%s\":", key);
	if (rn == NULL || rn->rn_n == 0) {
		fputs("null", f);
		return;
	}
	fputc('{', f);
	for (unsigned k = 0; k < COND_N; k++)
		json_condition(f, rn, k);
	json_rate(f, rn);
	json_core_mhz(f, &rn->rn_usual);
	json_disturbed(f, rn);
	fprintf(f, ",\"excluded\":%u}", rn->rn_nexcluded);
}

struct read_cost report_read_cost;

static void
json_read_cost(FILE *f, const struct read_cost *rc)
{
	static const char *const ways[] = { "in_place", "by_call" };
	static const char *const levels[] = { "user", "system" };

	fputs(",\"read_cost\":", f);
	if (rc->rdc_event == NULL) {
		fputs("null", f);
		return;
	}
	fprintf(
	    f, "{\"event\":\"%s\",\"pairs\":%u", rc->rdc_event, rc->rdc_pairs);
	for (unsigned way = 0; way < READ_WAYS; way++) {
		fprintf(f, ",\"%s\":{", ways[way]);
		for (unsigned level = 0; level < READ_LEVELS; level++) {
			const struct read_count *rn =
			    &rc->rdc_count[way][level];

			fprintf(f, "%s\"%s\":", level > 0 ? "," : "",
			    levels[level]);
			if (!rn->rdn_known)
				fputs("null", f);
			else
				fprintf(f,
				    "{\"min\":%" PRId64 ",\"range\":%" PRId64
				    "}",
				    rn->rdn_min, rn->rdn_range);
		}
		fputc('}', f);
	}
	fputc('}', f);
}

void
report_errata(FILE *f, const char *event, int64_t code, int pic)
{
	unsigned n = 0;
	const char *text = errata_here(event, code, pic, &n);

	if (text == NULL)
		return;
	fputs(",\"errata\":[", f);
	json_string(f, text);
	while ((text = errata_here(event, code, pic, &n)) != NULL) {
		fputc(',', f);
		json_string(f, text);
	}
	fputc(']', f);
}

static void
json_result(FILE *f, const void *arg)
{
	const struct options *o = ((const struct row *)arg)->o;
	const struct result *r = ((const struct row *)arg)->r;
	char ratio[40];

	json_member(f, "label", r->r_label);
	json_member(f, "event", r->r_event->e_name);
	if (r->r_code < 0)
		fputs(",\"code\":null", f);
	else
		fprintf(f, ",\"code\":%" PRId64, r->r_code);
	if (r->r_pic < 0)
		fputs(",\"pic\":null", f);
	else
		fprintf(f, ",\"pic\":%d", r->r_pic);
	json_privilege(f, r->r_event->e_flags);
	json_member(f, "status", status_words[r->r_status]);
	if (r->r_status != COUNTED)
		json_member(f, "reason", r->r_reason);
	else
		report_errata(f, r->r_event->e_name, r->r_code, r->r_pic);
	fprintf(f, ",\"runs\":%u,\"warm_ups\":%u,\"iterations\":%" PRIu64,
	    o->o_runs, o->o_warmups, r->r_iterations);
	json_member(f, "aggregate", "median");
	json_member(f, "overhead_method", r->r_method);
	if (r->r_cost != NULL) {
		fputs(",\"region_cost\":", f);
		series_json(f, r->r_cost);
	}
	json_quantity(f, "count", &r->r_count);
	if (r->r_status == COUNTED)
		fprintf(f, ",\"per_iteration\":%s",
		    ratio_text(ratio, sizeof ratio, quantity_net(&r->r_count),
			r->r_iterations));
	else
		fputs(",\"per_iteration\":null", f);
	json_quantity(f, "tick", &r->r_tick);
	json_quantity(f, "hrtime_ns", &r->r_hrtime);
	fputs(",\"conditions\":{", f);
	json_runs(f, "measured", r->r_runs);
	fputc(',', f);
	json_runs(f, "overhead", r->r_empty);
	fputc('}', f);
	json_read_cost(f, &report_read_cost);
	fprintf(f, ",\"verified\":%s", r->r_verified ? "true" : "false");
	json_looks(f, r->r_looks, r->r_interrupted);
}

void
report_record(const struct options *o, const struct result *r)
{
	const struct result believed = report_believed(r);
	const struct row row = { o, &believed };

	json_record(o->o_argc, o->o_argv, json_result, &row);
}
