/*
 * The one door from libcpc to the kernel: flags and subcodes both speak,
 * operation numbers, shared structures.  Included by <libcpc.h>, by cpc/, by
 * kern/ and by the counter backends; tests/host puts a fake kernel behind it.
 */
#ifndef SYS_CPC_H
#define SYS_CPC_H

#include <stdint.h>

/* Flags of a request. */
#define CPC_OVF_NOTIFY_EMT    0x1  /* SIGEMT when its counter overflows */
#define CPC_COUNT_USER        0x2  /* count at user privilege */
#define CPC_COUNT_SYSTEM      0x4  /* count at system privilege */
#define CPC_COUNT_HV          0x8  /* count in the hypervisor */
#define CPC_COUNT_SAMPLE_MODE 0x10 /* SPARC's; accepted and ignored */
#define CPC_REQ_ALL_FLAGS     0x1f

/* Flags of a bind. */
#define CPC_BIND_LWP_INHERIT 0x1 /* new LWPs of this one get a copy */
#define CPC_BIND_EMT_OVF     0x2 /* of CPC v1's cpc_bind_event() only */

/* What cpc_caps() tells. */
#define CPC_CAP_OVERFLOW_INTERRUPT 0x1 /* an overflow can interrupt */
#define CPC_CAP_OVERFLOW_PRECISE   0x2 /* and tell which PIC it was */

/* Subcodes: what an error handler is told besides errno. */
#define CPC_INVALID_EVENT           1
#define CPC_INVALID_PICNUM          2
#define CPC_INVALID_ATTRIBUTE       3
#define CPC_ATTRIBUTE_OUT_OF_RANGE  4
#define CPC_RESOURCE_UNAVAIL        5
#define CPC_PIC_NOT_CAPABLE         6
#define CPC_REQ_INVALID_FLAGS       7
#define CPC_CONFLICTING_REQS        8
#define CPC_ATTR_REQUIRES_PRIVILEGE 9
#define CPC_PBIND_FAILED            10
#define CPC_HV_NO_ACCESS            11

/* Longest event and attribute name, interface name, reference; with NUL. */
#define CPC_MAX_EVENT_LEN 512
#define CPC_MAX_ATTR_LEN  32
#define CPC_MAX_IMPL_NAME 512
#define CPC_MAX_CPUREF    1024

/* What the kernel takes of one set. */
#define CPC_MAX_REQS       100
#define CPC_MAX_ATTRS      50    /* of one request */
#define CPC_MAX_PACK_BYTES 10000 /* of the whole, as packed below */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Operations.  The numbers are illumos's where it has the operation.  Every
 * one returns 0 or a positive result, or a negative errno; ENOSYS where the
 * machine has no usable PMU.  "The caller's context" is that of the calling
 * LWP; EINVAL where it has none or, with a set named, another set's; EAGAIN
 * where the context is invalid.
 */
