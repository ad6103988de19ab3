/*
 * Published errata that make an event count wrong, by CPU and event.
 *
 * Intel's lists of events name the errata of each event: the member Errata of
 * the files of a CPU, perfmon of August 2026.  SRF7 is also on the list of
 * kvm-unit-tests, lib/x86/pmu.c, with the models.  It and the SMT errata are in
 * the specification updates: "Intel Xeon 6700-Series Processor with E-Cores",
 * SRF7; "3rd Generation Intel Core Processor Family", BV98; "4th Generation
 * Intel Core Processor Family", HSD29; "2nd Generation", BJ122.
 * TSX: Intel, "Performance Monitoring Impact of Intel Transactional
 * Synchronization Extension Memory Ordering Issue" (604224).
 * AMD, "Revision Guide for AMD Family 19h Models 00h-0Fh Processors" (56683),
 * erratum 1292.  The mail "perf/amd: Implement erratum #1292 workaround for
 * F19h M00-0Fh" to Linux lists the events, and says that family 17h has it,
 * too.
 */
#include "payloads/common/events/errata.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "events/pmu.h"

static const char intel[] = "GenuineIntel", amd[] = "AuthenticAMD";

#define SMT    ": with two threads on the core it may count for the other"
#define LISTED ": the vendor's list of events names it: it may count wrong"
#define OFTEN  ": events that retire may be counted too often"
#define HSW    "3c 3f 45 46"
#define BDW    "3d 47 4f 56"
#define SKL    "4e 5e 55 8e 9e a5 a6"
#define FAR                                                                    \
	"SRF7: FAR CALL, FAR JMP, RETF, IRET and transitions of virtual "      \
	"machines are counted too often"
#define RETIRED "c0 c1 c2 c3 c4 c5 c8 c9 ca cc d1 1c7 1d0"

/*
 * Lists of hexadecimal numbers.  Models, or none for all.  Events: a number of
 * four digits has the unit mask first, a shorter one means any unit mask.
 * Without events, it is of PIC 3.
 */
static const struct erratum {
	const char *er_vendor;
	unsigned er_family;
	const char *er_models, *er_events, *er_text;
} errata[] = {
	{ intel, 6, "4d 5f 86 af dd", "c0", FAR },
	{ intel, 6, "4d 5f 86 af", "c4", FAR },
	{ intel, 6, "af", "00c4 f9c4", "SRF6" LISTED },
	{ intel, 6, "2a 2d", "d0 d1 d2 d3", "BJ122" SMT },
	{ intel, 6, "3a 3e", "d0 d1 d2 d3", "BV98" SMT },
	{ intel, 6, HSW, "d0 d1 d2 d3", "HSD29, HSM30" SMT },
	{ intel, 6, HSW, "c0", "HSD11, HSD140, HSD143" LISTED },
	{ intel, 6, HSW, "bc 01cd 04d1 20d1 d2 01d3", "HSD25" LISTED },
	{ intel, 6, HSW, "01cd 21d0 02d1", "HSD76" LISTED },
	{ intel, 6, HSW, "01b1 02b1", "HSD30, HSM31, HSD144" LISTED },
	{ intel, 6, HSW, "60", "HSD61, HSD62, HSM63" LISTED },
	{ intel, 6, HSW, "01a3 05a3", "HSD78, HSM63, HSM80" LISTED },
	{ intel, 6, HSW, "24 01b0 0160", "HSD78, HSM80" LISTED },
	{ intel, 6, HSW, "0279 019c 01a2", "HSD135" LISTED },
	{ intel, 6, HSW, "08c1 10c1", "HSD56, HSM57" LISTED },
	{ intel, 6, HSW, "40c8 40c9", "HSD65" LISTED },
	{ intel, 6, BDW, "00c0", "BDM61" LISTED },
	{ intel, 6, BDW, "01c0", "BDM11, BDM55" LISTED },
	{ intel, 6, BDW, "04d1 20d1 d2 d3 01cd", "BDM100, BDE70" LISTED },
	{ intel, 6, BDW, "21d0 02d1 01cd", "BDM35" LISTED },
	{ intel, 6, BDW, "08 49 85 bc", "BDM69, BDM98" LISTED },
	{ intel, 6, BDW, "60", "BDM76" LISTED },
	{ intel, 6, BDW, "08c1 10c1", "BDM30" LISTED },
	{ intel, 6, BDW, "04c4 40c4", "BDW98" LISTED },
	{ intel, 6, SKL, "c0", "SKL044, SKL091" LISTED },
	{ intel, 6, SKL, "c4", "SKL091" LISTED },
	{ intel, 6, SKL, "02c3", "SKL089" LISTED },
	{ intel, 6, SKL, "412e 4f2e", "SKL057" LISTED },
	{ intel, 6, "4e 5e 55 8e 9e", NULL,
	    "TSX force abort: if CPUID.07H:EDX[13] is set, microcode takes "
	    "PIC 3 while a transaction runs" },
	{ intel, 6, "97 9a b7 ba bf", "0820", "ADL038 on P-cores" LISTED },
	{ intel, 6, "aa ac", "c4", "MTL012, MTL013 on E-cores" LISTED },
	{ intel, 6, "b5 c5", "c4", "ARL010, ARL011 on E-cores" LISTED },
	{ amd, 0x17, NULL, RETIRED, "as 1292 of family 19h" OFTEN },
	{ amd, 0x19, "0 1 2 3 4 5 6 7 8 9 a b c d e f", RETIRED, "1292" OFTEN },
};
#define NERRATA (sizeof errata / sizeof errata[0])

/* Is the model in the list? */
static bool
has_model(const char *list, unsigned model)
{
	char *end;

	for (; list != NULL && *list != '\0'; list = end) {
		if (strtoul(list, &end, 16) == model)
			return true;
	}
	return list == NULL;
}

static bool
has_event(const char *list, unsigned event, unsigned umask)
{
	char *end;

	for (; *list != '\0'; list = end) {
		unsigned long listed;

		list += *list == ' ';
		listed = strtoul(list, &end, 16);
		if (end - list == 4 ? listed == (umask << 8 | event)
				    : listed == event)
			return true;
	}
	return false;
}

const char *
errata_next(const struct errata_cpu *cpu, uint64_t code, int pic, unsigned *n)
{
	bool is_amd = strcmp(cpu->erc_vendor, amd) == 0;
	unsigned event = (unsigned)code & 0xff;
	unsigned umask = (unsigned)code >> 8 & 0xff;

	if (is_amd)
		event |= (unsigned)(code >> 24) & 0xf00;
	else if (code == INTEL_FIXED_CODE(0))
		event = 0xc0;
	for (; *n < NERRATA; ++*n) {
		const struct erratum *er = &errata[*n];

		if (strcmp(er->er_vendor, cpu->erc_vendor) != 0 ||
		    er->er_family != cpu->erc_family ||
		    !has_model(er->er_models, cpu->erc_model))
			continue;
		if (er->er_events == NULL
			? pic != 3
			: !has_event(er->er_events, event, umask))
			continue;
		++*n;
		return er->er_text;
	}
	return NULL;
}
