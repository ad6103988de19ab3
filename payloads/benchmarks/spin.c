/*
 * spin: a hand-assembled loop of exactly known length, two instructions an
 * iteration (payloads/common/<arch>/spin.S).
 *
 *	spin [options] [short long]
 *
 * It counts a short and a long loop on every PIC, at user and system privilege
 * and at both.  In the difference of the counts everything around the loop
 * cancels.  At the privilege that the loop runs at, an instruction event must
 * count exactly 2 * (long - short), at the other exactly 0.  There is no
 * tolerance: spin fails if one run on one PIC differs.
 */
#include "payloads/common/measurement.h"
#include "payloads/common/read_cost.h"
#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"

#include <payload.h>
#include <stdio.h>
#include <string.h>

#define INSTRUCTIONS_PER_ITERATION 2

/* payloads/common/<arch>/spin.S */
void spin_loop(uint64_t iterations);

struct spin {
	const struct options *spn_o;
	struct meter spn_m;
	uint64_t spn_short, spn_long;
	bool spn_exact;
	unsigned spn_rows; /* reported so far */
	struct measurement spn_mm;
};

/* Does the event count exactly the retired instructions? */
static bool
counts_instructions(const char *event)
{
	static const char *const names[] = { "PAPI_tot_ins", "inst_retired",
		"inst_retired.any_p", "instr_retired.any", "ExRetInstr" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strcmp(event, names[i]) == 0)
			return true;
	return false;
}

/* The expected difference, for events that count instructions. */
static int64_t
expected_count(const struct spin *sp, unsigned flags)
{
	unsigned own = payload_privilege() == PAYLOAD_SYSTEM ? CPC_COUNT_SYSTEM
	                                                     : CPC_COUNT_USER;

	if ((flags & own) == 0)
		return 0;
	return (int64_t)(INSTRUCTIONS_PER_ITERATION *
			 (sp->spn_long - sp->spn_short));
}

static void
run_once(struct meter *m, uint64_t iterations)
{
	meter_begin(m);
	spin_loop(iterations);
	meter_end(m);
}

/* Do a short and a long run.  Leave their difference in the meter. */
static void
run_pair(struct spin *sp)
{
	struct meter *m = &sp->spn_m, first;

	run_once(m, sp->spn_short);
	first = *m;
	run_once(m, sp->spn_long);
	m->m_count[0] -= first.m_count[0];
	m->m_tick -= first.m_tick;
	m->m_hrtime -= first.m_hrtime;
	condition_add(&m->m_condition, &first.m_condition);
}

static void
run_all(struct spin *sp)
{
	const struct options *o = sp->spn_o;
	struct measurement *mm = &sp->spn_mm;
	unsigned i, nevent = sp->spn_m.m_nevent;

	measurement_open(mm, nevent, o->o_runs);
	for (i = 0; i < o->o_warmups + o->o_runs; i++) {
		run_pair(sp);
		if (i >= o->o_warmups)
			measurement_add(mm, &sp->spn_m, false);
	}
	measurement_close(mm, nevent, o);
}

static void
check_exact(struct spin *sp, struct result *r)
{
	const struct series *s = &r->r_count.q_raw;
	int64_t want = expected_count(sp, r->r_event->e_flags);
	char event[REPORT_EVENT];

	r->r_verified = true;
	if (!counts_instructions(r->r_event->e_name))
		return;
	if (s->s_min == want && s->s_max == want)
		return;
	r->r_verified = sp->spn_exact = false;
	fprintf(stderr,
	    "spin: %s: %s counted %lld..%lld instructions, not %lld\n",
	    r->r_label, report_event(event, sizeof event, r->r_event),
	    (long long)s->s_min, (long long)s->s_max, (long long)want);
}

