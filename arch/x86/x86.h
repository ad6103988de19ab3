/*
 * Declarations that only x86 uses: the trap frame, per-CPU data, and functions
 * that its files share.  Included by arch/x86/ and boot/pvh_info.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/x86/asm.h"
#include "arch/x86/power/power.h"

struct as;
struct bootinfo;
struct cpu;
struct lwp;

/*
 * Registers as entry.S stores them.  The frame of a payload is at the top of
 * its LWP's kernel stack.  The arguments of a system call are in their order.
 * Other registers are in pairs, as in a signal's frame.
 */
struct trapframe {
	uint64_t tf_r12, tf_r13, tf_r14, tf_r15;
	uint64_t tf_rbp, tf_rbx;
	uint64_t tf_r11, tf_rax, tf_rcx;
	uint64_t tf_rdi, tf_rsi, tf_rdx, tf_r10, tf_r8, tf_r9;
	uint64_t tf_vector;
	uint64_t tf_err; /* error code; after SYSCALL the call's number */
	uint64_t tf_rip, tf_cs, tf_rflags, tf_rsp, tf_ss;
};
#define TF_AT(field, at)                                                       \
	_Static_assert(offsetof(struct trapframe, field) == (at), "asm.h")
TF_AT(tf_r12, TF_R12);
TF_AT(tf_r13, TF_R13);
TF_AT(tf_r14, TF_R14);
TF_AT(tf_r15, TF_R15);
TF_AT(tf_rbp, TF_RBP);
TF_AT(tf_rbx, TF_RBX);
TF_AT(tf_r11, TF_R11);
TF_AT(tf_rax, TF_RAX);
TF_AT(tf_rcx, TF_RCX);
TF_AT(tf_rdi, TF_RDI);
TF_AT(tf_rsi, TF_RSI);
TF_AT(tf_rdx, TF_RDX);
TF_AT(tf_r10, TF_R10);
TF_AT(tf_r8, TF_R8);
TF_AT(tf_r9, TF_R9);
TF_AT(tf_vector, TF_VECTOR);
TF_AT(tf_err, TF_ERR);
TF_AT(tf_rip, TF_RIP);
TF_AT(tf_cs, TF_CS);
TF_AT(tf_rflags, TF_RFLAGS);
TF_AT(tf_rsp, TF_RSP);
TF_AT(tf_ss, TF_SS);
_Static_assert(sizeof(struct trapframe) == TF_BYTES, "asm.h");

/* The 64-bit task-state segment.  Intel SDM vol. 3A, "64-Bit Mode TSS". */
struct x86_tss {
	uint32_t t_pad0;
	uint64_t t_rsp[3];
	uint64_t t_pad1;
	uint64_t t_ist[7]; /* IST n is t_ist[n - 1]: the top of its stack */
	uint64_t t_pad2;
	uint16_t t_pad3;
	uint16_t t_iomap;
} __attribute__((packed));

/* Data of one CPU.  GS points to it while the kernel runs. */
struct x86_cpu {
	struct x86_cpu *xc_self;
	struct cpu *xc_cpu;
	struct trapframe *xc_frame; /* arch_lwp_frame() of the current LWP */
	uint64_t xc_user_rsp;       /* for the first instructions of SYSCALL */
	uint64_t xc_df_stack;       /* top; for stack overflows, too */
	uint64_t xc_root;           /* the value of CR3 */
	uint32_t xc_ipi;            /* reasons not yet handled */
	uint64_t xc_pmi;            /* APIC's entry for overflows, unmasked */
	bool xc_flush;              /* another CPU waits for a TLB flush */
	bool xc_arrived;            /* runs C code */
	uint64_t xc_gdt[GDT_ENTRIES];
	struct x86_tss xc_tss;
	uint64_t xc_nmi_pc; /* first stray NMI: address and port 61h */
	uint32_t xc_nmi_status;
	struct x86_power xc_power;
};
_Static_assert(offsetof(struct x86_cpu, xc_frame) == XC_FRAME, "asm.h");
_Static_assert(offsetof(struct x86_cpu, xc_user_rsp) == XC_USER_RSP, "asm.h");
_Static_assert(offsetof(struct x86_cpu, xc_df_stack) == XC_DF_STACK, "asm.h");
_Static_assert(
    offsetof(struct x86_cpu, xc_tss.t_ist[IST_INTR - 1]) == XC_FRAME_END,
    "asm.h");

extern struct x86_cpu x86_boot_cpu;

/* The data of this CPU. */
static inline struct x86_cpu *
x86_self(void)
{
	struct x86_cpu *xc;

	__asm__ volatile("mov %%gs:0, %0" : "=r"(xc));
	return xc;
}

/*
 * boot.c.  start.S calls it with the physical addresses of what the loader
 * hands over and of the image.
 */
_Noreturn void x86_boot(uint64_t handed_over, uint64_t image);
extern uint64_t x86_image_pa;

/*
 * mm/early.c: where memory can be read before mmu.c makes the direct map, which
 * has the same address for it.  Returns NULL for address 0, at or above 512
 * GiB, or if too many GiB above 4 GiB were asked for.
 */
const void *x86_early_ptr(uint64_t pa, uint64_t bytes);

