/*
 * A performance counter backend (PCBE): what kcpc asks of a PMU.  Included
 * by kern/cpc/, by the backends, and by tests/host with a fake.
 *
 * There are 20 operations.  attr_pics, keep, siblings, nmi_log and advance
 * are NULL if the PMU has no use for them.  Eight operations have the names
 * they have in illumos's pcbe_ops; the signatures are ours.  A backend sees no
 * LWP.  docs/overflow.md follows an overflow from the PIC to the signal.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events/pmu.h"
#include "include/sys/cpc.h"
#include "kern/sched/cpuset.h"

#define PCBE_MAXPIC 32

/*
 * A core type: CPUs whose PMUs are equal, on a machine whose CPUs differ.  A
 * PIC has the same number on all types that have it.
 */
#define PCBE_MAXTYPE CPC_MAX_CORE_TYPES
struct pcbe_type {
	const char *py_name; /* as Linux's perf names the PMU */
	struct cpuset py_cpus;
	uint32_t py_pics;  /* the PICs of these CPUs */
	uint32_t py_attrs; /* as pcbe_attrs */
};

/* The events of known_event(). */
enum pcbe_known {
	PCBE_INSTRUCTIONS, /* retired instructions */
	PCBE_CYCLES,
};

/*
 * One configured request.  kcpc sets the first part.  The backend keeps in the
 * last part what it needs to program the PIC with a few stores; it allocates
 * nothing.
 */
struct pcbe_cfg {
	/* set by kcpc before configure() */
	uint8_t pc_pic;
	bool pc_notify;    /* the overflow must interrupt */
	uint16_t pc_flags; /* CPC_COUNT_* */
	/* the backend's */
	bool pc_witnessed; /* the witness counts the same event */
	uint8_t pc_extra;  /* enum event_extra: the extra MSR that it needs */
	uint64_t pc_sel;   /* event select, as written */
	uint64_t pc_aux;   /* more, of the backend's choice */
	uint64_t pc_mask;  /* the bits the PIC has */
};

/*
 * The requests that are bound together.  program(), stop() and sample() work
 * on the whole set.  During configure(), ps_n and ps_cfg cover the requests
 * accepted so far; ps_pics already has the PICs of all requests.
 *
 * Counts are in a page that the LWP may read: cg_req[i] of ps_page has the
 * 64-bit count of ps_cfg[i], cg_tick the ticks.
 */
struct pcbe_set {
	uint32_t ps_n;
	uint32_t ps_pics;    /* bit n: PIC n is a request's */
	uint32_t ps_spare;   /* proved PICs that no request has */
	uint32_t ps_helpers; /* those the backend took as helper PICs */
	bool ps_user_read;   /* program() opens user-level reads */
	bool ps_privileged;  /* privileged attributes are allowed */
	/*
	 * It counts on CPUs of core type ps_type - 1 only.  0: it counts on all
	 * CPUs, by what they share.
	 */
	uint8_t ps_type;
	/*
	 * kcpc's: PICs whose overflow stops all PICs at once, in the kernel,
	 * too, if the machine can do that (by an NMI).  kcpc_pmi() still runs
	 * later.
	 */
	uint32_t ps_nmi_pics;
	/*
	 * The contents of the registers that program() does not write each
	 * time: two sets with equal values need equal contents.
	 * PCBE_CONFIG_NEW: the next program() makes the value.  configure()
	 * sets this where the backend has such registers, and kcpc when it
	 * changes ps_nmi_pics, ps_freeze or ps_nmi_reload.  A CPU's
	 * c_pmu_config is the value that it ran last; 0: none.
	 */
	uint64_t ps_config;
	uint64_t ps_be;                 /* the backend's own */
	uint64_t ps_extra_msr[EXTRA_N]; /* by pc_extra: its value */
	struct pcbe_cfg *ps_cfg;        /* ps_n of them */
	struct cpc_page *ps_page;
	/*
	 * kcpc's: the value from which the one PIC of ps_nmi_pics continues
	 * after an overflow in the kernel.  0: the overflow stops it.
	 */
	uint64_t ps_nmi_reload;
	unsigned ps_cpu; /* 1 + the CPU that alone it counts on; 0: any */
	/* kcpc's: PICs whose overflow freezes the set, if the PMU can. */
	uint32_t ps_freeze;
};
#define PCBE_CONFIG_NEW (~0ULL)

/* Program counters in the kernel at overflows of a set with ps_nmi_reload. */
#define PCBE_NMI_LOG 126
struct pcbe_nmi_log {
	uint32_t pk_n;    /* overflows after which the PIC continued */
	uint32_t pk_lost; /* overflows that found no place in pk_pc */
	uint64_t pk_pc[PCBE_NMI_LOG]; /* the oldest first */
	uint64_t pk_last; /* of the overflow that stop() returned, or 0 */
};

