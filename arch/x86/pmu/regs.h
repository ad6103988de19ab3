/*
 * Registers of performance counters, Intel's and AMD's.  Included by the
 * backends of arch/x86/ and by tests/host.
 */
#ifndef ARCH_X86_PMU_REGS_H
#define ARCH_X86_PMU_REGS_H

/*
 * Intel's.  A write to IA32_PMCx takes 32 bits and extends their sign; one to
 * IA32_A_PMCx takes the counter's width, where IA32_PERF_CAPABILITIES says so.
 * Intel SDM vol. 4, "IA-32 Architectural MSRs"; vol. 3B, "Full-Width Writes
 * to Performance Counter Registers".
 */
#define IA32_PMC(n)            (0x0c1U + (n))
#define IA32_A_PMC(n)          (0x4c1U + (n))
#define IA32_PERFEVTSEL(n)     (0x186U + (n))
#define IA32_FIXED_CTR(n)      (0x309U + (n))
#define IA32_PERF_CAPABILITIES 0x345U
#define PERF_CAP_FW_WRITE      (1ULL << 13)

/*
 * IA32_FIXED_CTR_CTRL: four bits for each fixed counter.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 2", and
 * Version 3 (AnyThread).
 */
#define IA32_FIXED_CTR_CTRL 0x38dU
#define FIXED_CTRL_OS       0x1ULL
#define FIXED_CTRL_USR      0x2ULL
#define FIXED_CTRL_ANY      0x4ULL
#define FIXED_CTRL_PMI      0x8ULL
#define FIXED_CTRL_SHIFT(n) (4 * (n))

/*
 * Bit n is general counter n, bit 32 + n fixed counter n.  Introduced with
 * version 2.  From version 4 on IA32_PERF_GLOBAL_OVF_CTRL is called
 * IA32_PERF_GLOBAL_STATUS_RESET; what we write to it is the same.
 * Intel SDM vol. 3B, "Architectural Performance Monitoring Version 2".
 */
#define IA32_PERF_GLOBAL_STATUS   0x38eU
#define IA32_PERF_GLOBAL_CTRL     0x38fU
#define IA32_PERF_GLOBAL_OVF_CTRL 0x390U
#define PERF_GLOBAL_GP(n)         (1ULL << (n))
#define PERF_GLOBAL_FIXED(n)      (1ULL << (32 + (n)))

/*
 * IA32_DEBUGCTL, where bit 12 freezes all counters at an overflow until their
 * bit of status is cleared; AMD's DebugCtl has the same.
 * Intel SDM vol. 3B, "IA32_DEBUGCTL MSR", "Freezing LBR and Performance
 * Counters on PMI"; AMD APM vol. 2, "Debug-Control MSR (DebugCtl)".
 */
#define IA32_DEBUGCTL              0x1d9U
#define DEBUGCTL_FREEZE_COUNTERS   (1ULL << 12)
#define PERF_GLOBAL_STATUS_CTR_FRZ (1ULL << 59)

/* What RDPMC takes in ECX.  Intel SDM vol. 2B, "RDPMC". */
#define RDPMC_FIXED 0x40000000U

/*
 * AMD's.  The first four counters go by both names where there are six.
 * AMD APM vol. 2 (24593), "Performance Monitoring Counters"; "Performance
 * Counter Global Control" and the two registers beside it.
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
 * Decode configuration.  Bit 1 has LFENCE wait for all before it, where it
 * does not by itself; families 0Fh and 11h, where it does, lack the register.
 * AMD, "Software Techniques for Managing Speculation on AMD Processors"
 * (90343), mitigation G-2.
 */
#define AMD_DE_CFG        0xc0011029U
#define AMD_DE_CFG_LFENCE (1ULL << 1)

/*
 * Event select.  Bits 35:32 are AMD's alone.
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
/* Intel's alone, with transactional memory. */
#define EVTSEL_IN_TX   (1ULL << 32)
#define EVTSEL_IN_TXCP (1ULL << 33)
#define IN_TXCP_PIC    2 /* the only one that has it */
/* AMD's alone: an event of twelve bits; in a guest, in the host. */
#define EVTSEL_EVENT_12 0xf000000ffULL
#define AMD_GUEST_HOST  (3ULL << 40)

#endif /* ARCH_X86_PMU_REGS_H */
