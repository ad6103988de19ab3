/*
 * Published errata of events.  Included by programs that count or list events.
 */
#pragma once

#include <stdint.h>

/* A CPU as CPUID names it. */
struct errata_cpu {
	const char *erc_vendor; /* "GenuineIntel" */
	unsigned erc_family, erc_model;
};

/*
 * The next erratum that touches an event of this CPU, or NULL: "SRF7: ...".
 * *n is 0 at first.  The code is as libcpc gives it (ri_code), the PIC is -1 if
 * it is not known.
 */
const char *errata_next(
    const struct errata_cpu *cpu, uint64_t code, int pic, unsigned *n);

/*
 * The same for the machine that this program runs on, with errata_found().  If
 * the code is -1, the event's name says it.
 */
const char *errata_here(const char *event, int64_t code, int pic, unsigned *n);

/* Note that the program itself found the event wrong: "counts 0 of ...". */
void errata_found(int64_t code, int64_t count, unsigned want, const char *of);
/* Did it count 0?  Returns the note, or NULL. */
const char *errata_stuck(int64_t code);
