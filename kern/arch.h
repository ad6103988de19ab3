/*
 * The complete list of what the kernel asks of a machine, and of what a
 * machine calls in the kernel.  Included by kern/ and arch/.
 *
 * The kernel runs with interrupts off and is not preempted: it takes
 * interrupts at user level, in arch_idle() and nowhere else.  (An overflow's
 * NMI is the machine's own affair: it stops PICs, and kcpc_pmi() follows at
 * user level.)  Unless a
 * comment says otherwise a function is called with interrupts off, acts on
 * the CPU it is called on, and may be called once kern_main() runs.
 */
#ifndef KERN_ARCH_H
#define KERN_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as;       /* kern/mm/as.h */
struct bootinfo; /* kern/platform/bootinfo.h */
struct cpu;      /* kern/sched/cpu.h */
struct lwp;      /* kern/proc/lwp.h */
struct pcbe_ops; /* kern/cpc/pcbe.h */
struct trapframe;

#define PAGE_SHIFT 12
#define PAGE_SIZE  4096UL
#define LARGE_SIZE (2UL << 20) /* a 2 MiB page */

/* Address map: the same split on every machine. */
#define USER_BASE 0x0000000000400000UL /* below: counter pages alone */
#define USER_TOP  0x00007ffffffff000UL
#define KERN_LINK 0xffffffff80000000UL   /* where the image is linked */
extern char *const arch_direct;          /* physical 0 in the direct map */
extern const uint64_t arch_direct_bytes; /* of RAM it has room for */

static inline void *
pa_to_va(uint64_t pa)
{
	return arch_direct + pa;
}

/* Only for addresses in the direct map. */
static inline uint64_t
va_to_pa(const void *va)
{
	return (uint64_t)((const char *)va - arch_direct);
}

/*
 * boot
 *
 * A way in ends in kern_main() on the boot CPU: interrupts off, on a guarded
 * kernel stack, arch_curcpu() working, and these mapped: the image at
 * KERN_LINK, and enough of the direct map to reach *bi and what
 * bootinfo_take() returned.
 *
 * The image's linker script defines __text_end behind the code and places
 * .ksyms (made by scripts/mksyms) anywhere behind that.
 */

/*
 * arch_tick() at the image's first instruction, as near as can be: the way
 * in stores it here, for the cost of a boot is reported.  Not in .bss where
 * that is cleared later.
 */
extern uint64_t boot_entry_tick;

/*
 * Trap vectors, an early console (see arch_putc), and the kernel's own page
 * tables: image W^X, all RAM of bi's map in the direct map, RW and never
 * executable.  Takes what pages it needs by bootinfo_take(), before the page
 * allocator exists.  *bi has been sorted.
 */
void arch_init_early(struct bootinfo *bi);

/*
 * Everything that needs the allocator: consoles from the firmware's tables,
 * interrupt controller, clock, per-CPU timer, the list of CPUs (calls
 * cpu_add() for each, boot CPU first), the PMU's backend.  Prints one line
 * for each thing found.
 */
void arch_init(struct bootinfo *bi);

/* Start a CPU added by cpu_add(), in kern_cpu_main().  0 or errno. */
int arch_cpu_start(struct cpu *cpu);

/*
 * End the run: power off if it passed, else reset, and if all fails stop.
 * An emulator's user sees which it was.  Other CPUs stop too.
 */
_Noreturn void arch_halt(bool passed);

/* cpu */
/* struct cpu *arch_curcpu(void): inline. */
/* Wait for an interrupt, take it, return.  On return interrupts are off. */
void arch_idle(void);
/*
 * The polite body of a wait loop: emulators switch CPUs on pause and yield.
 * Meanwhile this CPU does what another waits for it to do (TLB).
 */
void arch_relax(void);
/* Interrupt another CPU: it runs ipi_intr(why). */
void arch_ipi(struct cpu *cpu, unsigned why);

/* intr */
typedef uintptr_t arch_intr_t;
arch_intr_t arch_intr_disable(void);
void arch_intr_restore(arch_intr_t s);
bool arch_intr_enabled(void);

/*
 * time.  arch_tick() is a constant-rate 64-bit counter (TSC, CNTVCT_EL0),
 * the same on all CPUs.
 */
/* uint64_t arch_tick(void): inline. */
uint64_t arch_tick_hz(void);
/* Call timer_intr() on this CPU once arch_tick() >= tick; ~0 for never. */
void arch_timer_set(uint64_t tick);

/*
 * lwp.  An LWP has a kernel stack l_kstack..l_kstack_top (guarded, from
 * kstack_alloc()); the trap frame of a user LWP is at its top.  What a
 * machine keeps besides (FP/SIMD state, TLS base) hangs at l->l_arch.
 */

/*
 * Prepare an LWP that starts in the kernel: its first switch calls fn(arg),
 * which never returns.  Allocates l_arch.  0 or ENOMEM.
 */
