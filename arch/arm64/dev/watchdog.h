/*
 * Watchdogs of the machine's tables.  Included by init.c.
 */
#ifndef ARCH_ARM64_DEV_WATCHDOG_H
#define ARCH_ARM64_DEV_WATCHDOG_H

/* Stop each one that runs.  Call when the console works. */
void arm64_watchdogs_init(void);

#endif /* ARCH_ARM64_DEV_WATCHDOG_H */
