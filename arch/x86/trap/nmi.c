/* Stray NMIs: count them, report the first one of each CPU, or end the run. */
#include "arch/x86/dev/apic.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/console.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"

/*
 * The reason for an NMI of the board: bit 7 is SERR#, bit 6 is IOCHK#.
 * Intel 500 Series Chipset Family PCH datasheet, volume 2 (631120), "NMI
 * Status and Control (NMI_STS_CNT)".
 */
#define NMI_STATUS_PORT 0x61

void
x86_nmi_stray(const struct trapframe *tf)
{
	struct x86_cpu *xc = x86_self();

	if (cpu_nmi_panics) {
		cons_seize(true);
		tf_print(tf);
		panic("NMI at pc %#lx (port 61h: %#x)", tf->tf_rip,
		    inb(NMI_STATUS_PORT));
	}
	if (__atomic_fetch_add(
		&xc->xc_cpu->c_stray_nmis, 1, __ATOMIC_RELAXED) != 0)
		return;
	/* The NMI may have hit a printf() of this CPU, so report it later. */
	xc->xc_nmi_pc = tf->tf_rip;
	xc->xc_nmi_status = inb(NMI_STATUS_PORT);
	__atomic_fetch_or(&xc->xc_ipi, X86_IPI_STRAY_NMI, __ATOMIC_RELEASE);
	x86_apic_send_self(VEC_IPI);
}

void
x86_nmi_report(void)
{
	const struct x86_cpu *xc = x86_self();

	printf("cpu: stray NMI: CPU %u at pc %#lx (port 61h: %#x): counted, "
	       "and the run goes on; nmi=panic ends it\n",
	    xc->xc_cpu->c_id, xc->xc_nmi_pc, xc->xc_nmi_status);
}
