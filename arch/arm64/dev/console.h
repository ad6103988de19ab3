/*
 * The console's UART.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_DEV_CONSOLE_H
#define ARCH_ARM64_DEV_CONSOLE_H

/*
 * Start the UART that the command line or `machine` names, and print the output
 * that waits for it.  A virtual machine whose tables name no UART gets QEMU's.
 * Needs the direct map.
 */
void console_init(void);

#endif /* ARCH_ARM64_DEV_CONSOLE_H */
