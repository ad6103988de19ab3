/*
 * UARTs, polled.  Each kind has a name and a table of operations.  Included by
 * kern/platform/, by arch/, and by the drivers in dev/uart/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum uart_kind {
	UART_NONE,
	UART_16550_IO, /* in I/O ports; the others are in memory */
	UART_16550,    /* accesses of 8 bits */
	UART_16550_16,
	UART_16550_32,
	UART_BCM_AUX, /* BCM2835's mini UART: a 16550 with fewer registers */
	UART_PL011,
	UART_SBSA, /* a PL011 without registers for its setup */
	UART_CADENCE,
	UART_IMX,
	UART_LPUART,
	UART_MESON,
	UART_ARMADA,
	UART_SCIF,
	UART_SCIF_RZ, /* registers every 2 bytes, not every 4 */
	UART_GENI,
	UART_UARTDM,
	UART_KINDS,
};

/* A UART, as tables or the command line describe it. */
struct uart {
	enum uart_kind u_kind;
	uint64_t u_addr;
	/* 16550, SCIF: log2 of the distance of registers; else 0. */
	unsigned u_shift;
	unsigned u_width;         /* bytes of an access */
	uint32_t u_clock_hz;      /* 16550: of the rate generator; 0: unknown */
	uint32_t u_baud;          /* 0: as firmware left it */
	volatile uint8_t *u_regs; /* the mapping of u_addr; NULL: ports */
	/*
	 * There is room for a character if u_mask of the register u_status has
	 * the value u_room.
	 */
	unsigned u_status;
	uint32_t u_mask, u_room;
	unsigned u_data;
	const struct uart_ops *u_ops; /* NULL until uart_start() */
};

struct uart_ops {
	/*
	 * Take over the UART, and fill in u_status to u_data.  False if it is
	 * not one of this kind.
	 */
	bool (*start)(struct uart *u);
	/* Send a character, if there is room.  NULL: write it to u_data. */
	void (*send)(const struct uart *u, unsigned char c);
	/* The next character that was received, or -1. */
	int (*receive)(const struct uart *u);
};

/* The kinds.  The names are those of uart= on the command line. */
struct uart_type {
	const char *ut_name;
	const struct uart_ops *ut_ops;
	unsigned ut_width;
	unsigned ut_shift;
	unsigned ut_bytes; /* of the registers, with shift 0 */
};
extern const struct uart_type uart_types[UART_KINDS];

/* The clock of a PC's 16550. */
#define UART_PC_CLOCK_HZ 1843200

/* A UART with the defaults of its kind. */
struct uart uart_make(enum uart_kind kind, uint64_t addr);
/* Can its registers be at this address? */
bool uart_fits(enum uart_kind kind, uint64_t addr);
/* Take over the UART, which is mapped.  False if it is not one of its kind. */
bool uart_start(struct uart *u);
/* The next three are for one that has been started. */
bool uart_has_room(const struct uart *u);
/* Send a character: only if there is room. */
void uart_send(const struct uart *u, unsigned char c);
/* The next character that was received, or -1; also if it was not started. */
int uart_receive(const struct uart *u);
/* Bytes from u_addr that its driver accesses. */
unsigned uart_bytes(const struct uart *u);
/* Parse TYPE,ADDRESS[,BAUD].  Returns NULL, or a line: why it is refused. */
const char *uart_parse(const char *text, struct uart *u);

/*
 * The machine's part: access the register `offset` bytes after u_addr.
 * uart_has_ports says if this machine has I/O ports.
 */
uint32_t uart_read(const struct uart *u, unsigned offset);
void uart_write(const struct uart *u, unsigned offset, uint32_t v);
extern const bool uart_has_ports;

/* The drivers. */
extern const struct uart_ops ns16550_ops, fifo_ops, geni_ops, uartdm_ops,
    scif_ops;