/*
 * The PICs are loaded, and start at this tick.  The new cg_seq makes a direct
 * read that is under way start again.
 */
static inline void
pcbe_begin(struct cpc_page *page, uint64_t tick)
{
	page->cg_seq++;
	page->cg_tick -= tick;
}

/*
 * Fold a stopped PIC that holds `now` and has the bits of `mask`.  The
 * difference to cq_last, the value it was loaded with, is known only modulo
 * its width.  If it overflowed and is at or past cq_last again, it has counted
 * one whole round more.
 */
static inline void
pcbe_fold(struct cpc_page_req *cq, uint64_t mask, uint64_t now, bool overflowed)
{
	cq->cq_data += (now - cq->cq_last) & mask;
	if (overflowed && now >= cq->cq_last)
		cq->cq_data += mask + 1;
}

/*
 * Context: kcpc calls configure(), describe() and known_event() from an LWP or
 * at boot.  It calls program(), stop(), allstop(), sample() and
 * overflow_bitmap() with interrupts off, on the CPU whose PICs they mean.  The
 * callers are also the PMI, cross-calls and the proof at boot.  These five
 * never sleep or allocate.
 */
struct pcbe_ops {
	uint32_t pcbe_caps; /* CPC_CAP_*; cleared where a proof failed */
	/*
	 * Bit n: PIC n is narrower than 64 bits, and its overflow interrupts
	 * for a notify request only.  kcpc folds it before it can wrap.
	 */
	uint64_t pcbe_no_ovf_intr;
	/* A read of a PIC at user privilege does not work on this machine. */
	bool pcbe_no_user_read;
	/* The finding of the proof at boot: PIC 0's overflow interrupt "comes".
	 */
	const char *pcbe_overflow_proof;
	/* It freezes sets, and the proof at boot saw no event after that. */
	bool pcbe_freezes;
	bool pcbe_no_freeze; /* with it the proof's interrupt does not come */
	/*
	 * The core types: two or more, or 0 if the CPUs are alike.  Then
	 * ncounters() covers the PICs of all types, and pcbe_shared has those
	 * that every CPU has.
	 */
	unsigned pcbe_ntypes;
	const struct pcbe_type *pcbe_types;
	uint32_t pcbe_shared;

	/* Number of PICs, 1..PCBE_MAXPIC; PIC numbers are 0..n-1. */
	unsigned (*ncounters)(void);
	/* Width in bits of a PIC's counter. */
	unsigned (*width)(unsigned pic);
	/* The number by which a user-level read names the PIC. */
	uint32_t (*read_index)(unsigned pic);
	const char *(*impl_name)(void); /* for cpc_cciname() */
	const char *(*cpuref)(void);    /* for cpc_cpuref() */

	/* Bit n: a request may have attribute n, see enum cpc_attr_id. */
	uint32_t pcbe_attrs;
	/*
	 * Describe the PMU to the library, which resolves event names: what all
	 * CPUs share (0), or core type `type` - 1.  *pm is all 0 before; kcpc
	 * fills in pm_pics, pm_attrs, and the members of core types.
	 */
	void (*describe)(struct cpc_pmu *pm, unsigned type);
	/*
	 * Set *ev to an event that the kernel itself counts.  Returns the PICs
	 * that can count it on all CPUs, its ce_pics; 0 if no PIC can.
	 */
	uint64_t (*known_event)(enum pcbe_known which, struct cpc_event *ev);

	/*
	 * Returns which PICs of this CPU overflowed, and acknowledges them. All
	 * ones if the hardware does not say which; 0 if none overflowed.  Call
	 * with all PICs stopped.
	 */
	uint64_t (*overflow_bitmap)(void);

	/*
	 * Returns those of `pics` that take these attributes, whatever their
	 * values.  NULL: all PICs take the same attributes.  If the result is
	 * 0, kcpc assigns any of `pics`, and configure() says why it fails.
	 */
	uint64_t (*attr_pics)(
	    uint64_t pics, unsigned nattrs, const struct cpc_packattr *attrs);

	/*
	 * Validate one request and fill in cfg; `set` serves to find conflicts.
	 * Event and attributes come from the program.  Refused already: those
	 * on a generic event, and attributes that are not in pcbe_attrs.
	 * Returns 0, or a CPC_* subcode (1..11) with nothing taken.  All that
	 * it takes is in cfg and set: kcpc copies both byte for byte, and
	 * forgets them when the set goes.  The subcode is CPC_RESOURCE_UNAVAIL
	 * if a helper PIC is needed and none is free.  If more is known than
	 * the subcode says, pcbe_refuse() gets it: which part of the hardware
	 * refuses, and why.
	 */
	int (*configure)(struct pcbe_cfg *cfg, const struct cpc_event *ev,
	    unsigned nattrs, const struct cpc_packattr *attrs,
	    struct pcbe_set *set, struct cpc_refusal *rf);

