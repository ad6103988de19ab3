/*
 * Serial ports on PCI.  Included by console.c.
 */
#ifndef ARCH_X86_DEV_PCI_UART_H
#define ARCH_X86_DEV_PCI_UART_H

#include <stdbool.h>

#include "dev/uart/uart.h"

/*
 * Fill in the first 16550 on PCI to which firmware has given an address, and
 * turn on its decoder.  Returns false if all are without.
 */
bool pci_find_uart(struct uart *u);

#endif /* ARCH_X86_DEV_PCI_UART_H */
