/*
 * PICs as Intel and AMD have them in common: an event select and a counter
 * each, on some machines one register to start and stop them all, and one
 * that tells of overflows.  Included by the backends of arch/x86/.
 *
 * A backend finds out which registers there are; what is done with them on
 * every context switch is here, once.
 */
#ifndef ARCH_X86_PIC_H
#define ARCH_X86_PIC_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/pcbe.h"

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

/* Operations of a PCBE; see kern/pcbe.h. */
unsigned x86_pic_ncounters(void);
unsigned x86_pic_width(unsigned pic);
uint32_t x86_pic_read_index(unsigned pic);
void x86_pic_program(struct pcbe_set *set);
uint64_t x86_pic_stop(struct pcbe_set *set);
void x86_pic_allstop(void);
bool x86_pic_sample(const struct pcbe_set *set, uint64_t *value);
uint64_t x86_pic_overflow_bitmap(void);
void x86_pic_free(struct pcbe_cfg *cfg, struct pcbe_set *set);
void x86_pic_keep(struct pcbe_set *set);
uint64_t x86_pic_tick(void);

#endif /* ARCH_X86_PIC_H */
