/* Binds a set of events, and counts runs under it. */
#include "payloads/common/meter.h"

#include "payloads/common/cpc_error.h"
#include "payloads/common/events/perf_names.h"

#include <errno.h>
#include <payload.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "payloads/common/usage.h"

/* Keep why `what` is not counted, or every event if `what` is NULL. */
static void
set_refusal(struct meter *m, enum status status, const char *what)
{
	m->m_status = status;
	m->m_subcode = cpc_error_subcode();
	snprintf(m->m_reason, sizeof m->m_reason, "%s%s%s",
	    what != NULL ? what : "", what != NULL ? ": " : "",
	    cpc_error_text());
}

void
meter_open(struct meter *m)
{
	memset(m, 0, sizeof *m);
	if ((m->m_cpc = cpc_open(CPC_VER_CURRENT)) != NULL) {
		cpc_error_keep(m->m_cpc);
		return;
	}
	m->m_status = NOT_SUPPORTED;
	m->m_subcode = -1;
	cpc_error_of_open(m->m_reason, sizeof m->m_reason);
}

void
meter_close(struct meter *m)
{
	meter_unbind(m);
	if (m->m_cpc != NULL)
		cpc_close(m->m_cpc);
	m->m_cpc = NULL;
}

void
meter_unbind(struct meter *m)
{
	m->m_nevent = 0;
	if (m->m_set == NULL)
		return;
	/* Destroying the set unbinds it; the buffers outlive it. */
	cpc_set_destroy(m->m_cpc, m->m_set);
	if (m->m_before != NULL)
		cpc_buf_destroy(m->m_cpc, m->m_before);
	if (m->m_after != NULL)
		cpc_buf_destroy(m->m_cpc, m->m_after);
	m->m_set = NULL;
	m->m_before = m->m_after = NULL;
}

static int
add_request(struct meter *m, const struct event *e, uint64_t period)
{
	cpc_attr_t picnum = { (char *)"picnum", (uint64_t)e->e_pic };
	unsigned nattrs = e->e_pic >= 0 ? 1 : 0;

	return perf_add_request(m->m_cpc, m->m_set, e->e_name, -period,
	    e->e_flags | (period != 0 ? CPC_OVF_NOTIFY_EMT : 0), nattrs,
	    nattrs != 0 ? &picnum : NULL);
}

/* At system privilege the payload's own events count as the kernel's do. */
static bool
counts_kernel_only(const struct event *e)
{
	return payload_privilege() == PAYLOAD_USER &&
	       (e->e_flags & (CPC_COUNT_USER | CPC_COUNT_SYSTEM)) ==
	           CPC_COUNT_SYSTEM;
}

/* Bind exactly n events.  Returns n, or how many are worth trying next. */
static unsigned
bind_exactly(struct meter *m, const struct event *events, unsigned n)
{
	bool temporary;

	meter_unbind(m);
	cpc_error_forget();
	if ((m->m_set = cpc_set_create(m->m_cpc)) == NULL) {
		set_refusal(m, NOT_COUNTED, "cpc_set_create");
		return 0;
	}
	for (unsigned i = 0; i < n; i++) {
		bool never =
		    !m->m_idle_levels && event_never_counts(&events[i]);

		if (never)
			cpc_error_override(NEVER_COUNTED);
		if (never || add_request(m, &events[i],
				 i == 0 ? m->m_period : 0) == -1) {
			set_refusal(m, NOT_SUPPORTED, events[i].e_name);
			meter_unbind(m);
			return i;
		}
	}
	m->m_before = cpc_buf_create(m->m_cpc, m->m_set);
	m->m_after = cpc_buf_create(m->m_cpc, m->m_set);
	if (m->m_before == NULL || m->m_after == NULL ||
	    cpc_bind_curlwp(m->m_cpc, m->m_set, 0) == -1) {
		/* All other errors are permanent, and belong to the event. */
		temporary = errno == EAGAIN || errno == ENOMEM;
		set_refusal(m, temporary ? NOT_COUNTED : NOT_SUPPORTED,
		    temporary ? NULL : events[0].e_name);
		meter_unbind(m);
		return n - 1;
	}
	m->m_cycles = -1;
	for (unsigned i = 0; i < n; i++) {
		cpc_request_info(m->m_cpc, m->m_set, (int)i, &m->m_info[i]);
		m->m_kernel_only[i] = counts_kernel_only(&events[i]);
		/* x86's tick is the TSC, from which the time is made. */
		if ((~events[i].e_flags &
			(CPC_COUNT_USER | CPC_COUNT_SYSTEM)) == 0 &&
		    strcmp(events[i].e_name, "PAPI_tot_cyc") == 0)
			m->m_cycles = (int)i;
	}
	m->m_nevent = n;
	return n;
}

