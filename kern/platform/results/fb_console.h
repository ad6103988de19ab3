/*
 * A text console on a linear framebuffer.  Included by kern/main.c, and by
 * arch/ for the end of a run.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * Take the screen from the console for pages of other things: clear it, and
 * return its size in pixels.  False without a screen.  fbcons_give_back() shows
 * the console's text again.
 */
bool fbcons_take(unsigned *width, unsigned *height);
void fbcons_give_back(void);
/* A line of text, from the left edge, in the console's letters. */
void fbcons_text(unsigned row, const char *text);
/* A row of n squares from pixel x, y.  False: it would leave the screen. */
bool fbcons_squares(
    unsigned x, unsigned y, unsigned side, const uint8_t *dark, unsigned n);

/*
 * Wait for a minute so that the screen can be read.  Called by arch_halt()
 * before it powers off or resets the machine.  Returns at once without a
 * screen.
 */
void fbcons_linger(void);