/*
 * boot/pvh_info.c: fill bi from a PVH start info.  The start info and all that
 * it points to are in the first 4 GiB.  Returns NULL, or what is wrong.
 */
const char *pvh_bootinfo(struct bootinfo *bi, uint64_t start_info);
/* The type of a range of BIOS's map (E820), which PVH and Linux's loaders use.
 */
enum bootmem_type x86_bootmem(uint32_t type);

/*
 * boot/linux_params.c does the same from Linux's struct boot_params.  The
 * function map() returns where `bytes` bytes at a physical address can be read,
 * or NULL.  Before the call bi_kern and bi_kern_bytes are set.
 */
typedef const void *x86_map_fn(uint64_t pa, uint64_t bytes);
bool linux_is_params(uint64_t pa, x86_map_fn *map);
const char *linux_bootinfo(struct bootinfo *bi, uint64_t pa, x86_map_fn *map);

/* cpu.c.  x86_cpu_init() needs xc_self, xc_cpu and the stacks of xc_tss. */
void x86_enable_nx(void);
void x86_idt_init(void);
void x86_cpu_init(struct x86_cpu *xc);
extern uint64_t x86_cr4; /* the value of CR4 without PCE */

/* mmu.c */
void x86_mmu_init(struct bootinfo *bi);
/* Flush the TLB if another CPU waits for that. */
void x86_flush_asked(void);
/* Make the other CPUs that have loaded this root flush their TLBs. */
void x86_flush_others(uint64_t root);
/* Map a table of firmware for reading, for good.  NULL if that fails. */
const void *x86_map_firmware(uint64_t pa, size_t len);
uintptr_t x86_boot_ist(unsigned n); /* top of the boot CPU's stack n */
/* Drop this CPU's old translations of the stack's addresses. */
void x86_kstack_fresh(void *base);

/* trap.c, called by entry.S. */
void x86_trap_payload(struct trapframe *tf);
void x86_trap_nmi(struct trapframe *tf);
void x86_trap_kernel(struct trapframe *tf);
void x86_trap_pmi(struct trapframe *tf);
void x86_trap_interrupt(struct trapframe *tf);
void x86_trap_idle(struct trapframe *tf);
void x86_trap_uninvited(struct trapframe *tf);
void x86_trap_syscall(struct trapframe *tf);
void x86_trap_anywhere(struct trapframe *tf);
_Noreturn void x86_trap_overflow(struct trapframe *tf);

/* safe.S.  These return 0 or an errno. */
int x86_rdmsr_safe(uint32_t msr, uint64_t *v);
int x86_wrmsr_safe(uint32_t msr, uint64_t v);

/* The HLT instruction in arch_idle(), one byte long. */
extern const char x86_idle_hlt[];

/* sigframe.c: the largest size of a signal's frame. */
size_t x86_sigframe_bytes(void);
/* sigcopy.S: a fault from start to end continues at _failed (EFAULT). */
extern char x86_sigcopy_start[], x86_sigcopy_end[], x86_sigcopy_failed[];

/* dev/tco.c: stop the watchdog of the chipset. */
void x86_tco_init(void);

/* halt.c */
void x86_halt_init(void);
bool x86_halt_requested(void);
_Noreturn void x86_stop(void); /* this CPU */

/*
 * dev/console.c: choose and start the UART, and print the output that waits for
 * it.  A second call does nothing.  Call it after acpi_init(); a report that
 * ends the run may come before.
 */
void console_init(void);

/* smp.c: reserve the page where CPUs start, before the page allocator runs. */
void x86_smp_reserve(struct bootinfo *bi);
/* Call cpu_add() for each enabled CPU in ACPI's tables.  Mask all I/O APICs. */
void x86_smp_init(void);

/* trap/mcheck.c: clear this CPU's banks, and enable reports of all errors. */
void x86_mcheck_init_cpu(void);
/* Print and clear the errors that this CPU's banks hold.  Returns how many. */
unsigned x86_mcheck_take(void);
/* Print this CPU's banks and end the run.  On the stack of IST_MC. */
_Noreturn void x86_mcheck(const struct trapframe *tf);

/* A reason in xc_ipi: a report waits.  kern/sched/cpu.h has the lower bits. */
#define X86_IPI_STRAY_NMI 0x80000000U
/*
 * trap/nmi.c: count an NMI that comes neither from an overflow nor from another
 * CPU, or end the run with nmi=panic.  Safe in every NMI.  The log reports the
 * first stray NMI of each CPU, when that CPU next enables interrupts.
 */
void x86_nmi_stray(const struct trapframe *tf);
/* Write that report.  Call with the kernel lock held, not in an NMI. */
void x86_nmi_report(void);

/* Linux's arch/x86/include/uapi/asm/stat.h, 64 bits. */
struct linux_stat {
	uint64_t st_dev, st_ino, st_nlink;
	uint32_t st_mode, st_uid, st_gid, st_pad0;
	uint64_t st_rdev;
	int64_t st_size, st_blksize;
	int64_t st_blocks;      /* of 512 bytes */
	int64_t st_times[3][2]; /* seconds and ns */
	int64_t st_pad1[3];
};
_Static_assert(sizeof(struct linux_stat) == 144, "Linux's struct stat");
