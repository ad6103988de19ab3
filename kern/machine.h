/*
 * The text that describes the machine in records.  Included by kern/main.c.
 */
#ifndef KERN_MACHINE_H
#define KERN_MACHINE_H

struct bootinfo;
struct cmdline;

/* Note how this boot was made, and serve /dev/machine. */
void machine_init(const struct bootinfo *bi, const struct cmdline *cl);

#endif /* KERN_MACHINE_H */
