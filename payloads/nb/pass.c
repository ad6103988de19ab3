/*
 * Counts events, as many at once as the machine can: one pass each.  All passes
 * also count instructions, so that they can be compared.
 */
#include <errno.h>
#include <payload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/events/perf_names.h"
#include "payloads/common/results/json.h"
#include "payloads/common/usage.h"
#include "payloads/nb/nb.h"

/* A bound set. */
struct pass {
	const struct nb_options *pss_o;
	cpc_t *pss_cpc;
	struct nb_buffer *pss_buffer;
	cpc_set_t *pss_set; /* NULL: nothing is bound */
	struct nb_registers pss_registers;
	struct nb_shape pss_shape;
	cpc_reqinfo_t pss_info[NB_READS];
	struct quantity pss_count[NB_READS];
	struct runs pss_runs, pss_empty;
	char pss_reason[2 * CPC_MAX_EVENT_LEN];
};

/* Looks for an attribute's name; NULL once it is found. */
static void
look_for_attr(void *arg, const char *attr)
{
	const char **name = arg;

	if (*name != NULL && strcmp(*name, attr) == 0)
		*name = NULL;
}

/* The first attribute of an event that this PMU does not have, or NULL. */
static const char *
missing_attr(const struct pass *p, const struct nb_event *e)
{
	const char *name = NULL;

	for (unsigned i = 0; i < e->nbe_nattrs && name == NULL; i++) {
		name = e->nbe_attrs[i].ca_name;
		cpc_walk_attrs(p->pss_cpc, &name, look_for_attr);
	}
	return name;
}

static void
keep_reason(struct pass *p, const struct nb_event *e)
{
	const char *missing = missing_attr(p, e);

	if (missing != NULL)
		snprintf(p->pss_reason, sizeof p->pss_reason,
		    "%s: this PMU has no attribute %s", e->nbe_name, missing);
	else
		snprintf(p->pss_reason, sizeof p->pss_reason, "%s: %s",
		    e->nbe_name, cpc_error_text());
}

static void
unbind(struct pass *p)
{
	if (p->pss_set != NULL)
		cpc_set_destroy(p->pss_cpc, p->pss_set);
	p->pss_set = NULL;
	nb_registers_restore(&p->pss_registers);
}

/* Bind one event of -msr_config, as bind() does. */
static bool
bind_register(struct pass *p, const struct nb_event *e)
{
	if (!nb_registers_set(
		&p->pss_registers, e, p->pss_reason, sizeof p->pss_reason))
		return false;
	p->pss_shape.nbs_rdmsr = true;
	p->pss_shape.nbs_nreads = 1;
	p->pss_shape.nbs_read[0] = e->nbe_msr[0].nbm_register;
	p->pss_info[0] = (cpc_reqinfo_t){ .ri_picnum = -1,
		.ri_width = 64,
		.ri_code = e->nbe_msr[0].nbm_register };
	return true;
}

/* Bind n events.  Returns false, with the reason, if that is impossible. */
static bool
bind(struct pass *p, const struct nb_event *const *events, unsigned n)
{
	if (events[0]->nbe_event == NULL)
		return bind_register(p, events[0]);
	p->pss_shape.nbs_rdmsr = false;
	cpc_error_forget();
	if ((p->pss_set = cpc_set_create(p->pss_cpc)) == NULL)
		fail(1, "cpc_set_create: %s", strerror(errno));
	for (unsigned i = 0; i < n; i++) {
		const struct nb_event *e = events[i];
		const struct event plain = { .e_flags = e->nbe_flags };
		bool never = event_never_counts(&plain);

		if (never)
			cpc_error_override(NEVER_COUNTED);
		if (!never &&
		    perf_add_request(p->pss_cpc, p->pss_set, e->nbe_event, 0,
			e->nbe_flags, e->nbe_nattrs, e->nbe_attrs) != -1)
			continue;
		keep_reason(p, e);
		unbind(p);
		return false;
	}
	if (cpc_bind_curlwp(p->pss_cpc, p->pss_set, 0) == -1) {
		keep_reason(p, events[0]);
		unbind(p);
		return false;
	}
	p->pss_shape.nbs_nreads = n;
	for (unsigned i = 0; i < n; i++) {
		cpc_request_info(
		    p->pss_cpc, p->pss_set, (int)i, &p->pss_info[i]);
		p->pss_shape.nbs_read[i] = p->pss_info[i].ri_index;
	}
	return true;
}

