/*
 * A text console on a linear framebuffer.  Included by kern/main.c, and by
 * arch/ for the end of a run.
 */
#ifndef KERN_PLATFORM_FB_CONSOLE_H
#define KERN_PLATFORM_FB_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

struct bootinfo;

/* Bytes of memory for the text on the screen; 0 without a framebuffer. */
size_t fbcons_bytes(const struct bootinfo *bi);
/*
 * Show the console's text on the framebuffer that the firmware left.  cells
 * are fbcons_bytes() of memory, or NULL if there was none.  False, with one
 * line on the console, where memory or address space ran out: the caller
 * keeps the cells.
 */
bool fbcons_init(const struct bootinfo *bi, char *cells);

/*
 * Leave what the screen shows to its reader for a minute.  Called by
 * arch_halt() before it powers off or resets the machine; returns at once
 * where there is no screen.
 */
void fbcons_linger(void);

#endif /* KERN_PLATFORM_FB_CONSOLE_H */