unsigned
meter_bind(struct meter *m, const struct event *events, unsigned n)
{
	unsigned bound;

	if (m->m_cpc == NULL)
		return 0;
	if (n > cpc_npic(m->m_cpc))
		n = cpc_npic(m->m_cpc);
	for (; n > 0; n = bound) {
		bound = bind_exactly(m, events, n);
		if (bound == n)
			return n;
	}
	return 0;
}

/* The count of the first event that counts the kernel alone, if any. */
static int64_t
kernel_count(const struct meter *m)
{
	for (unsigned i = 0; i < m->m_nevent; i++)
		if (m->m_kernel_only[i])
			return m->m_count[i];
	return COND_UNKNOWN;
}

static void
take_differences(struct meter *m)
{
	uint64_t before, after;

	for (unsigned i = 0; i < m->m_nevent; i++) {
		cpc_buf_get(m->m_cpc, m->m_before, (int)i, &before);
		cpc_buf_get(m->m_cpc, m->m_after, (int)i, &after);
		m->m_count[i] = (int64_t)(after - before);
	}
	m->m_tick = (int64_t)(cpc_buf_tick(m->m_cpc, m->m_after) -
			      cpc_buf_tick(m->m_cpc, m->m_before));
	m->m_hrtime = cpc_buf_hrtime(m->m_cpc, m->m_after) -
	              cpc_buf_hrtime(m->m_cpc, m->m_before);
}

void
meter_begin(struct meter *m)
{
	m->m_known = payload_interrupts(&m->m_interrupts) == 0;
	if (m->m_nevent == 0) {
		m->m_start = gethrtime();
		return;
	}
	m->m_error = 0;
	if (cpc_set_sample(m->m_cpc, m->m_set, m->m_before) == -1)
		m->m_error = errno;
}

int
meter_try_end(struct meter *m)
{
	struct barecpc_interrupts after;
	struct condition *c = &m->m_condition;

	/* Nothing but the end itself is in the window. */
	if (m->m_nevent == 0) {
		m->m_hrtime = gethrtime() - m->m_start;
		m->m_tick = 0;
	} else {
		if (cpc_set_sample(m->m_cpc, m->m_set, m->m_after) == -1)
			m->m_error = errno;
		if (m->m_error != 0) {
			errno = m->m_error;
			return -1;
		}
		take_differences(m);
	}
	memset(&after, 0, sizeof after);
	m->m_known = payload_interrupts(&after) == 0 && m->m_known;
	condition_between(c, m->m_known ? &m->m_interrupts : NULL, &after);
	c->cn_count[COND_KERNEL] = kernel_count(m);
	c->cn_tick = m->m_nevent != 0 && m->m_cycles >= 0
	                 ? m->m_count[m->m_cycles]
	                 : m->m_tick;
	c->cn_hrtime = m->m_hrtime;
	return 0;
}

void
meter_end(struct meter *m)
{
	if (meter_try_end(m) == -1)
		fail(1, "cannot sample a bound set: %s", strerror(errno));
}
