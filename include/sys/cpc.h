/*
 * The interface of libcpc to the kernel: flags, subcodes, operations of the
 * system call, shared structures.  Included by <libcpc.h>, cpc/, kern/ and the
 * counter backends.
 */
#ifndef SYS_CPC_H
#define SYS_CPC_H

#include <stdint.h>

/* Flags of a request. */
#define CPC_OVF_NOTIFY_EMT    0x1  /* SIGEMT when its counter overflows */
#define CPC_COUNT_USER        0x2  /* count at user privilege */
#define CPC_COUNT_SYSTEM      0x4  /* count at system privilege */
#define CPC_COUNT_HV          0x8  /* count in the hypervisor */
#define CPC_COUNT_SAMPLE_MODE 0x10 /* for SPARC; accepted and ignored */
#define CPC_REQ_ALL_FLAGS     0x1f

/* Flags of a bind. */
#define CPC_BIND_LWP_INHERIT 0x1 /* LWPs that this one creates get the set */
#define CPC_BIND_EMT_OVF     0x2 /* for cpc_bind_event() of version 1 only */

/* Result of cpc_caps(). */
#define CPC_CAP_OVERFLOW_INTERRUPT 0x1 /* an overflow can interrupt */
#define CPC_CAP_OVERFLOW_PRECISE   0x2 /* the PMU reports which PIC it was */
#define CPC_CAP_OVERFLOW_FREEZE    0x4 /* it stops the set's counts at once */

/* Subcodes: they tell an error handler more than errno does. */
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

/*
 * Greatest length of the name of an event, of an attribute, of the counter
 * interface, and of its reference.  The NUL is included.
 */
#define CPC_MAX_EVENT_LEN 512
#define CPC_MAX_ATTR_LEN  32
#define CPC_MAX_IMPL_NAME 512
#define CPC_MAX_CPUREF    1024

/* Limits of one set in the kernel. */
#define CPC_MAX_REQS       100
#define CPC_MAX_ATTRS      50    /* of one request */
#define CPC_MAX_PACK_BYTES 10000 /* of its struct cpc_pack */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Operations.  The numbers are illumos's where it has the operation.  Each
 * operation returns 0 or a positive result, or a negative errno.  ENOSYS means
 * that the machine has no usable PMU.
 *
 * "The context" is that of the calling LWP.  EINVAL: the LWP has no context, or
 * the argument names another set than the context's.  EAGAIN: the context is
 * invalid.
 */
