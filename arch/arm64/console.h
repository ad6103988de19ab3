/*
 * The console's UART.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_CONSOLE_H
#define ARCH_ARM64_CONSOLE_H

/*
 * Start the UART of `machine`, or where the tables name none the one at the
 * usual place, and print on it what was printed so far.  Needs the direct
 * map.
 */
void console_init(void);

#endif /* ARCH_ARM64_CONSOLE_H */
