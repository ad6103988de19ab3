/*
 * The console's UART.  Included by arch/x86/.
 */
#ifndef ARCH_X86_DEV_CONSOLE_H
#define ARCH_X86_DEV_CONSOLE_H

/*
 * Choose and start the UART, and print the output that waits for it.  A second
 * call does nothing.  Call it after acpi_init(); a report that ends the run may
 * come before.
 */
void console_init(void);

#endif /* ARCH_X86_DEV_CONSOLE_H */
