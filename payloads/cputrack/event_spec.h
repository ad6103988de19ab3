/*
 * The event specification of cputrack and cpustat.  Included by them.
 *
 *     [picN=]event[,attr[N][=value]]...[,[picN=]event...]...
 */
#pragma once

#include <libcpc.h>
#include <stdbool.h>
#include <stdio.h>

#define SPEC_REQUESTS 64
#define SPEC_ATTRS    16 /* of one event, picnum included */

struct spec {
	const char *spc_text;
	unsigned spc_n;
	/* By ascending PIC. */
	struct spec_request {
		char *sr_event;
		unsigned sr_pic;
		uint_t sr_flags, sr_nattrs;
		cpc_attr_t sr_attrs[SPEC_ATTRS];
	} spc_request[SPEC_REQUESTS];
};

/* Parse a specification.  Ends the program with usage if it is wrong. */
struct spec *spec_parse(cpc_t *cpc, const char *text);
/* A set of its requests.  Ends the program if memory is out. */
cpc_set_t *spec_set(cpc_t *cpc, const struct spec *sp);

/* Does every request count the kernel, and none the programs? */
bool spec_counts_system_only(const struct spec *sp);
/*
 * On a Pentium 4 with HyperThreading: make a set of a CPU count the same of the
 * hardware thread that shares the PMU.  False: this machine cannot do so.
 */
bool spec_count_siblings(cpc_t *cpc, struct spec *sp);

/* The titles of its values, and a row's: "%8s%-2d " and "%9lld ". */
void spec_titles(FILE *f, const struct spec *sp, bool ticks);
void spec_values(
    FILE *f, cpc_t *cpc, const struct spec *sp, cpc_buf_t *buf, bool ticks);

/* Print the usage and what this machine counts, as -h does. */
void spec_help(FILE *f, cpc_t *cpc, const char *tool, const char *usage);
