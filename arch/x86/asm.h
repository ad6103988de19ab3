/*
 * Constants that C and assembly share: the address map, selectors, registers,
 * and offsets in structures.  Included by arch/x86/ and boot/pvh.S.
 */
#pragma once

/*
 * The upper half of the address space; docs/x86.md has the table.  Physical
 * memory starts at DIRECT_BASE.  Devices follow each other from DEVICE_BASE.
 * A table of firmware that is not in RAM is at FIRMWARE_BASE plus its physical
 * address.  One entry of the root table covers both.  The image is in the last
 * GiB but one, and kernel stacks are in the last.
 */
#define DIRECT_BASE    0xffff800000000000
#define DIRECT_BYTES   0x0000400000000000
#define DEVICE_BASE    0xffffc00000000000
#define DEVICE_BYTES   0x0000004000000000
#define FIRMWARE_BASE  0xffffc04000000000
#define FIRMWARE_BYTES 0x0000004000000000
#define IMAGE_BASE     0xffffffff80000000 /* KERN_LINK */
#define KSTACK_BASE    0xffffffffc0000000

/*
 * QEMU's isa-debug-exit: its status becomes 2 * code + 1.  Without the device
 * a write does nothing.
 */
#define DEBUG_EXIT 0xf4
#define HALT_PASS  0x10
#define HALT_FAIL  0x11
#ifdef __ASSEMBLER__ /* kern/arch.h */
#define USER_TOP 0x00007ffffffff000
#endif

/* The page where the other CPUs start.  It must be below 1 MiB. */
#define TRAMPOLINE_PA 0x8000
#define ANY_CPU       0xffffffff /* the page starts whatever CPU comes */

/* The address of the image if a loader reads the ELF file. */
#define IMAGE_LOAD_PA 0x200000

/*
 * A kernel stack is the lower half of a slot, and the upper half is guard.  So
 * bit KSTACK_SHIFT of a good stack pointer is 0.
 */
#define KSTACK_SHIFT 14
#define KSTACK_SLOT  (2 << KSTACK_SHIFT)
/* The boot CPU's slots: its first stack, then one stack an IST entry. */
#define BOOT_STACK   KSTACK_BASE
#define KSTACK_FIRST (1 + NIST) /* the first slot after these */

/*
 * The global descriptor table.  SYSCALL and SYSRET fix the order of the
 * first four.  Intel SDM vol. 2B, "SYSCALL", "SYSRET" (IA32_STAR).
 */
#define SEL_KCODE   0x08
#define SEL_KDATA   0x10
#define SEL_UDATA   0x1b
#define SEL_UCODE   0x23
#define SEL_TSS     0x28 /* two slots */
#define SEL_CODE32  0x18 /* in the trampoline's table only */
#define SEL_CPU     0x7b /* Linux's: its limit is the CPU's number */
#define GDT_ENTRIES 16

/* Interrupt stack table entries.  Intel SDM vol. 3A, "Interrupt Stack Table" */
#define IST_TRAP 1 /* exceptions except those below */
#define IST_NMI  2
#define IST_DF   3
#define IST_MC   4
#define NIST     4 /* have a stack of their own */
#define IST_INTR 5 /* interrupts: the LWP's kernel stack, from its top */

/* Vectors. */
#define NEXCEPTION   32
#define VEC_DB       1
#define VEC_NMI      2
#define VEC_DF       8
#define VEC_MC       18
#define VEC_TIMER    0xe0
#define VEC_IPI      0xe1
#define VEC_PMI      0xe2
#define VEC_ERROR    0xfe
#define VEC_SPURIOUS 0xff
#define VEC_SYSCALL  0x100 /* no vector: marks a frame that SYSCALL made */