enum cpc_op {
	/*
	 * Bind.  a: struct cpc_pack, b: its set, c: target, d: struct
	 * cpc_refusal, which a failure with a subcode fills.  ESTALE if the
	 * pack is closed, or belongs to another set.
	 */
	CPC_OP_BIND = 0,
	/*
	 * Sample.  a: set, b: struct cpc_sample, c: its number of values;
	 * EINVAL if the set has another number of requests.  d: target.
	 */
	CPC_OP_SAMPLE = 1,
	/* Make the context of the LWP CPC_TARGET() d invalid. */
	CPC_OP_INVALIDATE = 2,
	/* Unbind.  a: set, d: target. */
	CPC_OP_RELE = 3,
	/* The name of the counter interface, a list.  b: buffer, c: bytes. */
	CPC_OP_IMPL_NAME = 8,
	/* Its reference, in the same form. */
	CPC_OP_CPUREF = 9,
	/* Returns the number of PICs. */
	CPC_OP_NPIC = 12,
	/* Returns CPC_CAP_*. */
	CPC_OP_CAPS = 13,
	/* Let a frozen context count again. */
	CPC_OP_ENABLE = 14,
	/* Freeze the context. */
	CPC_OP_DISABLE = 15,
	/* Change a preset of the context.  a: request index, b: preset. */
	CPC_OP_PRESET = 16,
	/* Start again at the presets.  a: set, or 0 for the context's. */
	CPC_OP_RESTART = 17,
	/* Returns the number of instances in the process.  a: set. */
	CPC_OP_LIVE = 33,
	/* Unbind all instances in the process.  a: set. */
	CPC_OP_REVOKE = 34,
	/* Fill struct cpc_where *c.  a: set, b: request index, d: target. */
	CPC_OP_WHERE = 35,
	/* Returns the LWP's id.  Works without a PMU. */
	CPC_OP_LWP_SELF = 36,
	/*
	 * Returns the address of the LWP's counter page.  The direct read is
	 * the code in [a, b); the LWP continues at c after a fault in it.
	 * ENOMEM if the page cannot be made.
	 */
	CPC_OP_PAGE = 37,
	/*
	 * For tests: act on the running context after a clock ticks, in the
	 * middle of a read for example.  b: enum cpc_disturb.  EINVAL if the
	 * context is not running.
	 */
	CPC_OP_TEST_DISTURB = 38,
	/*
	 * Tell the software PMU that instructions retired.  a: how many, b:
	 * CPC_COUNT_USER or CPC_COUNT_SYSTEM.  ENOTSUP on any other PMU.
	 */
	CPC_OP_ADVANCE = 39,
	/*
	 * Turn the context into a profile.  a: a descriptor of /dev/profile,
	 * which has no profile yet, b: frames of a sample, CPC_PROFILE_DEPTH
	 * at most.
	 *
	 * From the next execve(2) on, the context counts for the program: all
	 * its LWPs, the processes that it forks, and the programs that these
	 * execute.  They cannot bind sets of their own: EAGAIN.
	 *
	 * With b > 0 the set has one request with CPC_OVF_NOTIFY_EMT, bound
	 * with CPC_BIND_LWP_INHERIT.  An overflow writes a sample to the file
	 * in place of a signal, and the request starts again at its preset.
	 *
	 * With b of 0 there are no samples, and no request asks for overflow
	 * notification.  The file holds the sum of each request's counts, from
	 * the execve(2) to the end of each LWP.
	 *
	 * With b of CPC_PROFILE_ROWS the file holds rows of counts, one for
	 * each LWP when it ends.  Only the first request may have
	 * CPC_OVF_NOTIFY_EMT, at user privilege.  Then each overflow adds a
	 * row, and all requests start again at their presets.
	 */
	CPC_OP_PROFILE = 40,
	/* Fill struct cpc_profile_stat *b.  a: descriptor. */
	CPC_OP_PROFILE_STAT = 41,
	/*
	 * The name of a function of the kernel, a list.  a: an address in it,
	 * from a sample, b: buffer, c: bytes.  EINVAL if no function has it.
	 */
	CPC_OP_KERNEL_SYMBOL = 44,
	/*
	 * Fill struct cpc_profile_image *c.  a: descriptor of /dev/profile, b:
	 * cm_image of a sample.  ENOENT if the profile has no such image.
	 * Libraries are images, too: numbers have no gap.
	 */
	CPC_OP_PROFILE_IMAGE = 45,
	/*
	 * Fill struct cpc_pmu *a, which the library needs to resolve names.  b:
	 * 0 for what all CPUs share, n + 1 for core type n.  EINVAL if there is
	 * no such type.
	 */
	CPC_OP_PMU = 47,
	/*
	 * Report that the library could not resolve a name, or that the wanted
	 * PIC cannot count it.  A run that counted nothing because of it fails.
	 */
	CPC_OP_UNRESOLVED = 48,
	/*
	 * Could the LWP bind a set now?  EAGAIN: a CPU has the counters, or a
	 * profile counts the LWP; EACCES: CPUs share a PMU.
	 */
	CPC_OP_ACCESS = 54,
	/*
	 * Let all requests of the context count at a privilege, or not.  Counts
	 * and ticks continue.  a: CPC_COUNT_USER or CPC_COUNT_SYSTEM, b: 1 or
	 * 0.  EINVAL: the process's controller has not bound the context.
	 */
	CPC_OP_LEVEL = 59,
};

/*
 * Targets: whose context does a call mean?  With a bind, CPC_BIND_* flags are
 * added to SELF.
 *
 * CPC_TARGET(): an LWP of a process that the caller controls
 * (BARECPC_SYS_CONTROL), while that is stopped.  ESRCH: there is no such LWP.
 * EBUSY: it is running.  All instances of the set in the caller's process go
 * first.
 *
 * CPU: for a bind only.  The LWP is bound to the CPU until any LWP of the
 * process releases the set.
 *
 * FD: a CPU, which a descriptor of /dev/cpc_shared has claimed; it has one set,
 * whatever its name.  EAGAIN: the LWP is not bound to that CPU.  EINVAL: no set
 * is bound.
 */
