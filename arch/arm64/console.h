/*
 * The console's UART.  Included by arch/arm64/.
 */
#ifndef ARCH_ARM64_CONSOLE_H
#define ARCH_ARM64_CONSOLE_H

struct bootinfo;

/*
 * Find the UART the firmware's tables name and print on it what was printed
 * so far.  Needs the direct map.
 */
void console_init(const struct bootinfo *bi);
/* Lines that never found a console go to the fixed address: a last word. */
void console_last_resort(void);

#endif /* ARCH_ARM64_CONSOLE_H */
