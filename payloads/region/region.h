/* The regions of each LWP.  Included by the files of this folder. */
#pragma once

#include <region.h>

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "payloads/common/meter.h"
#include "payloads/common/options.h"

#define EMPTY_RUNS 31 /* in which an LWP measures an empty region */

/* The values of all events, and the time. */
struct counts {
	int64_t rct_event[REGION_MAXEVENT], rct_tick, rct_hrtime;
};

#define REGION_LOST "another set took this CPU's counters"

/* A region of one LWP. */
struct region {
	char *rg_name;
	bool rg_begun;
	bool rg_known;   /* begun or registered, at least once */
	bool rg_refused; /* a mistake was reported */
	bool rg_lost;    /* begun or ended without counters */
	uint64_t rg_times;
	struct counts rg_begin; /* the LWP's counts when it began */
	struct counts rg_sum;
	struct region *rg_next;
};

/*
 * An LWP that has marked a region.  rl_now is what the program's own code has
 * counted so far.  The functions of regions add to it when they are called, and
 * start again when they return.
 */
struct region_lwp {
	unsigned rl_id;
	int rl_err;   /* why it cannot count, or 0 */
	bool rl_lost; /* another set took the counters */
	struct meter rl_meter;
	struct region_event {
		int rev_index; /* in the meter, or -1 and why */
		enum status rev_status;
		char rev_reason[2 * CPC_MAX_EVENT_LEN];
	} rl_event[REGION_MAXEVENT];
	struct counts rl_now, rl_cost; /* rl_cost: of an empty region */
	/* The counts of empty regions, whose median rl_cost is. */
	int64_t rl_empty[REGION_MAXEVENT][EMPTY_RUNS];
	struct region *rl_first, **rl_last;
	struct region_lwp *rl_next;
};

/* The events and options of all LWPs, and all LWPs in order. */
struct region_all {
	pthread_mutex_t ra_lock;
	struct options ra_options;
	struct region_lwp *ra_first, **ra_last;
	unsigned ra_nlwp;
	bool ra_reported;
	pid_t ra_pid; /* the process that counts; a child inherits the rest */
};
extern struct region_all region_all;
/* The calling LWP, or NULL before its first region. */
extern _Thread_local struct region_lwp *region_own;

/* events.c: the events that the environment names. */
void region_events(struct options *o);

/* region.c: prepare this LWP, and measure an empty region.  NULL: no memory. */
struct region_lwp *region_first_time(void);
/* The program's own code runs from the end of one to the start of the other. */
void region_resume(struct region_lwp *rl);
void region_pause(struct region_lwp *rl);
/* The LWP's region, made if it is new, or NULL without memory. */
struct region *region_make(struct region_lwp *rl, const char *name);
/* Add what passed since the region began. */
void region_sum_up(const struct region_lwp *rl, struct region *rg);
/* Report a mistake, once for each region.  Returns -1 with errno EINVAL. */
int region_refuse(struct region *rg, const char *name, const char *what);
