/*
 * The console: the kernel's log and the payloads' streams on one serial line.
 * Included by kern/ and arch/.
 *
 * In text mode payload output is sent as it is.  In framed mode, for a program
 * on the host that separates the streams, each piece of it is sent as
 *
 *	BARECPC-BEGIN <stream> <number> <bytes> <crc>\n
 *	...the bytes...
 *	\nBARECPC-END\n
 *
 * The number is 1 for the first frame of a run, and increases by 1.  The crc is
 * the CRC-32 of the text "<stream> <number> <bytes>" and the bytes, in eight
 * hexadecimal digits.  In the bytes BARECPC- is sent as BARECPC>-
 * (cons_payload()).  Records and the run's status (STREAM_JSON and
 * STREAM_EXIT) are framed in both modes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "dev/uart/uart.h"

/* The UART of uart=, which overrides those of tables, or UART_NONE. */
extern struct uart cons_uart;

enum stream {
	STREAM_LOG, /* the kernel's log */
	STREAM_STDOUT,
	STREAM_STDERR,
	STREAM_JSON,
	STREAM_FILE, /* the file of out=, which may be empty */
	STREAM_EXIT, /* the status of the run; the last frame */
};

/* The value of output=: framed or text. */
void cons_set_framed(bool framed);
bool cons_is_framed(void);
/*
 * Take the console for a report that ends the run, even from a CPU that holds
 * its lock.  The report starts on a new line.  If the kernel is broken, no
 * frame is sent from then on.
 */
void cons_seize(bool broken);
void cons_write(enum stream s, const char *p, size_t n);
/*
 * Also pass every character outside frames to fn (a screen), and first the
 * text printed before this call.  NULL ends this.
 */
void cons_mirror(void (*fn)(int c));
