/*
 * A 16550 UART in memory.  Included by console.c and ns16550.c.
 */
#ifndef ARCH_ARM64_DEV_NS16550_H
#define ARCH_ARM64_DEV_NS16550_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Start the UART at pa.  Register n is at pa + (n << shift), and takes
 * accesses of `width` bytes, 1 or 4.  Returns false if none answers.  With
 * `probe`, a device that is no 16550 does not answer either.
 */
bool ns16550_start(uint64_t pa, unsigned shift, unsigned width, bool probe);

/* Print a character; it is lost if the UART takes none for long. */
void ns16550_putc(int c);
/* The next character that was received, or -1. */
int ns16550_getc(void);

#endif /* ARCH_ARM64_DEV_NS16550_H */
