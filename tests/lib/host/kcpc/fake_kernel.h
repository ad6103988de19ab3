/*
 * The part of a kernel that kcpc needs, with the system call of libcpc.  A
 * test acts as one CPU at a time and switches its LWPs by hand.  Included by
 * tests/host.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct kcpc_ctx;
struct lwp;
struct pcbe_ops;

/*
 * Start again.  The PMUs have the shape fake_shape.  LWP 1 of process 0 is
 * current on CPU 0, the other CPUs are idle, the time is 0, and every process
 * has every privilege.
 */
void fake_boot(void);
/* All LWPs exit.  Returns NULL, or names what remains or still counts. */
const char *fake_halt(void);

/* Make LWP 1 to FAKE_NLWP of process p run here; its CPU before is idle. */
#define FAKE_NPROC 2
#define FAKE_NLWP  4
void fake_switch(unsigned p, int lwp);
/* Act as CPU c.  Its current LWP continues there. */
#define FAKE_NCPU 3
void fake_cpu(unsigned c);
/* Bit n: CPU n takes LWPs; without it the CPU is offline. */
extern uint64_t fake_online;
/* Called while an LWP is on its way to another CPU. */
extern void (*fake_on_move)(void);
/* Called when the code is to run on CPU c, unless NULL. */
extern void (*fake_on_cpu)(unsigned c);
/* Bit p: process p is controlled by the current one; see CPC_TARGET(). */
extern unsigned fake_controlled;
/* A fault: an LWP that yields in a system call counts as stopped. */
extern bool fake_ready_rests;
/* Give process p the privilege cpc_cpu, or take it away. */
void fake_privilege(unsigned p, bool cpc_cpu);
void fake_exit(unsigned p, int lwp);
struct lwp *fake_lwp(unsigned p, int lwp);
/* The CPU that the LWP is bound to, or -1. */
int *fake_bound(unsigned p, int lwp);
/* Bit n: the LWP may run on CPU n.  Set the affinity that programs set. */
uint64_t fake_affinity(unsigned p, int lwp);
void fake_set_affinity(unsigned p, int lwp, uint64_t cpus);
/* The context of the LWP, or NULL. */
struct kcpc_ctx *fake_ctx(unsigned p, int lwp);
/* This CPU becomes idle. */
void fake_idle(void);
/* The current LWP creates LWP lwp, which inherits.  Returns 0 or an errno. */
int fake_clone(int lwp);
/* A fork: LWP lwp of process p inherits the profile.  0 or an errno. */
int fake_fork(unsigned p, int lwp);
/* The registers of the current LWP's program when it entered the kernel. */
struct trapframe {
	uintptr_t tf_pc, tf_fp;
};
void fake_enter(struct trapframe *tf);
/* Execute another program; fake_return(): does it get a signal? */
void fake_exec(void);
bool fake_return(void);
/* The file that FAKE_FD is open on. */
#define FAKE_FD 5
extern struct file *fake_file;
/* Take the counters from the current LWP, as a CPU binding does. */
void fake_invalidate(void);

/*
 * The PMU's overflow interrupt, delivered at once.  If fake_hold_pmi is true,
 * it waits until the test sets fake_hold_pmi to false and calls fake_pmi().
 * Returns true if the kernel found an overflow of a running context, false
 * also if the interrupt is held or masked.
 */
bool fake_pmi(void);
extern bool fake_hold_pmi;
/* Let time pass.  The second also runs this CPU's due timers. */
void fake_clock(uint64_t ns);
void fake_time(uint64_t ns);

/* The backend to boot with; NULL: the fake one. */
extern const struct pcbe_ops *fake_backend;

/* The nth allocation from now on fails; 0: none fails. */
extern unsigned fake_kmalloc_fails;
/* All text that the kernel printed. */
extern char fake_console[4096];
/* The last bad user address that the kernel was asked to report. */
extern uintptr_t fake_refused;
/* The number of system calls. */
extern unsigned fake_syscalls;
/* Called around each system call, with the library's locks held. */
extern void (*fake_on_syscall)(void), (*fake_on_return)(void);