enum cpc_op {
	/*
	 * a: struct cpc_pack, b: the set it is of, or ESTALE; c: CPC_BIND_*,
	 * d: struct cpc_refusal, filled by a failure that has a subcode.
	 */
	CPC_OP_BIND = 0,
	/* a: set, b: struct cpc_sample with room for c values (EINVAL). */
	CPC_OP_SAMPLE = 1,
	/* a: set.  Release the caller's instance. */
	CPC_OP_RELE = 3,
	/* b: buffer, c: its bytes; a list of one name. */
	CPC_OP_IMPL_NAME = 8,
	CPC_OP_CPUREF = 9,
	CPC_OP_NPIC = 12, /* the number of PICs */
	CPC_OP_CAPS = 13, /* CPC_CAP_* */
	/* On the caller's context, whatever set it holds. */
	CPC_OP_ENABLE = 14,
	CPC_OP_DISABLE = 15,
	CPC_OP_PRESET = 16, /* a: request index, b: preset */
	/* a: set, or 0 for whichever the context holds. */
	CPC_OP_RESTART = 17,
	CPC_OP_LIVE = 33,   /* a: set.  How many instances it has. */
	CPC_OP_REVOKE = 34, /* a: set.  Release all of them. */
	/* a: set, b: request index, c: struct cpc_where to fill. */
	CPC_OP_WHERE = 35,
	CPC_OP_LWP_SELF = 36, /* the LWP's id; works without a PMU */
	/*
	 * a, b: the process's read sequence, c: where a fault in [a, b) goes
	 * on.  The address of the LWP's counter page; ENOMEM where it has
	 * none and none can be made.
	 */
	CPC_OP_PAGE = 37,
	/*
	 * a: clock ticks from now, b: CPC_STIR_*, what is done then to the
	 * context: by it a test interrupts a read where it will.  EINVAL
	 * where it does not count now.
	 */
	CPC_OP_TEST_DISTURB = 38,
	/*
	 * a: instructions, b: CPC_COUNT_USER or CPC_COUNT_SYSTEM.  They have
	 * retired at that privilege, as far as a software PMU is concerned;
	 * ENOTSUP where a PMU sees for itself.
	 */
	CPC_OP_ADVANCE = 39,
	/*
	 * a: a descriptor of /dev/profile, b: frames of a sample, at most, up
	 * to CPC_PROFILE_DEPTH.  The caller's context, of one request that is
	 * to be told of overflows and inherited, no longer counts for the
	 * caller: from execve(2) on it counts for the program, for all LWPs
	 * of it, of processes that it forks, and of programs that any of them
	 * executes.  An overflow sends no signal but leaves a sample in the
	 * file, and the next period begins at the preset.  A file serves once.
	 * The programs themselves cannot bind meanwhile: EAGAIN.
	 *
	 * b of 0: no samples, but what the requests, of which none is to be
	 * told of overflows, counted from execve(2) to each LWP's end, summed.
	 */
	CPC_OP_PROFILE = 40,
	/* a: the descriptor, b: struct cpc_profile_stat to fill. */
	CPC_OP_PROFILE_STAT = 41,
	/*
	 * As CPC_OP_BIND, but c: the CPU to count on.  The caller is bound to
	 * it, until the set is released; by CPC_OP_RELE of any LWP.
	 */
	CPC_OP_BIND_CPU = 43,
	/*
	 * a: an address of the kernel's, as a sample has it, b, c: as for
	 * lists: the function's name.  EINVAL where it is in none.
	 */
	CPC_OP_KERNEL_SYMBOL = 44,
	/*
	 * a: a descriptor of /dev/profile, b: a sample's cm_image, c: struct
	 * cpc_profile_image to fill.  ENOENT where there is none.
	 */
	CPC_OP_PROFILE_IMAGE = 45,
	/* a: struct cpc_pmu to fill: what the library resolves names by. */
	CPC_OP_PMU = 47,
	/*
	 * The library resolved no name: counted as an event that was asked
	 * for and refused, which decides how a run ends that counted nothing.
	 */
	CPC_OP_UNRESOLVED = 48,
};

enum cpc_disturb {
	CPC_DISTURB_SWITCH, /* its PICs are taken and given back, as by a switch
	                     */
	CPC_DISTURB_FREEZE,
	CPC_DISTURB_INVALIDATE, /* as by a set that is bound to its CPU */
	CPC_DISTURB_MIGRATE, /* its LWP is bound to the next CPU, and goes there
	                      */
};

/*
 * Lists.  Names end in NUL, one after the other.  The result is the bytes of
 * the whole list; what fits in the buffer is copied, cut anywhere.
 */

/*
 * A set is named by a number the library never gives to two sets of one
 * process, and never 0.
 */
typedef uint64_t cpc_setid_t;

/*
 * A PMU, with what all CPUs have of it.  PICs are masks: bit n, PIC n.
 */
