/*
 * The counts, times and conditions that runs of one piece of work yielded.
 * Included by payloads/bench/ and by spin.
 */
#pragma once

#include "payloads/common/meter.h"
#include "payloads/common/report.h"

struct measurement {
	struct quantity msm_count[MAXEVENT], msm_tick, msm_hrtime;
	struct runs msm_runs, msm_empty; /* msm_empty: of the overhead */
	bool msm_verified;
};

/* Make room for this number of events and runs.  Exits 1 without memory. */
void measurement_open(struct measurement *mm, unsigned nevent, unsigned runs);
/* Add the meter's last run. */
void measurement_add(
    struct measurement *mm, const struct meter *m, bool overhead);
/* Find the disturbed runs, and compute the aggregates. */
void measurement_close(
    struct measurement *mm, unsigned nevent, const struct options *o);
void measurement_free(struct measurement *mm, unsigned nevent);
