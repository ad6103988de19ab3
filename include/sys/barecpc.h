/*
 * The system calls that barecpc has and Linux does not, and their structures.
 * Included by payloads, which use syscall(2), by cpc/ and by the kernel.  The
 * numbers are the same on every machine.
 */
#ifndef SYS_BARECPC_H
#define SYS_BARECPC_H

#include <stdint.h>

/* cpc(op, a, b, c, d): the counters, for cpc/ alone; <sys/cpc.h> has ops. */
#define BARECPC_SYS_CPC 0x4000
/* phys(va): the physical address of va, or -1 with EFAULT if none is mapped. */
#define BARECPC_SYS_PHYS 0x4001
/* stat(struct barecpc_stat *): numbers of objects in use.  EFAULT. */
#define BARECPC_SYS_STAT 0x4002
/*
 * sched(op, ...): processor_bind(2) and p_online(2) of <sys/processor.h> call
 * it.  bind(idtype, id, cpu, int *old), online(cpu, state), lowest(idtype, id,
 * lowest).  The last is for priocntl(2).  It makes LWPs run only while their
 * CPU has nothing else to do (1) or as all do (0), or changes nothing (-1).  It
 * returns 1 if that was so before.
 */
#define BARECPC_SYS_SCHED    0x4003
#define BARECPC_SCHED_BIND   0
#define BARECPC_SCHED_ONLINE 1
#define BARECPC_SCHED_LOWEST 2

/*
 * witness(struct barecpc_witness *): the counts of the witness, the PIC that
 * `witness=` keeps back.  ENODEV if there is no witness, EFAULT.
 */
#define BARECPC_SYS_WITNESS 0x4004

/*
 * test(op, a, b): hooks for tests of the kernel.  ENOSYS unless the command
 * line has test_hooks=yes.
 */
#define BARECPC_SYS_TEST 0x4005
/*
 * Make the a-th allocation fail that the caller's LWP makes from now on.  If b
 * is 1, all later ones fail too.  Only one LWP at a time can ask for this.
 */
#define BARECPC_TEST_FAIL 0
/* End TEST_FAIL.  Returns the number of allocations since it began. */
#define BARECPC_TEST_FAIL_END 1
/* Fill struct barecpc_test_state *a for the caller's process.  EFAULT. */
#define BARECPC_TEST_STATE 2
/* Returns 1 if the kernel has a system call with number a, else 0. */
#define BARECPC_TEST_KNOWN 3
/*
 * Returns how many basic blocks of the kernel have run since boot.  ENOTSUP
 * unless the kernel was built with SAN=coverage.
 */
#define BARECPC_TEST_COVERAGE 4
/* Keep for ever a page (a is 0), an LWP (1), a context with a PIC (2). */
#define BARECPC_TEST_KEEP 5

/*
 * interrupts(struct barecpc_interrupts *): the interrupts that the caller's
 * CPU has taken since boot.  Works at user and at system privilege.  EFAULT.
 * A measurement calls it before its first sample and after its last one.
 */
#define BARECPC_SYS_INTERRUPTS 0x4006

/*
 * control(op, pid, ...): one process controls another.  Only libpctx calls it.
 * ESRCH: the process has ended, or the caller does not control it.
 */
#define BARECPC_SYS_CONTROL 0x4007
/*
 * me(): the caller's parent controls the caller, and the caller is killed when
 * that ends.  EBUSY: another process does.  EDEADLK: the caller controls its
 * parent.
 */
#define BARECPC_CONTROL_ME 0
/*
 * capture(pid): control a running process, which stops.  EPERM unless the
 * caller has the privilege cpc_cpu(5) or is an ancestor.  ECHILD: it has ended.
 * EBUSY: it has a controller.  EINVAL: it is the caller.  EDEADLK: it controls
 * the caller.
 */
