/*
 * The meaning of event codes, on which the kernel and the library agree.  The
 * kernel knows no names.  Included by kern/ and events/; includes only headers
 * of the compiler.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The extra MSR that an event needs. */
enum event_extra {
	EXTRA_NONE,
	EXTRA_OFFCORE0, /* MSR_OFFCORE_RSP_0 */
	EXTRA_OFFCORE1, /* MSR_OFFCORE_RSP_1 */
	EXTRA_LDLAT,    /* MSR_PEBS_LD_LAT */
	EXTRA_FRONTEND, /* MSR_PEBS_FRONTEND */
	EXTRA_N,
	EXTRA_CCCR = EXTRA_N, /* NetBurst: MSR_*_CCCR<n> of the PIC */
};

/*
 * The extra MSR of Intel's events B7H, BBH, 2AH and 2BH, or EXTRA_NONE for
 * another event.  The unit mask of B7H selects one of both.
 * Intel SDM vol. 3B, "Off-core Response Performance Monitoring".
 */
static inline enum event_extra
events_offcore(uint64_t select)
{
	switch (select & 0xff) {
	case 0xb7:
		return (select & 0xff00) == 0x200 ? EXTRA_OFFCORE1
		                                  : EXTRA_OFFCORE0;
	case 0x2a:
		return EXTRA_OFFCORE0;
	case 0xbb:
	case 0x2b:
		return EXTRA_OFFCORE1;
	default:
		return EXTRA_NONE;
	}
}

/*
 * Does MSR_PEBS_LD_LAT restrict this event of Intel's?  These are CDH,
 * Nehalem's 0BH, and from Gracemont on D0H with unit mask 05H. Intel SDM vol.
 * 3B, "Load Latency Performance Monitoring Facility"; Intel's lists of events,
 * MSRIndex 3F6H.
 */
static inline bool
events_has_ldlat(uint64_t select)
{
	return (select & 0xff) == 0xcd || (select & 0xff) == 0x0b ||
	       (select & 0xffff) == 0x05d0;
}

/*
 * Does MSR_PEBS_FRONTEND choose what this event of Intel's counts?  These are
 * C6H, and from Golden Cove on two unit masks of ADH and C2H.
 * Intel SDM vol. 3B, "PEBS Frontend Facility"; Intel's lists of events,
 * MSRIndex 3F7H.
 */
static inline bool
events_has_frontend(uint64_t select)
{
	return (select & 0xff) == 0xc6 || (select & 0xffff) == 0x40ad ||
	       (select & 0xffff) == 0x04c2;
}

/*
 * Intel: event and unit mask, as in the event select of a general PIC.  The
 * code of an event that only fixed counter n counts is its RDPMC index.
 */
#define INTEL_CODE(event, umask) ((event) | (uint32_t)(umask) << 8)
#define INTEL_FIXED_CODE(n)      (0x40000000U + (n))
#define INTEL_NFIXED             4
#define INTEL_INSTRUCTIONS       INTEL_CODE(0xc0, 0)
#define INTEL_CYCLES             INTEL_CODE(0x3c, 0)
#define INTEL_RAW_MAX            0xffU

/* Bits of CPUID.0AH:EBX: which architectural events are absent. */
enum intel_arch_event {
	INTEL_CORE_CYCLES,
	INTEL_INSTRUCTIONS_RETIRED,
	INTEL_REF_CYCLES,
	INTEL_LLC_REFERENCES,
	INTEL_LLC_MISSES,
	INTEL_BRANCHES,
	INTEL_BRANCH_MISSES,
	INTEL_SLOTS,
	INTEL_BACKEND_BOUND,
	INTEL_BAD_SPECULATION,
	INTEL_FRONTEND_BOUND,
	INTEL_RETIRING,
	INTEL_LBR_INSERTS,
	INTEL_FIXED_ALONE = 0xff, /* no bit: see if the fixed counter exists */
};

/*
 * The bit of the architectural event with this code, or -1.
 * Intel SDM vol. 3B, "Pre-defined Architectural Performance Events".
 */
static inline int
intel_arch_bit(uint64_t code)
{
	static const uint32_t codes[] = {
		[INTEL_CORE_CYCLES] = INTEL_CYCLES,
		[INTEL_INSTRUCTIONS_RETIRED] = INTEL_INSTRUCTIONS,
		[INTEL_REF_CYCLES] = INTEL_CODE(0x3c, 1),
		[INTEL_LLC_REFERENCES] = INTEL_CODE(0x2e, 0x4f),
		[INTEL_LLC_MISSES] = INTEL_CODE(0x2e, 0x41),
		[INTEL_BRANCHES] = INTEL_CODE(0xc4, 0),
		[INTEL_BRANCH_MISSES] = INTEL_CODE(0xc5, 0),
		[INTEL_SLOTS] = INTEL_CODE(0xa4, 1),
		[INTEL_BACKEND_BOUND] = INTEL_CODE(0xa4, 2),
		[INTEL_BAD_SPECULATION] = INTEL_CODE(0x73, 0),
		[INTEL_FRONTEND_BOUND] = INTEL_CODE(0x9c, 1),
		[INTEL_RETIRING] = INTEL_CODE(0xc2, 2),
		[INTEL_LBR_INSERTS] = INTEL_CODE(0xe4, 1),
	};

	for (int bit = 0; bit < (int)(sizeof codes / sizeof codes[0]); bit++) {
		if (codes[bit] == code)
			return bit;
	}
	return -1;
}

