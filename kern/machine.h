/*
 * The file /dev/machine, which describes the machine.  Included by
 * kern/main.c.
 */
#ifndef KERN_MACHINE_H
#define KERN_MACHINE_H

struct bootinfo;
struct cmdline;

/* Remember how the machine was booted, and register /dev/machine. */
void machine_init(const struct bootinfo *bi, const struct cmdline *cl);

#endif /* KERN_MACHINE_H */
