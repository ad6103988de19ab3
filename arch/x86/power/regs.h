/*
 * Registers of clock rate, temperature and prefetchers.  Included by
 * arch/x86/power/.
 *
 * Intel SDM vol. 4, "IA-32 Architectural MSRs" unless a comment says otherwise;
 * vol. 3B, "Power and Thermal Management" (layouts).
 */
#pragma once

/* CPUID.06H. */
#define LEAF6_EAX_DTS         0 /* IA32_THERM_STATUS has a temperature */
#define LEAF6_EAX_TURBO       1 /* 0 also after IA32_MISC_ENABLE[38] is set */
#define LEAF6_EAX_PACKAGE     6 /* IA32_PACKAGE_THERM_STATUS */
#define LEAF6_ECX_APERF_MPERF 0

/* The clock at the base rate, and at the rate in force.  Both stop in C1. */
#define IA32_MPERF 0x0e7
#define IA32_APERF 0x0e8

/*
 * Bits 15:8: the highest ratio without turbo.
 * Intel SDM vol. 4, "MSRs in Processors Based on Nehalem Microarchitecture".
 */
#define MSR_PLATFORM_INFO        0x0ce
#define PLATFORM_INFO_RATIO_BITS 0xff00

#define IA32_PERF_STATUS     0x198
#define IA32_PERF_CTL        0x199
#define PERF_CTL_TARGET_BITS 0xffff

/*
 * Bits that stay set until software writes 0.  Bits 7 and 9 report thresholds
 * that software has set.
 */
#define IA32_THERM_STATUS         0x19c
#define IA32_PACKAGE_THERM_STATUS 0x1b1
#define THERM_LOGS                0xa82a /* heat, PROCHOT, critical, limits */
#define THERM_THRESHOLD_LOGS      0x0280

/* Bits 3:0: from 0, performance, to 15, energy saving. */
#define IA32_ENERGY_PERF_BIAS 0x1b0

/* IA32_MISC_ENABLE (arch/x86/msr.h). */
#define MISC_ENABLE_SPEEDSTEP (1ULL << 16)
#define MISC_ENABLE_NO_TURBO  (1ULL << 38)

/*
 * Bits that turn prefetchers off: of L2 (0), of adjacent lines (1), of L1 (2),
 * of L1 by instruction (3).  Silvermont and Goldmont have bits 0 and 2.
 * Intel SDM vol. 4, the tables of Nehalem (MSR_MISC_FEATURE_CONTROL) and
 * Silvermont.
 */
#define MSR_MISC_FEATURE_CONTROL 0x1a4

/* Bit 1: C1 also lowers rate and voltage.  Nehalem's table. */
#define MSR_POWER_CTL 0x1fc
#define POWER_CTL_C1E (1ULL << 1)

/*
 * Hardware-controlled performance states.  Only IA32_PM_ENABLE can be read
 * before its bit 0 is set.
 * Intel SDM vol. 3B, "Hardware-Controlled Performance States (HWP)".
 */
#define IA32_PM_ENABLE        0x770
#define PM_ENABLE_HWP         (1ULL << 0)
#define IA32_HWP_CAPABILITIES 0x771
#define HWP_GUARANTEED(v)     FIELD(v, 15, 8)
#define IA32_HWP_REQUEST_PKG  0x772
#define IA32_HWP_INTERRUPT    0x773
/* If bit 42 is 1, the levels of IA32_HWP_REQUEST_PKG apply, not these. */
#define IA32_HWP_REQUEST 0x774
#define IA32_HWP_STATUS  0x777
/* Least, greatest and wanted level.  Bits 31:24 are 0: performance. */
#define HWP_ALL(level) ((uint64_t)(level)*0x010101)

/*
 * AMD.  APM vol. 2 (24593), "Hardware Configuration Register (HWCR)",
 * "Hardware Performance Monitoring and Control", "Collaborative Processor
 * Performance Control"; PPR for family 19h, "Core::X86::Msr::PrefetchControl".
 */
#define AMD_HWCR             0xc0010015
#define HWCR_NO_BOOST        (1ULL << 25)
#define AMD_PSTATE_CONTROL   0xc0010062
#define PSTATE_CONTROL_BITS  0x7 /* 0: the fastest without boost */
#define AMD_PSTATE_STATUS    0xc0010063
#define AMD_CPPC_CAPABILITY  0xc00102b0
#define CPPC_NOMINAL(v)      FIELD(v, 23, 16)
#define AMD_CPPC_ENABLE      0xc00102b1
#define AMD_CPPC_REQUEST     0xc00102b3 /* laid out as HWP_ALL() */
#define AMD_PREFETCH_CONTROL 0xc0000108
#define PREFETCH_CONTROL_OFF 0x2f /* bit 4 is reserved */

/*
 * HLT in C1E: by the chipset after an SMI, or by the processor.  Families 0Fh
 * from model 40H on, and 10h.
 * Revision Guide for AMD Family 10h Processors (41322), erratum 400; BKDG for
 * family 10h (31116), "Interrupt Pending and CMP-Halt Register".
 */
#define AMD_INTERRUPT_PENDING 0xc0010055
#define INTERRUPT_PENDING_C1E 0x18000000
/*
 * A core whose threads are in HLT goes on to CC6.  Families 17h and 19h; a bit
 * for each of three registers of C-states.
 * Revision Guide for AMD Family 17h Models 30h-3Fh Processors (56323), erratum
 * 1474; AMD openSIL, "CcxC6.c" (family 19h).
 */
#define AMD_CSTATE_CONFIG 0xc0010296
#define CSTATE_CONFIG_CC6 0x404040

/*
 * Mitigations.  Intel, "Speculative Execution Side Channel Mitigations"
 * (336996), "Data Operand Independent Timing Instruction Set Architecture (ISA)
 * Guidance"; SDM vol. 4, "IA-32 Architectural MSRs".  IA32_SPEC_CTRL is also
 * AMD's: "Speculative Store Bypass Disable", APM vol. 3, Fn8000_0008_EBX.
 */
#define IA32_SPEC_CTRL         0x048 /* IBRS, STIBP, SSBD */
#define IA32_ARCH_CAPABILITIES 0x10a
#define IA32_TSX_CTRL          0x122
#define IA32_MCU_OPT_CTRL      0x123
#define IA32_UARCH_MISC_CTL    0x1b01 /* bit 0: DOITM */
