/*
 * A text console on a linear framebuffer.  Included by kern/main.c, and by
 * arch/ for the end of a run.
 */
#ifndef KERN_PLATFORM_FB_CONSOLE_H
#define KERN_PLATFORM_FB_CONSOLE_H

struct bootinfo;

/*
 * Show the console's text on the framebuffer the firmware left, if there is
 * one.  After page_init().
 */
void fbcons_init(const struct bootinfo *bi);

/*
 * Leave what the screen shows to its reader for a minute.  Called by
 * arch_halt() before it powers off or resets the machine; returns at once
 * where there is no screen.
 */
void fbcons_linger(void);

#endif /* KERN_PLATFORM_FB_CONSOLE_H */
