/*
 * The command line: words for the kernel, then `--` and the programs to run
 * with their arguments.  Included by kern/ and tests/host.
 *
 * Blanks separate words.  A backslash quotes the next character.  Between
 * double quotes blanks are ordinary, and a backslash quotes only " \ $ and `,
 * as in a shell.  A word | or & without quotes joins two programs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dev/uart/uart.h"
#include "include/sys/cpc.h"
#include "kern/cpc/soft/soft_shape.h"

#define CMDLINE_MAX (64UL << 10) /* bytes; a longer line is refused */

/*
 * Words of checks=.  "poison" makes the allocators check memory.  The others
 * each make the kernel commit one error, to show that it is caught
 * (kern/debug/test_hooks.c).
 */
#define DEBUG_POISON      0x1
#define DEBUG_UNDEFINED   0x2
#define DEBUG_SMASH       0x4
#define DEBUG_FREED_PAGE  0x8
#define DEBUG_FREED_BLOCK 0x10
#define DEBUG_PAST_BLOCK  0x20
#define DEBUG_PAST_LARGE  0x40

#define CMDLINE_HOST_MAX   8
#define CMDLINE_HOST_BYTES 160 /* of one fact */

struct cmdline {
	bool cl_framed;                             /* output=framed */
	bool cl_system;                             /* priv=system */
	bool cl_no_cpc_cpu;                         /* cpc_cpu=no */
	bool cl_trace_stops;                        /* trace=stops */
	bool cl_nmi_panics;                         /* nmi=panic */
	bool cl_test_hooks;                         /* test_hooks=yes */
	bool cl_no_pages;                           /* screen=text */
	bool cl_models_pmceid;                      /* models=pmceid */
	bool cl_models_any;                         /* models=any */
	struct cpc_model cl_models[CPC_PMU_MODELS]; /* models=LIST */
	unsigned cl_nmodels;
	uint32_t cl_debug;         /* checks=: DEBUG_* */
	uint32_t cl_witness;       /* witness=: CPC_COUNT_*, 0: none */
	unsigned cl_timeout;       /* seconds for each program; 0: none */
	unsigned cl_deadline;      /* seconds for the run; 0: none */
	uint64_t cl_limit;         /* kernel_limit=: instructions; 0: none, */
	unsigned cl_limit_page;    /* and so many for each page */
	unsigned cl_quiet;         /* quiet=: bits of QUIET_* */
	unsigned cl_cpus;          /* cpus= at most; 0: all */
	struct uart cl_uart;       /* uart=; UART_NONE: no such word */
	const char *cl_pmu;        /* pcbe=; NULL: the machine's PMU */
	struct soft_shape cl_soft; /* the parsed value of pcbe= */
	char cl_foreign[256];      /* ignored words of other systems */
	const char *cl_out;        /* out=: a file in /tmp to send, or NULL */
	/* Facts for records, which only the host knows: NAME=VALUE */
	const char *cl_host[CMDLINE_HOST_MAX];
	unsigned cl_nhost;
	/* These point into the text; both end with NULL. */
	char **cl_env; /* NAME=VALUE */
	unsigned cl_nenv;
	char **cl_argv; /* programs and operators; empty: run the suite */
	unsigned cl_argc;
};

/*
 * Parse a NUL-terminated text.  The text is changed, and must live as long as
 * *cl.  Returns 0, or -1 with one line in err that says what is wrong.
 */
int cmdline_parse(char *text, struct cmdline *cl, char *err, size_t errlen);

/* The value of the word host.NAME=VALUE, or NULL without one. */
const char *cmdline_host(const struct cmdline *cl, const char *name);

/*
 * Split text in place into words and resolve quotes.  Returns a vector that
 * ends with NULL and is freed by kfree().  Returns NULL, with the reason in
 * *why, if a quote is not closed or memory runs out.
 */
char **words_split(char *text, unsigned *count, const char **why);

/*
 * The operators.  A word is an operator if its address is one of these.  A
 * quoted word is not, whatever its text.
 */
extern char word_pipe[], word_both[];
