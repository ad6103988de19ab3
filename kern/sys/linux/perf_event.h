/*
 * The events of perf_event_open(2): perf_event.c counts them, perf_output.c
 * tells programs of them.  Included by both.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events/pmu.h"
#include "include/sys/cpc.h"
#include "kern/file/file.h"

struct lwp;

struct perf_event {
	struct perf_event *leader, *next; /* of its group; itself first */
	struct linux_attr attr;
	struct cpc_packreq req; /* ce_pics is 0: the kernel counts it */
	int tid;                /* of the LWP that opened it */
	bool error;             /* it is pinned, and found no PICs */
	uint64_t count, enabled, running; /* in all LWPs; times in ns */
	uint64_t id, lost;
	int limit; /* overflows until it is disabled; 0: no limit */
	/* F_SETFL's descriptor + 1 with O_ASYNC, F_SETSIG, F_SETOWN_EX */
	int fd, sig;
	struct perf_owner {
		int type, id;
	} owner;
};

/* The events of an LWP. */
struct perf_lwp {
	struct perf_lwp *next;
	struct lwp *lwp;
	bool stale; /* an overflow disabled one: place() is due */
	unsigned n;
	struct slot {
		struct perf_event *e;
		bool enabled, counted, running; /* counted: so is the leader */
		bool at_exec;                   /* execve(2) enables it */
		unsigned request;               /* in the context, and the... */
		int64_t left; /* ...events until its overflow, or 0 */
	} slot[NFD];
};
#define EACH_SLOT(s, pl)                                                       \
	for (struct slot *s = (pl)->slot; s < (pl)->slot + (pl)->n; s++)

/* perf_output.c: a period ended in an LWP.  Returns whether the last did. */
bool perf_overflow(struct perf_event *e, const struct lwp *l);
