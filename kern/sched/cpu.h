/* One logical CPU.  Included by kern/ and arch/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kern/arch.h"
#include "kern/sched/cpuset.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"

struct kcpc_ctx;
struct lwp;

/* Woken LWPs run one after the other: turn.c.  Times in ticks. */
struct turn {
	bool tu_on;         /* they run now, and use up the credit */
	uint64_t tu_credit; /* as computed at tu_tick */
	uint64_t tu_tick;
	uint64_t tu_credit_after; /* at most, after this turn */
	/* The preempted LWP's l_tid, or 0, and the rest of its slice. */
	int tu_cut;
	uint64_t tu_cut_left;
};

struct cpu {
	void *c_arch;       /* the architecture's per-CPU data */
	struct lwp *c_lwp;  /* running now */
	unsigned c_id;      /* processorid_t, dense from 0; the boot CPU is 0 */
	uint64_t c_hwid;    /* APIC id or MPIDR affinity */
	struct lwp *c_idle; /* runs when no other LWP is ready */
	bool c_online;
	bool c_skewed;  /* its clock is ahead: it does not judge the deadline */
	bool c_claimed; /* its PICs count for it, not for LWPs (kern/cpc) */
	struct kcpc_ctx *c_cpc; /* context of the set bound to it, or NULL */
	uint64_t c_pmu_config;  /* ps_config that it ran last */
	unsigned c_stray_nmis;  /* NMIs that no counter explains */
	uint64_t c_interrupts;  /* taken since boot; NMIs are separate */
	uint64_t c_nmis;        /* taken since boot, whatever their cause */
	/* Used by the scheduler. */
	bool c_active;        /* takes LWPs: p_online(2) */
	unsigned c_nbound;    /* LWPs bound to it */
	struct lwp *c_zombie; /* its stack was just left */
	struct lwpq c_runq;   /* ready LWPs */
	struct lwpq c_woken;  /* ready LWPs that were woken; run first */
	struct lwpq c_lowest; /* ready LWPs that run if no other does */
	uint64_t c_since;     /* tick of the last switch: sched_account() */
	struct turn c_turn;
	struct timer c_slice; /* runs while an LWP waits */
	int c_slice_of;       /* the LWP that it was started for, by l_tid */
	/* Used by timer.c. */
	struct timer *c_timers; /* a heap; the first to expire */
	uint64_t c_timer_order;
	struct timer c_deadline; /* of the run: run_deadline_set() */
};

/* The running LWP. */
static inline struct lwp *
lwp_self(void)
{
	return arch_curcpu()->c_lwp;
}

extern struct cpu cpus[MAXCPU];
extern unsigned ncpu;       /* CPUs in cpus[], online or not */
extern unsigned cpu_limit;  /* the largest ncpu allowed: cpus= */
extern bool cpu_nmi_panics; /* nmi=panic: a stray NMI ends the run */
extern bool cpu_nmi_all;    /* test_hooks=yes: each CPU gets the board's */

/* Reasons of an interrupt from another CPU: arch_ipi(), ipi_intr(). */
#define IPI_RESCHED 0x1
#define IPI_FLUSH   0x2 /* entering the kernel does it: arch_relax() */
#define IPI_CALL    0x4 /* entering does it: kernel_lock_wait() */

/*
 * Add a CPU of the firmware's tables; the boot CPU comes first.  Returns it, or
 * NULL above MAXCPU or cpus=, which cpu_start_all() reports.
 */
struct cpu *cpu_add(uint64_t hwid);
/*
 * Start the other CPUs, one after the other; they idle.  Prints how many are
 * online, and each CPU that is not.
 */
void cpu_start_all(void);
unsigned cpu_nonline(void);
/* The number of stray NMIs of all CPUs since boot. */
unsigned cpu_stray_nmis(void);
