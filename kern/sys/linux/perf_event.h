/* perf_event_open(2): perf_event.c counts, perf_output.c serves the files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events/pmu.h"
#include "include/sys/cpc.h"
#include "kern/file/file.h"

struct kcpc_ctx;
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
	/* mmap(2)'s: it, its first page, data pages, and bytes written */
	struct shared_memory *ring;
	struct perf_page *page;
	size_t pages, head;
	bool overwrites; /* the program does not say what it has read */
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
		int64_t left;  /* ...events until its overflow, or 0 */
		int64_t delay; /* of those, added to the period; 0: none */
		uint64_t pc;   /* at the last overflow */
	} slot[NFD];
};
#define EACH_SLOT(s, pl)                                                       \
	for (struct slot *s = (pl)->slot; s < (pl)->slot + (pl)->n; s++)

static inline bool
perf_is_software(const struct perf_event *e)
{
	return e->req.cr_event.ce_pics == 0;
}

/* perf_event.c: act on an event, or its group, in all LWPs that count it. */
enum perf_action { SETTLE, RESET, PERIOD, CLOSE, DISABLE, ENABLE };
void perf_act(const struct perf_event *e, bool group, enum perf_action action);
/* perf_output.c: may programs read its PIC without a system call? */
bool perf_is_direct(const struct perf_event *e);
/* The LWP's context, which has started or stopped, is what the pages show. */
void perf_show(struct kcpc_ctx *ctx, bool on);
/* A period ended in an LWP.  Returns whether the last did. */
bool perf_overflow(struct perf_event *e, const struct lwp *l);
