/* Pipes.  Included by kern/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct file;
struct proc;
struct tmp_node;

#define PIPE_BYTES 65536UL /* the ring's size, Linux's */

/* These return a length, or -errno.  pipe_read() returns 0 at the end. */
intptr_t pipe_read(struct file *f, uintptr_t uva, size_t len);
intptr_t pipe_write(struct file *f, uintptr_t uva, size_t len);
/*
 * Called before a writev(2) of len bytes in total.  If they must stay together,
 * wait until all fit.  Returns 0, or the system call's result.
 */
intptr_t pipe_prepare(struct file *f, size_t len);
/* Returns all POLL* conditions that now hold for the end f. */
#define POLLIN   0x01
#define POLLOUT  0x04
#define POLLERR  0x08
#define POLLHUP  0x10
#define POLLNVAL 0x20
uint16_t pipe_poll(const struct file *f);
/* The bytes in the pipe of f. */
size_t pipe_bytes(const struct file *f);
/* The FIFO of f, or NULL: its pipe has no name. */
struct tmp_node *pipe_node(const struct file *f);
/* How often the pipe of f has changed. */
uint64_t pipe_changes(const struct file *f);
/*
 * All LWPs in poll(2), epoll_wait(2), and calls of eventfds and timers.  They
 * are few, so a change of any file that one of them has polled wakes all.
 */
extern struct waitq pipe_pollers;
/* The system calls pipe(2) and pipe2(2). */
intptr_t sys_pipe(const uintptr_t *a);
intptr_t sys_pipe2(const uintptr_t *a);
/*
 * Make what `from` writes to descriptor 1 the input of `to`, at descriptor 0.
 * Neither has run yet.  Returns 0 or ENOMEM.
 */
int pipe_connect(struct proc *from, struct proc *to);
/*
 * Make f an open file of a FIFO.  Unless O_NONBLOCK or O_RDWR is set, wait
 * until the other end is opened.  Returns 0 or an errno.
 */
int pipe_open_fifo(struct file *f, struct tmp_node *tn);
/* Called when the last descriptor of an open file is closed. */
void pipe_close(struct file *f);
