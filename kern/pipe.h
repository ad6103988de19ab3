/*
 * Pipes.  Included by kern/.
 */
#ifndef KERN_PIPE_H
#define KERN_PIPE_H

#include <stddef.h>
#include <stdint.h>

struct file;

/* A length, or -errno.  A read of 0: the end. */
intptr_t pipe_read(struct file *f, uintptr_t uva, size_t len);
intptr_t pipe_write(struct file *f, uintptr_t uva, size_t len);
/* The last descriptor of one end is closed. */
void pipe_close(struct file *f);

#endif /* KERN_PIPE_H */
