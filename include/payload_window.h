/*
 * Counts a few instructions in place.  Part of <payload.h>, in C or C++.
 *
 *	struct payload_window w;
 *	uint64_t count;
 *
 *	payload_begin(w, 0);
 *	...
 *	count = payload_end(w, 0) - overhead;
 *
 * The 0 is the PIC's number for the read instruction, a literal: ri_index of
 * cpc_request_info().  The PIC's set is bound to the LWP.  Counts are modulo
 * 2^width.
 *
 * The window always runs the same instructions, on registers only.  So its own
 * part of the count is constant, and payload_empty(0) measures it.  If the
 * event is instructions, that part is PAYLOAD_WINDOW_INSNS.
 *
 * If the set freezes inside the window, the read faults: SIGILL on arm64,
 * SIGSEGV on x86-64.  A PIC that can load only 32 bits (docs/x86.md) may start
 * again at another value when the LWP is switched out.  Repeat such a window.
 */
#ifndef PAYLOAD_WINDOW_H
#define PAYLOAD_WINDOW_H

#include <errno.h>
#include <payload.h>
#include <stdint.h>

/* The PIC's value at payload_begin(); arm64 uses pw_low only. */
struct payload_window {
	uint64_t pw_low, pw_high;
};

#define payload_empty(n)                                                       \
	__extension__({                                                        \
		struct payload_window payload_w_;                              \
		payload_begin(payload_w_, n);                                  \
		payload_end(payload_w_, n);                                    \
	})

/*
 * At system privilege a payload can stop and start all running PICs at once,
 * and read or sample them while they are stopped:
 *
 *	struct payload_pics pics;
 *
 *	if (payload_pics(&pics) == -1)
 *		...
 *	payload_stop_all(pics);
 *	cpc_set_sample(cpc, set, before);
 *	payload_start_all(pics);
 *	...
 *	payload_stop_all(pics);
 *	cpc_set_sample(cpc, set, after);
 *	payload_start_all(pics);
 *
 * A start and a stop together count PAYLOAD_ALL_INSNS instructions on each
 * PIC.  The kernel does not know that the PICs are stopped.  If it switches
 * the LWP, they run again.  Use this for an LWP that is alone on its CPU.
 *
 * payload_pics() selects the PICs that run now.  It returns -1 with errno EPERM
 * at user privilege, or ENOTSUP if no register stops all PICs (perfmon version
 * 1, AMD before PerfMonV2).
 */

#if defined(__aarch64__)

/*
 * Arm ARM (DDI 0487), "PMEVCNTR<n>_EL0", "PMCNTENSET_EL0", "PMCNTENCLR_EL0".
 * PMCCNTR_EL0, bit 31, is the tick and runs on.
 */
struct payload_pics {
	uint64_t pp_run;
};

#define PAYLOAD_WINDOW_INSNS 3 /* MRS, ISB, ISB */
#define PAYLOAD_ALL_INSNS    3 /* ISB, MOV, MSR */

#define payload_begin(w, n)                                                    \
	__asm__ volatile("isb\n\tmrs %0, pmevcntr" #n "_el0\n\tisb"            \
			 : "=r"((w).pw_low)                                    \
			 :                                                     \
			 : "memory")

#define payload_end(w, n)                                                      \
	__extension__({                                                        \
		uint64_t payload_v_;                                           \
		__asm__ volatile("isb\n\tmrs %0, pmevcntr" #n "_el0\n\tisb"    \
				 : "=r"(payload_v_)                            \
				 :                                             \
				 : "memory");                                  \
		payload_v_ - (w).pw_low;                                       \
	})

#define payload_start_all(pics)                                                \
	__asm__ volatile("msr pmcntenset_el0, %0\n\tisb"                       \
			 :                                                     \
			 : "r"((pics).pp_run)                                  \
			 : "memory")

#define payload_stop_all(pics)                                                 \
	__extension__({                                                        \
		uint64_t payload_v_;                                           \
		(void)(pics);                                                  \
		__asm__ volatile("mov %0, 0x7fffffff\n\t"                      \
				 "msr pmcntenclr_el0, %0\n\tisb"               \
				 : "=&r"(payload_v_)                           \
				 :                                             \
				 : "memory");                                  \
	})

