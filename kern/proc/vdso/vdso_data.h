/*
 * The page below the vDSO's code, which it reads.  Included by kern/ and by the
 * vDSO.
 */
#ifndef KERN_PROC_VDSO_VDSO_DATA_H
#define KERN_PROC_VDSO_VDSO_DATA_H

#include <stdint.h>

/* As struct tick_scale (kern/sched/timer.h). */
struct vdso_data {
	uint64_t vd_mult, vd_lift;
	uint64_t vd_resolution; /* ns, at least 1 */
};

/* Signal handlers return to code at this offset (arm64). */
#define VDSO_SIGRETURN 0x800

#endif /* KERN_PROC_VDSO_VDSO_DATA_H */