int arch_lwp_init(struct lwp *l, void (*fn)(void *), void *arg);
void arch_lwp_free(struct lwp *l);
/* Switch stacks and register state, address space included (l->l_proc). */
void arch_lwp_switch(struct lwp *from, struct lwp *to);
/*
 * The current LWP's user registers as a program begins with them: pc, sp, all
 * others and FP state clean, interrupts on, at user privilege or, for
 * l->l_system, at system privilege (ring 0 / EL1t).  Its way there ends in
 * arch_lwp_resume().
 */
void arch_lwp_reset(struct lwp *l, uintptr_t pc, uintptr_t sp);
/*
 * Give the new LWP l the user registers and FP state of the current one, in
 * whose system call tf this is, with 0 as the call's result, stack pointer sp
 * (0: the same) and thread pointer *tls (NULL: the same).  l's fn ends in
 * arch_lwp_resume().
 */
void arch_lwp_fork(struct lwp *l, const struct trapframe *tf, uintptr_t sp,
    const uintptr_t *tls);
/* The frame at the top of the kernel stack, of l's way into the kernel. */
struct trapframe *arch_lwp_frame(struct lwp *l);
/* The current LWP enters user code by that frame, after trap_return(). */
_Noreturn void arch_lwp_resume(struct lwp *l);
/* The thread pointer (FS base, TPIDR_EL0) of the current LWP. */
void arch_set_tls(uintptr_t base);
uintptr_t arch_get_tls(void);

/* trap */
/*
 * Inline: uintptr_t tf_pc(const struct trapframe *tf), the program counter;
 * uintptr_t tf_sp(tf), the stack pointer; bool tf_user(tf): the frame
 * interrupted a payload, at either privilege.
 */
uintptr_t tf_fp(const struct trapframe *tf); /* frame pointer register */
/* Is it the frame of a system call, and of which? */
bool tf_is_syscall(const struct trapframe *tf);
unsigned tf_sysno(const struct trapframe *tf);
/*
 * Of a FAULT_PAGE: what the access wants of the page, PROT_READ, PROT_WRITE or
 * PROT_EXEC; 0 where no page would do.
 */
unsigned tf_access(const struct trapframe *tf);
void tf_set_ret(struct trapframe *tf, intptr_t v);
void tf_set_pc(struct trapframe *tf, uintptr_t pc);
/* Back to the system call's instruction, as if it had not been made yet. */
void tf_restart(struct trapframe *tf);
/*
 * Make the frame of a signal handler on the current LWP's user stack, with
 * the registers and FP state it interrupts, and have tf enter the handler.
 * 0, or EFAULT where there is no room for it or the handler is not in user
 * space; then tf is as it was.
 */
struct sigframe; /* kern/proc/signal.h */
int arch_sigframe_push(struct trapframe *tf, const struct sigframe *sf);
/*
 * The other way: the registers and FP state from the frame at tf's stack
 * pointer, but nothing a payload of this privilege could not have set
 * itself.  *kept gets what the frame kept.  0, or EFAULT where the frame is
 * damaged; of tf only pc and sp are as they were then, and FP state is
 * undefined.
 */
struct sigkept;
int arch_sigframe_pop(struct trapframe *tf, struct sigkept *kept);
/* Print the registers, eight lines at most. */
void tf_print(const struct trapframe *tf);
/* Does [pc] hold a call-frame layout walkable through frame pointers? */
bool arch_frame_next(uintptr_t *fp, uintptr_t *pc); /* kernel stacks only */

/*
 * A system call of this machine's alone (x86: arch_prctl).  -ENOSYS where
 * the number is not one.
 */
intptr_t arch_syscall(unsigned sysno, const uintptr_t *a);
/*
 * The kernel's number (kern/sys/syscall.h) of a Linux system call of this
 * machine; 0 (SYS_none) or -1 where the kernel does not know it.
 */
extern const int16_t arch_sysmap[];
extern const unsigned arch_sysmap_len;
extern const char arch_name[]; /* "x86_64", "arm64" */
extern const uint16_t arch_elf_machine;
extern const char arch_uname[]; /* uname(2)'s, and AT_PLATFORM: "aarch64" */
/*
 * What the auxiliary vector tells of this CPU.  n is 0 for AT_HWCAP, 1 for
 * AT_HWCAP2, 2 for AT_MINSIGSTKSZ: the bytes of a signal frame, FP state
 * included.
 */
unsigned long arch_hwcap(unsigned n);
/*
 * Fill Linux's struct stat of this machine; its bytes.  `fi` is
 * kern/file/file.h's.
 */
#define ARCH_STAT_MAX 144
struct file_info;
size_t arch_stat(void *st, const struct file_info *fi);
/* One line of JSON members, no braces: "cpu":"...","vmm":"...", and so on. */
void arch_describe(char *buf, size_t len);

/*
 * mmu.  What is unmapped or protected no CPU can reach any more on return.
 * Addresses and lengths are page multiples.  A system-privilege
 * address space maps its pages without PROT_USER.
 */
#define PROT_READ   1u
#define PROT_WRITE  2u
#define PROT_EXEC   4u
#define PROT_USER   8u
#define PROT_DEVICE 16u /* uncached, strongly ordered; kernel only */