#define CPC_TARGET_SELF         0ULL
#define CPC_TARGET(pid, lwp)    ((uint64_t)(uint32_t)(pid) << 32 | (uint32_t)(lwp))
#define CPC_TARGET_CPU(id)      (2ULL << 62 | (uint32_t)(id))
#define CPC_TARGET_FD(fd)       (3ULL << 62 | (uint32_t)(fd))
#define CPC_TARGET_KIND(target) ((target)&3ULL << 62)

enum cpc_disturb {
	CPC_DISTURB_SWITCH, /* save and restore it, as a switch of LWPs does */
	CPC_DISTURB_FREEZE,
	CPC_DISTURB_INVALIDATE, /* as when its CPU gets a set */
	CPC_DISTURB_MIGRATE,    /* bind its LWP to the next CPU */
};

/*
 * Lists.  A list is a series of names, each with its NUL.  The operation copies
 * what fits to the buffer, and returns the length of the whole list in bytes.
 */

/*
 * The identity of a set: never 0, and never the same for two sets of a process.
 */
typedef uint64_t cpc_setid_t;

/*
 * A PMU: as far as all CPUs have it, or of one core type.  In a mask of PICs
 * bit n means PIC n.
 */
enum cpc_pmu_kind {
	CPC_PMU_INTEL,
	CPC_PMU_AMD,
	CPC_PMU_ARM,
	CPC_PMU_SOFTWARE,
};

/* Attributes.  The library handles "picnum" itself. */
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
	CPC_ATTR_EMASK,
	CPC_ATTR_SIBLING_USR,
	CPC_ATTR_SIBLING_SYS,
	CPC_ATTR_IDS
};

#define CPC_PMU_OWN    5
#define CPC_PMU_MODELS 32

/* An event that an emulator models: bits 31:0 of the event select. */
struct cpc_model {
	uint32_t ml_select;
	uint32_t ml_match_mask;    /* mask of the bits that select the event */
	uint32_t ml_modelled_mask; /* mask of the other bits that it models */
};

struct cpc_pmu {
	uint32_t pm_kind;    /* enum cpc_pmu_kind */
	uint32_t pm_attrs;   /* bit n: a request may have attribute n */
	uint32_t pm_pics;    /* PICs that requests may use */
	uint32_t pm_general; /* PICs that count any event code */
	/*
	 * PICs that count one event only: Intel's fixed counter n, event n of
	 * the software PMU.
	 */
	uint32_t pm_own[CPC_PMU_OWN];
	/*
	 * x86: from CPUID.  Arm: Implementer and PartNum of MIDR_EL1, and 0.
	 * Software: enum soft_model, 0 and 0.
	 */
	uint32_t pm_family, pm_model, pm_stepping;
	uint32_t pm_extras;  /* bit n: has register n of enum event_extra */
	uint32_t pm_cache;   /* Intel: level of the last-level cache */
	uint32_t pm_generic; /* software PMU: bit n, event n has a PAPI_ name */
	/* Intel: bit n, architectural event n.  Arm: PMCEID0_EL0, PMCEID1_EL0.
	 */
	uint64_t pm_events[2];
	uint64_t pm_absent; /* Intel: bit n, CPUID marks event n as missing */
	/*
	 * pm_listed is not 0 if an emulator lists the events that it models: in
	 * pm_models on x86, in pm_events on Arm.
	 */
	uint32_t pm_listed, pm_nmodels;
	struct cpc_model pm_models[CPC_PMU_MODELS];
	uint64_t pm_lacking; /* Intel: event-select bits that the PMU lacks */
	/*
	 * Core types.  pm_ntypes: their number, or 0 if all CPUs are alike.
	 * Most others describe one type, and are 0 in what all CPUs share.
	 */
	uint32_t pm_ntypes;
	uint32_t pm_type;    /* its number, from 1 */
	uint32_t pm_npic;    /* PIC numbers are less than this */
	uint32_t pm_core;    /* Intel: CPUID.1AH:EAX[31:24] */
	char pm_name[32];    /* as Linux's perf names its PMU */
	uint64_t pm_cpus[8]; /* bit n % 64 of word n / 64: CPU n */
};

