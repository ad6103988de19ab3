/*
 * One logical processor.  Included by kern/ and arch/.
 */
#ifndef KERN_SCHED_CPU_H
#define KERN_SCHED_CPU_H

#include <stdbool.h>
#include <stdint.h>

#include "kern/arch.h"
#include "kern/sched/cpuset.h"
#include "kern/sched/sched.h"
#include "kern/sched/timer.h"

struct kcpc_ctx;
struct lwp;

struct cpu {
	void *c_arch;       /* the architecture's own per-CPU data */
	struct lwp *c_lwp;  /* running now */
	unsigned c_id;      /* processorid_t, dense from 0; the boot CPU is 0 */
	uint64_t c_hwid;    /* APIC id or MPIDR affinity */
	struct lwp *c_idle; /* runs when nothing else does */
	bool c_online;
	struct kcpc_ctx *c_cpc; /* of the set bound to it, or NULL */
	uint64_t c_pcbe;        /* the counter backend's own */
	unsigned c_stray_nmis;  /* NMIs that no counter explains */
	/* sched.c */
	bool c_active;       /* takes LWPs: p_online(2) */
	unsigned c_nbound;   /* LWPs bound to it */
	struct lwp *c_left;  /* a zombie this CPU has just left */
	struct lwpq c_runq;  /* ready: new, or its slice has ended */
	struct lwpq c_woken; /* ready: it has slept, and goes first */
	bool c_hurry;        /* c_woken is not empty, or c_turn */
	bool c_turn;         /* those woken have the CPU, by their credit */
	uint64_t c_credit, c_credit_tick; /* ticks of it, and when */
	uint64_t c_credit_left;           /* behind a turn, at most */
	struct timer c_slice;             /* runs while an LWP waits */
	const struct lwp *c_slice_of;     /* whose slice it is */
	const struct lwp *c_cut;          /* goes on behind a turn of theirs, */
	uint64_t c_cut_ticks;             /* for so long */
	/* timer.c */
	struct timer *c_timers; /* a heap; the soonest */
	uint64_t c_timer_order;
};

/* The running LWP. */
static inline struct lwp *
lwp_self(void)
{
	return arch_curcpu()->c_lwp;
}

extern struct cpu cpus[MAXCPU];
extern unsigned ncpu;       /* added; online or not */
extern unsigned cpu_limit;  /* how many may be added: cpus= */
extern bool cpu_nmi_panics; /* nmi=panic: a stray NMI ends the run */

/* Why one CPU interrupts another: arch_ipi(), ipi_intr(). */
#define IPI_RESCHED 0x1
#define IPI_FLUSH   0x2 /* its way in does the work: arch_relax() */
#define IPI_CALL    0x4 /* likewise: kernel_lock_wait() */

/*
 * Note a CPU the tables name; the first call is the boot CPU.  Returns it,
 * or NULL beyond MAXCPU or cpus=, which cpu_start_all() reports.
 */
struct cpu *cpu_add(uint64_t hwid);
/*
 * Start all but the boot CPU, one after the other; they idle.  Says how many
 * are online, and of each that is not.
 */
void cpu_start_all(void);
unsigned cpu_nonline(void);
/* Stray NMIs of all CPUs since the boot. */
unsigned cpu_stray_nmis(void);

#endif /* KERN_SCHED_CPU_H */
