/*
 * The registers of performance counters of Intel and AMD.  Included by
 * arch/x86/pmu/ and by tests/host.
 */
#pragma once

/*
 * Intel.  A write to IA32_PMCx takes 32 bits and extends their sign.  A write
 * to IA32_A_PMCx takes all bits of the counter, if IA32_PERF_CAPABILITIES says
 * that it exists.
 * Intel SDM vol. 4, "IA-32 Architectural MSRs"; vol. 3B, "Full-Width Writes
 * to Performance Counter Registers".
 */
#define IA32_PMC(n)            (0x0c1U + (n))
#define IA32_A_PMC(n)          (0x4c1U + (n))
#define IA32_PERFEVTSEL(n)     (0x186U + (n))
#define IA32_FIXED_CTR(n)      (0x309U + (n))
#define IA32_PERF_CAPABILITIES 0x345U
#define PERF_CAP_FREEZE_SMM    (1ULL << 12) /* DEBUGCTL_FREEZE_SMM works */
#define PERF_CAP_FW_WRITE      (1ULL << 13)

/*
 * From version 6 on, every general counter and its event select have these
 * addresses, too.  Before, no CPU has more than eight.
 * Intel SDM vol. 4, "IA-32 Architectural MSRs" (IA32_PMC_GPn_CTR, _CFG_A).
 */
#define IA32_PMC_GP_CTR(n)   (0x1900U + 4 * (n))
#define IA32_PMC_GP_CFG_A(n) (0x1901U + 4 * (n))
#define INTEL_OLD_GP         8

/*
 * IA32_FIXED_CTR_CTRL has four bits for each fixed counter.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 2", and
 * Version 3 (AnyThread).
 */
#define IA32_FIXED_CTR_CTRL 0x38dU
#define FIXED_CTRL_OS       0x1ULL
#define FIXED_CTRL_USR      0x2ULL
#define FIXED_CTRL_ANY      0x4ULL
#define FIXED_CTRL_PMI      0x8ULL
#define FIXED_CTRL_PMI_ALL  (~0ULL / 0xf * FIXED_CTRL_PMI)
#define FIXED_CTRL_SHIFT(n) (4 * (n))

/*
 * Bit n is general counter n, bit 32 + n fixed counter n.  Version 2 introduced
 * these registers.  Version 4 renames IA32_PERF_GLOBAL_OVF_CTRL to
 * IA32_PERF_GLOBAL_STATUS_RESET; the bits that we write mean the same.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 2".
 */
#define IA32_PERF_GLOBAL_STATUS   0x38eU
#define IA32_PERF_GLOBAL_CTRL     0x38fU
#define IA32_PERF_GLOBAL_OVF_CTRL 0x390U
#define PERF_GLOBAL_GP(n)         (1ULL << (n))
#define PERF_GLOBAL_FIXED(n)      (1ULL << (32 + (n)))

/*
 * Bit 12 of IA32_DEBUGCTL freezes all counters at an overflow, until software
 * clears the status bit.  AMD's DebugCtl has the same bit.
 * Intel SDM vol. 3B, "IA32_DEBUGCTL MSR", "Freezing LBR and Performance
 * Counters on PMI"; AMD APM vol. 2, "Debug-Control MSR (DebugCtl)".
 */
#define IA32_DEBUGCTL              0x1d9U
#define DEBUGCTL_FREEZE_COUNTERS   (1ULL << 12)
#define DEBUGCTL_FREEZE_SMM        (1ULL << 14) /* counters stop in SMM */
#define PERF_GLOBAL_STATUS_CTR_FRZ (1ULL << 59) /* Intel: version 4 on */

/* RDPMC takes this plus n in ECX for fixed counter n.  Intel SDM vol. 2B,
 * "RDPMC". */
#define RDPMC_FIXED 0x40000000U

/*
 * AMD.  If there are six counters, the first four have both addresses.
 * AMD APM vol. 2 (24593), "Performance Monitoring Counters", "Performance
 * Counter Global Control", "Performance Counter Global Status", "Performance
 * Counter Global Status Clear".
 */
#define AMD_PERF_LEGACY_CTL(n)          (0xc0010000U + (n))
#define AMD_PERF_LEGACY_CTR(n)          (0xc0010004U + (n))
#define AMD_PERF_CTL(n)                 (0xc0010200U + 2 * (n))
#define AMD_PERF_CTR(n)                 (0xc0010201U + 2 * (n))
#define AMD_PERF_CNTR_GLOBAL_STATUS     0xc0000300U
#define AMD_PERF_CNTR_GLOBAL_CTL        0xc0000301U
#define AMD_PERF_CNTR_GLOBAL_STATUS_CLR 0xc0000302U
#define AMD_PERF_CNTR_WIDTH             48
#define AMD_PERF_LEGACY_N               4
#define AMD_PERF_CORE_N                 6

/*
 * Decode configuration.  Bit 1 makes LFENCE wait for all earlier instructions.
 * Families 0Fh and 11h lack the register, and their LFENCE always waits.
 * AMD, "Software Techniques for Managing Speculation on AMD Processors"
 * (90343), mitigation G-2.
 */
#define AMD_DE_CFG        0xc0011029U
#define AMD_DE_CFG_LFENCE (1ULL << 1)

/*
 * The event select.  Only AMD has the event bits 35:32.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 1" (layout
 * of IA32_PERFEVTSELx); AMD APM vol. 2, "Performance Event-Select Registers".
 */
#define EVTSEL_UMASK_MASK 0xff00ULL
#define EVTSEL_USR        (1ULL << 16)
#define EVTSEL_OS         (1ULL << 17)
#define EVTSEL_EDGE       (1ULL << 18)
#define EVTSEL_PC         (1ULL << 19)
#define EVTSEL_INT        (1ULL << 20)
#define EVTSEL_ANY        (1ULL << 21)
#define EVTSEL_EN         (1ULL << 22)
#define EVTSEL_INV        (1ULL << 23)
#define EVTSEL_CMASK_MASK 0xff000000ULL
/* Intel only, with transactional memory. */
#define EVTSEL_IN_TX   (1ULL << 32)
#define EVTSEL_IN_TXCP (1ULL << 33)
#define IN_TXCP_PIC    2 /* the only PIC that has EVTSEL_IN_TXCP */
/* Intel, version 6.  With EQ, cycles with exactly CMASK events are counted. */
#define EVTSEL_EQ     (1ULL << 36)
#define EVTSEL_UMASK2 (0xffULL << 40)
/* AMD only: an event of twelve bits; count in the guest, count in the host. */
#define EVTSEL_EVENT_12 0xf000000ffULL
#define AMD_GUEST_HOST  (3ULL << 40)
