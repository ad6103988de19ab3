/* A PMU in software, right but for one defect, with libcpc, for vpmu. */
#pragma once

enum defect {
	RIGHT,
	UNPROVED,        /* the kernel's proof refused PIC 1 */
	OVERCOUNTS,      /* one event more in each thousand */
	COUNTS_TWICE,    /* with both privileges */
	IGNORES_USER,    /* the filter of user privilege counts the kernel */
	IGNORES_SYSTEM,  /* and the other way round */
	RUNS_ON,         /* a stopped PIC counts */
	LOSES_TRAPPED,   /* an instruction that the hypervisor carries out */
	NARROW,          /* the counter has fewer bits than it says */
	CUTS_PRESET,     /* to 40 bits */
	JUMPS,           /* by 2^31, where bit 31 of the count gets set */
	LOSES_INTERRUPT, /* of an overflow */
	EARLY,           /* the interrupt comes before the overflow */
	INTERRUPTS_TWICE,
	OTHERS_RUN_ON, /* an overflow stops its own PIC only */
	HALT_LOSES,    /* counts, from a set of an LWP */
	CPU_HALT_LOSES,
	COUNTS_OTHERS, /* instructions of other CPUs */
	MOVE_LOSES,    /* counts at each move to another CPU */
	ONE_STANDS,    /* if more than four PICs count */
	TICK_STANDS,
	REFUSES_BRANCHES, /* which are announced */
	DOUBLES_BRANCHES,
	CYCLES_STAND, /* on all PICs */
	IGNORES_CMASK,
	READS_ABSENT,      /* RDPMC of a counter that is absent */
	FIXED_INSNS_WRONG, /* fixed counter 0 counts cycles */
	FIXED_FAST,        /* fixed counter 1 counts each cycle thrice */
	REFERENCE_FAST,    /* fixed counter 2 counts more than the TSC */
	LOADS_STAND,
	LOADS_ARE_STORES, /* the event of loads counts stores, too */
	FORESEES,         /* random branches are predicted */
	OTHER_JUMPS,      /* an event without a rule, by 2^47 */
	/* No defects: CPUID leaves the guest, and with these a read does not,
	 * does, or takes a time in between. */
	MEDIATED,
	EMULATED,
	UNCLEAR,
};

extern enum defect vpmu_defect;