/* Core types that a machine has at most. */
#define CPC_MAX_CORE_TYPES 4

/* A resolved event, from the library to the kernel, which checks all of it. */
struct cpc_event {
	uint32_t ce_pics; /* bit n: PIC n can count it */
	uint32_t ce_flags;
	uint64_t ce_code;  /* the backend defines it */
	uint64_t ce_extra; /* value of the event's extra MSR */
};
#define CPC_EVENT_GENERIC 0x1 /* a PAPI_ name: takes no attribute */
#define CPC_EVENT_RAW     0x2 /* a number */
/* For the library: this CPU lacks a feature of the event; do not list it. */
#define CPC_EVENT_LACKING 0x8
/*
 * The name has a privilege modifier (`:u`).  The privileges at
 * CPC_EVENT_LEVEL_SHIFT override the request's flags.
 */
#define CPC_EVENT_LEVELS       0x4
#define CPC_EVENT_LEVEL_SHIFT  8  /* CPC_COUNT_USER, _SYSTEM, _HV */
#define CPC_EVENT_EXTRA_SHIFT  16 /* which extra MSR: enum event_extra */
#define CPC_EVENT_EXTRA(flags) ((flags) >> CPC_EVENT_EXTRA_SHIFT & 0xf)
/* For the library: the name or its handle asks for core type n - 1; 0: any. */
#define CPC_EVENT_TYPE_SHIFT  24
#define CPC_EVENT_TYPE(flags) ((flags) >> CPC_EVENT_TYPE_SHIFT & 0xf)

/*
 * A set, as CPC_OP_BIND takes it: this header, the requests in order of
 * addition, and the attributes of all of them.
 */
struct cpc_packreq {
	struct cpc_event cr_event;
	uint64_t cr_preset;
	uint32_t cr_flags;
	int32_t cr_picnum; /* -1: any */
	uint32_t cr_nattrs;
	uint32_t cr_attr; /* the first of them, among all attributes */
};

struct cpc_packattr {
	uint32_t cpa_id; /* enum cpc_attr_id */
	uint32_t cpa_pad;
	uint64_t cpa_value;
};

struct cpc_pack {
	cpc_setid_t cp_set; /* 0: the pack is closed */
	uint16_t cp_nreqs;
	uint16_t cp_type;   /* core type n - 1 counts it; 0: all CPUs do */
	uint32_t cp_nattrs; /* of all requests */
	struct cpc_packreq cp_req[];
};

/* The bytes of a pack, and its first attribute. */
#define CPC_PACK_BYTES(pack)                                                   \
	(sizeof(struct cpc_pack) +                                             \
	    (pack)->cp_nreqs * sizeof(struct cpc_packreq) +                    \
	    (pack)->cp_nattrs * sizeof(struct cpc_packattr))
#define CPC_PACK_ATTRS(pack)                                                   \
	((struct cpc_packattr *)((pack)->cp_req + (pack)->cp_nreqs))

/* Explains why a bind failed. */
#define CPC_WHY_BYTES 160

struct cpc_refusal {
	int32_t cf_subcode;
	int32_t cf_request;         /* which request, or -1 */
	char cf_why[CPC_WHY_BYTES]; /* part of a line, or "" */
};

/* A sample.  The kernel writes all of it or nothing. */
struct cpc_sample {
	int64_t cs_hrtime; /* ns, of gethrtime() */
	uint64_t cs_tick;
	uint64_t cs_value[];
};

/* The PIC of a bound request. */
struct cpc_where {
	uint32_t cw_pic;
	uint32_t cw_width; /* bits of that PIC's counter */
	uint64_t cw_code;  /* the event, as the PMU encodes it */
	uint32_t cw_index; /* PIC number for RDPMC, n of PMEVCNTR<n>_EL0 */
	uint16_t cw_flags; /* CPC_COUNT_*, CPC_OVF_NOTIFY_EMT */
	uint16_t cw_bind;  /* CPC_BIND_LWP_INHERIT, of the set's bind */
};

/*
 * The counter page.  The kernel keeps the counts of an LWP's context in it, and
 * the LWP reads it to sample without a system call.  The kernel writes it only
 * while the LWP is in the kernel or off the CPU, and changes cg_seq each time.
 * So a reader saw one consistent state if cg_seq is the same before and after.
 *
 * The count of a request is cq_data + (PIC - cq_last) modulo 2^width.
 */
