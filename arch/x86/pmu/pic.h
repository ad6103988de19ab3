/*
 * The PICs of Intel and AMD: what pic.c, global_ctrl.c, nmi.c and the two
 * backends share.  Included by them and by arch/x86/trap/.
 *
 * Each PIC has an event select and a counter.  Some machines have one register
 * that starts and stops all PICs, and one that shows overflows.  A backend
 * finds out which registers exist; the code that uses them is common.
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
	/* MSRs that show overflows and that clear them, or 0. */
	uint32_t xs_status, xs_clear;
	uint64_t xs_all; /* the PICs' bits in these three */
	bool xs_fixed;   /* has IA32_FIXED_CTR_CTRL */
	/* PICs that never stop: their bits of xs_ctrl, IA32_FIXED_CTR_CTRL. */
	uint64_t xs_kept, xs_kept_fixed;
	struct x86_pic xs_pic[PCBE_MAXPIC];
};

/* The PICs of this machine, the same on all CPUs. */
extern struct x86_pics x86_pics;

/* The state of a CPU's PICs.  The size is a power of two: indexed by shift. */
#define X86_PIC_CPU_BYTES 1024
extern struct x86_pic_cpu {
	/* With xs_ctrl: the event selects as written... */
	uint64_t pc_select[PCBE_MAXPIC];
	uint64_t pc_selection; /* ...and their number (global_ctrl.c), or 0 */
	uint32_t pc_running;   /* without xs_ctrl: PICs that run */
	/*
	 * PICs that hold counts.  User-level reads open all PICs, so program()
	 * first clears PICs that hold another set's counts.
	 */
	uint32_t pc_holding;
	/* PICs that reach their overflow in several strides (pic.c). */
	uint32_t pc_strides;
	/* Without a status register: PICs of notify requests, last values. */
	uint32_t pc_watched;
	uint64_t pc_seen[PCBE_MAXPIC];
	/* nmi.c has the states.  PICs whose overflow raises an NMI... */
	uint32_t pc_urgent;
	/* ...overflows that stop() found, and overflows whose NMI came... */
	uint32_t pc_found, pc_came;
	/* ...the value after an overflow (ps_resume), the event select. */
	uint64_t pc_resume, pc_resume_select;
	bool pc_masked; /* the APIC's entry may be masked */
} __attribute__((aligned(X86_PIC_CPU_BYTES))) x86_pic_cpus[MAXCPU];
_Static_assert(sizeof(struct x86_pic_cpu) == X86_PIC_CPU_BYTES,
    "indexed by shift: size must be exactly 1024");

static inline struct x86_pic_cpu *
x86_pic_self(void)
{
	return &x86_pic_cpus[arch_curcpu()->c_id];
}

/* pc_aux: the MSR that loads the PIC, and what RDPMC takes for it. */
#define X86_AUX_INDEX(aux) ((uint32_t)(aux))
#define X86_AUX_LOAD(aux)  ((uint32_t)((aux) >> 32))

/*
 * Does the PIC keep a value that is written to it?  Emulators ignore writes to
 * registers they do not have, and read 0.
 */
bool x86_pic_keeps(const struct x86_pic *p);
/* Stop and clear this CPU's PICs: after reset their contents are undefined. */
void x86_pics_silence(const struct x86_pics *ps);

/*
 * The end of configure().  pc_sel has the event select, or the bits of
 * IA32_FIXED_CTR_CTRL; fill in the rest of cfg and of the set.
 */
void x86_pic_take(struct pcbe_cfg *cfg, struct pcbe_set *set);

/*
 * Set the operations that both backends share.  Which functions they are
 * depends on x86_pics.
 */
void x86_pic_ops(struct pcbe_ops *ops);

/* pic.c, for global_ctrl.c and nmi.c.  Stop all PICs that may stop. */
void x86_pics_stop(const struct x86_pic_cpu *pc);
void x86_pic_clear_others(struct x86_pic_cpu *pc, uint32_t pics);
void x86_pic_select(struct x86_pic_cpu *pc, const struct pcbe_cfg *cfg);

/*
 * nmi.c: deliver this set's overflows as NMIs, or as PMIs.  Call with all PICs
 * stopped.
 */
void x86_nmi_deliver(struct x86_pic_cpu *pc, const struct pcbe_set *set);
struct pcbe_nmi_log *x86_nmi_log(void);
/* Urgent PICs whose overflow the status shows; it is not cleared. */
uint32_t x86_nmi_pending(const struct x86_pic_cpu *pc);
/*
 * Handle an NMI.  Returns false if no overflow explains it.  The first is for
 * an NMI in the kernel, at address `pc`.  The second is for an NMI in a payload
 * after kcpc_pmi() found no overflow.
 */
bool x86_pic_nmi(uint64_t pc);
bool x86_pic_nmi_late(void);

/* An NMI in a payload is handled: kcpc_pmi() found its overflow. */
static inline void
x86_pic_nmi_seen(void)
{
	struct x86_pic_cpu *pc = x86_pic_self();

	pc->pc_came = pc->pc_found;
}

/*
 * The number of overflows that stop() found, for an NMI in a payload that waits
 * for the kernel lock.  A second NMI may come in the wait (AMD's APIC does not
 * mask its entry), and another CPU's cross-call may stop the set for both.
 */
static inline uint32_t
x86_pic_nmi_found(void)
{
	return x86_pic_self()->pc_found;
}

/* program() is about to load the set. */
static inline void
x86_nmi_select(struct x86_pic_cpu *pc, const struct pcbe_set *set)
{
	if (pc->pc_urgent != set->ps_urgent ||
	    pc->pc_resume != set->ps_resume || pc->pc_masked)
		x86_nmi_deliver(pc, set);
}

/* stop() found an overflow of an urgent set. */
static inline void
x86_nmi_told(struct x86_pic_cpu *pc)
{
	pc->pc_found++;
}

/* The PICs of each bit of the overflow status. */
extern uint32_t x86_pics_of_bit[64];

static inline uint32_t
x86_pics_of_status(uint64_t status)
{
	uint32_t pics = 0;

	for (; status != 0; status &= status - 1)
		pics |= x86_pics_of_bit[__builtin_ctzll(status)];
	return pics;
}

/* global_ctrl.c needs PICs of 40 bits: they do not wrap twice unseen. */
#define X86_TOGETHER_MASK ((1ULL << 40) - 1)
void x86_together_program(struct pcbe_set *set);
uint64_t x86_together_stop(struct pcbe_set *set);
bool x86_together_sample(const struct pcbe_set *set, struct cpc_sample *s);

#endif /* ARCH_X86_PMU_PIC_H */
