/*
 * The command line: words for the kernel, then `--` and the program to run
 * with its arguments.  Included by kern/ and tests/host.
 *
 * Words are separated by blanks.  A backslash quotes the next character;
 * between double quotes blanks are ordinary, and a backslash quotes only
 * " \ $ and `, as in a shell.
 */
#ifndef KERN_PLATFORM_CMDLINE_H
#define KERN_PLATFORM_CMDLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kern/cpc/soft/soft_shape.h"

#define CMDLINE_MAX (64UL << 10) /* bytes; more is refused, not cut off */

/*
 * Words of checks=: memory is checked; and mistakes that the kernel makes when
 * it has booted, to show that each is caught (kern/test_crash.c).
 */
#define DEBUG_POISON      0x1
#define DEBUG_UNDEFINED   0x2
#define DEBUG_SMASH       0x4
#define DEBUG_FREED_PAGE  0x8
#define DEBUG_FREED_BLOCK 0x10
#define DEBUG_PAST_BLOCK  0x20
#define DEBUG_PAST_LARGE  0x40

struct cmdline {
	bool cl_framed;            /* output=framed */
	bool cl_system;            /* priv=system */
	bool cl_no_cpc_cpu;        /* cpc_cpu=no */
	bool cl_trace_stops;       /* trace=stops */
	bool cl_nmi_panics;        /* nmi=panic */
	bool cl_test_hooks;        /* test_hooks=yes */
	bool cl_models_pmceid;     /* models=pmceid */
	uint32_t cl_debug;         /* checks=: DEBUG_* */
	uint32_t cl_witness;       /* witness=: CPC_COUNT_*, 0: none */
	unsigned cl_timeout;       /* seconds for each program; 0: none */
	uint64_t cl_limit;         /* kernel_limit=: instructions; 0: none, */
	unsigned cl_limit_page;    /* and so many for each page */
	unsigned cl_cpus;          /* cpus= at most; 0: all */
	const char *cl_pmu;        /* pcbe=, or NULL: the machine's */
	struct soft_shape cl_soft; /* what it says */
	char cl_foreign[256];      /* words of other systems, ignored */
	/* Point into the text; both end with NULL. */
	char **cl_env; /* NAME=VALUE */
	unsigned cl_nenv;
	char **cl_argv; /* empty: run the suite */
	unsigned cl_argc;
};

/*
 * Parse text (terminated; rewritten in place, must outlive *cl).  Returns 0,
 * or -1 with what is wrong in err, in one line without its end.
 */
int cmdline_parse(char *text, struct cmdline *cl, char *err, size_t errlen);

/*
 * Split text in place into words, quotes resolved.  Returns a vector for
 * kfree(), NULL at its end, or NULL with *why where a quote is not closed or
 * memory is out.
 */
char **words_split(char *text, unsigned *count, const char **why);

#endif /* KERN_PLATFORM_CMDLINE_H */
