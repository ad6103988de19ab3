# dev/uart/: drivers of UARTs, which are polled.  Each machine has the accesses to registers.
DEV_OBJS := $(addprefix dev/uart/,uart.o ns16550.o fifo.o qcom.o scif.o)
