/*
 * Counts events up to each cycle of the code.  The cycle counter starts n
 * cycles below its overflow, at which the set freezes; then n grows.
 *
 * If the PMU freezes the set, the interrupt may be late: the instructions that
 * were counted say where the code was.  Otherwise the interrupt must come at
 * the instruction, and its PC says that.
 *
 * Brandon Falk, "Sushi Roll: A CPU research kernel with minimal noise for
 * cycle-by-cycle micro-architectural introspection": the method.
 */
#include <errno.h>
#include <payload.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/events/perf_names.h"
#include "payloads/common/usage.h"
#include "payloads/nb/nb.h"

#define CYCLES     "PAPI_tot_cyc"
#define INSNS      "PAPI_tot_ins"
#define FAR        INT32_MAX /* cycles that the code never takes */
#define PATIENCE   10000000  /* iterations: until a late interrupt */
#define MAX_CYCLES 1000000
#define MAX_KEPT   4096       /* cycles that are printed */
#define UNTOUCHED  0x6e6f746e /* of nbf_saved, before the first read */

/* The PC of the overflow is that of the next instruction. */
enum phase { BEFORE, INSIDE, AFTER };

/* A bound set: cycles, the events, and instructions if the PMU freezes. */
struct stepper {
	const struct nb_options *stp_o;
	struct nb_buffer *stp_buffer;
	cpc_t *stp_cpc;
	cpc_set_t *stp_set;
	cpc_buf_t *stp_buf;
	unsigned stp_n; /* events */
	bool stp_freezes;
	/* Instructions from the start to the code, and to its end. */
	uint64_t stp_begin, stp_end;
	sigjmp_buf stp_back;
	const uint8_t *stp_pc; /* of the overflow; NULL: none came */
	volatile bool stp_armed;
};
static struct stepper *stepping;

static void
on_overflow(int, siginfo_t *, void *context)
{
	const ucontext_t *uc = context;

	if (!stepping->stp_armed)
		return;
	stepping->stp_armed = false;
	cpc_set_sample(stepping->stp_cpc, stepping->stp_set, stepping->stp_buf);
	stepping->stp_pc =
	    (const uint8_t *)(uintptr_t)uc->uc_mcontext.gregs[REG_PC];
	siglongjmp(stepping->stp_back, 1);
}

static uint64_t
count_of(const struct stepper *s, unsigned request)
{
	uint64_t v;

	cpc_buf_get(s->stp_cpc, s->stp_buf, (int)request, &v);
	return v;
}

static enum phase
phase_of(const struct stepper *s)
{
	const struct nb_buffer *b = s->stp_buffer;
	const uint8_t *code = b->nbb_part[NB_CODE], *pc = s->stp_pc;
	size_t bytes = s->stp_o->nbo_unroll * s->stp_o->nbo_code[NB_CODE].nbc_n;
	uint64_t insns;

	if (s->stp_freezes) {
		insns = count_of(s, s->stp_n + 1);
		return insns <= s->stp_begin ? BEFORE
		       : insns <= s->stp_end ? INSIDE
		                             : AFTER;
	}
	if (pc >= b->nbb_start && pc < b->nbb_at)
		return pc <= code           ? BEFORE
		       : pc <= code + bytes ? INSIDE
		                            : AFTER;
	return b->nbb_frame->nbf_saved[0] == UNTOUCHED ? BEFORE : AFTER;
}

/* Run until the nth cycle, or to the end. */
static enum phase
run_until(struct stepper *s, uint64_t n)
{
	s->stp_pc = NULL;
	s->stp_buffer->nbb_frame->nbf_saved[0] = UNTOUCHED;
	if (cpc_request_preset(s->stp_cpc, 0, UINT64_MAX - n + 1) == -1)
		fail(1, "cpc_request_preset: %s", strerror(errno));
	if (sigsetjmp(s->stp_back, 1) == 0) {
		s->stp_armed = true;
		cpc_set_restart(s->stp_cpc, s->stp_set);
		nb_enter(s->stp_buffer->nbb_start);
		cpc_set_sample(s->stp_cpc, s->stp_set, s->stp_buf);
		/* After an overflow: its interrupt ends this. */
		for (unsigned i = 0; s->stp_freezes && i < PATIENCE &&
				     (int64_t)count_of(s, 0) >= 0;
		     i++)
			continue;
		s->stp_armed = false;
		return AFTER;
	}
	return phase_of(s);
}

