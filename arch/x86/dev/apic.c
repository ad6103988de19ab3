/*
 * The local APIC: its mode, its sources, interprocessor interrupts, and the
 * dispatch of interrupts.
 *
 * Intel SDM vol. 3A, "Advanced Programmable Interrupt Controller (APIC)".
 */
#include "arch/x86/dev/apic.h"

#include "arch/x86/cpuid.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/firmware/acpi.h"
#include "kern/sched/cpu.h"
#include "lib/printf.h"

#define NVECTOR     256
#define SVR_ENABLE  0x100
#define ICR_PENDING 0x1000
/* Delivery takes under a microsecond.  If the IPI is lost, stop waiting. */
#define SEND_PATIENCE 100000

/*
 * The pair of legacy 8259A controllers.  They stay masked.  Their vectors are
 * moved away from the exceptions, because a spurious interrupt may still come.
 * Intel 8259A, "Initialization Command Words".
 */
#define PIC1       0x20
#define PIC2       0xa0
#define PIC_VECTOR 0x20

/* DMAR: firmware asks system software to leave x2APIC mode alone. */
#define DMAR_FLAGS     37
#define DMAR_X2APIC_NO 0x2

struct x86_apic x86_apic;

uint32_t
x86_apic_id(void)
{
	uint32_t id = x86_apic_read(APIC_ID);

	return x86_apic.xa_x2 ? id : id >> 24;
}

/* Without arch_relax(), which would flush the TLB for other CPUs. */
static void
wait_sent(void)
{
	for (unsigned n = 0; n < SEND_PATIENCE; n++) {
		if ((mmio_read32(&x86_apic.xa_regs[APIC_ICR / 4]) &
			ICR_PENDING) == 0)
			return;
		__builtin_ia32_pause();
	}
}

void
x86_apic_send(uint32_t dest, uint32_t icr)
{
	if (x86_apic.xa_x2) {
		/*
		 * The interrupted CPU must see all earlier stores.  Intel SDM
		 * vol. 3A, "MSR Access in x2APIC Mode".
		 */
		__asm__ volatile("mfence; lfence" : : : "memory");
		wrmsr(IA32_X2APIC + APIC_ICR / 16, (uint64_t)dest << 32 | icr);
		return;
	}
	mmio_write32(&x86_apic.xa_regs[APIC_ICR_HIGH / 4], dest << 24);
	mmio_write32(&x86_apic.xa_regs[APIC_ICR / 4], icr);
	wait_sent();
}

/*
 * Leave the upper half of the ICR, the destination, as it is.  This call may
 * interrupt x86_apic_send() between its writes of the two halves.
 */
void
x86_apic_send_self(uint32_t vector)
{
	uint32_t icr = APIC_ICR_SELF | APIC_ICR_ASSERT | vector;

	if (x86_apic.xa_x2) {
		wrmsr(IA32_X2APIC + APIC_ICR / 16, icr);
		return;
	}
	wait_sent();
	mmio_write32(&x86_apic.xa_regs[APIC_ICR / 4], icr);
	wait_sent();
}

static void
mask_8259(void)
{
	outb(PIC1, 0x11);
	outb(PIC2, 0x11);
	outb(PIC1 + 1, PIC_VECTOR);
	outb(PIC2 + 1, PIC_VECTOR + 8);
	outb(PIC1 + 1, 0x04);
	outb(PIC2 + 1, 0x02);
	outb(PIC1 + 1, 0x01);
	outb(PIC2 + 1, 0x01);
	outb(PIC1 + 1, 0xff);
	outb(PIC2 + 1, 0xff);
}

static bool
x2apic_unwanted(void)
{
	uint32_t n;
	const unsigned char *dmar = acpi_table("DMAR", &n);

	return dmar != NULL && n > DMAR_FLAGS &&
	       (dmar[DMAR_FLAGS] & DMAR_X2APIC_NO) != 0;
}

const char *
x86_apic_mode(void)
{
	return x86_apic.xa_x2 ? "x2APIC" : "xAPIC";
}

void
x86_apic_init(void)
{
	if (!x86_features.apic)
		panic("cpu: no local APIC: enable it in the firmware or "
		      "in the emulator's options");
	mask_8259();
	uint64_t base = rdmsr(IA32_APIC_BASE);
	x86_apic.xa_x2 = (base & APIC_BASE_X2APIC) != 0 ||
	                 (x86_features.x2apic && !x2apic_unwanted());
	if (!x86_apic.xa_x2)
		x86_apic.xa_regs =
		    arch_map_device(base & APIC_BASE_ADDR, PAGE_SIZE);
	if (!x86_apic.xa_x2 && x86_apic.xa_regs == NULL)
		panic("cpu: no memory to map the local APIC: give the "
		      "machine more");
	x86_apic_init_cpu();
}