/* Run with the event that spn_m has bound, if any, and report it as e. */
static void
spin_one(struct spin *sp, const struct event *e)
{
	struct meter *m = &sp->spn_m;
	char label[40], method[80];
	struct result r = {
		.r_label = label,
		.r_event = e,
		.r_code = -1,
		.r_pic = -1,
		.r_status = m->m_status,
		.r_reason = m->m_reason,
		.r_machine = m->m_cpc == NULL,
		.r_method = method,
		.r_iterations = sp->spn_long - sp->spn_short,
		.r_runs = &sp->spn_mm.msm_runs,
		.r_verified = true,
	};

	snprintf(method, sizeof method,
	    "difference of %llu and %llu iterations",
	    (unsigned long long)sp->spn_long,
	    (unsigned long long)sp->spn_short);
	snprintf(label, sizeof label, "spin");
	run_all(sp);
	r.r_count = sp->spn_mm.msm_count[0];
	r.r_tick = sp->spn_mm.msm_tick;
	r.r_hrtime = sp->spn_mm.msm_hrtime;
	if (m->m_nevent != 0) {
		snprintf(label, sizeof label, "spin/pic%d", e->e_pic);
		r.r_status = COUNTED;
		r.r_code = (int64_t)m->m_info[0].ri_code;
		r.r_pic = (int)m->m_info[0].ri_picnum;
		check_exact(sp, &r);
	}
	report_result(sp->spn_o, &r);
	sp->spn_rows++;
	measurement_free(&sp->spn_mm, m->m_nevent);
}

/*
 * Count every privilege on e->e_pic.  A PIC that cannot count the event is
 * skipped without a message.  Returns false if no PIC can.
 */
static bool
spin_pic(struct spin *sp, struct event *e)
{
	static const unsigned privileges[] = { CPC_COUNT_USER, CPC_COUNT_SYSTEM,
		CPC_COUNT_USER | CPC_COUNT_SYSTEM };
	struct meter *m = &sp->spn_m;
	int named = options_levels(e->e_name);
	size_t i, n = sizeof privileges / sizeof privileges[0];

	for (i = 0; i < (named == -1 ? n : 1); i++) {
		e->e_flags = named == -1 ? privileges[i] : (unsigned)named;
		if (read_cost_bind(m, e, 1) == 0) {
			if (m->m_subcode == CPC_INVALID_EVENT)
				return false;
			if (m->m_subcode == CPC_PIC_NOT_CAPABLE)
				return true;
		}
		spin_one(sp, e);
		meter_unbind(m);
	}
	return true;
}

static void
spin_event(struct spin *sp, const struct event *named)
{
	struct meter *m = &sp->spn_m;
	unsigned npic = m->m_cpc == NULL ? 0 : cpc_npic(m->m_cpc);
	unsigned rows = sp->spn_rows, pic;
	struct event e = *named;

	for (pic = 0; pic < npic; pic++) {
		e.e_pic = (int)pic;
		if (!spin_pic(sp, &e))
			break;
	}
	if (sp->spn_rows == rows)
		spin_one(sp, named); /* reports why no PIC counts it */
}

int
main(int argc, char **argv)
{
	struct spin sp = {
		.spn_short = 1000, .spn_long = 3000, .spn_exact = true
	};
	struct options o;

	options_parse(&o, argc, argv, "[short long]", "PAPI_tot_ins", false);
	sp.spn_o = &o;
	if (argc - optind == 2) {
		sp.spn_short = usage_size("short", argv[optind], 1, UINT32_MAX);
		sp.spn_long = usage_size(
		    "long", argv[optind + 1], sp.spn_short + 1, 1ULL << 40);
	} else if (argc != optind) {
		usage_mistake("give both short and long, or neither");
	}
	meter_open(&sp.spn_m);
	if (json_expect(sp.spn_m.m_cpc == NULL
			    ? o.o_nevent
			    : 3UL * o.o_nevent * cpc_npic(sp.spn_m.m_cpc)))
		return 0;
	sp.spn_m.m_idle_levels = true; /* their expected count is 0 */
	for (unsigned i = 0; i < o.o_nevent; i++)
		spin_event(&sp, &o.o_event[i]);
	report_last_lines();
	int status = report_status(&sp.spn_m, sp.spn_exact);
	meter_close(&sp.spn_m);
	return status;
}
