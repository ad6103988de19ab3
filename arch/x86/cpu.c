/*
 * The setup that every CPU needs before its first trap: descriptor tables,
 * control registers, and the entry of system calls.  Also arch_idle() and
 * enabling interrupts.
 */
#include "kern/sched/cpu.h"
#include "arch/x86/cpuid.h"
#include "arch/x86/insn.h"
#include "arch/x86/msr.h"
#include "arch/x86/trap/fpu.h"
#include "arch/x86/x86.h"
#include "kern/arch.h"
#include "kern/platform/run_end.h"

/*
 * Intel SDM vol. 3A, "Segment Descriptors", "TSS Descriptor in 64-bit mode",
 * "64-Bit Mode IDT" (gate descriptors).
 */
#define GDT_KCODE   0x00af9b000000ffffULL
#define GDT_KDATA   0x00cf93000000ffffULL
#define GDT_UDATA   0x00cff3000000ffffULL
#define GDT_UCODE   0x00affb000000ffffULL
#define GDT_TSS     0x0000890000000000ULL
#define GDT_CPU     0x0040f50000000000ULL /* data to read; the limit is added */
#define GATE_INTR   0x8e00
#define GATE_USER   0x6000 /* DPL 3: INT n of a payload is allowed */
#define NVECTOR     256
#define VECTOR_STEP 16 /* entry.S aligns its entries so */
#define VEC_BP      3

/*
 * Entry 1 is WC, in place of the WT of the reset; the others are as after
 * reset. Intel SDM vol. 3A, "Page Attribute Table (PAT)".
 */
#define PAT_ENTRIES 0x0007040600070106ULL

struct gate {
	uint16_t g_off0;
	uint16_t g_sel;
	uint16_t g_ist;
	uint16_t g_off1;
	uint32_t g_off2;
	uint32_t g_pad;
};

struct table_reg {
	uint16_t limit;
	uint64_t base;
} __attribute__((packed));

static struct gate idt[NVECTOR] __attribute__((aligned(4096)));
struct x86_cpu x86_boot_cpu;
uint64_t x86_cr4;

extern char x86_vectors[], x86_nmi_entry[], x86_df_entry[], x86_mc_entry[];
extern char x86_pmi_entry[];
extern char x86_syscall_entry[];
void x86_load_segments(void);

static void
set_gate(unsigned vec, const char *entry, unsigned ist, unsigned flags)
{
	uintptr_t at = (uintptr_t)entry;

	idt[vec].g_off0 = (uint16_t)at;
	idt[vec].g_sel = SEL_KCODE;
	idt[vec].g_ist = (uint16_t)(ist | GATE_INTR | flags);
	idt[vec].g_off1 = (uint16_t)(at >> 16);
	idt[vec].g_off2 = (uint32_t)(at >> 32);
}

void
x86_idt_init(void)
{
	for (unsigned v = 0; v < NVECTOR; v++)
		set_gate(v, x86_vectors + VECTOR_STEP * v,
		    v < NEXCEPTION ? IST_TRAP : IST_INTR,
		    v == VEC_BP ? GATE_USER : 0);
	set_gate(VEC_PMI, x86_pmi_entry, IST_INTR, 0);
	set_gate(VEC_NMI, x86_nmi_entry, IST_NMI, 0);
	set_gate(VEC_DF, x86_df_entry, IST_DF, 0);
	set_gate(VEC_MC, x86_mc_entry, IST_MC, 0);
}

static void
load_tables(struct x86_cpu *xc)
{
	uint64_t tss = (uintptr_t)&xc->xc_tss;
	struct table_reg gdtr = { sizeof xc->xc_gdt - 1,
		(uintptr_t)xc->xc_gdt };
	struct table_reg idtr = { sizeof idt - 1, (uintptr_t)idt };

	xc->xc_gdt[SEL_KCODE / 8] = GDT_KCODE;
	xc->xc_gdt[SEL_KDATA / 8] = GDT_KDATA;
	xc->xc_gdt[SEL_UDATA / 8] = GDT_UDATA;
	xc->xc_gdt[SEL_UCODE / 8] = GDT_UCODE;
	xc->xc_gdt[SEL_TSS / 8] = GDT_TSS | (sizeof xc->xc_tss - 1) |
	                          FIELD(tss, 23, 0) << 16 |
	                          FIELD(tss, 31, 24) << 56;
	xc->xc_gdt[SEL_TSS / 8 + 1] = tss >> 32;
	xc->xc_gdt[SEL_CPU / 8] = GDT_CPU | xc->xc_cpu->c_id;
	xc->xc_tss.t_iomap = sizeof xc->xc_tss; /* no I/O port at ring 3 */
	__asm__ volatile("lgdt %0" : : "m"(gdtr));
	__asm__ volatile("lidt %0" : : "m"(idtr));
	x86_load_segments();
	__asm__ volatile("ltr %w0" : : "r"(SEL_TSS));
}