/* Runs */

static int64_t
value_of(const struct pass *p, unsigned i)
{
	const struct nb_frame *f = p->pss_buffer->nbb_frame;
	uint64_t mask = ~0ULL >> (64 - p->pss_info[i].ri_width);

	return (int64_t)((f->nbf_end[i] - f->nbf_begin[i]) & mask);
}

/* Run the generated code once.  If `keep`, note its counts. */
static void
run_once(struct pass *p, bool empty, bool keep)
{
	struct barecpc_interrupts before = { 0 }, after = { 0 };
	struct condition c = { 0 };

	payload_quiet(BARECPC_QUIET_MAX); /* refused at user privilege */
	bool known = payload_interrupts(&before) == 0;
	memset(p->pss_buffer->nbb_frame, 0, sizeof *p->pss_buffer->nbb_frame);
	nb_enter(p->pss_buffer->nbb_start);
	known = payload_interrupts(&after) == 0 && known;
	payload_quiet(0);
	if (!keep)
		return;
	condition_between(&c, known ? &before : NULL, &after);
	c.cn_count[COND_KERNEL] = COND_UNKNOWN;
	runs_add(empty ? &p->pss_empty : &p->pss_runs, &c);
	for (unsigned i = 0; i < p->pss_shape.nbs_nreads; i++) {
		struct quantity *q = &p->pss_count[i];

		series_add(empty ? &q->q_overhead : &q->q_raw, value_of(p, i));
	}
}

static void
run_all(struct pass *p, uint64_t copies, bool empty)
{
	static bool warm;
	const struct nb_options *o = p->pss_o;
	unsigned warm_ups = o->nbo_common.o_warmups;

	p->pss_shape.nbs_copies = copies;
	nb_generate(p->pss_buffer, o, &p->pss_shape);
	for (uint64_t i = 0; !warm && i < o->nbo_initial_warm_ups; i++)
		nb_enter(p->pss_buffer->nbb_start);
	warm = true;
	for (unsigned i = 0; i < warm_ups + o->nbo_common.o_runs; i++)
		run_once(p, empty, i >= warm_ups);
}

static void
measure(struct pass *p)
{
	const struct nb_options *o = p->pss_o;
	uint64_t unroll = o->nbo_unroll;
	unsigned runs = o->nbo_common.o_runs;
	struct quantity *q = p->pss_count;

	for (unsigned i = 0; i < p->pss_shape.nbs_nreads; i++) {
		memset(&q[i], 0, sizeof q[i]);
		series_open(&q[i].q_raw, runs);
		series_open(&q[i].q_overhead, runs);
	}
	runs_open(&p->pss_runs, runs);
	runs_open(&p->pss_empty, runs);
	if (!o->nbo_end_to_end)
		run_all(p, o->nbo_basic ? 0 : unroll, true);
	run_all(
	    p, o->nbo_basic || o->nbo_end_to_end ? unroll : 2 * unroll, false);
	runs_judge(&p->pss_runs, NULL, false, 0);
	runs_judge(&p->pss_empty, NULL, false, 0);
	for (unsigned i = 0; i < p->pss_shape.nbs_nreads; i++) {
		series_close(&q[i].q_raw, NULL);
		series_close(&q[i].q_overhead, NULL);
	}
}

/* Passes */

/* The event that all passes count, and its counts. */
struct check {
	struct nb_event chk_event;
	unsigned chk_passes;
	int64_t chk_min, chk_max;
};

static void
note_check(struct check *c, int64_t net)
{
	if (c->chk_passes == 0 || net < c->chk_min)
		c->chk_min = net;
	if (c->chk_passes == 0 || net > c->chk_max)
		c->chk_max = net;
	c->chk_passes++;
}

/* A list of events to bind: the check's, unless it is NULL, and n others. */
static unsigned
list_events(const struct nb_event **list, const struct check *c,
    const struct nb_event *events, unsigned n)
{
	unsigned at = 0;

	if (c != NULL)
		list[at++] = &c->chk_event;
	for (unsigned i = 0; i < n; i++)
		list[at++] = &events[i];
	return at;
}

/*
 * Bind the first events, as many as possible.  *c becomes NULL if the check's
 * event does not fit.  Returns how many events are bound.
 */
