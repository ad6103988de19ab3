/*
 * The interface between the kernel and a machine: all functions that kern/
 * calls in arch/, and all that arch/ calls in kern/.  Included by both.
 *
 * The kernel runs with interrupts off and is not preempted.  A CPU takes
 * interrupts at user level and in arch_idle() only.  An NMI for an overflow
 * may hit the kernel; the machine then stops the PICs, and calls kcpc_pmi()
 * later, at user level.
 *
 * Unless a comment says otherwise, call a function with interrupts off, and
 * after kern_main() has begun.  It acts on the calling CPU.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct as;                 /* kern/mm/as.h */
struct barecpc_interrupts; /* include/sys/barecpc.h */
struct bootinfo;           /* kern/platform/bootinfo.h */
struct cpu;                /* kern/sched/cpu.h */
struct lwp;                /* kern/proc/lwp.h */
struct pcbe_ops;           /* kern/cpc/pcbe.h */
struct text;               /* lib/text.h */
struct trapframe;

#define PAGE_SHIFT 12
#define PAGE_SIZE  4096UL
#define LARGE_SIZE (2UL << 20) /* a 2 MiB page */

/* Address map: the same split on every machine. */
#define USER_BASE  0x0000000000010000UL /* nothing is mapped below */
#define REGION_TOP 0x00007fffffc00000UL /* only counter pages are above */
#define USER_TOP   0x00007ffffffff000UL
#define KERN_LINK  0xffffffff80000000UL /* where the image is linked */
extern char *const arch_direct; /* physical address 0 in the direct map */
extern const uint64_t arch_direct_bytes; /* size of the direct map */

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
 * The machine's start code calls kern_main() on the boot CPU.  Interrupts are
 * off, the stack is a guarded kernel stack, and arch_curcpu() works.  Mapped
 * are the image at KERN_LINK, and the part of the direct map with *bi and the
 * memory from bootinfo_take().
 *
 * The image's linker script defines __text_end after the code, and places
 * .ksyms (made by scripts/build/mksyms) after that.
 */

/*
 * arch_tick() near the image's first instruction.  The start code stores it, so
 * that the kernel can report the length of a boot.  It is not in .bss if the
 * start code clears .bss later.
 */
extern uint64_t boot_entry_tick;

/*
 * Install trap vectors, an early console (see arch_putc) and the kernel's page
 * tables.  The image is mapped W^X.  All RAM of *bi is in the direct map,
 * writable and not executable.  The page allocator does not exist yet: pages
 * come from bootinfo_take().  *bi is sorted.
 */
void arch_init_early(struct bootinfo *bi);

/*
 * Initialise everything that needs the page allocator: consoles from the
 * firmware's tables, interrupt controller, clock, timer of this CPU, and the
 * PMU's backend.  Calls cpu_add() for each CPU, the boot CPU first.  Prints a
 * line for each device.
 */
void arch_init(struct bootinfo *bi);
/*
 * The value of the word host.accel=, or NULL: what the host says that it runs
 * this machine with.  kern_main() sets it before arch_init().
 */
extern const char *host_accel;

/* Start a CPU of cpu_add() at kern_cpu_main().  Returns NULL, or why not. */
const char *arch_cpu_start(struct cpu *cpu);

/*
 * End the run on all CPUs.  Power off if the run passed, else reset; if that
 * does not work, stop.  On an emulator its exit status shows the result.
 */
_Noreturn void arch_halt(bool passed);

/* cpu */
/* struct cpu *arch_curcpu(void): inline. */
/* Wait for an interrupt and take it.  Returns with interrupts off. */
void arch_idle(void);
/*
 * The body of a wait loop.  It is a hint on which emulators switch CPUs.  This
 * CPU also answers requests of others, for example to invalidate its TLB.
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
 * time.  arch_tick() is a 64-bit counter of constant rate (TSC, CNTVCT_EL0).
 * All CPUs read the same value.
 */
