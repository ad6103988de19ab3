/*
 * One logical processor.  Included by kern/ and arch/.
 */
#ifndef KERN_CPU_H
#define KERN_CPU_H

#include <stdbool.h>
#include <stdint.h>

#define MAXCPU 64

struct lwp;

struct cpu {
	unsigned c_id;   /* processorid_t, dense from 0; the boot CPU is 0 */
	uint64_t c_hwid; /* APIC id or MPIDR affinity */
	void *c_arch;    /* the architecture's own per-CPU data */
	struct lwp *c_lwp;  /* running now */
	struct lwp *c_idle; /* runs when nothing else does */
	bool c_online;
};

extern struct cpu cpus[MAXCPU];
extern unsigned ncpu; /* added; online or not */

/*
 * Note a CPU the tables name; the first call is the boot CPU.  Returns it,
 * or NULL beyond MAXCPU or cpus=.
 */
struct cpu *cpu_add(uint64_t hwid);

#endif /* KERN_CPU_H */