static unsigned
bind_most(struct pass *p, const struct check **c, const struct nb_event *events,
    size_t n)
{
	const struct nb_event *list[NB_READS];
	unsigned max = nb_max_reads(p->pss_o->nbo_no_mem), k;

	max -= *c != NULL && max > 1;
	for (k = 0; k < max && k < n && !events[k].nbe_alone; k++)
		continue;
	if (k == 0) {
		*c = NULL;
		k = 1;
	}
	for (; k > 0; k--) {
		if (bind(p, list, list_events(list, *c, events, k)))
			return k;
	}
	if (*c == NULL)
		return 0;
	*c = NULL;
	return bind(p, list, list_events(list, NULL, events, 1)) ? 1 : 0;
}

static void
take_results(struct pass *p, bool checked, const struct nb_event *events,
    struct nb_result *results, unsigned n)
{
	struct runs *runs = fail_unless_room(malloc(2 * sizeof *runs));

	runs[0] = p->pss_runs;
	runs[1] = p->pss_empty;
	for (unsigned i = 0; i < n; i++) {
		struct nb_result *r = &results[i];
		const cpc_reqinfo_t *info = &p->pss_info[i + checked];

		r->nbr_event = &events[i];
		r->nbr_status = COUNTED;
		r->nbr_code = (int64_t)info->ri_code;
		r->nbr_pic = (int)info->ri_picnum;
		r->nbr_count = p->pss_count[i + checked];
		r->nbr_runs = &runs[0];
		r->nbr_empty = &runs[1];
	}
}

static void
refuse(const struct pass *p, const struct nb_event *e, struct nb_result *r)
{
	memset(r, 0, sizeof *r);
	r->nbr_event = e;
	r->nbr_status = NOT_SUPPORTED;
	r->nbr_code = r->nbr_pic = -1;
	snprintf(r->nbr_reason, sizeof r->nbr_reason, "%s", p->pss_reason);
}

/* Why no counter can be read in place, or NULL. */
static const char *
cannot_read(void)
{
	const char *machine = json_machine();

	if (strstr(machine, "\"software\":true") != NULL)
		return "the software PMU has no registers to read";
	if (payload_privilege() == PAYLOAD_USER &&
	    strstr(machine, "\"user_read\":false") != NULL)
		return "programs cannot read this machine's counters in place: "
		       "try -privilege system";
	return NULL;
}

static void
print_check(const struct check *c, unsigned passes)
{
	if (c->chk_passes < 2)
		return;
	if (c->chk_min == c->chk_max)
		printf("# %u passes, the same %s in each\n", passes,
		    c->chk_event.nbe_name);
	else
		printf("# the passes differ: %s from %lld to %lld: compare no "
		       "events of different passes\n",
		    c->chk_event.nbe_name, (long long)c->chk_min,
		    (long long)c->chk_max);
}

unsigned
nb_run(const struct nb_options *o, cpc_t *cpc, struct nb_buffer *b,
    const struct nb_event *events, struct nb_result *results, size_t n)
{
	struct pass p = { .pss_o = o, .pss_cpc = cpc, .pss_buffer = b };
	struct check check = { .chk_event = { .nbe_name = "PAPI_tot_ins",
				   .nbe_event = "PAPI_tot_ins",
				   .nbe_flags = o->nbo_flags } };
	const char *why = cannot_read();
	unsigned passes = 0, bound;

	if (why != NULL)
		snprintf(p.pss_reason, sizeof p.pss_reason, "%s", why);
	for (size_t done = 0; done<n; done += bound> 0 ? bound : 1) {
		const struct check *c = NULL;

		bound = 0;
		if (why == NULL)
			bound = bind_most(&p, &c, &events[done], n - done);
		/* More than one pass: count the check's event in each. */
		if (bound > 0 && bound < n && !events[done].nbe_alone) {
			unbind(&p);
			c = &check;
			bound = bind_most(&p, &c, &events[done], n - done);
		}
		if (bound == 0) {
			refuse(&p, &events[done], &results[done]);
			continue;
		}
		passes++;
		measure(&p);
		take_results(
		    &p, c != NULL, &events[done], &results[done], bound);
		if (c != NULL)
			note_check(&check, quantity_net(&p.pss_count[0]));
		unbind(&p);
	}
	print_check(&check, passes);
	return passes;
}
