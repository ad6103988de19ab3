/*
 * A performance counter backend (PCBE): what kcpc asks of a PMU.  Included
 * by kern/kcpc*.c, by the backends, and by tests/host with a fake.
 *
 * The twelve operations and their names follow illumos's pcbe_ops, so a
 * reader of either is at home; signatures are ours.  A backend sees no LWP.
 */
#ifndef KERN_CPC_PCBE_H
#define KERN_CPC_PCBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/pmu.h"
#include "include/sys/cpc.h"

#define PCBE_MAXPIC 32

/* pcbe_caps; request flags and subcodes too are include/sys/cpc.h's. */
#define PCBE_CAP_OVERFLOW_INTERRUPT CPC_CAP_OVERFLOW_INTERRUPT
#define PCBE_CAP_OVERFLOW_PRECISE   CPC_CAP_OVERFLOW_PRECISE

/*
 * An event as the library made it of a name or number: configure() trusts
 * nothing in it.
 */
struct pcbe_event {
	uint64_t pe_code; /* the backend's own, modifiers of a name in it */
	uint64_t pe_extra_msr; /* what a register beside is to hold for it */
	uint64_t pe_pics;      /* bit n: PIC n can count it */
	uint32_t pe_flags;     /* PCBE_EVENT_* */
};
#define PCBE_EVENT_GENERIC CPC_EVENT_GENERIC /* a PAPI_ name */
#define PCBE_EVENT_RAW     CPC_EVENT_RAW     /* a number */
/* Which register beside: enum event_extra of events/pmu.h. */
#define PCBE_EVENT_EXTRA(flags) ((flags) >> CPC_EVENT_EXTRA_SHIFT & 0xf)

enum pcbe_known {
	PCBE_INSTRUCTIONS, /* that retired */
	PCBE_CYCLES,
};

struct pcbe_attr {
	uint32_t pa_id; /* enum cpc_attr_id */
	uint64_t pa_val;
};

/*
 * One configured request.  The first part is kcpc's, the last the backend's,
 * which keeps what it needs to program the PIC with a few stores; it
 * allocates nothing.
 */
struct pcbe_cfg {
	/* set by kcpc before configure() */
	uint8_t pc_pic;
	bool pc_notify;    /* the overflow must interrupt */
	uint16_t pc_flags; /* CPC_COUNT_* */
	/* the backend's */
	bool pc_slow;      /* programming it takes more than these: */
	bool pc_witnessed; /* kern/cpc/witness.c's: the witness counts the same
	                    */
	uint64_t pc_sel;   /* event select, as written */
	uint64_t pc_aux;   /* a second register's worth */
	uint64_t pc_mask;  /* the bits the PIC has */
};

/*
 * What is bound together: program, stop and sample work on all of it.  While
 * configure() runs, ps_cfg holds those it has already accepted, ps_pics all
 * PICs of the set.
 *
 * Counts are where an LWP may read them: cg_req[i] of ps_page has the 64-bit
 * virtual count of ps_cfg[i], cg_tick the cycles.
 */
struct pcbe_set {
	uint32_t ps_n;
	uint32_t ps_pics;    /* bit n: PIC n is a request's */
	uint32_t ps_spare;   /* no request's, and proved: may be taken */
	uint32_t ps_helpers; /* of these, what the backend took (helpers) */
	bool ps_user_read;   /* program() opens user-level reads */
	bool ps_privileged;  /* attributes may be privileged ones */
	/* Registers that are one for all PICs: bit n, enum event_extra's n+1.
	 */
	uint8_t ps_extra_msrs;
	uint8_t
	    ps_extra_msr_req[EXTRA_N - 1]; /* the first request that is for */
	/* the backend's, from configure() */
	uint64_t ps_run, ps_ctrl, ps_selection;
	uint64_t
	    ps_extra_msr[EXTRA_N - 1]; /* the nth of ps_extra_msrs is to hold */
	struct pcbe_cfg *ps_cfg;       /* ps_n of them */
	struct cpc_page *ps_page;
	/*
	 * kcpc's: PICs whose overflow stops the set where it strikes, in the
	 * kernel, too, if the machine has a way to; the interrupt still comes
	 * at its end.  As it is when the set is first programmed.
	 */
	uint32_t ps_urgent;
	/*
	 * kcpc's, too: where the one PIC of ps_urgent then counts on from in
	 * the kernel, instead of stopping; 0: it stops.
	 */
	uint64_t ps_resume;
};

/* ps_selection of a set of which kcpc changed one of these. */
#define PCBE_UNSELECTED (~0ULL)

/* Where overflows of a set with ps_resume struck the kernel. */
#define PCBE_NMI_LOG 126
struct pcbe_nmi_log {
	uint32_t pk_n;    /* times it counted on, the oldest first */
	uint32_t pk_lost; /* more of them, without a place */
	uint64_t pk_pc[PCBE_NMI_LOG];
	uint64_t pk_last; /* the same of what stop() tells, or 0 */
};

/*
 * PICs are loaded and start at this tick: from here on the page says other
 * things.
 */
static inline void
pcbe_begin(struct cpc_page *page, uint64_t tick)
{
	page->cg_seq++;
	page->cg_tick -= tick;
}

/*
 * A stopped PIC of these bits holds `now`: add to the count what that is
 * beyond what was loaded.  An overflow that was `told` may have carried it
 * past its old place, where modulo its width nothing seems to have happened.
 */
static inline void
pcbe_fold(struct cpc_page_req *cq, uint64_t mask, uint64_t now, bool told)
{
	cq->cq_data += (now - cq->cq_last) & mask;
	if (told && now >= cq->cq_last)
		cq->cq_data += mask + 1;
}

