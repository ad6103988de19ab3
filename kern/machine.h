/*
 * The text that describes the machine in records.  Included by kern/.
 */
#ifndef KERN_MACHINE_H
#define KERN_MACHINE_H

#include <stddef.h>

struct bootinfo;
struct cmdline;

/* Note how this boot was made. */
void machine_init(const struct bootinfo *bi, const struct cmdline *cl);
/*
 * JSON members without braces, in one line: what /dev/machine reads.  For
 * kfree(); NULL where memory is out.
 */
char *machine_text(size_t *bytes);

#endif /* KERN_MACHINE_H */
