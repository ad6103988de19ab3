/*
 * The console: the kernel's log and the payloads' streams on one line.
 * Included by kern/ and arch/.
 *
 * In text mode payload output goes out as it is; in framed mode (for a host
 * program that takes the streams apart) every piece of it is
 *
 *	BARECPC-BEGIN <stream> <bytes> <crc>\n
 *	...the bytes...
 *	\nBARECPC-END\n
 *
 * where crc is the CRC-32 of the bytes in eight hexadecimal digits.  Records
 * (STREAM_JSON) are framed in both modes.
 */
#ifndef KERN_PLATFORM_CONSOLE_H
#define KERN_PLATFORM_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

enum stream {
	STREAM_LOG, /* the kernel's own */
	STREAM_STDOUT,
	STREAM_STDERR,
	STREAM_JSON,
};

/* The words of output=. */
void cons_set_framed(bool framed);
bool cons_is_framed(void);
/*
 * For a report that ends the run, wherever it strikes: whoever holds the
 * console has lost it, and the report starts on a line of its own.
 */
void cons_seize(void);
void cons_write(enum stream s, const char *p, size_t n);
/*
 * Also give every character that is in no frame to fn (a screen), the first
 * ones printed so far included; NULL: no longer.
 */
void cons_mirror(void (*fn)(int c));

#endif /* KERN_PLATFORM_CONSOLE_H */
