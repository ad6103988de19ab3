/*
 * PICs as Intel and AMD have them in common: an event select and a counter
 * each, on some machines one register to start and stop them all, and one
 * that tells of overflows.  Included by the backends of arch/x86/.
 *
 * A backend finds out which registers there are; what is done with them on
 * every context switch is here, once.
 */
#ifndef ARCH_X86_PMU_PIC_H
#define ARCH_X86_PMU_PIC_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/arch.h"
#include "kern/cpc/pcbe.h"
#include "kern/sched/cpu.h"

struct x86_pic {
	uint32_t xp_counter; /* MSR that loads it */
	uint32_t xp_select;  /* MSR of its event; 0: has IA32_FIXED_CTR_CTRL */
	uint32_t xp_index;   /* what RDPMC takes */
	bool xp_short;       /* loads 32 bits and extends their sign */
	uint64_t xp_mask;    /* the bits it has */
	uint64_t xp_global;  /* its bit in control and status */
};

struct x86_pics {
	unsigned xs_n;
	uint32_t xs_ctrl; /* MSR that starts and stops all, or 0 */
	/* MSRs that tell of overflows and that forget them, or 0. */
	uint32_t xs_status, xs_clear;
	uint64_t xs_all; /* the PICs' bits in these three */
	bool xs_fixed;   /* has IA32_FIXED_CTR_CTRL */
	/* What runs for good: its bits of control, of IA32_FIXED_CTR_CTRL. */
	uint64_t xs_kept, xs_kept_fixed;
	struct x86_pic xs_pic[PCBE_MAXPIC];
};

/* Those of this machine, alike on all CPUs. */
extern struct x86_pics x86_pics;

/* What a CPU's PICs hold.  A power of two: found by a shift. */
#define X86_PIC_CPU_BYTES 1024
extern struct x86_pic_cpu {
	/* Event selects as they are, where one register starts all... */
	uint64_t pc_select[PCBE_MAXPIC];
	uint64_t pc_selection; /* the number of what they are, or 0 */
	uint32_t pc_running;   /* ...and PICs that run, elsewhere */
	/*
	 * PICs that hold counts.  Where user reads are open every PIC can be
	 * read, so those of another set are cleared first.
	 */
	uint32_t pc_holding;
	/* PICs whose next overflow is only a stage on the way to theirs. */
	uint32_t pc_strides;
	/* Without a status register: PICs to be told of, as last seen. */
	uint32_t pc_watched;
	uint64_t pc_seen[PCBE_MAXPIC];
	/* pic_nmi.c: PICs whose overflow is to strike the kernel, too... */
	uint32_t pc_urgent;
	/* ...how often stop() found that one did, and an NMI told so. */
	uint32_t pc_found, pc_came;
	/* ...and where that PIC counts on from, with its event select. */
	uint64_t pc_resume, pc_resume_select;
	bool pc_masked; /* the APIC's entry may be */
} __attribute__((aligned(X86_PIC_CPU_BYTES))) x86_pic_cpus[MAXCPU];
_Static_assert(sizeof(struct x86_pic_cpu) == X86_PIC_CPU_BYTES, "it is");

static inline struct x86_pic_cpu *
x86_pic_self(void)
{
	return &x86_pic_cpus[arch_curcpu()->c_id];
}

/* pc_aux: the MSR that loads the PIC, and what RDPMC takes for it. */
#define X86_AUX_INDEX(aux) ((uint32_t)(aux))
#define X86_AUX_LOAD(aux)  ((uint32_t)((aux) >> 32))

/*
 * Does the PIC keep what is written to it?  Emulators swallow what is
 * written to registers they do not have, and read 0.
 */
bool x86_pic_keeps(const struct x86_pic *p);
/* Stop and clear this CPU's PICs: out of reset they are anything. */
void x86_pics_silence(const struct x86_pics *ps);

/*
 * The end of configure(): cfg's event select, or its bits of
 * IA32_FIXED_CTR_CTRL, are in pc_sel; note what else its PIC takes.
 */
void x86_pic_take(struct pcbe_cfg *cfg, struct pcbe_set *set);

/*
 * The operations that both backends have in common, for x86_pics as it is
 * now.
 */
void x86_pic_ops(struct pcbe_ops *ops);

/*
 * Between pic.c, pic_together.c and pic_nmi.c; kern/cpc/pcbe.h has the
 * operations. What runs stops, but for what runs for good.
 */
void x86_pics_stop(const struct x86_pic_cpu *pc);
void x86_pic_clear_others(struct x86_pic_cpu *pc, uint32_t pics);
void x86_pic_select(struct x86_pic_cpu *pc, const struct pcbe_cfg *cfg);

/*
 * pic_nmi.c: this set's overflows are to strike the kernel, too, or not; while
 * nothing counts.
 */
void x86_nmi_deliver(struct x86_pic_cpu *pc, const struct pcbe_set *set);
struct pcbe_nmi_log *x86_nmi_log(void);
/* PICs that overflowed, stay as they are, and are to stop their set. */
uint32_t x86_nmi_pending(const struct x86_pic_cpu *pc);
/*
 * An NMI: was it an overflow's?  In the kernel; in a payload, where
 * kcpc_pmi() knew of none.
 */
bool x86_pic_nmi(uint64_t pc);
bool x86_pic_nmi_late(void);

/* It was, in a payload: kcpc_pmi() found it. */
static inline void
x86_pic_nmi_seen(void)
{
	struct x86_pic_cpu *pc = x86_pic_self();

	pc->pc_came = pc->pc_found;
}

/*
 * How often stop() found overflows that are NMIs.  One may strike a payload
 * and wait for the kernel lock, a second one strike there (AMD's APIC does not
 * mask its entry), and another CPU's call stop the set for both.
 */
static inline uint32_t
x86_pic_nmi_found(void)
{
	return x86_pic_self()->pc_found;
}

/* The set is about to be programmed. */
static inline void
x86_nmi_select(struct x86_pic_cpu *pc, const struct pcbe_set *set)
{
	if (pc->pc_urgent != set->ps_urgent ||
	    pc->pc_resume != set->ps_resume || pc->pc_masked)
		x86_nmi_deliver(pc, set);
}

/* Such a set has been stopped, and had overflowed. */
static inline void
x86_nmi_told(struct x86_pic_cpu *pc)
{
	pc->pc_found++;
}

/* PICs by bits of status. */
extern uint32_t x86_pics_of_bit[64];

static inline uint32_t
x86_pics_of_status(uint64_t status)
{
	uint32_t pics = 0;

	for (; status != 0; status &= status - 1)
		pics |= x86_pics_of_bit[__builtin_ctzll(status)];
	return pics;
}

/* The least they are for: a PIC that does not go round twice unseen. */
#define X86_TOGETHER_MASK ((1ULL << 40) - 1)
void x86_together_program(struct pcbe_set *set);
uint64_t x86_together_stop(struct pcbe_set *set);
bool x86_together_sample(const struct pcbe_set *set, struct cpc_sample *s);

#endif /* ARCH_X86_PMU_PIC_H */