	/*
	 * Load every PIC of the set, then start them: by one write, or one
	 * after the other where the hardware has a write for each.  A PIC is
	 * loaded with its request's count, cut to the PIC's width.  Hardware
	 * that does not take this value gets another.  cq_last says what was
	 * loaded.  Adds 1 to cg_seq and subtracts the tick from
	 * cg_tick.  Opens user-level reads if ps_user_read is set.
	 */
	void (*program)(struct pcbe_set *set);
	/*
	 * Stop the set, which was running, with its helper PICs: no PIC of
	 * this CPU counts then, but those of keep().  Close user-level reads,
	 * and fold the counts and cg_tick.  Returns which of its PICs
	 * overflowed, and acknowledges them, as overflow_bitmap().
	 */
	uint64_t (*stop)(struct pcbe_set *set);
	/*
	 * Stop every PIC of this CPU but those of keep(), and fold nothing:
	 * for a PMI that finds no running set.
	 */
	void (*allstop)(void);
	/*
	 * Set cs_value[i] to the count of request i and cs_tick to the ticks,
	 * while the set goes on running.  Returns false if a register shows
	 * that a PIC of the set overflowed and was not acknowledged: only
	 * stop() can fold it.  Without such a register, returns true.
	 */
	bool (*sample)(const struct pcbe_set *set, struct cpc_sample *s);

	/*
	 * Start the configured set's PICs on this CPU from 0, for good:
	 * program(), stop() and allstop() leave them running.  Called once on
	 * each CPU, with the same PICs, before another set is configured.
	 * NULL: the backend cannot do this.
	 */
	void (*keep)(struct pcbe_set *set);

	/*
	 * The CPUs that share one PMU with this one, which is among them.  Sets
	 * can then be bound to CPUs only, and to one CPU of them at a time.
	 * NULL: each CPU has its own PMU.
	 */
	const struct cpuset *(*siblings)(unsigned cpu);

	/*
	 * For the proof at boot (proof.c): set *ev to an event that the PIC
	 * counts in sets of this ps_type.  Returns whether that is retired
	 * instructions.
	 */
	bool (*proof_event)(unsigned pic, unsigned type, struct cpc_event *ev);
	/* Retire n times PCBE_SPIN_INSNS instructions in the kernel; n > 0. */
	void (*spin)(uint64_t n);
#define PCBE_SPIN_INSNS 2

	/*
	 * Overflows taken in the kernel on this CPU since the caller last reset
	 * pk_n.  Call with all PICs stopped.  NULL: the machine cannot
	 * interrupt the kernel.
	 */
	struct pcbe_nmi_log *(*nmi_log)(void);

	/*
	 * The software PMU alone (kern/cpc/soft/soft_pcbe.c): n instructions
	 * have retired at that privilege (CPC_COUNT_*).  It needs no interrupt
	 * controller, and programs cannot read its PICs.  NULL: the PMU is
	 * hardware.
	 */
	void (*advance)(uint64_t n, unsigned privilege);
};

/*
 * models=pmceid: the PMU is an emulator's, which counts only events that it
 * announces.  models=any: a list of an emulator's events is not used on arm64.
 * Set before arch_init().
 */
extern bool pcbe_announced_only, pcbe_any_event;

/*
 * models=LIST: the PMU is an emulator's, which counts only these events, but it
 * cannot list them itself.  A hypervisor between the emulator and this kernel
 * hides its list.  Set before arch_init().
 */
extern const struct cpc_model *pcbe_models;
extern unsigned pcbe_nmodels;

/* The interrupt of an overflow, for its proof. */
struct pcbe_line {
	bool (*pl_pending)(void); /* does it wait to be taken? */
	/* Take it, if it waits even after stop() acknowledged it; or NULL. */
	void (*pl_take)(void);
	uint64_t pl_us; /* how late it may be; a hypervisor delays it */
};
/*
 * kern/cpc/init/proof.c: does each overflow of PIC 0 interrupt?  Sets
 * pcbe_overflow_proof: "comes", `how`, and how late; `exactly` if it is known
 * to come at the instruction.
 */
bool kcpc_prove_overflow(struct pcbe_ops *backend, const struct pcbe_line *pl,
    const char *how, bool exactly);

/* Is fn(set, arg) true for any set that is bound? */
bool pcbe_any_bound(
    bool (*fn)(const struct pcbe_set *set, const void *arg), const void *arg);

/*
 * kern/cpc/refuse.c, for configure(): say in rf why it refuses, in one line
 * without a newline.  rf is NULL in a proof.  Returns the subcode.
 */
int pcbe_refuse(struct cpc_refusal *rf, int subcode, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
