/*
 * The virtual timer, as a one-shot timer.  CNTVCT_EL0 is the tick: EL1 may
 * always read it.  If the kernel started at EL2, its offset is 0.
 * Arm ARM (DDI 0487), "CNTV_CTL_EL0", "CNTKCTL_EL1", "CNTFRQ_EL0".
 */
#include "arch/arm64/arm64.h"

#include "arch/arm64/dev/gic.h"
#include "arch/arm64/machine.h"
#include "arch/arm64/sysreg.h"
#include "kern/arch.h"

#define CNTV_CTL_ENABLE  1
#define CNTKCTL_EL0VCTEN (1 << 1) /* EL0 may read CNTVCT_EL0 */
/*
 * The event stream ends a WFE at each change of one bit of the counter.  As
 * Linux, take the one that changes about 10,000 times a second.
 */
#define CNTKCTL_EVNTEN   (1 << 2)
#define CNTKCTL_EVNTI(n) ((uint64_t)(n) << 4)
#define EVENTS_HZ        10000

uint64_t
arch_tick_hz(void)
{
	return read_sysreg(cntfrq_el0);
}

void
arch_timer_set(uint64_t tick)
{
	if (tick == ~0ULL) {
		write_sysreg(cntv_ctl_el0, 0);
	} else {
		write_sysreg(cntv_cval_el0, tick);
		write_sysreg(cntv_ctl_el0, CNTV_CTL_ENABLE);
	}
	isb();
}

void
arm64_timer_cpu_init(void)
{
	unsigned bit = 0;

	while (bit < 15 && arch_tick_hz() >> (bit + 1) > EVENTS_HZ)
		bit++;
	write_sysreg(cntv_ctl_el0, 0);
	write_sysreg(cntkctl_el1,
	    CNTKCTL_EL0VCTEN | CNTKCTL_EVNTEN | CNTKCTL_EVNTI(bit));
	isb();
	gic_enable(machine.m_timer_intid);
}

/* The interrupt is level triggered: turn the timer off before ending it. */
void
arm64_timer_intr(void)
{
	arch_timer_set(~0ULL);
	timer_intr();
}
