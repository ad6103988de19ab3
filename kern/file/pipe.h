/*
 * Pipes.  Included by kern/.
 */
#ifndef KERN_FILE_PIPE_H
#define KERN_FILE_PIPE_H

#include <stddef.h>
#include <stdint.h>

struct file;

/* A length, or -errno.  A read of 0: the end. */
intptr_t pipe_read(struct file *f, uintptr_t uva, size_t len);
intptr_t pipe_write(struct file *f, uintptr_t uva, size_t len);
/*
 * Before pieces of together len bytes are written, one by one: wait until
 * there is room for them, if they may not be torn apart.  0, or what the call
 * returns.
 */
intptr_t pipe_prepare(struct file *f, size_t len);
/* What poll(2) says of the end f, all that is so. */
#define POLLIN   0x01
#define POLLOUT  0x04
#define POLLERR  0x08
#define POLLHUP  0x10
#define POLLNVAL 0x20
uint16_t pipe_poll(const struct file *f);
/* All LWPs in poll(2).  There are few, and a change of any pipe wakes all. */
extern struct waitq pipe_pollers;
/* The system calls pipe(2) and pipe2(2). */
intptr_t sys_pipe(const uintptr_t *a);
intptr_t sys_pipe2(const uintptr_t *a);
/* The last descriptor of one end is closed. */
void pipe_close(struct file *f);

#endif /* KERN_FILE_PIPE_H */