struct cpc_page_req {
	uint64_t cq_data;  /* the count at which the PIC held cq_last */
	uint64_t cq_last;  /* that value of the PIC */
	uint64_t cq_index; /* PIC number for the read instruction */
	uint64_t cq_mask;  /* 2^width - 1 */
};

#define CPC_PAGE_REQS 32

struct cpc_page {
	uint64_t cg_seq;
	uint64_t cg_tick;   /* running: add the tick counter; else the tick */
	uint64_t cg_set;    /* CPC_PAGE_SET() of the running set, or 0 */
	uint64_t cg_frozen; /* of the frozen set, whose counts are cq_data */
	/* hrtime is the high half of ((clock << cg_lift) * cg_mult). */
	uint64_t cg_mult;
	uint64_t cg_lift;
	int64_t cg_hrtime; /* hrtime at which it froze */
	uint64_t cg_unused;
	struct cpc_page_req cg_req[]; /* CPC_PAGE_REQS of them */
};

/* One number for a set and its requests: a reader compares both at once. */
#define CPC_PAGE_SET(set, nreqs) ((uint64_t)(set) << 7 | (uint64_t)(nreqs))

/*
 * read(2) of /dev/profile returns whole samples, one after the other, and 0 if
 * no sample is left.  For a profile of depth 0 it returns a uint64_t for each
 * request, in order of index.
 */
#define CPC_PROFILE_DEPTH 64
#define CPC_PROFILE_ROWS  0x100 /* in place of a depth */

struct cpc_profile_sample {
	uint32_t cm_lwp, cm_pid;
	uint32_t cm_tid;
	uint16_t cm_nframes;
	uint16_t cm_image; /* number of the program */
	int64_t cm_hrtime; /* ns */
	/*
	 * The program counter, then the return addresses of its callers.  If
	 * bit 63 of the first is set, it is an address of the kernel, and the
	 * program's instruction that entered the kernel is next.
	 *
	 * In a row: the members of struct cpc_profile_usage, then the count of
	 * each request, both since the LWP's last row.
	 */
	uint64_t cm_pc[];
};

/* Time and events of LWPs that the kernel counts. */
struct cpc_profile_usage {
	uint64_t cu_task_ns;    /* time on a CPU */
	uint64_t cu_switches;   /* how often they left a CPU, or slept */
	uint64_t cu_migrations; /* how often they went on on another CPU */
	uint64_t cu_faults;     /* page faults */
};
#define CPC_PROFILE_USAGE (sizeof(struct cpc_profile_usage) / sizeof(uint64_t))

/* No memory was left to record the sample's program. */
#define CPC_PROFILE_NO_IMAGE 0xffff

#define CPC_PROFILE_NAME 64

struct cpc_profile_image {
	uint64_t ci_bias; /* load address minus link address */
	/* The path.  That of execve(2) is cut to CPC_PROFILE_NAME bytes. */
	char ci_path[256];
	/* Code of a library; 0 and 0: a program. */
	uint64_t ci_start, ci_end;
	uint64_t ci_offset; /* of that code in the library's file */
	uint64_t ci_of;     /* number of the program that has the library */
};

struct cpc_profile_stat {
	uint64_t ct_samples;
	uint64_t ct_lost;    /* samples dropped for lack of memory */
	uint64_t ct_missed;  /* whole periods without a sample */
	uint64_t ct_events;  /* events counted, unfinished periods included */
	uint32_t ct_lwps;    /* LWPs that were counted */
	uint32_t ct_revoked; /* LWPs that lost the counters to a CPU's set */
	uint32_t ct_left;    /* LWPs that have not ended yet */
	uint32_t ct_kernel;  /* 1: samples in the kernel have its address */
	struct cpc_profile_usage ct_usage; /* of the LWPs that have ended */
};

/*
 * The system call, in cpc/arm64/door.S and cpc/x86/door.S.  Returns a result,
 * or a negative errno.  Signal-safe.
 */
intptr_t cpc_syscall(
    enum cpc_op op, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d);

#ifdef __cplusplus
}
#endif

#endif /* SYS_CPC_H */
