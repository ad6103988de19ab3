/*
 * The vDSO: a page of code in each program that reads the clock without a
 * system call, and the page of data below it.  Included by kern/, arch/ and the
 * vDSO's code.
 */
#pragma once

#include <stdint.h>

struct proc;

/* Make the two pages that all programs share.  Once, after clock_init(). */
void vdso_init(void);
/*
 * Map the pages at a free range that ends at `end`.  Sets p_vdso and
 * p_sigreturn.  Returns 0 or ENOMEM.  fork(2) shares the mapping.
 */
int vdso_map(struct proc *p, uintptr_t end);

/* As struct tick_scale (kern/sched/timer.h). */
struct vdso_data {
	uint64_t vd_mult, vd_lift;
	uint64_t vd_resolution; /* ns, at least 1 */
};

/* Signal handlers return to code at this offset (arm64). */
#define VDSO_SIGRETURN 0x800
