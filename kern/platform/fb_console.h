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
 * has fbcons_bytes() bytes, or is NULL if there was no memory for it.  Returns
 * false, after a message, if memory or address space ran out; the caller then
 * still owns cells.
 */
bool fbcons_init(const struct bootinfo *bi, char *cells);

/*
 * Wait for a minute so that the screen can be read.  Called by arch_halt()
 * before it powers off or resets the machine.  Returns at once without a
 * screen.
 */
void fbcons_linger(void);

#endif /* KERN_PLATFORM_FB_CONSOLE_H */
