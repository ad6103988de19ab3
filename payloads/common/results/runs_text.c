/* Says which runs were disturbed, and why. */
#include <inttypes.h>
#include <stdio.h>

#include "payloads/common/results/runs.h"
#include "payloads/common/results/series.h"

static const char *
count_reason(char *buf, size_t len, const struct runs *rn, unsigned i,
    enum condition_kind k)
{
	static const char *const words[COND_N][2] = {
		[COND_INTERRUPTS] = { "interrupt", "interrupts" },
		[COND_NMIS] = { "NMI", "NMIs" },
		[COND_SMIS] = { "SMI", "SMIs" },
		[COND_THROTTLES] = { "throttling", "throttlings" },
		[COND_ERRORS] = { "corrected machine check",
		    "corrected machine checks" },
		[COND_SETTINGS] = { "changed setting of the clock",
		    "changed settings of the clock" },
		[COND_KERNEL] = { "event in the kernel",
		    "events in the kernel" },
	};
	int64_t count = rn->rn_run[i].cn_count[k];

	if (runs_always_wrong(k)) {
		snprintf(
		    buf, len, "%" PRId64 " %s", count, words[k][count != 1]);
		return buf;
	}
	snprintf(buf, len, "%" PRId64 " %s, most runs %" PRId64, count,
	    words[k][count != 1], rn->rn_usual.cn_count[k]);
	return buf;
}

const char *
runs_reason(
    char *buf, size_t len, const struct runs *rn, unsigned i, unsigned n)
{
	const struct condition *c = &rn->rn_run[i];
	char here[40], usual[40];

	for (unsigned k = 0; k < COND_N; k++) {
		if (runs_count_differs(rn, i, k) && n-- == 0)
			return count_reason(buf, len, rn, i, k);
	}
	if (c->cn_moved && n-- == 0) {
		snprintf(buf, len, "moved to another CPU");
		return buf;
	}
	if (c->cn_ratio_differs && n-- == 0) {
		snprintf(buf, len, "%s ns a tick, most runs %s",
		    ratio_text(
			here, sizeof here, c->cn_hrtime, (uint64_t)c->cn_tick),
		    ratio_text(usual, sizeof usual, rn->rn_usual.cn_hrtime,
			(uint64_t)rn->rn_usual.cn_tick));
		return buf;
	}
	if (c->cn_rate_differs && n-- == 0) {
		snprintf(buf, len, "clock at %s of its base rate, most runs %s",
		    ratio_text(
			here, sizeof here, c->cn_aperf, (uint64_t)c->cn_mperf),
		    ratio_text(usual, sizeof usual, rn->rn_usual.cn_aperf,
			(uint64_t)rn->rn_usual.cn_mperf));
		return buf;
	}
	return NULL;
}

/* For one row.  A record has all disturbed runs. */
#define DISTURBED_LINES 10

static void
print_run(FILE *f, const struct runs *rn, unsigned i)
{
	const char *join = ": ";
	char text[120];

	for (unsigned n = 0; runs_reason(text, sizeof text, rn, i, n) != NULL;
	     n++) {
		fprintf(f, "%s%s", join, text);
		join = "; ";
	}
	fputc('\n', f);
}

void
runs_print(FILE *f, const char *start, const char *row, const char *what,
    const struct runs *rn)
{
	const char *fate = rn->rn_excluded != NULL ? "excluded"
	                   : rn->rn_ndisturbed == rn->rn_n
	                       ? "all were disturbed, none is excluded"
	                       : "not excluded (--undisturbed)";
	unsigned shown = 0;

	if (rn->rn_ndisturbed == 0)
		return;
	for (unsigned i = 0; i < rn->rn_n && shown < DISTURBED_LINES; i++) {
		if (!rn->rn_disturbed[i])
			continue;
		fprintf(f, "%sdisturbed: %s: %s %u of %u", start, row, what,
		    i + 1, rn->rn_n);
		print_run(f, rn, i);
		shown++;
	}
	fprintf(f, "%sdisturbed: %s: %u of %u %ss: %s\n", start, row,
	    rn->rn_ndisturbed, rn->rn_n, what, fate);
}