/*
 * configure, describe, known_event: LWP context.  program, stop, allstop,
 * sample, overflow_bitmap: interrupts off, on the CPU that owns the set; they
 * never sleep or allocate.
 */
struct pcbe_ops {
	uint32_t pcbe_caps; /* PCBE_CAP_*; cleared where a proof failed */
	/*
	 * Bit n: PIC n is narrower than 64 bits and its overflow cannot
	 * interrupt unless the request is a notify one; kcpc then samples it
	 * before it can go round.
	 */
	uint64_t pcbe_no_ovf_intr;

	/* Number of PICs, 1..PCBE_MAXPIC; PIC numbers are 0..n-1. */
	unsigned (*ncounters)(void);
	/* Width in bits of a PIC's counter. */
	unsigned (*width)(unsigned pic);
	/* What the machine's user-level read takes to name a PIC. */
	uint32_t (*read_index)(unsigned pic);
	const char *(*impl_name)(void); /* for cpc_cciname() */
	const char *(*cpuref)(void);    /* for cpc_cpuref() */

	/* Bit n: a request may have attribute n, see enum cpc_attr_id. */
	uint32_t pcbe_attrs;
	/*
	 * What the library resolves names by; *pm is all 0 before, and
	 * pm_pics and pm_attrs are kcpc's to fill.
	 */
	void (*describe)(struct cpc_pmu *pm);
	/*
	 * An event that the kernel itself counts, and the PICs that can
	 * count it, 0 where there is none; pe_pics alike.
	 */
	uint64_t (*known_event)(enum pcbe_known which, struct pcbe_event *ev);

	/*
	 * Which PICs of this CPU overflowed; acknowledges them.  All ones
	 * where the hardware cannot tell.  0: the interrupt was not ours.
	 */
	uint64_t (*overflow_bitmap)(void);

	/*
	 * Of these PICs, those that take such attributes, whatever their
	 * values; NULL: all do, or none.  A request's PIC is one of them,
	 * unless there is none: then configure() says why.
	 */
	uint64_t (*attr_pics)(
	    uint64_t pics, unsigned nattrs, const struct pcbe_attr *attrs);

	/*
	 * Validate and build cfg for one request; `set` is for conflicts.
	 * kcpc has refused an attribute on a generic event and one that is
	 * not in pcbe_attrs.  Returns 0 or a CPC_* subcode (1..11), having
	 * taken nothing; CPC_RESOURCE_UNAVAIL where a helper PIC is needed
	 * and none is free.  Where it is more than the subcode tells, the
	 * reason goes to kcpc_reason(): which part of the hardware, and for
	 * what.
	 */
	int (*configure)(struct pcbe_cfg *cfg, const struct pcbe_event *ev,
	    unsigned nattrs, const struct pcbe_attr *attrs,
	    struct pcbe_set *set);

	/*
	 * Load every PIC of the set and start them together; the order is
	 * write all, then enable all at once.  What is loaded is the count,
	 * cut to the PIC's width where that can be; cq_last says what it was.
	 * The tick goes from cg_tick, and cg_seq moves on: pcbe_begin().
	 * Opens user reads if asked.
	 */
	void (*program)(struct pcbe_set *set);
	/*
	 * Stop every PIC of this CPU and close user reads.  The set, which
	 * runs, has its counts and cg_tick brought up to now.  Returns which
	 * of its PICs overflowed, as overflow_bitmap() does.
	 */
	uint64_t (*stop)(struct pcbe_set *set);
	/* The same where no set runs, or its counts are lost. */
	void (*allstop)(void);
	/*
	 * cs_value[i] is the count of request i of the set, which runs on,
	 * cs_tick its cycles.  False where a PIC of its overflowed and no
	 * interrupt has told yet: stop() alone knows what that makes of the
	 * count.
	 */
	bool (*sample)(const struct pcbe_set *set, struct cpc_sample *s);
	/*
	 * Give back what configure() took in set for this cfg.  kcpc copies
	 * sets with their cfgs as they are, and frees each copy.
	 */
	void (*free)(struct pcbe_cfg *cfg, struct pcbe_set *set);

	/*
	 * Start the configured set's PICs on this CPU, from 0 and for good:
	 * program(), stop() and allstop() leave them running.  Once on each
	 * CPU, the same PICs on all, and before another set is configured.
	 * NULL: the backend keeps none back.
	 */
	void (*keep)(struct pcbe_set *set);

	/*
	 * The CPUs that have one PMU together with this one, which is among
	 * them; NULL where each has its own.  Sets are then bound to CPUs
	 * alone, and to one of these at a time.
	 */
	const struct cpuset *(*siblings)(unsigned cpu);

	/*
	 * Count a loop of known length on pic, at system privilege, and say
	 * if it came out right: the proof at boot.  Leaves the PIC stopped.
	 * Returns NULL, or what was wrong ("reads 0 after 1000 instructions").
	 */
	const char *(*prove)(unsigned pic);

	/*
	 * Of this CPU, since it was last told, which is for kcpc to note here;
	 * while no PIC counts.  NULL: the machine has no way to.
	 */
	struct pcbe_nmi_log *(*nmi_log)(void);

	/*
	 * Only of software (kern/cpc/soft/soft_pcbe.c): n instructions have
	 * retired at that privilege (CPC_COUNT_*).  No interrupt controller is
	 * asked for its overflows, no program reads its PICs.  NULL where the
	 * PMU sees instructions by itself.
	 */
	void (*advance)(uint64_t n, unsigned privilege);
};

/*
 * models=pmceid: an emulator, whose PMU counts those events alone that it
 * announces.  Set before kcpc_init().
 */
extern bool pcbe_announced_only;

/* kern/cpc/reason.c: why configure() refuses, a line without its end. */
void kcpc_reason(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* KERN_CPC_PCBE_H */