enum cpc_pmu_kind {
	CPC_PMU_INTEL,
	CPC_PMU_AMD,
	CPC_PMU_ARM,
	CPC_PMU_SOFTWARE,
};

/* Attributes; "picnum" is the library's own. */
enum cpc_attr_id {
	CPC_ATTR_EDGE,
	CPC_ATTR_PC,
	CPC_ATTR_INV,
	CPC_ATTR_UMASK,
	CPC_ATTR_CMASK,
	CPC_ATTR_ANYTHR,
	CPC_ATTR_MSR_OFFCORE,
	CPC_ATTR_MSR_LDLAT,
	CPC_ATTR_MSR_FRONTEND,
	CPC_ATTR_IDS
};

#define CPC_PMU_OWN    4
#define CPC_PMU_MODELS 32

/* An event that an emulator models: bits 31:0 of the event select. */
struct cpc_model {
	uint32_t ml_select;
	uint32_t ml_choose; /* which of them choose the event */
	uint32_t ml_obeyed; /* which others the emulator obeys with it */
};

struct cpc_pmu {
	uint32_t pm_kind;    /* enum cpc_pmu_kind */
	uint32_t pm_attrs;   /* bit n: takes attribute n */
	uint32_t pm_pics;    /* that can be had */
	uint32_t pm_general; /* that count any code */
	/*
	 * That count one event of their own: Intel's fixed counter n, the
	 * software PMU's event n.
	 */
	uint32_t pm_own[CPC_PMU_OWN];
	/* x86: of CPUID; Arm: MIDR_EL1's Implementer and PartNum, and 0 */
	uint32_t pm_family, pm_model, pm_stepping;
	uint32_t pm_extras;    /* bit n: has register n of enum event_extra */
	uint32_t pm_cache;     /* Intel: the level of the last cache */
	uint32_t pm_generic;   /* software: bit n, event n has a PAPI_ name */
	uint64_t pm_events[2]; /* Intel: bit n, architectural event n is there;
	                          Arm: PMCEID0_EL0, PMCEID1_EL0 */
	uint64_t pm_absent; /* Intel: bit n, CPUID says there is no event n */
	/*
	 * Not 0: an emulator lists what it models.  x86: in pm_models; Arm: in
	 * pm_events.
	 */
	uint32_t pm_listed, pm_nmodels;
	struct cpc_model pm_models[CPC_PMU_MODELS];
	uint64_t pm_lacking; /* Intel: bits of the event select that are not
	                        there */
};

/* An event, resolved.  The kernel believes none of it when it comes back. */
struct cpc_event {
	uint32_t ce_pics; /* bit n: PIC n can count it */
	uint32_t ce_flags;
	uint64_t ce_code;  /* the backend's own */
	uint64_t ce_extra; /* what a register beside is to hold for it */
};
#define CPC_EVENT_GENERIC 0x1 /* a PAPI_ name: takes no attribute */
#define CPC_EVENT_RAW     0x2 /* a number */
/* The library's: this CPU lacks what the event needs, so it is not listed. */
#define CPC_EVENT_LACKING 0x8
/* The name says at which privilege, `:u`: these go before the request's. */
#define CPC_EVENT_LEVELS      0x4
#define CPC_EVENT_LEVEL_SHIFT 8  /* CPC_COUNT_USER, _SYSTEM, _HV */
#define CPC_EVENT_EXTRA_SHIFT 16 /* which register beside */

/*
 * A set as it is bound: this header, then each request with its attributes
 * behind it, in order of addition.
 */
struct cpc_pack {
	cpc_setid_t cp_set; /* 0 while it changes */
	uint32_t cp_nreqs;
	uint32_t cp_bytes; /* of all of it */
};

struct cpc_packreq {
	struct cpc_event cr_event;
	uint64_t cr_preset;
	uint32_t cr_flags;
	int32_t cr_picnum; /* -1: any */
	uint32_t cr_nattrs;
	uint32_t cr_pad;
};

