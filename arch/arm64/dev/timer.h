/*
 * The generic timer.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_DEV_TIMER_H
#define ARCH_ARM64_DEV_TIMER_H

/* Enable this CPU's timer interrupt, and let payloads read the counter. */
void arm64_timer_cpu_init(void);
void arm64_timer_intr(void);

#endif /* ARCH_ARM64_DEV_TIMER_H */
