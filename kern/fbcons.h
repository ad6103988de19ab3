/*
 * A text console on a linear framebuffer.  Included by kern/main.c.
 */
#ifndef KERN_FBCONS_H
#define KERN_FBCONS_H

struct bootinfo;

/*
 * Show the console's text on the framebuffer the firmware left, if there is
 * one.  After page_init().
 */
void fbcons_init(const struct bootinfo *bi);

#endif /* KERN_FBCONS_H */
