/*
 * What barecpc's kernel offers beside Linux's system calls: call numbers,
 * the same on every machine, and what they fill in.  Included by payloads
 * (through syscall(2)), by cpc/ and by the kernel.
 */
#ifndef SYS_BARECPC_H
#define SYS_BARECPC_H

#include <stdint.h>

/*
 * cpc(op, a, b, c, d): the counters.  Only cpc/ calls it; <sys/cpc.h> has
 * the operations.
 */
#define BARECPC_SYS_CPC 0x4000
/*
 * phys(va): the physical address behind va, or -1 with EFAULT where nothing
 * is mapped.
 */
#define BARECPC_SYS_PHYS 0x4001
/* stat(struct barecpc_stat *): what is in use now; EFAULT. */
#define BARECPC_SYS_STAT 0x4002
/*
 * sched(op, ...): behind processor_bind(2) and p_online(2) of
 * <sys/processor.h>.  bind(idtype, id, cpu, int *old), online(cpu, state).
 */
#define BARECPC_SYS_SCHED    0x4003
#define BARECPC_SCHED_BIND   0
#define BARECPC_SCHED_ONLINE 1

/*
 * witness(struct barecpc_witness *): what the PIC kept back by `witness='
 * counted, and LWPs beside it; ENODEV where there is none, EFAULT.
 */
#define BARECPC_SYS_WITNESS 0x4004

/*
 * test(op, a, b): for tests of the kernel; ENOSYS unless the command line has
 * test_hooks=yes.
 */
#define BARECPC_SYS_TEST 0x4005
/*
 * Of the allocations the caller's LWP makes from now on, the a-th fails, and
 * with b of 1 all after it too.  One LWP at a time.
 */
#define BARECPC_TEST_FAIL 0
/* No allocation fails any more.  How many the LWP has made. */
#define BARECPC_TEST_FAIL_END 1
/* a: struct barecpc_test_state to fill, of the caller's process; EFAULT. */
#define BARECPC_TEST_STATE 2
/* 1 if a is the number of a system call the kernel has, else 0. */
#define BARECPC_TEST_KNOWN 3
/*
 * How many basic blocks of the kernel have run since boot.  ENOTSUP unless
 * the kernel was built with SAN=coverage.
 */
#define BARECPC_TEST_COVERAGE 4

/* What a call that fails leaves as it was; BT_* are places in it. */
enum {
	BT_FREE_PAGES, /* page tables count as free */
	BT_HEAP_BLOCKS,
	BT_REGIONS,
	BT_MAPPED,   /* bytes of all regions */
	BT_MAP_HASH, /* of all regions' places and protections */
	BT_PAGES,    /* the process's own, populated */
	BT_BRK,
	BT_FILES, /* open descriptors, and which of them */
	BT_CLOEXEC,
	BT_SIGNALS, /* that are queued */
	BT_LWPS,
	BT_PROCESSES,
	BT_CONTEXTS,
	BT_PICS,
	BT_BOUND, /* LWPs of the process bound to a CPU */
	BT_N
};
struct barecpc_test_state {
	uint64_t bt[BT_N];
};

/*
 * A flag of mmap(2) with MAP_ANONYMOUS: the whole mapping is physically
 * contiguous and made of 2 MiB pages; the length is rounded up to them.
 * ENOMEM where memory has no such run.  Parts of it may be unmapped or
 * protected only in multiples of 2 MiB (else EINVAL).
 */
#define MAP_CONTIG 0x10000000

/*
 * Two of these, taken around a test that left nothing behind, are equal.
 */
struct barecpc_stat {
	uint64_t bs_free_pages; /* of 4 KiB */
	uint64_t bs_pages;      /* free after boot */
	uint32_t bs_lwps;       /* of payloads, the caller included */
	uint32_t bs_contexts;   /* kcpc contexts: bound sets */
	uint32_t bs_pics;       /* PICs a context holds */
	uint32_t bs_cpus;       /* online */
};

/*
 * Sums over all CPUs, of what has ended: a set that runs now is not in them.
 * bw_count is the other three together, and bw_wrong 0.
 */
struct barecpc_witness {
	uint32_t bw_flags; /* CPC_COUNT_*: which instructions */
	uint32_t bw_pic;
	uint64_t bw_count;   /* by the witness */
	uint64_t bw_lwps;    /* by requests for the same, of all LWPs ever */
	uint64_t bw_unowned; /* while no such request was counted */
	uint64_t bw_idle;    /* while there was nothing to do */
	uint64_t bw_windows; /* how often such a request was started */
	uint64_t bw_wrong;   /* how often the two disagreed */
};

#endif /* SYS_BARECPC_H */