int arch_as_init(struct as *as);  /* 0 or ENOMEM */
void arch_as_free(struct as *as); /* tables only; nothing is mapped any more */
void arch_as_switch(struct as *as); /* NULL: no user mappings */
/*
 * Map; replaces nothing.  Uses 2 MiB pages where alignment lets it.  ENOMEM:
 * part of it may be mapped; the caller unmaps the whole.
 */
int arch_map(
    struct as *as, uintptr_t va, uint64_t pa, size_t len, unsigned prot);
void arch_unmap(struct as *as, uintptr_t va, size_t len);
/* Change protection of what is mapped.  ENOMEM if a large page must split. */
int arch_protect(struct as *as, uintptr_t va, size_t len, unsigned prot);
/* Where va is mapped, or ~0. */
uint64_t arch_translate(struct as *as, uintptr_t va);
/* Zero pages of the direct map. */
void arch_page_zero(void *va, size_t bytes);
/* Make instructions just written through the direct map visible. */
void arch_icache_sync(void *va, size_t len);
/* Kernel mapping of a device's registers, valid for ever; NULL if it fails. */
volatile void *arch_map_device(uint64_t pa, size_t len);
/* A kernel stack with an unmapped guard page below; NULL if it fails. */
void *kstack_alloc(void);
void kstack_free(void *base);
#define KSTACK_BYTES (16UL << 10)
/*
 * Copy between kernel and current user memory.  0, or EFAULT where any byte
 * is not mapped with the right access; never faults, never touches the upper
 * half.  Part of the copy may have been made.
 */
int arch_copyin(void *dst, uintptr_t uva, size_t len);
int arch_copyout(uintptr_t uva, const void *src, size_t len);
/* Up to and with the NUL.  ENAMETOOLONG where max bytes hold none. */
int arch_copyinstr(char *dst, uintptr_t uva, size_t max);

/*
 * pmu.  The backend that drives this machine, or NULL with a reason that
 * says what to do ("PMU absent: CPUID.0AH=0; start QEMU with ...").
 */
const struct pcbe_ops *arch_pcbe(const char **why_not);
/* Deliver overflow interrupts of this CPU to kcpc_pmi(). */
void arch_pmi_enable(void);
/*
 * void arch_pmi_rearm(void): inline.  Let the next overflow interrupt in
 * (LVTPC unmask; nothing to do with a GIC).  Call while no PIC counts.
 */

/*
 * cons.  Works from the first instruction of C: before arch_init() on the
 * fixed early address, from then on where the tables say.  Polled.
 */
void arch_putc(int c);
int arch_getc(void); /* -1: nothing there */

/*
 * firmware.  Call a function of UEFI at its physical address, in the calling
 * convention UEFI has on this machine, and return its EFI_STATUS.  The
 * current address space maps the firmware one to one (kern/platform/efirt.c).
 */
uint64_t arch_efi_call(
    uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/*
 * Calls the other way.  The first, kern_main(), is in kern/platform/bootinfo.h,
 * where boot/ finds it.
 */
_Noreturn void kern_cpu_main(struct cpu *cpu);
/*
 * The way in from a payload begins with kernel_lock() (kern/sched/klock.h) and
 * ends in trap_return(), or, where l_ast is 0, in kernel_unlock(); an interrupt
 * that struck arch_idle() is between kernel_lock() and kernel_unlock().
 */
/*
 * A system call is syscall_find(number)(arguments), kern/sys/syscall.h, on its
 * LWP's stack; it may not return (exit).
 */
/*
 * Anything synchronous that is not a system call.  From user code it ends
 * (later: signals) the process; from the kernel it prints and halts.
 */
enum fault {
	FAULT_PAGE,  /* SIGSEGV: addr not mapped, or not for that access */
	FAULT_ALIGN, /* SIGBUS */
	FAULT_UNDEF, /* SIGILL: undefined or privileged instruction */
	FAULT_DIV,   /* SIGFPE: integer division */
	FAULT_FP,    /* SIGFPE: floating point trap */
	FAULT_BREAK, /* SIGTRAP: breakpoint */
	FAULT_STEP,  /* SIGTRAP: single step */
	FAULT_PROT,  /* SIGSEGV: #GP and the like, addr unknown */
	FAULT_OTHER, /* SIGKILL: unexpected vector */
};
void trap_fault(
    struct trapframe *tf, enum fault f, uintptr_t addr, const char *what);
/*
 * On the way back to user code, interrupts off: deliver what is pending, and
 * give the kernel lock back.
 */
void trap_return(struct trapframe *tf);
void timer_intr(void);
void ipi_intr(unsigned why);
/* The overflow interrupt.  True if a counter of ours had overflowed. */
bool kcpc_pmi(struct trapframe *tf);
/*
 * One that came after its overflow had been seen to.  Anywhere, in an NMI,
 * too.
 */
void kcpc_pmi_late(void);

/*
 * The functions that the comments above call inline, from the folder of the
 * machine
 * (-Iarch/x86, -Iarch/arm64) or of the host tests.
 */
#include "arch_inline.h"

#endif /* KERN_ARCH_H */