/* uint64_t arch_tick(void): inline. */
uint64_t arch_tick_hz(void);
/* Call timer_intr() on this CPU once arch_tick() >= tick; ~0 for never. */
void arch_timer_set(uint64_t tick);

/*
 * lwp.  An LWP has a kernel stack l_kstack..l_kstack_top (guarded, from
 * kstack_alloc()).  The trap frame of a user LWP is at its top.  A machine
 * keeps its own part of an LWP (FP/SIMD state, TLS base) in l->l_arch.
 */

/*
 * Prepare a new LWP.  The first switch to it calls fn(arg), which never
 * returns.  Allocates l_arch.  Returns 0 or ENOMEM.
 */
int arch_lwp_init(struct lwp *l, void (*fn)(void *), void *arg);
void arch_lwp_free(struct lwp *l);
/* Switch stack, registers and address space from one LWP to another. */
void arch_lwp_switch(struct lwp *from, struct lwp *to);
/*
 * Set the current LWP's user registers for the start of a program: pc, sp, all
 * others 0, clean FP state, interrupts on.  The privilege is user, or system
 * (ring 0, EL1t) if l->l_system is set.  arch_lwp_resume() enters the program.
 */
void arch_lwp_reset(struct lwp *l, uintptr_t pc, uintptr_t sp);
/*
 * Give the new LWP l the user registers and FP state of the current one, which
 * is in the system call of tf.  The call's result for l is 0.  Its stack
 * pointer is sp (0: the same), its thread pointer *tls (NULL: the same).  l's
 * fn calls arch_lwp_resume().
 */
void arch_lwp_fork(struct lwp *l, const struct trapframe *tf, uintptr_t sp,
    const uintptr_t *tls);
/* The trap frame at the top of l's kernel stack. */
struct trapframe *arch_lwp_frame(struct lwp *l);
/* Call trap_return(), and enter user code by the current LWP's frame. */
_Noreturn void arch_lwp_resume(struct lwp *l);
/* The thread pointer (FS base, TPIDR_EL0) of the current LWP. */
void arch_set_tls(uintptr_t base);
uintptr_t arch_get_tls(void);

/* trap */
/*
 * Inline: uintptr_t tf_pc(const struct trapframe *tf), the program counter;
 * uintptr_t tf_sp(tf), the stack pointer; bool tf_user(tf), whether the trap
 * interrupted a payload, at either privilege.
 */
uintptr_t tf_fp(const struct trapframe *tf); /* the frame pointer */
/* Whether it is the frame of a system call, and the call's number. */
bool tf_is_syscall(const struct trapframe *tf);
unsigned tf_sysno(const struct trapframe *tf);
/*
 * For a FAULT_PAGE: the kind of access, PROT_READ, PROT_WRITE or PROT_EXEC.  0
 * if no protection would permit it.
 */
unsigned tf_access(const struct trapframe *tf);
void tf_set_ret(struct trapframe *tf, intptr_t v);
void tf_set_pc(struct trapframe *tf, uintptr_t pc);
/* Set tf back to the system call's instruction, which then runs again. */
void tf_restart(struct trapframe *tf);
/*
 * Write a signal handler's frame to the current LWP's user stack, and make tf
 * enter the handler.  The frame has the interrupted state.  Returns
 * 0, or EFAULT with tf unchanged: the stack has no room, or the handler is not
 * in user space.
 */
struct sigframe; /* kern/proc/signal.h */
int arch_sigframe_push(struct trapframe *tf, const struct sigframe *sf);
/*
 * Restore registers and FP state from the frame at tf's stack pointer, except
 * for bits that a payload of this privilege cannot set.  Fill *kept from the
 * frame.  Returns 0, or EFAULT if the frame is damaged.  After EFAULT pc and sp
 * of tf are unchanged, and its other registers and FP state are undefined.
 */
struct sigkept;
int arch_sigframe_pop(struct trapframe *tf, struct sigkept *kept);
/* Print the registers, eight lines at most. */
void tf_print(const struct trapframe *tf);
/*
 * On a kernel stack: go from the frame with this frame pointer and return
 * address to its caller's.  Returns false at the last frame.
 */
