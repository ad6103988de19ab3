/*
 * Measures what a sample itself counts, for records.  Included by the programs
 * that open a meter.
 */
#ifndef PAYLOADS_COMMON_READ_COST_H
#define PAYLOADS_COMMON_READ_COST_H

#include "payloads/common/meter.h"

/*
 * Fill in report_read_cost (report.h).  Call after meter_open(), with no set
 * bound.  Does nothing on a machine without counters.
 */
void read_cost_measure(const struct meter *m);

#endif /* PAYLOADS_COMMON_READ_COST_H */