/* struct trapframe */
#define TF_R12    0x0
#define TF_R13    0x8
#define TF_R14    0x10
#define TF_R15    0x18
#define TF_RBP    0x20
#define TF_RBX    0x28
#define TF_R11    0x30
#define TF_RAX    0x38
#define TF_RCX    0x40
#define TF_RDI    0x48
#define TF_RSI    0x50
#define TF_RDX    0x58
#define TF_R10    0x60
#define TF_R8     0x68
#define TF_R9     0x70
#define TF_VECTOR 0x78
#define TF_ERR    0x80
#define TF_RIP    0x88
#define TF_CS     0x90
#define TF_RFLAGS 0x98
#define TF_RSP    0xa0
#define TF_SS     0xa8
#define TF_BYTES  0xb0

/* struct x86_cpu, at GS while the kernel runs */
#define XC_FRAME     0x10
#define XC_USER_RSP  0x18
#define XC_DF_STACK  0x20
#define XC_FRAME_END 0x10c /* IST_INTR */

/* struct sigaction and struct sigframe of kern/proc/signal.h */
#define SA_HANDLER  0
#define SA_RESTORER 16
#define SGF_ACT     0
#define SGF_INFO    8
#define SGF_KEPT    16

/* struct frame of sigframe.c, and the value of uc_flags. */
#define SF_FLAGS   8
#define SF_STACK   24
#define SF_R8      48
#define SF_R10     64
#define SF_R11     72
#define SF_R12     80
#define SF_R14     96
#define SF_R15     104
#define SF_RDI     112
#define SF_RSI     120
#define SF_RBP     128
#define SF_RBX     136
#define SF_RDX     144
#define SF_RAX     152
#define SF_RCX     160
#define SF_RSP     168
#define SF_RIP     176
#define SF_RFLAGS  184
#define SF_CS      192
#define SF_SS      198
#define SF_ERR     200
#define SF_TRAPNO  208
#define SF_OLDMASK 216
#define SF_CR2     224
#define SF_FPSTATE 232
#define SF_MASK    304
#define SF_INFO    312
/* Bit 0: XSAVE state follows.  Bits 1, 2: SS is valid, and is restored. */
#define UC_FLAGS 0x7

/*
 * The FXSAVE or XSAVE area in the frame.  Bytes 464 to 511 are for software.
 * Linux, uapi/asm/sigcontext.h, struct _fpx_sw_bytes.  Intel SDM vol. 1,
 * "XSAVE Area" (header).
 */
#define FPU_SW        464
#define FPU_XSTATE_BV 512
#define FPU_MAGIC1    0x46505853
#define FPU_MAGIC2    0x46505845

/* Control registers. Intel SDM vol. 3A, "Control Registers". */
#define CR0_PE         0x1
#define CR0_MP         0x2
#define CR0_ET         0x10
#define CR0_NE         0x20
#define CR0_WP         0x10000
#define CR0_AM         0x40000
#define CR0_PG         0x80000000
#define CR4_PAE        0x20
#define CR4_MCE        0x40
#define CR4_PGE        0x80
#define CR4_PCE        0x100
#define CR4_OSFXSR     0x200
#define CR4_OSXMMEXCPT 0x400
#define CR4_UMIP       0x800
#define CR4_LA57       0x1000
#define CR4_OSXSAVE    0x40000
#define CR4_SMEP       0x100000
#define CR4_SMAP       0x200000
#define CR4_PKE        0x400000

/* IA32_EFER.  Intel SDM vol. 4, "IA-32 Architectural MSRs" (C000_0080H). */
#define MSR_EFER    0xc0000080
#define EFER_SCE    0x1
#define EFER_LME    0x100
#define EFER_NXE    0x800
#define MSR_GS_BASE 0xc0000101 /* IA32_GS_BASE */

/* RFLAGS.  Intel SDM vol. 1, "EFLAGS Register". */
#define RFLAGS_ONE  0x2
#define RFLAGS_TF   0x100
#define RFLAGS_IF   0x200
#define RFLAGS_DF   0x400
#define RFLAGS_IOPL 0x3000
#define RFLAGS_NT   0x4000
#define RFLAGS_RF   0x10000
#define RFLAGS_AC   0x40000

/*
 * Page table entries that assembly makes.
 * Intel SDM vol. 3A, "4-Level Paging and 5-Level Paging".
 */
#define PTE_P  0x1
#define PTE_W  0x2
#define PTE_PS 0x80