void
x86_enable_nx(void)
{
	if (x86_features.nx)
		wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_NXE);
}

/*
 * EM and TS are clear, because the state of an LWP stays in the registers: a
 * floating-point instruction never traps.  PCE is clear until a backend opens
 * user-level reads.
 */
static void
set_control(const struct x86_cpu *xc)
{
	const struct x86_features *f = &x86_features;

	wrmsr(MSR_EFER, rdmsr(MSR_EFER) | EFER_SCE);
	write_cr(
	    0, CR0_PE | CR0_MP | CR0_ET | CR0_NE | CR0_WP | CR0_AM | CR0_PG);
	x86_cr4 = CR4_PAE | CR4_MCE | CR4_PGE | CR4_OSFXSR | CR4_OSXMMEXCPT |
	          (f->xsave ? CR4_OSXSAVE : 0) | (f->smep ? CR4_SMEP : 0) |
	          (f->smap ? CR4_SMAP : 0) | (f->umip ? CR4_UMIP : 0) |
	          (f->pku ? CR4_PKE : 0);
	write_cr(4, x86_cr4);
	wrmsr(IA32_PAT, PAT_ENTRIES);
	x86_fpu_enable(xc == &x86_boot_cpu);
}

/* SYSCALL clears these flags of the payload. */
#define SYSCALL_MASK                                                           \
	(RFLAGS_TF | RFLAGS_IF | RFLAGS_DF | RFLAGS_IOPL | RFLAGS_NT |         \
	    RFLAGS_RF | RFLAGS_AC)

static void
set_syscall(void)
{
	/* SYSRET adds 8 to the upper selector for SS, 16 for CS. */
	wrmsr(IA32_STAR,
	    (uint64_t)(SEL_UDATA - 8) << 48 | (uint64_t)SEL_KCODE << 32);
	wrmsr(IA32_LSTAR, (uintptr_t)x86_syscall_entry);
	wrmsr(IA32_FMASK, SYSCALL_MASK);
	/* SYSENTER raises #GP, whatever firmware left in its registers. */
	wrmsr(IA32_SYSENTER_CS, 0);
}

/*
 * RDTSCP and RDPID return the CPU's number and, from bit 12 on, its node: 0
 * here.  Intel SDM vol. 3B, "IA32_TSC_AUX Register and RDTSCP Support"; Linux,
 * arch/x86/include/asm/segment.h (VDSO_CPUNODE_BITS).
 */
#define CPUID_RDTSCP (1U << 27) /* 80000001H:EDX */
#define CPUID_RDPID  (1U << 22) /* 07H:ECX */

void
x86_cpu_init(struct x86_cpu *xc)
{
	xc->xc_df_stack = xc->xc_tss.t_ist[IST_DF - 1];
	load_tables(xc);
	/* Loading a selector may have cleared the base of GS. */
	wrmsr(IA32_GS_BASE, (uintptr_t)xc);
	wrmsr(IA32_KERNEL_GS_BASE, 0);
	wrmsr(IA32_FS_BASE, 0);
	set_control(xc);
	set_syscall();
	if ((cpuid(0x80000001, 0).d & CPUID_RDTSCP) != 0 ||
	    (cpuid(7, 0).c & CPUID_RDPID) != 0)
		wrmsr(IA32_TSC_AUX, xc->xc_cpu->c_id);
}

void
arch_relax(void)
{
	__builtin_ia32_pause();
	x86_flush_asked();
	if (run_deadline != 0 && !arch_curcpu()->c_skewed)
		run_deadline_check(NULL);
}

void
arch_idle(void)
{
	/* STI enables interrupts only after the next instruction, HLT. */
	__asm__ volatile("	sti\n"
			 "	.globl x86_idle_hlt\n"
			 "x86_idle_hlt:\n"
			 "	hlt\n"
			 "	cli"
			 :
			 :
			 : "memory");
}

static uint64_t
read_rflags(void)
{
	uint64_t f;

	__asm__ volatile("pushfq; popq %0" : "=r"(f));
	return f;
}

arch_intr_t
arch_intr_disable(void)
{
	uint64_t f = read_rflags();

	__asm__ volatile("cli" : : : "memory");
	return f & RFLAGS_IF;
}

void
arch_intr_restore(arch_intr_t s)
{
	if (s != 0)
		__asm__ volatile("sti" : : : "memory");
}

bool
arch_intr_enabled(void)
{
	return (read_rflags() & RFLAGS_IF) != 0;
}