#define BARECPC_CONTROL_CAPTURE 1
/* give(pid, child): a child of the caller controls the process from now on. */
#define BARECPC_CONTROL_GIVE 2
/*
 * wait(pid, ns, struct barecpc_control_event *): let the process go on until
 * an event, or until gethrtime() >= ns.  Then it is stopped.  Events that
 * happened at once are returned one after the other, before it goes on.
 * ECANCELED: after cancel().  EINTR: by a signal; it may still run.
 */
#define BARECPC_CONTROL_WAIT 3
/* cancel(pid): the wait for the process ends, or the next one does. */
#define BARECPC_CONTROL_CANCEL 4
/* next_lwp(pid, id): returns the lowest LWP id above id, or 0. */
#define BARECPC_CONTROL_NEXT_LWP 5
/*
 * args(pid, bytes, buffer): copy the arguments of its program, cut to fit and
 * separated by blanks, with a NUL.
 */
#define BARECPC_CONTROL_ARGS 6
/* release(pid): it goes on without control, or is killed after me(). */
#define BARECPC_CONTROL_RELEASE 7

/*
 * quiet(ns): turn off the timer of the caller's CPU for ns from now, so that it
 * does not interrupt.  Timers that are due by then run late.  0 ends this, as
 * does a new timer that is due before all others.  EPERM at user privilege,
 * where it would get around time limits.  EINVAL: more than a second.
 */
#define BARECPC_SYS_QUIET 0x4008
#define BARECPC_QUIET_MAX 1000000000

/*
 * screen(op, ...): pages on a framebuffer.  ENODEV without one.  EINVAL: beyond
 * its edge.  EFAULT.
 */
#define BARECPC_SYS_SCREEN 0x4009
/* take(): clear it; the console's text waits.  Returns width << 16 | height. */
#define BARECPC_SCREEN_TAKE 0
/* give_back(): show the console's text again. */
#define BARECPC_SCREEN_GIVE_BACK 1
/* text(row, s): a line in the console's letters. */
#define BARECPC_SCREEN_TEXT 2
/*
 * squares(x << 16 | y, side << 16 | n, dark): a row of n squares, at most
 * BARECPC_SCREEN_SQUARES, one byte for each.
 */
#define BARECPC_SCREEN_SQUARES_ROW 3
#define BARECPC_SCREEN_SQUARES     256
/* kept(offset, bytes, buffer): the console's text so far; returns bytes. */
#define BARECPC_SCREEN_KEPT 4
/*
 * key(): take a key.  Returns 0 if none was pressed, else 1 + its character on
 * the console's line, or 1 if it is of a keyboard.
 */
#define BARECPC_SCREEN_KEY 5

/*
 * progress(done, total): the caller has done so many of all its runs.  Only the
 * host sees it.  Returns 0.
 */
#define BARECPC_SYS_PROGRESS 0x400a

enum {
	BARECPC_EVENT_TICK, /* the time is over.  arg 1: an LWP is in vfork(2)
	                     */
	BARECPC_EVENT_LWP_CREATE, /* arg: the id of the new LWP */
	BARECPC_EVENT_LWP_EXIT,
	BARECPC_EVENT_EXEC_ENTRY,  /* execve(2) begins */
	BARECPC_EVENT_EXEC_FAILED, /* it has failed */
	BARECPC_EVENT_EXEC,        /* a new program, whose LWP is number 1 */
	BARECPC_EVENT_FORK, /* arg: the child's pid; the caller controls it */
	BARECPC_EVENT_EXIT, /* arg: the status */
};
struct barecpc_control_event {
	uint32_t be_what; /* BARECPC_EVENT_* */
	int32_t be_lwp;   /* the LWP that caused it */
	int64_t be_arg;
};

