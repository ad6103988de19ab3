/*
 * The PICs of Intel and AMD: what pic.c, config.c, nmi.c and the two
 * backends share.  Included by them and by arch/x86/trap/.
 *
 * Each PIC has an event select and a counter.  Machines with global control
 * have one register that starts and stops all PICs, one that shows overflows
 * and one that clears them.  A backend finds out which registers exist; the
 * code that uses them is common.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kern/arch.h"
#include "kern/cpc/pcbe.h"
#include "kern/sched/cpu.h"

struct x86_pic {
	uint32_t xp_counter; /* MSR that loads it */
	uint32_t xp_select;  /* MSR of its event; 0: in IA32_FIXED_CTR_CTRL */
	uint32_t xp_index;   /* the number that RDPMC takes for it */
	bool xp_short;       /* loads 32 bits and extends their sign */
	uint64_t xp_mask;    /* the bits it has */
	uint64_t xp_global;  /* its bit in control and status */
};

struct x86_pics {
	unsigned xs_n;
	/*
	 * Global control and its companions, or 0: the MSR that starts and
	 * stops all PICs, that shows overflows, and that clears them.
	 */
	uint32_t xs_ctrl, xs_status, xs_clear;
	uint64_t xs_all; /* the PICs' bits in these three, and the freeze's */
	bool xs_fixed;   /* has IA32_FIXED_CTR_CTRL */
	bool xs_freezes; /* DEBUGCTL_FREEZE_COUNTERS, shown by the status */
	/* PICs that never stop: their bits of xs_ctrl, IA32_FIXED_CTR_CTRL. */
	uint64_t xs_kept, xs_kept_fixed;
	void (*xs_program)(struct pcbe_set *set); /* ops->program */
	struct x86_pic xs_pic[PCBE_MAXPIC];
};

/* The PICs of this machine, the same on all CPUs. */
extern struct x86_pics x86_pics;

/* The state of a CPU's PICs.  The size is a power of two: indexed by shift. */
#define X86_PIC_CPU_BYTES 1024
extern struct x86_pic_cpu {
	/* With global control: the event selects as written. */
	uint64_t xn_select[PCBE_MAXPIC];
	uint32_t xn_running; /* without global control: PICs that run */
	/* PICs that hold counts (pic.c). */
	uint32_t xn_holding;
	/* PICs that reach their overflow in several strides (pic.c). */
	uint32_t xn_strides;
	/* Without global control: PICs to watch, and their last values. */
	uint32_t xn_watched;
	uint64_t xn_seen[PCBE_MAXPIC];
	/* nmi.c has the states.  PICs whose overflow raises an NMI: */
	uint32_t xn_nmi_pics;
	/* Overflows that stop() found, and overflows whose NMI came. */
	uint32_t xn_found, xn_came;
	/* The value after an overflow, the event select. */
	uint64_t xn_nmi_reload, xn_nmi_select;
	bool xn_masked;  /* the APIC's entry may be masked */
	bool xn_freezes; /* DEBUGCTL_FREEZE_COUNTERS is set */
} __attribute__((aligned(X86_PIC_CPU_BYTES))) x86_pic_cpus[MAXCPU];
_Static_assert(sizeof(struct x86_pic_cpu) == X86_PIC_CPU_BYTES,
    "indexed by shift: size must be exactly 1024");

static inline struct x86_pic_cpu *
x86_pic_self(void)
{
	return &x86_pic_cpus[arch_curcpu()->c_id];
}

/* pc_aux: the MSR that loads the PIC, and the number that RDPMC takes. */
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
 * After the layout, on each CPU with its PICs silent: can all CPUs freeze PICs
 * at an overflow?  `announced`: this one says so.
 */
void x86_pics_freeze(struct pcbe_ops *ops, bool announced);

/*
 * Extra MSRs: registers that some Intel events need in addition to the event
 * select.  All PICs of a CPU share each of them.
 */
extern const struct x86_extra {
	const char *xe_name;
	uint32_t xe_msr;
	/* A value that the register takes, alone and with other bits. */
	uint64_t xe_probe;
} x86_extras[EXTRA_N];

/*
 * The end of configure().  pc_sel has the event select, or the bits of
 * IA32_FIXED_CTR_CTRL; fill in the rest of cfg and of the set.
 */
void x86_pic_configure(struct pcbe_cfg *cfg, struct pcbe_set *set);

/* Set the operations that both backends share. */
void x86_pic_ops(struct pcbe_ops *ops);

/* pic.c, for config.c: these PICs hold counts; clear all others. */
void x86_pics_hold(struct x86_pic_cpu *xn, uint32_t pics);
/* pic.c, for nmi.c.  Stop all PICs that may stop. */
void x86_pics_stop(const struct x86_pic_cpu *xn);
/* Acknowledge the overflow of the stopped PIC n, and load xn_nmi_reload. */
void x86_pic_reload(struct x86_pic_cpu *xn, unsigned n);
/* Start PIC n alone, with the event select xn_nmi_select. */
void x86_pic_start(const struct x86_pic_cpu *xn, unsigned n);
/* The PICs that overflowed; they are not acknowledged. */
uint32_t x86_pics_overflowed(const struct x86_pic_cpu *xn);

/*
 * config.c: make event selects, extra MSRs and the delivery of overflows what
 * the set wants.  Call with all PICs stopped.
 */
void x86_config_write(struct x86_pic_cpu *xn, struct pcbe_set *set);

/* nmi.c: deliver this set's overflows as NMIs, or as PMIs; PICs are stopped. */
void x86_nmi_route(struct x86_pic_cpu *xn, const struct pcbe_set *set);
struct pcbe_nmi_log *x86_nmi_log(void);
/* PICs of xn_nmi_pics whose overflow the status shows; it is not cleared. */
uint32_t x86_nmi_pending(const struct x86_pic_cpu *xn);
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
	struct x86_pic_cpu *xn = x86_pic_self();

	xn->xn_came = xn->xn_found;
}

/*
 * The number of overflows that stop() found, for an NMI in a payload that waits
 * for the kernel lock.  A second NMI may come in the wait (AMD's APIC does not
 * mask its entry), and another CPU's cross-call may stop the set for both.
 */
static inline uint32_t
x86_pic_nmi_found(void)
{
	return x86_pic_self()->xn_found;
}
