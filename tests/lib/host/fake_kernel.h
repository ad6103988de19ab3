/*
 * As much of a kernel as kcpc needs, with CPUs of which a test is one at a
 * time and LWPs that it switches by hand, behind the door that libcpc knocks
 * at.  Included by tests/host.
 */
#ifndef TESTS_LIB_HOST_FAKE_KERNEL_H
#define TESTS_LIB_HOST_FAKE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct kcpc_ctx;
struct lwp;
struct pcbe_ops;

/*
 * Start over: PMUs of fake_shape, LWP 1 of process 0 current on CPU 0, the
 * others idle, time 0, every privilege.
 */
void fake_boot(void);
/*
 * What a run leaves behind, or NULL: memory, contexts, PICs, timers, or a PMU
 * that is not quiet.  All LWPs exit first.
 */
const char *fake_halt(void);

/*
 * Process p has LWPs 1 to FAKE_NLWP; make one of them run on this CPU.  Where
 * it ran on another that idles from then on.
 */
#define FAKE_NPROC 2
#define FAKE_NLWP  4
void fake_switch(unsigned p, int lwp);
/* Go on as CPU c, with whatever runs there. */
#define FAKE_NCPU 3
void fake_cpu(unsigned c);
/* CPUs that take LWPs, bit n for CPU n; the rest are offline. */
extern uint64_t fake_online;
/* Called while an LWP is on its way to another CPU. */
extern void (*fake_on_move)(void);
/* Give process p the privilege cpc_cpu, or take it. */
void fake_privilege(unsigned p, bool cpc_cpu);
void fake_exit(unsigned p, int lwp);
struct lwp *fake_lwp(unsigned p, int lwp);
/* The CPU it is bound to, or -1. */
int *fake_bound(unsigned p, int lwp);
/* Its context, or NULL. */
struct kcpc_ctx *fake_ctx(unsigned p, int lwp);
/* The CPU has nothing to do. */
void fake_idle(void);
/* The current LWP makes another of its process, which then has what it
 * inherits.  0 or an errno. */
int fake_clone(int lwp);
/* The same in process p, for a profile. */
int fake_fork(unsigned p, int lwp);
/* Where the current LWP's program was when it entered the kernel. */
struct trapframe {
	uintptr_t tf_pc, tf_fp;
};
void fake_enter(struct trapframe *tf);
/* It executes another program.  Is it signalled on its way back to it? */
void fake_exec(void);
bool fake_return(void);
/* What FAKE_FD is open to. */
#define FAKE_FD 5
extern struct file *fake_file;
/* Take the counters away from the current LWP, as a CPU binding does. */
void fake_invalidate(void);

/*
 * The overflow interrupt: from the PMU, delivered at once, or kept back until
 * the test sets fake_hold_pmi to false and calls again.  Did the kernel find
 * an overflow of its own?  False, too, where none is let in.
 */
bool fake_pmi(void);
extern bool fake_hold_pmi;
/* Let time pass; and let those of this CPU's timers run that are due. */
void fake_clock(uint64_t ns);
void fake_time(uint64_t ns);

/* The backend to boot with, in place of the fake one. */
extern const struct pcbe_ops *fake_backend;

/* Let the nth allocation from now on fail; 0: none. */
extern unsigned fake_kmalloc_fails;
/* What the kernel printed. */
extern char fake_console[4096];
/* The last bad address it was asked to report. */
extern uintptr_t fake_refused;
/* How often the kernel was entered. */
extern unsigned fake_syscalls;
/*
 * Called before each entry, and while the library holds whatever it holds;
 * and behind it.
 */
extern void (*fake_on_syscall)(void), (*fake_on_return)(void);

#endif /* TESTS_LIB_HOST_FAKE_KERNEL_H */
