/*
 * A meter: a bound set that counts single runs of a function.  Included by the
 * programs that measure and by payloads/bench/kernel.h.
 */
#pragma once

#include "payloads/common/options.h"
#include "payloads/common/report.h"

#include <libcpc.h>

/*
 * Events bound together.  Unbound (m_nevent 0) it still measures time, so
 * that a machine without a PMU runs and verifies every benchmark.
 */
struct meter {
	cpc_t *m_cpc; /* NULL: this machine counts nothing */
	cpc_set_t *m_set;
	cpc_buf_t *m_before, *m_after;
	unsigned m_nevent;
	uint64_t m_period;  /* not 0: the first event notifies so often */
	bool m_idle_levels; /* bind user-only events at system privilege, too */
	enum status m_status; /* why the last bind failed: in a word, */
	int m_subcode;        /* as libcpc's CPC_* or -1, */
	char m_reason[2 * CPC_MAX_EVENT_LEN]; /* and as text */
	cpc_reqinfo_t m_info[MAXEVENT];       /* of the bound events */
	bool m_kernel_only[MAXEVENT];         /* counts none of the payload */
	int m_cycles; /* the event that is the tick of a condition, or -1 */
	/* the last run: the second sample less the first */
	int64_t m_count[MAXEVENT], m_tick, m_hrtime;
	struct condition m_condition;
	/* the present run */
	bool m_known; /* m_interrupts is right */
	struct barecpc_interrupts m_interrupts;
	int m_error;     /* of a sample, or 0 */
	int64_t m_start; /* without a set */
};

/* Open libcpc.  A machine without counters is not an error. */
void meter_open(struct meter *m);
void meter_close(struct meter *m);

/*
 * Bind as many of the n events, in order, as the machine can count at once.
 * Returns how many.  It is 0 if the machine cannot count the first; m_status
 * and m_reason then say why.  An earlier set is unbound.
 */
unsigned meter_bind(struct meter *m, const struct event *events, unsigned n);
void meter_unbind(struct meter *m);

/*
 * Count from the end of the first to the start of the second.  Ends the program
 * with status 1 if a bound set cannot be sampled.
 */
void meter_begin(struct meter *m);
void meter_end(struct meter *m);
/* meter_end(), but returns -1 with errno if the set cannot be sampled, or 0. */
int meter_try_end(struct meter *m);
