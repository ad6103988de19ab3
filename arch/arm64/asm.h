/*
 * Constants that C and assembly share: the address map, and the offsets of the
 * trap frame and per-CPU data.  Included by arch/arm64/ and boot/linux_image.S.
 */
#pragma once

/*
 * The upper half of the address space:
 *
 *     DIRECT_BASE   all RAM; physical address 0 is at its start
 *     DEVICE_BASE   device registers, at their physical address in the window
 *     KERN_LINK     the image, in the last but one GiB (kern/arch.h)
 *     KSTACK_BASE   kernel stacks, in the last GiB
 *
 * A kernel stack is the lower half of a slot; the upper half is guard.  So
 * bit 14 of a good stack pointer is 0.
 */
#define DIRECT_BASE  0xffff000000000000
#define DEVICE_BASE  0xffff800000000000
#define KSTACK_BASE  0xffffffffc0000000
#define KSTACK_SHIFT 14
#define KSTACK_SLOT  (2 << KSTACK_SHIFT)
#define KSTACK_FIRST 2 /* the slots before it are the boot CPU's */
/* The boot CPU's stacks, mapped by arm64_early_map(). */
#define BOOT_STACK     KSTACK_BASE
#define BOOT_EMERGENCY (KSTACK_BASE + KSTACK_SLOT)

/* ESR_EL1.EC, bits 31..26: the cause, here an SVC of a payload. */
#define EC_SHIFT 26
#define EC_BITS  6
#define EC_SVC   0x15

/* struct trapframe */
#define TF_X(n)   (8 * (n))
#define TF_SP     0xf8
#define TF_PC     0x100
#define TF_PSTATE 0x108
#define TF_ESR    0x110
#define TF_FRAME  0x120
#define TF_BYTES  0x130

/* struct sigframe, struct sigaction */
#define SGF_ACT     0
#define SGF_INFO    8
#define SGF_KEPT    16
#define SA_HANDLER  0
#define SA_RESTORER 16

/* struct sigframe_user of trap/sigframe.c */
#define SF_UCONTEXT        128
#define SF_STACK           144
#define SF_FAULT           304
#define SF_X               312
#define SF_RECORDS         592
#define SF_FRAME           4688
#define SF_FRAME_HIGH      4096 /* the same as two immediates */
#define SF_FRAME_LOW       (SF_FRAME - SF_FRAME_HIGH)
#define RECORDS_BYTES      4096
#define FPSIMD_FRAME_BYTES 528

#define SF_BYTES 4704
#define USER_END 0x7ffffffff000 /* USER_TOP of kern/arch.h */

/* struct sigcopy_more */
#define SM_FPSIMD  0
#define SM_RECORDS 16
#define SM_PSTATE  48

/* struct cpu, which TPIDR_EL1 points to, and struct lwp */
#define C_ARCH 0x0
#define C_LWP  0x8
#define L_AST  0x34

/* Sizes of kern/sys/syscall.h's two tables, and the second one's first call. */
#define SVC_NLINUX   512
#define SVC_PRIVATE  0x4000
#define SVC_NPRIVATE 11

/* struct arm64_cpu */
#define AC_CPU       0x0
#define AC_EMERGENCY 0x8
#define AC_STACK     0x10
#define AC_TRY       0x18

/* struct released */
#define R_MPIDR   0x0
#define R_CONTEXT 0x8

/* PSTATE as SPSR_EL1 holds it: mode, masks, flags. */
#define PSTATE_EL0T  0x0
#define PSTATE_EL1T  0x4
#define PSTATE_EL1H  0x5
#define PSTATE_BTYPE 0xc00 /* how a branch came here: BTI */
#define PSTATE_DAIF  0x3c0
#define PSTATE_PAN   (1 << 22)
#define PSTATE_NZCV  0xf0000000

/* CPACR_EL1: SVE does not trap at EL0 or EL1. */
#define CPACR_ZEN (3 << 16)

/*
 * MAIR_EL1: normal write-back, device, normal non-cacheable memory.
 * Arm ARM (DDI 0487), "MAIR_EL1".
 */
#define MAIR_VALUE    0x4404ff
#define MAIR_NORMAL   0
#define MAIR_DEVICE   1
#define MAIR_UNCACHED 2

/*
 * TCR_EL1: 48 bits for each half, 4 KiB granule, table walks cached and inner
 * shareable.  Arm ARM (DDI 0487), "TCR_EL1".
 */
#define TCR_VALUE 0xb5103510

/*
 * SCTLR_EL1: the bits that must be 1; then MMU, caches, and instructions that
 * EL0 may execute.  Arm ARM (DDI 0487), "SCTLR_EL1".
 */
#define SCTLR_EL1_OFF 0x30d00800
#define SCTLR_VALUE                                                            \
	(SCTLR_EL1_OFF | 0x1 | 0x4 | 0x1000 /* M, C, I */                      \
	    | 0x18                          /* SA, SA0: aligned stacks */      \
	    | 0x4000 | 0x8000 | 0x4000000   /* DZE, UCT, UCI */                \
	    | 0x10000 | 0x40000)            /* nTWI, nTWE */

/*
 * HCR_EL2: EL1 runs AArch64 (RW), and its pointer authentication does not trap
 * (APK, API).  Arm ARM (DDI 0487), "HCR_EL2".
 */
#define HCR_VALUE 0x30080000000
