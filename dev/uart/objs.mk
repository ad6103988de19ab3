# dev/uart/: drivers of UARTs, which are polled.  Each machine has the accesses to registers.
UART_OBJS := $(addprefix dev/uart/,uart.o ns16550.o fifo.o qcom.o scif.o)
# dev/pci/: devices on PCI, found by configuration registers.
DEV_OBJS := $(UART_OBJS) dev/pci/pci_uart.o
