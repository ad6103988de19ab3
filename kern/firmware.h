/*
 * The file /dev/firmware: the tables that firmware left, for a report on a
 * board.  Included by kern/main.c.
 */
#ifndef KERN_FIRMWARE_H
#define KERN_FIRMWARE_H

struct bootinfo;

/* Register /dev/firmware.  Once, at boot, after the tables were read. */
void firmware_init(const struct bootinfo *bi);

#endif /* KERN_FIRMWARE_H */
