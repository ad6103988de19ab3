/*
 * The files /dev/machine, which describes the machine, and /dev/firmware, which
 * has firmware's tables for a report on a board.  Included by kern/main.c.
 */
#ifndef KERN_MACHINE_H
#define KERN_MACHINE_H

struct bootinfo;
struct cmdline;

/* Remember how the machine was booted, and register /dev/machine. */
void machine_init(const struct bootinfo *bi, const struct cmdline *cl);

/* Register /dev/firmware.  Once, at boot, after the tables were read. */
void firmware_init(const struct bootinfo *bi);

#endif /* KERN_MACHINE_H */
