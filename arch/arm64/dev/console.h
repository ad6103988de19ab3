/*
 * The console's UART.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_DEV_CONSOLE_H
#define ARCH_ARM64_DEV_CONSOLE_H

/*
 * Start the UART of `machine`, or of an emulated one whose tables name none
 * that at the usual place, and print on it what was printed so far.  Needs the
 * direct map.
 */
void console_init(void);

#endif /* ARCH_ARM64_DEV_CONSOLE_H */
