/*
 * Model-specific registers by their names in Intel SDM vol. 4, "IA-32
 * Architectural MSRs".  Included by arch/x86/.
 */
#pragma once

/*
 * The local APIC.  Bit 11 enables it, bit 10 puts it into x2APIC mode, and the
 * rest is the address of its registers.
 */
#define IA32_APIC_BASE   0x01b
#define IA32_PAT         0x277
#define APIC_BASE_X2APIC (1ULL << 10)
#define APIC_BASE_ENABLE (1ULL << 11)
#define APIC_BASE_ADDR   0x000ffffffffff000ULL

/* Bit 22 limits CPUID to the first leaves. */
#define IA32_MISC_ENABLE         0x1a0
#define MISC_ENABLE_LIMITS_CPUID (1ULL << 22)

/*
 * Machine checks: the features, the status and the control of the CPU.  For
 * each bank: its control, and the status, address and details of its error.
 */
#define IA32_MCG_CAP      0x179
#define MCG_CAP_COUNT     0xff
#define MCG_CAP_CTL       0x100 /* IA32_MCG_CTL exists */
#define IA32_MCG_STATUS   0x17a
#define IA32_MCG_CTL      0x17b
#define IA32_MC_CTL(i)    (0x400 + 4 * (i))
#define IA32_MC_STATUS(i) (0x401 + 4 * (i))
#define IA32_MC_ADDR(i)   (0x402 + 4 * (i))
#define IA32_MC_MISC(i)   (0x403 + 4 * (i))
#define MC_STATUS_VAL     (1ULL << 63)
#define MC_STATUS_UC      (1ULL << 61) /* hardware did not correct it */
#define MC_STATUS_MISCV   (1ULL << 59)
#define MC_STATUS_ADDRV   (1ULL << 58)
#define MC_STATUS_PCC     (1ULL << 57) /* the CPU's state is damaged */

/*
 * SMIs since the last reset, in bits 31:0.  Nehalem, Silvermont and later.
 * Intel SDM vol. 4, "MSRs in Processors Based on Nehalem Microarchitecture".
 */
#define MSR_SMI_COUNT 0x034

/* Added to the TSC of this CPU.  Intel SDM vol. 3B, "Time-Stamp Counter". */
#define IA32_TSC_ADJUST 0x03b

/* Frequencies in Hz, by Hyper-V (arch/x86/dev/tsc.c). */
#define HV_X64_MSR_TSC_FREQUENCY  0x40000022
#define HV_X64_MSR_APIC_FREQUENCY 0x40000023

#define IA32_SYSENTER_CS  0x174 /* 0: SYSENTER is #GP */
#define IA32_BIOS_SIGN_ID 0x08b /* microcode revision, in bits 63:32 */
#define IA32_TSC_DEADLINE 0x6e0 /* 0: disarmed */
#define IA32_X2APIC       0x800 /* APIC register n is here + n / 16 */

/*
 * SYSCALL: its selectors, its entry, and the flags that it clears.  SWAPGS
 * exchanges the last two registers of this list.
 */
#define IA32_STAR           0xc0000081
#define IA32_LSTAR          0xc0000082
#define IA32_FMASK          0xc0000084
#define IA32_FS_BASE        0xc0000100
#define IA32_GS_BASE        0xc0000101
#define IA32_KERNEL_GS_BASE 0xc0000102
#define IA32_TSC_AUX        0xc0000103
