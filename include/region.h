/*
 * Regions: counts of marked parts of a program, and the manual of libpayload's
 * part for them.  Included by programs, in C or C++.
 *
 *	#include <region.h>
 *
 *	REGION_BEGIN("solve");
 *	...
 *	REGION_END("solve");
 *
 *	barecpc-cc -O2 prog.c -lpayload -o prog
 *	barecpc run --env REGION_EVENTS=PAPI_tot_ins,PAPI_l1_dcm --payload prog
 *
 * Every LWP counts its own regions.  They may be repeated, nested in each other
 * and overlap.  At the program's exit a table has a row for each region, LWP
 * and event, and each row leaves a record.  The count is the sum over all
 * times; an iteration is one time.
 *
 * All LWPs count the same events, which an environment variable names:
 * REGION_EVENTS, or without it PAPI_EVENTS.  They are named as -e of the
 * benchmarks does (docs/payloads.md), or as PAPI_TOT_INS.  The default is
 * PAPI_tot_ins,PAPI_tot_cyc.  An LWP binds its set when it begins its first
 * region.  An event that this machine cannot count is left out, and so is one
 * that does not fit on the counters with those before it.  Its row says why.
 *
 * A count has none of what these functions do.  Each reads the counters when it
 * is called and when it returns.  The cost of an empty region, the median of
 * 31 runs in each LWP, is subtracted from each region and from those around it.
 *
 * Unless an entry says otherwise a function returns 0, or -1 with errno:
 * - EINVAL: the region has begun already, has not begun in this LWP, or the
 *   report is made.
 * - ENOTSUP: this machine cannot count any of the events.
 * - EAGAIN: another set has taken the counters.  The region is not counted.
 * - ENOMEM: no memory is left.
 * EINVAL prints a line on standard error once for each region, EAGAIN once for
 * each LWP.
 *
 * The child of a fork() must not mark regions, and reports none.
 */
#ifndef REGION_H
#define REGION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REGION_MAXEVENT 32

/* Begin or end a region of the calling LWP. */
int region_begin(const char *name);
int region_end(const char *name);
#define REGION_BEGIN(name) ((void)region_begin(name))
#define REGION_END(name)   ((void)region_end(name))

/*
 * Make room for a region, and bind the LWP's set if it is the first.  Without
 * it region_begin() does so, the first time.
 */
int region_register(const char *name);

/* The sums of a region of the calling LWP. */
struct region_sums {
	unsigned rs_nevent;
	int64_t rs_count[REGION_MAXEVENT]; /* in the order of the events; -1:
	                                      not counted */
	int64_t rs_hrtime;                 /* ns */
	uint64_t rs_times;                 /* how often it ended */
};
/* Fill *rs.  If the region has begun, the part until now is in the sums. */
int region_read(const char *name, struct region_sums *rs);
/* Set the region's sums to 0. */
int region_reset(const char *name);

/*
 * Print the table and write the records now.  Later regions are not counted,
 * and the exit prints nothing.
 */
void region_report(void);

#ifdef __cplusplus
}
#endif

#endif /* REGION_H */
