/*
 * What C and assembly share: the address map, the trap frame and the per-CPU
 * data by offset.  Included by arch/arm64/ and boot/linux_image.S.
 */
#ifndef ARCH_ARM64_ASM_H
#define ARCH_ARM64_ASM_H

/*
 * The upper half: physical memory at 0, devices at the same address in the
 * window behind it, the image in the last but one GiB, kernel stacks in the
 * last.  A kernel stack is the lower half of a slot, so bit 14 of a good
 * stack pointer is 0, and everything from there to the next stack is guard.
 */
#define DIRECT_BASE  0xffff000000000000
#define DEVICE_BASE  0xffff800000000000
#define KSTACK_BASE  0xffffffffc0000000
#define KSTACK_SHIFT 14
#define KSTACK_SLOT  (2 << KSTACK_SHIFT)
/* The boot CPU's stacks, mapped by arm64_early_map(). */
#define BOOT_STACK     KSTACK_BASE
#define BOOT_EMERGENCY (KSTACK_BASE + KSTACK_SLOT)

/* ESR_EL1.EC: bits 31..26; SVC of a payload. */
#define EC_SHIFT 26
#define EC_BITS  6
#define EC_SVC   0x15

/* struct trapframe */
#define TF_X(n)   (8 * (n))
#define TF_SP     0xf8
#define TF_PC     0x100
#define TF_PSTATE 0x108
#define TF_ESR    0x110
#define TF_FAR    0x118
#define TF_FRAME  0x120
#define TF_BYTES  0x130

/* struct sigframe, struct sigaction */
#define SGF_ACT     0
#define SGF_INFO    8
#define SGF_KEPT    16
#define SA_HANDLER  0
#define SA_RESTORER 16

/* struct sigframe_user of sigframe.c */
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

/* struct cpu, at TPIDR_EL1, and struct lwp */
#define C_ARCH 0x0
#define C_LWP  0x8
#define L_AST  0x34

/* System calls: kern/sys/syscall.h's tables, and where the second begins. */
#define SVC_NLINUX   512
#define SVC_PRIVATE  0x4000
#define SVC_NPRIVATE 6

/* struct arm64_cpu */
#define AC_CPU       0x0
#define AC_EMERGENCY 0x8
#define AC_STACK     0x10
#define AC_TRY       0x18

/* PSTATE: exceptions masked, and where to go. */
#define PSTATE_EL0T 0x0
#define PSTATE_EL1T 0x4
#define PSTATE_EL1H 0x5
#define PSTATE_DAIF 0x3c0
#define PSTATE_PAN  (1 << 22)
#define PSTATE_NZCV 0xf0000000

/* CPACR_EL1: no trap of SVE, at EL0 nor EL1. */
#define CPACR_ZEN (3 << 16)

/* MAIR_EL1: normal write-back memory, device, normal without caches. */
#define MAIR_VALUE    0x4404ff
#define MAIR_NORMAL   0
#define MAIR_DEVICE   1
#define MAIR_UNCACHED 2

/* TCR_EL1: 48 bits each half, 4 KiB, walks cached and inner shareable. */
#define TCR_VALUE 0xb5103510

/* SCTLR_EL1: what must be 1; then MMU, caches, and what EL0 may do itself. */
#define SCTLR_EL1_OFF 0x30d00800
#define SCTLR_VALUE                                                            \
	(SCTLR_EL1_OFF | 0x1 | 0x4 | 0x1000 /* M, C, I */                      \
	    | 0x18                          /* SA, SA0: aligned stacks */      \
	    | 0x4000 | 0x8000 | 0x4000000   /* DZE, UCT, UCI */                \
	    | 0x10000 | 0x40000)            /* nTWI, nTWE */

/* HCR_EL2: EL1 is AArch64 (RW); pointer authentication is EL1's affair. */
#define HCR_VALUE 0x30080000000

#endif /* ARCH_ARM64_ASM_H */