static inline int
payload_pics(struct payload_pics *pp)
{
	if (payload_privilege() != PAYLOAD_SYSTEM) {
		errno = EPERM;
		return -1;
	}
	__asm__ volatile("mrs %0, pmcntenset_el0" : "=r"(pp->pp_run));
	pp->pp_run &= 0x7fffffff;
	return 0;
}

#elif defined(__x86_64__)

#include <cpuid.h>

/*
 * IA32_PERF_GLOBAL_CTRL, or AMD's PerfCntrGlobalCtl.  WRMSR serializes: all
 * instructions before it have retired, and none after it has begun.
 * Intel SDM vol. 2B, "RDPMC", "WRMSR"; vol. 3A, "Serializing Instructions";
 * vol. 3B, "Architectural Performance Monitoring Version 2".
 * AMD APM vol. 2 (24593), "Performance Counter Global Control".
 */
struct payload_pics {
	uint32_t pp_msr;
	uint32_t pp_low, pp_high; /* its value while the PICs run */
};
#define PAYLOAD_INTEL_CTRL 0x38fU
#define PAYLOAD_AMD_CTRL   0xc0000301U

#define PAYLOAD_WINDOW_INSNS 6 /* RDPMC, MOV, MOV, LFENCE; MOV, LFENCE */
#define PAYLOAD_ALL_INSNS    4 /* MOV, XOR, XOR, WRMSR */

#define payload_begin(w, n)                                                    \
	__asm__ volatile("mov %2, %%ecx\n\tlfence\n\trdpmc\n\t"                \
			 "mov %%rax, %0\n\tmov %%rdx, %1\n\tlfence"            \
			 : "=r"((w).pw_low), "=r"((w).pw_high)                 \
			 : "i"(n)                                              \
			 : "rax", "rcx", "rdx", "memory")

#define payload_end(w, n)                                                      \
	__extension__({                                                        \
		uint64_t payload_low_, payload_high_;                          \
		__asm__ volatile("mov %2, %%ecx\n\tlfence\n\trdpmc\n\tlfence"  \
				 : "=&a"(payload_low_), "=&d"(payload_high_)   \
				 : "i"(n)                                      \
				 : "rcx", "memory");                           \
		(payload_high_ << 32 | payload_low_) -                         \
		    ((w).pw_high << 32 | (w).pw_low);                          \
	})

#define payload_start_all(pics)                                                \
	__asm__ volatile(                                                      \
	    "wrmsr"                                                            \
	    :                                                                  \
	    : "c"((pics).pp_msr), "a"((pics).pp_low), "d"((pics).pp_high)      \
	    : "memory")

#define payload_stop_all(pics)                                                 \
	__asm__ volatile("mov %0, %%ecx\n\txor %%eax, %%eax\n\t"               \
			 "xor %%edx, %%edx\n\twrmsr"                           \
			 :                                                     \
			 : "rm"((pics).pp_msr)                                 \
			 : "rax", "rcx", "rdx", "cc", "memory")

/* The number of the global-control MSR, or 0 if the CPU has none. */
static inline uint32_t
payload_pics_msr(void)
{
	uint32_t a, b, c, d;

	if (__get_cpuid_count(0x80000022, 0, &a, &b, &c, &d) && (a & 1) != 0)
		return PAYLOAD_AMD_CTRL;
	if (__get_cpuid_count(0xa, 0, &a, &b, &c, &d) && (a & 0xff) >= 2)
		return PAYLOAD_INTEL_CTRL;
	return 0;
}

static inline int
payload_pics(struct payload_pics *pp)
{
	if (payload_privilege() != PAYLOAD_SYSTEM) {
		errno = EPERM;
		return -1;
	}
	if ((pp->pp_msr = payload_pics_msr()) == 0) {
		errno = ENOTSUP;
		return -1;
	}
	__asm__ volatile("rdmsr"
			 : "=a"(pp->pp_low), "=d"(pp->pp_high)
			 : "c"(pp->pp_msr));
	return 0;
}

#endif

#endif /* PAYLOAD_WINDOW_H */
