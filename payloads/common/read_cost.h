/*
 * Measures what a sample itself counts, for records.  Included by the programs
 * that open a meter.
 */
#pragma once

#include "payloads/common/meter.h"

/*
 * meter_bind().  Before the first events that can be counted, fill in
 * report_read_cost (report.h).  A program whose events are all refused must
 * bind nothing: its status then says that it counted nothing.
 */
unsigned read_cost_bind(
    struct meter *m, const struct event *events, unsigned n);