/*
 * Mask all sources.  A masked entry still reports an illegal vector, so each
 * gets a legal one.  In x2APIC mode, an access to an entry that the APIC lacks
 * raises #GP.
 */
static void
mask_sources(void)
{
	uint32_t masked = APIC_LVT_MASKED | VEC_SPURIOUS;
	unsigned last = FIELD(x86_apic_read(APIC_VERSION), 23, 16);

	x86_apic_write(APIC_LVT_TIMER, masked);
	x86_apic_write(APIC_LVT_LINT0, masked);
	x86_apic_write(APIC_LVT_LINT1, masked);
	x86_apic_write(APIC_LVT_ERROR, masked);
	if (last >= APIC_LAST_PMI)
		x86_apic_write(APIC_LVT_PMI, masked);
	if (last >= APIC_LAST_THERMAL)
		x86_apic_write(APIC_LVT_THERMAL, masked);
	if (last >= APIC_LAST_CMCI)
		x86_apic_write(APIC_LVT_CMCI, masked);
}

/*
 * End the interrupts that firmware left in service.  They would block ours,
 * because EOI ends the interrupt of the highest priority.
 */
static void
end_interrupts(void)
{
	for (unsigned vec = 0; vec < NVECTOR; vec += 32) {
		uint32_t served = x86_apic_read(APIC_ISR(vec));

		for (; served != 0; served &= served - 1)
			x86_apic_write(APIC_EOI, 0);
	}
}

/*
 * Enable the APIC before the mask bits are cleared: after INIT it is disabled
 * by software, and then they stay set. Intel SDM vol. 3A, "Local APIC State
 * After It Has Been Software Disabled".
 */
void
x86_apic_init_cpu(void)
{
	uint64_t base = rdmsr(IA32_APIC_BASE) | APIC_BASE_ENABLE;

	/* x2APIC mode can be entered from xAPIC mode only. */
	wrmsr(IA32_APIC_BASE, base);
	if (x86_apic.xa_x2)
		wrmsr(IA32_APIC_BASE, base | APIC_BASE_X2APIC);
	mask_sources();
	x86_apic_write(APIC_TIMER_DIV, APIC_DIV_1);
	x86_apic_write(APIC_TPR, 0);
	x86_apic_write(APIC_SVR, SVR_ENABLE | VEC_SPURIOUS);
	x86_apic_write(APIC_ESR, 0);
	end_interrupts();
	x86_apic_write(APIC_LVT_ERROR, VEC_ERROR);
	/* The boot CPU takes the NMI of the board, or of its button. */
	if (arch_curcpu()->c_id == 0 || cpu_nmi_all)
		x86_apic_write(APIC_LVT_LINT1, APIC_LVT_NMI);
}

void
arch_ipi(struct cpu *cpu, unsigned why)
{
	struct x86_cpu *xc = cpu->c_arch;

	__atomic_fetch_or(&xc->xc_ipi, why, __ATOMIC_RELEASE);
	x86_apic_send((uint32_t)cpu->c_hwid, APIC_ICR_ASSERT | VEC_IPI);
}

static void
handle_ipi(void)
{
	uint32_t why =
	    __atomic_exchange_n(&x86_self()->xc_ipi, 0, __ATOMIC_ACQUIRE);

	if ((why & X86_IPI_STRAY_NMI) != 0)
		x86_nmi_report();
	ipi_intr(why & ~X86_IPI_STRAY_NMI);
}

void
x86_interrupt(struct trapframe *tf)
{
	arch_curcpu()->c_interrupts++;
	if (tf->tf_vector == VEC_SPURIOUS)
		return; /* needs no EOI */
	x86_apic_write(APIC_EOI, 0);
	switch (tf->tf_vector) {
	case VEC_PMI:
		kcpc_pmi(); /* also unmasks the APIC's entry */
		break;
	case VEC_TIMER:
		timer_intr();
		break;
	case VEC_IPI:
		handle_ipi();
		break;
	case VEC_ERROR:
		/* A write latches the errors since the last write. */
		x86_apic_write(APIC_ESR, 0);
		printf("cpu: APIC error: ESR %#x\n", x86_apic_read(APIC_ESR));
		break;
	default:
		printf("cpu: unexpected interrupt: vector %#lx: ignored\n",
		    tf->tf_vector);
	}
}