/* State that a failed system call must not change: indices of bt[]. */
enum {
	BT_FREE_PAGES, /* page tables count as free */
	BT_HEAP_BLOCKS,
	BT_REGIONS,
	BT_MAPPED,   /* bytes of all regions */
	BT_MAP_HASH, /* of the addresses and protections of all regions */
	BT_PAGES,    /* populated pages of the process */
	BT_BRK,
	BT_FILES, /* bit n: descriptor n is open */
	BT_CLOEXEC,
	BT_SIGNALS, /* queued signals */
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
 * A flag of mmap(2), with MAP_ANONYMOUS.  The mapping is physically contiguous
 * and consists of 2 MiB pages; mmap(2) rounds the length up to them.  ENOMEM
 * if no such memory is free.  munmap(2) and mprotect(2) of a part must cover
 * whole 2 MiB pages, else EINVAL.
 */
#define MAP_CONTIG 0x10000000

/*
 * A test that leaves nothing allocated finds the same numbers before and after.
 */
struct barecpc_stat {
	uint64_t bs_free_pages; /* of 4 KiB */
	uint64_t bs_pages;      /* free after boot */
	uint32_t bs_lwps;       /* of payloads, the caller included */
	uint32_t bs_contexts;   /* kcpc contexts: bound sets */
	uint32_t bs_pics;       /* PICs that contexts hold */
	uint32_t bs_cpus;       /* online */
};

/*
 * The numbers are of the CPU by_cpu, but for by_all_, the sums over all CPUs.
 * Compare two calls only if by_cpu is the same: the LWP may have moved.
 */
struct barecpc_interrupts {
	uint32_t by_cpu;
	uint32_t by_flags;      /* BARECPC_INTERRUPTS_* */
	uint64_t by_interrupts; /* timer, other CPUs, counter overflows */
	uint64_t by_nmis;       /* x86: of any cause.  arm64: 0 */
	uint64_t by_smis;       /* modulo 2^32; only with the flag _SMIS */
	uint64_t by_all_interrupts;
	uint64_t by_all_nmis;
	/* The rest is also of one CPU, and each has a flag. */
	uint64_t by_throttles; /* heat or a limit of power lowered the rate */
	uint64_t by_errors;    /* that hardware corrected, by machine check */
	uint64_t by_settings;  /* settings of the rate that something changed */
	/* Clock ticks at the rate in force, and at the base rate. */
	uint64_t by_aperf, by_mperf;
};
/* The CPU counts SMIs: Intel since Nehalem, by MSR_SMI_COUNT. */
#define BARECPC_INTERRUPTS_SMIS 0x1
/* The CPU shows the others.  Nothing on arm64 does. */
#define BARECPC_INTERRUPTS_THROTTLES 0x2
#define BARECPC_INTERRUPTS_ERRORS    0x4
#define BARECPC_INTERRUPTS_SETTINGS  0x8
#define BARECPC_INTERRUPTS_RATE      0x10

/*
 * Before each piece of /dev/firmware: what firmware told the kernel, at its
 * physical address.  The names are those of ACPI's tables, "SMEP" and "SMBT"
 * (SMBIOS: entry point and table), "FDT " (device tree), and "MAP " (the
 * memory map).
 */
struct barecpc_firmware {
	char bf_name[4];
	uint32_t bf_pad;
	uint64_t bf_pa, bf_bytes;
};

/*
 * Sums over all CPUs.  A set that is running now is not included.  bw_count
 * equals bw_lwps + bw_unowned + bw_idle, and bw_wrong is 0.
 */
struct barecpc_witness {
	uint32_t bw_flags;   /* CPC_COUNT_*: privileges that it counts */
	uint32_t bw_pic;     /* the PIC kept back */
	uint64_t bw_count;   /* instructions that the witness counted */
	uint64_t bw_lwps;    /* that requests for the same event counted */
	uint64_t bw_unowned; /* while no LWP had such a request */
	uint64_t bw_idle;    /* while the CPU was idle */
	uint64_t bw_windows; /* how often such a request was started */
	uint64_t bw_wrong;   /* how often the two counts differed */
};

#endif /* SYS_BARECPC_H */