/*
 * Does fixed counter n count what this code means?
 * Intel SDM vol. 3B, "Fixed-function Performance Counter".
 */
static inline bool
intel_fixed_counts(unsigned n, uint64_t code)
{
	return code == INTEL_FIXED_CODE(n) ||
	       (n == 0 && code == INTEL_INSTRUCTIONS) ||
	       (n == 1 && code == INTEL_CYCLES);
}

/*
 * The same for the code of a table, which has event 00H and a unit mask for
 * what fixed counters alone count.
 */
static inline bool
intel_fixed_tabled(unsigned n, uint64_t code)
{
	return code == (n + 1) << 8 || intel_fixed_counts(n, code);
}

/* AMD: an event of twelve bits and its unit mask, as in the event select. */
#define AMD_CODE(event, umask)                                                 \
	(((event)&0xffU) | (uint64_t)((event) >> 8) << 32 | (umask) << 8)
#define AMD_CODE_EVENT(code) ((unsigned)((code)&0xff) | ((code) >> 24 & 0xf00U))

#define AMD_CYCLES       0x076
#define AMD_INSTRUCTIONS 0x0c0
#define AMD_RAW_MAX      0xfffU

#define AMD_FAMILY_K8  0x0f
#define AMD_FAMILY_15H 0x15
#define AMD_FAMILY_ZEN 0x17

/* amd_pics.c: bit n: core counter n of AMD's family 15h counts the event. */
uint32_t events_amd_15h_pics(unsigned event);

/* Bit n: core counter n of this family counts the event. */
static inline uint32_t
amd_event_pics(unsigned family, uint64_t code)
{
	return family == AMD_FAMILY_15H
	           ? events_amd_15h_pics(AMD_CODE_EVENT(code))
	           : ~0U;
}

/*
 * Arm: is this a common event, which PMCEID announces?  PMCEID0_EL0 has 0x0 to
 * 0x1f, and in its upper half 0x4000 to 0x401f.  PMCEID1_EL0 has the 32 after
 * each.
 * Arm ARM (DDI 0487), "PMCEID0_EL0".
 */
static inline bool
arm_is_common(unsigned number)
{
	return (number & ~0x3fU) == 0 || (number & ~0x3fU) == 0x4000;
}

static inline bool
arm_has_common(const uint64_t ceid[2], unsigned number)
{
	unsigned bit = number % 32 + (number >= 0x4000 ? 32 : 0);

	return arm_is_common(number) &&
	       (ceid[(number & 0x3f) / 32] >> bit & 1) != 0;
}

#define ARM_SW_INCR      0x0000
#define ARM_INST_RETIRED 0x0008
#define ARM_CPU_CYCLES   0x0011
#define ARM_INST_SPEC    0x001b

/*
 * The software PMU: a number, or one of its events after those.  The last two
 * events are references and hits of a cache, for SOFT_ULTRA alone.
 */
#define SOFT_RAW_MAX      0xffU
#define SOFT_CODE(n)      (0x100U + (n))
#define SOFT_NEVENT       3
#define SOFT_INSTRUCTIONS 0
#define SOFT_CYCLES       1
#define SOFT_BRANCHES     2
#define SOFT_EC_REF       3
#define SOFT_EC_HIT       4
#define SOFT_NALL         5

/* The CPU that the software PMU is a model of. */
enum soft_model {
	SOFT_PLAIN, /* none */
	SOFT_P4,    /* Pentium 4 with HyperThreading */
	SOFT_ULTRA, /* UltraSPARC */
};

/* Linux's struct perf_event_attr, as PERF_ATTR_SIZE_VER7 has it. */
struct linux_attr {
	uint32_t type, size;
	uint64_t config, period, sample_type, format, flags, wakeup, config1;
	uint64_t more[5];
	uint32_t watermark, stack, aux_bytes, reserved;
	uint64_t signal_data;
};
#define LINUX_ATTR_LEAST 64 /* PERF_ATTR_SIZE_VER0 */
#define LINUX_NEVENTS    10 /* of hardware, and of software */

enum { LINUX_HARDWARE, LINUX_SOFTWARE, LINUX_CACHE = 3, LINUX_RAW };
#define LINUX_DISABLED  (1U << 0)
#define LINUX_INHERIT   (1U << 1)
#define LINUX_PINNED    (1U << 2)
#define LINUX_EXCLUSIVE (1U << 3)
#define LINUX_NO_USER   (1U << 4)
#define LINUX_NO_KERNEL (1U << 5)
#define LINUX_FREQUENCY (1U << 10)
#define LINUX_ON_EXEC   (1U << 12)
#define LINUX_PRECISE   (3U << 15)
#define LINUX_SAMPLE_IP 1 /* in sample_type */

/*
 * names/linux_event.c: is the struct one that this kernel serves?  Then make a
 * request of it, whose ce_pics is 0 for an event of software.  system: programs
 * run at system privilege.  Both return 0 or Linux's error number.
 */
struct cpc_pmu;
struct cpc_packreq;
int events_linux_check(const struct linux_attr *attr);
int events_linux(const struct cpc_pmu *pm, const struct linux_attr *attr,
    bool system, struct cpc_packreq *pr);

/* The code of a number that no event has.  A bind refuses it. */
#define EVENT_CODE_TOO_HIGH (~0ULL)