bool arch_frame_next(uintptr_t *fp, uintptr_t *pc);

/* A call that only this machine has (x86: arch_prctl).  Any other: -ENOSYS. */
intptr_t arch_syscall(unsigned sysno, const uintptr_t *a);
/*
 * The kernel's number (kern/sys/syscall.h) of each Linux system call, indexed
 * by Linux's number on this machine.  0 (SYS_none) or -1: the kernel lacks it.
 */
extern const int16_t arch_sysmap[];
extern const unsigned arch_sysmap_len;
/*
 * A handler returns to code of the program, or else to this offset of the vDSO.
 * 0: every program of this machine brings the code.
 */
extern const size_t arch_vdso_sigreturn;
extern const char arch_name[]; /* "x86_64", "arm64" */
extern const uint16_t arch_elf_machine;
extern const char arch_uname[]; /* for uname(2), AT_PLATFORM: "aarch64" */
/*
 * Values of the auxiliary vector.  n is 0 for AT_HWCAP, 1 for AT_HWCAP2, 2 for
 * AT_MINSIGSTKSZ: the bytes of a signal frame, FP state included.
 */
unsigned long arch_hwcap(unsigned n);
/* The offset of `data` in Linux's struct epoll_event; its size is 8 more. */
extern const unsigned arch_epoll_data;
extern const unsigned arch_o_directory; /* Linux's O_DIRECTORY */
extern const unsigned arch_clone_tls;   /* the argument of clone(2): 3 or 4 */
/*
 * Append a description of the machine: JSON members without braces,
 * "cpu":"...","vmm":"...", and so on.
 */
void arch_describe(struct text *t);
/* Append what /proc/cpuinfo says of the nth CPU, in Linux's form. */
void arch_cpuinfo(struct text *t, unsigned n);
/*
 * Fill in what disturbs this CPU without an interrupt to the kernel, as far as
 * the CPU shows it, with its flags: SMIs, throttling, errors, and so on.
 */
void arch_strain(struct barecpc_interrupts *by);

/*
 * quiet.  Each item of quiet= (kern/platform/command/quiet_word.h) is applied
 * to each CPU.  *said becomes what was done, or why it was not, and it is a
 * constant.  Returns whether it was done.  Call arch_quiet_done() on each CPU
 * after the last item, and arch_quiet_end() at the end of the run, which
 * restores all.
 */
bool arch_quiet(unsigned item, const char **said);
void arch_quiet_done(void);
void arch_quiet_end(void);
/* Is quiet=all the suite's default?  On bare hardware that has the items. */
bool arch_quiet_suite(void);

/*
 * mmu.  When a call that unmaps or protects returns, no CPU uses the old
 * mapping any more.  Addresses and lengths are multiples of a page.  An address
 * space at system privilege maps its pages without PROT_USER.
 */
#define PROT_READ   1u
#define PROT_WRITE  2u
#define PROT_EXEC   4u
#define PROT_USER   8u
#define PROT_DEVICE 16u /* uncached, strongly ordered; kernel only */

int arch_as_init(struct as *as);    /* 0 or ENOMEM */
void arch_as_free(struct as *as);   /* frees the tables; nothing is mapped */
void arch_as_switch(struct as *as); /* NULL: no user mappings */
/*
 * Map memory where nothing is mapped, by 2 MiB pages if alignment permits.
 * Returns 0, or ENOMEM with a part mapped: the caller then unmaps all of it.
 */
int arch_map(
    struct as *as, uintptr_t va, uint64_t pa, size_t len, unsigned prot);