/* Instructions at the privilege at which the code runs */
static unsigned
insns_flags(void)
{
	return payload_privilege() == PAYLOAD_SYSTEM
	           ? CPC_COUNT_USER | CPC_COUNT_SYSTEM
	           : CPC_COUNT_USER;
}

/*
 * Bind what overflows, and n events.  Keeps the reason if that is impossible.
 */
static bool
bind_cycles(struct stepper *s, const char *name, unsigned flags,
    const struct nb_event *events, unsigned n, char *reason, size_t len)
{
	cpc_error_forget();
	s->stp_n = n;
	s->stp_set = cpc_set_create(s->stp_cpc);
	bool bound = s->stp_set != NULL &&
	             cpc_set_add_request(s->stp_cpc, s->stp_set, name,
			 UINT64_MAX - INT32_MAX, flags | CPC_OVF_NOTIFY_EMT, 0,
			 NULL) != -1;
	for (unsigned i = 0; bound && i < n; i++) {
		name = events[i].nbe_name;
		bound = perf_add_request(s->stp_cpc, s->stp_set,
			    events[i].nbe_event, 0, events[i].nbe_flags,
			    events[i].nbe_nattrs, events[i].nbe_attrs) != -1;
	}
	if (s->stp_freezes)
		bound = bound && cpc_set_add_request(s->stp_cpc, s->stp_set,
				     INSNS, 0, insns_flags(), 0, NULL) != -1;
	bound = bound &&
	        (s->stp_buf = cpc_buf_create(s->stp_cpc, s->stp_set)) != NULL &&
	        cpc_bind_curlwp(s->stp_cpc, s->stp_set, 0) != -1;
	if (bound)
		return true;
	snprintf(reason, len, "%s: %s", name, cpc_error_text());
	if (s->stp_set != NULL)
		cpc_set_destroy(s->stp_cpc, s->stp_set);
	return false;
}

static void
unbind(struct stepper *s)
{
	cpc_set_destroy(s->stp_cpc, s->stp_set);
	cpc_buf_destroy(s->stp_cpc, s->stp_buf);
}

/*
 * Generate the code, and count the instructions around it.  A read after the
 * code tells them.  A run without the code tells how many are the code's.
 */
static void
generate(struct stepper *s, unsigned request)
{
	const struct nb_options *o = s->stp_o;
	const struct nb_frame *f = s->stp_buffer->nbb_frame;
	uint64_t without, mask, preset = request == 0 ? -(uint64_t)FAR : 0;
	struct nb_shape shape = { .nbs_nreads = 1 };
	cpc_reqinfo_t info;

	cpc_request_info(s->stp_cpc, s->stp_set, (int)request, &info);
	shape.nbs_read[0] = info.ri_index;
	mask = ~0ULL >> (64 - info.ri_width);
	nb_generate(s->stp_buffer, o, &shape);
	run_until(s, FAR);
	without = f->nbf_end[0] - f->nbf_begin[0];
	shape.nbs_copies = o->nbo_unroll;
	nb_generate(s->stp_buffer, o, &shape);
	run_until(s, FAR); /* the code may take another way in its first run */
	run_until(s, FAR);
	s->stp_end = ((f->nbf_end[0] - preset) & mask) - nb_insns_to_read(o);
	s->stp_begin =
	    s->stp_end - ((f->nbf_end[0] - f->nbf_begin[0] - without) & mask);
}

/*
 * Without a freeze: does the interrupt come at the instruction?  The read of
 * QEMU 7.2 on arm64 counts itself, too.
 */
static bool
is_exact(struct stepper *s, char *reason, size_t len)
{
	bool exact = false;

	if (!bind_cycles(s, INSNS, insns_flags(), NULL, 0, reason, len))
		return false;
	generate(s, 0);
	for (unsigned less = 0; less < 2 && !exact; less++) {
		run_until(s, s->stp_begin - less);
		exact = s->stp_pc == s->stp_buffer->nbb_part[NB_CODE] &&
		        ((insns_flags() & CPC_COUNT_SYSTEM) != 0 ||
			    count_of(s, 0) == 0);
	}
	unbind(s);
	if (!exact)
		snprintf(reason, len,
		    "the overflow interrupt comes late, and this PMU does not "
		    "freeze its counters: -cycle_by_cycle needs another "
		    "machine");
	return exact;
}

