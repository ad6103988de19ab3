/*
 * Measures the overhead of a read, at each privilege, in place and by a system
 * call.  It is the count of two samples with nothing between them.  Checks
 * events that are known in a loop.
 */
#include "payloads/common/read_cost.h"

#include <payload.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/cpc.h>

#include "payloads/common/events/errata.h"
#include "payloads/common/results/json.h"

/* payloads/common/ARCH/spin.S */
void spin_loop(uint64_t iterations);

#define PAIRS 8 /* and one before them, which warms up */

/* A bound set of one request. */
struct lone {
	cpc_t *ln_cpc;
	cpc_set_t *ln_set;
	cpc_buf_t *ln_buf[2];
};

static int64_t
pair_in_place(const struct lone *ln)
{
	uint64_t value[2] = { 0, 0 };

	cpc_set_sample(ln->ln_cpc, ln->ln_set, ln->ln_buf[0]);
	cpc_set_sample(ln->ln_cpc, ln->ln_set, ln->ln_buf[1]);
	for (unsigned i = 0; i < 2; i++)
		cpc_buf_get(ln->ln_cpc, ln->ln_buf[i], 0, &value[i]);
	return (int64_t)(value[1] - value[0]);
}

/* The kernel names a set by its name without the lowest bits. */
#define SET_ID(set) ((uintptr_t)(set) >> 24)

static int64_t
pair_by_call(const struct lone *ln)
{
	struct {
		struct cpc_sample head;
		uint64_t value;
	} s[2];

	memset(s, 0, sizeof s);
	for (unsigned i = 0; i < 2; i++)
		cpc_syscall(
		    CPC_OP_SAMPLE, SET_ID(ln->ln_set), (uintptr_t)&s[i], 1, 0);
	return (int64_t)(s[1].value - s[0].value);
}

static struct read_count
count_pairs(const struct lone *ln, int64_t (*pair)(const struct lone *ln))
{
	struct read_count rc = { .rdn_known = true };
	int64_t max = 0;

	pair(ln);
	for (unsigned i = 0; i < PAIRS; i++) {
		int64_t n = pair(ln);

		if (i == 0 || n < rc.rdn_min)
			rc.rdn_min = n;
		if (i == 0 || n > max)
			max = n;
	}
	rc.rdn_range = max - rc.rdn_min;
	return rc;
}

static bool
bind_lone(struct lone *ln, const char *event, unsigned level)
{
	if ((ln->ln_set = cpc_set_create(ln->ln_cpc)) == NULL)
		return false;
	return cpc_set_add_request(
		   ln->ln_cpc, ln->ln_set, event, 0, level, 0, NULL) != -1 &&
	       (ln->ln_buf[0] = cpc_buf_create(ln->ln_cpc, ln->ln_set)) !=
	           NULL &&
	       (ln->ln_buf[1] = cpc_buf_create(ln->ln_cpc, ln->ln_set)) !=
	           NULL &&
	       cpc_bind_curlwp(ln->ln_cpc, ln->ln_set, 0) == 0;
}

static void
free_lone(struct lone *ln)
{
	for (unsigned i = 0; i < 2; i++) {
		if (ln->ln_buf[i] != NULL)
			cpc_buf_destroy(ln->ln_cpc, ln->ln_buf[i]);
	}
	if (ln->ln_set != NULL)
		cpc_set_destroy(ln->ln_cpc, ln->ln_set);
}

/* Measure at one privilege.  Returns false if the event cannot be counted. */
static bool
measure_level(cpc_t *cpc, struct read_cost *rc, enum read_level level)
{
	static const unsigned flags[] = { CPC_COUNT_USER, CPC_COUNT_SYSTEM };
	struct lone ln = { .ln_cpc = cpc };
	bool bound = bind_lone(&ln, rc->rdc_event, flags[level]);

	if (bound && strstr(json_machine(), "\"user_read\":true") != NULL)
		rc->rdc_count[READ_IN_PLACE][level] =
		    count_pairs(&ln, pair_in_place);
	if (bound)
		rc->rdc_count[READ_BY_CALL][level] =
		    count_pairs(&ln, pair_by_call);
	free_lone(&ln);
	return bound;
}

static void
measure_cost(const struct meter *m)
{
	static const char *const events[] = { "PAPI_tot_ins", "PAPI_tot_cyc" };
	struct read_cost *rc = &report_read_cost;

	for (unsigned i = 0; i < 2; i++) {
		*rc = (struct read_cost){ .rdc_event = events[i],
			.rdc_pairs = PAIRS };
		bool user = measure_level(m->m_cpc, rc, READ_USER);
		bool system = measure_level(m->m_cpc, rc, READ_SYSTEM);
		if (user || system)
			return;
	}
	rc->rdc_event = NULL;
}

/*
 * The PICs are proved by one event.  Two more are known in a loop: cycles grow,
 * and each iteration has a branch.  An interrupt adds to a count, so the least
 * of some runs is taken.
 */
#define SHORT_LOOP 100
#define LONG_LOOP  2100
#define RUNS       5

static int64_t
least_count(const struct lone *ln, uint64_t iterations)
{
	int64_t least = INT64_MAX;

	for (unsigned i = 0; i < RUNS; i++) {
		uint64_t value[2] = { 0, 0 };

		cpc_set_sample(ln->ln_cpc, ln->ln_set, ln->ln_buf[0]);
		spin_loop(iterations);
		cpc_set_sample(ln->ln_cpc, ln->ln_set, ln->ln_buf[1]);
		for (unsigned k = 0; k < 2; k++)
			cpc_buf_get(ln->ln_cpc, ln->ln_buf[k], 0, &value[k]);
		if ((int64_t)(value[1] - value[0]) < least)
			least = (int64_t)(value[1] - value[0]);
	}
	return least;
}

static void
check_event(cpc_t *cpc, const char *preset, const char *of, bool exact)
{
	unsigned own = payload_privilege() == PAYLOAD_SYSTEM ? CPC_COUNT_SYSTEM
	                                                     : CPC_COUNT_USER;
	struct lone ln = { .ln_cpc = cpc };
	cpc_reqinfo_t info;
	int64_t d;

	if (bind_lone(&ln, preset, own) &&
	    cpc_request_info(cpc, ln.ln_set, 0, &info) == 0) {
		d = least_count(&ln, LONG_LOOP) - least_count(&ln, SHORT_LOOP);
		if (exact ? d != LONG_LOOP - SHORT_LOOP : d <= 0)
			errata_found((int64_t)info.ri_code, d,
			    LONG_LOOP - SHORT_LOOP, of);
	}
	free_lone(&ln);
}

unsigned
read_cost_bind(struct meter *m, const struct event *events, unsigned n)
{
	static bool measured;
	unsigned bound = meter_bind(m, events, n);

	if (bound == 0 || measured)
		return bound;
	measured = true;
	meter_unbind(m);
	measure_cost(m);
	check_event(m->m_cpc, "PAPI_tot_cyc", "cycles or more", false);
	check_event(m->m_cpc, "PAPI_br_ins", "branches", true);
	return meter_bind(m, events, n);
}