void arch_unmap(struct as *as, uintptr_t va, size_t len);
/* Change the protection of mapped pages, each of them as a whole. */
void arch_protect(struct as *as, uintptr_t va, size_t len, unsigned prot);
/* The physical address of va, or ~0 if va is not mapped. */
uint64_t arch_translate(struct as *as, uintptr_t va);
/* Zero pages of the direct map. */
void arch_page_zero(void *va, size_t bytes);
/* Make instructions visible that were written through the direct map. */
void arch_icache_sync(void *va, size_t len);
/* Write cached data to memory.  A warm reset leaves memory, but no cache. */
void arch_clean(const void *va, size_t len);
/* Map a device's registers for the kernel, for ever.  NULL on failure. */
volatile void *arch_map_device(uint64_t pa, size_t len);
/* The same for a framebuffer: writes may be combined. */
volatile void *arch_map_screen(uint64_t pa, size_t len);
/* kern/mm/kstack.c: allocate a kernel stack with a guard below it, or NULL. */
void *kstack_alloc(void);
void kstack_free(void *base);
#define KSTACK_BYTES (16UL << 10)
#define KSTACK_SLOTS 4096
/* Map its pages at an address in KSTACK_BASE.  The tables exist. */
void arch_kstack_map(uintptr_t va, uint64_t pa);
/* Remove them on all CPUs.  Returns their physical address. */
uint64_t arch_kstack_unmap(uintptr_t va);
/* For kern/mm/usercopy.c, which checks that the range is in the lower half. */
int arch_copyin(void *dst, uintptr_t uva, size_t len);
int arch_copyout(uintptr_t uva, const void *src, size_t len);
int arch_copyinstr(char *dst, uintptr_t uva, size_t max);

/*
 * pmu.  The backend of this machine's PMU, or NULL with a reason that says what
 * to do ("PMU absent: CPUID.0AH=0; start QEMU with ...").
 */
const struct pcbe_ops *arch_pcbe(const char **why_not);
/* Deliver overflow interrupts of this CPU to kcpc_pmi(). */
void arch_pmi_enable(void);
/*
 * void arch_pmi_rearm(void): inline.  Let the next overflow interrupt in (x86:
 * unmask LVTPC; a GIC needs nothing).  Call with all PICs stopped.
 */

/*
 * console.  Works from the first instruction of C.  arch_init() chooses the
 * UART; until then output waits.  Polled.
 */
void arch_putc(int c);
/*
 * Take a key that was pressed.  Returns its character on the console's line, 0
 * for a key of a keyboard, -1 for none.
 */
int arch_key(void);

/*
 * firmware.  Call a function of UEFI at its physical address, in UEFI's calling
 * convention on this machine.  Returns its EFI_STATUS.  The current address
 * space maps the firmware one to one (kern/platform/firmware/efirt.c).
 */
uint64_t arch_efi_call(
    uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);

/*
 * Functions of the kernel that a machine calls.  kern_main() is declared in
 * kern/platform/bootinfo.h, for boot/.
 */
_Noreturn void kern_cpu_main(struct cpu *cpu);
/*
 * A trap from a payload first calls kernel_lock() (kern/sched/klock.h).  On the
 * way back it calls trap_return(), or only kernel_unlock() if l_ast is 0.  An
 * interrupt in arch_idle() calls kernel_lock() and kernel_unlock().
 *
 * For a system call it calls syscall_find(number)(arguments)
 * (kern/sys/syscall.h) on the LWP's kernel stack.  The call may not return.
 *
 * For any other synchronous exception it calls trap_fault().  From user code
 * that is a signal; from the kernel it prints a report and halts.
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
/* Report an exception that leaves the kernel no stack, and end the run. */
_Noreturn void trap_panic(const struct trapframe *tf, const char *what);
/*
 * On the way back to user code, with interrupts off: do the work in l_ast,
 * deliver signals, and release the kernel lock.
 */
void trap_return(struct trapframe *tf);
void timer_intr(void);
void ipi_intr(unsigned why);
/* The overflow interrupt (PMI).  Returns true if a PIC had overflowed. */
bool kcpc_pmi(void);
/* A PMI came after its overflow was handled.  Safe in an NMI. */
void kcpc_pmi_late(void);

/*
 * The functions that comments above call inline, from the machine's folder
 * (-Iarch/x86, -Iarch/arm64) or from the host tests'.
 */
#include "arch_inline.h"