/* The counts of the events at one cycle: aggregates of several runs. */
static enum phase
measure_at(struct stepper *s, uint64_t n, int64_t *counts)
{
	const struct nb_options *o = s->stp_o;
	struct series values[NB_READS];
	enum phase phase = BEFORE;
	uint64_t v;

	for (unsigned i = 0; i < s->stp_n; i++)
		series_open(&values[i], o->nbo_common.o_runs);
	for (unsigned run = 0; run < o->nbo_common.o_runs; run++) {
		/* Whole first, so that each one finds the same caches. */
		run_until(s, FAR);
		phase = run_until(s, n);
		for (unsigned i = 0; i < s->stp_n; i++) {
			cpc_buf_get(s->stp_cpc, s->stp_buf, (int)i + 1, &v);
			series_add(&values[i], (int64_t)v);
		}
	}
	for (unsigned i = 0; i < s->stp_n; i++) {
		series_close(&values[i], NULL);
		counts[i] = nb_aggregate_of(o->nbo_aggregate, &values[i]);
		series_free(&values[i]);
	}
	return phase;
}

/* Print one event's counts, less those of the first cycle. */
static void
print_steps(const struct nb_options *o, const struct nb_event *e,
    const int64_t *counts, unsigned stride, unsigned n)
{
	int64_t less = o->nbo_end_to_end ? 0 : counts[0];

	nb_print_name(e->nbe_name);
	if (!o->nbo_csv)
		putchar(':');
	for (unsigned i = 0; i < n; i++)
		printf("%c%lld", o->nbo_csv ? ',' : ' ',
		    (long long)(counts[(size_t)i * stride] - less));
	putchar('\n');
}

/*
 * Step through the code.  Without -end_to_end the first cycle kept is the last
 * one before the code, and the last kept is that of its end.
 */
static void
step(struct stepper *s, const struct nb_event *events)
{
	const struct nb_options *o = s->stp_o;
	int64_t *counts = fail_unless_room(
	    calloc((size_t)MAX_KEPT * s->stp_n, sizeof *counts));
	unsigned kept = 0;
	enum phase phase = BEFORE;

	for (unsigned i = 0; i < o->nbo_common.o_warmups; i++)
		run_until(s, FAR);
	for (uint64_t n = 1; n < MAX_CYCLES && kept < MAX_KEPT; n++) {
		phase = measure_at(s, n, &counts[(size_t)kept * s->stp_n]);
		if (phase == BEFORE && kept == 0 && !o->nbo_end_to_end)
			continue; /* the next one overwrites it */
		if (phase != BEFORE && kept == 0 && !o->nbo_end_to_end) {
			/* Repeat the cycle before. */
			measure_at(s, n - 1, counts);
			kept = 1;
			n--;
			continue;
		}
		if (phase == AFTER && !o->nbo_end_to_end)
			break;
		kept++;
		if (s->stp_pc == NULL)
			break;
	}
	if (phase != AFTER || (o->nbo_end_to_end && s->stp_pc != NULL))
		printf(
		    "# more than %d cycles: the rest is left out\n", MAX_KEPT);
	for (unsigned i = 0; i < s->stp_n; i++)
		print_steps(o, &events[i], &counts[i], s->stp_n, kept);
	free(counts);
}

bool
nb_cycles(const struct nb_options *o, cpc_t *cpc, struct nb_buffer *b,
    const struct nb_event *events, size_t n)
{
	struct stepper s = { .stp_o = o, .stp_buffer = b, .stp_cpc = cpc };
	const struct nb_shape shape = { .nbs_copies = o->nbo_unroll };
	struct sigaction sa = { .sa_flags = SA_SIGINFO | SA_ONSTACK };
	char reason[2 * CPC_MAX_EVENT_LEN];
	bool counted = false;
	unsigned k;

	stepping = &s;
	sa.sa_sigaction = on_overflow;
	sigaction(SIGEMT, &sa, NULL);
	s.stp_freezes = (cpc_caps(cpc) & CPC_CAP_OVERFLOW_FREEZE) != 0;
	if (!s.stp_freezes && !is_exact(&s, reason, sizeof reason))
		fail(77, "<not supported>: %s", reason);
	for (size_t done = 0; done < n; done += k) {
		k = (unsigned)(n - done < NB_READS ? n - done : NB_READS);
		while (k > 0 && !bind_cycles(&s, CYCLES, o->nbo_flags,
				    &events[done], k, reason, sizeof reason))
			k--;
		if (k == 0) {
			nb_print_name(events[done].nbe_name);
			printf(": <not supported>\n# <not supported>: %s\n",
			    reason);
			k = 1;
			continue;
		}
		if (s.stp_freezes)
			generate(&s, k + 1);
		else
			nb_generate(b, o, &shape);
		step(&s, &events[done]);
		unbind(&s);
		counted = true;
	}
	return counted;
}