struct cpc_packattr {
	uint32_t cpa_id; /* enum cpc_attr_id */
	uint32_t cpa_pad;
	uint64_t cpa_value;
};

/* Why a set was not bound. */
#define CPC_WHY_BYTES 160

struct cpc_refusal {
	int32_t cf_subcode;
	char cf_why[CPC_WHY_BYTES]; /* besides: part of a line, or "" */
};

/* A snapshot; the kernel writes all of it or nothing. */
struct cpc_sample {
	int64_t cs_hrtime; /* ns, of gethrtime() */
	uint64_t cs_tick;
	uint64_t cs_value[];
};

/* Where a bound request is being counted. */
struct cpc_where {
	uint32_t cw_pic;
	uint32_t cw_width; /* bits of that PIC's counter */
	uint64_t cw_code;  /* the event, as the PMU encodes it */
	/* The PIC, to the read instruction: RDPMC, PMEVCNTR<n>_EL0. */
	uint32_t cw_index;
	uint32_t cw_pad;
};

/*
 * The counter page: what the LWP needs to sample without a trap, and where
 * the kernel itself keeps the counts.  It is written while the LWP does not
 * run, so a reader that finds cg_seq as it was saw one state of everything.
 */
struct cpc_page_req {
	uint64_t cq_data;  /* the count when the PIC held cq_last */
	uint64_t cq_last;  /* so: data + (PIC - last) modulo 2^(64 - shift) */
	uint64_t cq_index; /* the PIC, to the read instruction */
	uint64_t cq_shift; /* 64 - width */
};

#define CPC_PAGE_REQS 32

struct cpc_page {
	uint64_t cg_seq;
	uint64_t cg_tick; /* cycles; while the set runs, less the PMU's tick */
	cpc_setid_t cg_set; /* that is running; 0: ask the kernel */
	uint64_t cg_nreqs;
	/* hrtime: bits 64 and up of (clock << cg_lift) * cg_mult */
	uint64_t cg_mult;
	uint64_t cg_lift;
	cpc_setid_t cg_frozen; /* that is frozen, with its counts; or 0 */
	int64_t cg_hrtime;     /* then: since when */
	struct cpc_page_req cg_req[]; /* CPC_PAGE_REQS of them */
};

/*
 * What read(2) gives of /dev/profile: samples, one behind the other, whole
 * ones only; nothing where there is none.  Of depth 0 it gives a uint64_t
 * for each request, in their order, from the first one each time.
 */
#define CPC_PROFILE_DEPTH 64

struct cpc_profile_sample {
	uint32_t cm_lwp;
	uint16_t cm_nframes;
	uint16_t cm_image; /* the program's number */
	/*
	 * The next instruction; the callers' behind it.  The first may be the
	 * kernel's, bit 63 set: what the program asked it for comes next.
	 */
	uint64_t cm_pc[];
};

/* A program that had no memory to be remembered in. */
#define CPC_PROFILE_NO_IMAGE 0xffff

struct cpc_profile_image {
	uint64_t ci_bias; /* where the program lies, less where linked */
	char ci_path[64]; /* as it was executed, cut to fit */
};

struct cpc_profile_stat {
	uint64_t ct_samples;
	uint64_t ct_lost;    /* of these, for want of memory */
	uint64_t ct_events;  /* counted, the periods begun included */
	uint32_t ct_lwps;    /* that were counted */
	uint32_t ct_revoked; /* of these, whose counters a CPU's set took */
	uint32_t ct_left;    /* of these, that have yet to end */
	uint32_t ct_kernel;  /* 1: samples are where in the kernel, too */
};

/* Through the door: cpc/<machine>/door.S.  A value, or -errno. */
intptr_t cpc_syscall(
    enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

#ifdef __cplusplus
}
#endif

#endif /* SYS_CPC_H */
