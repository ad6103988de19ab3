/* Sets of files for epoll_wait(2).  Included by kern/. */
#pragma once

#include <stdint.h>

struct epoll;
struct file;

/* A request of epoll_ctl(2), or a report of epoll_wait(2). */
struct epoll_event {
	uint32_t ee_events; /* POLLIN and so on, and EPOLLET, EPOLLONESHOT */
	uint64_t ee_data;
};

/* An open, empty set.  NULL if memory runs out. */
struct file *epoll_new(void);
void epoll_close(struct epoll *ep);
/*
 * Add a file, change it, or with ee NULL remove it.  Returns 0, EEXIST, ENOENT,
 * EPERM for a file that is always ready, or ENOSPC.
 */
int epoll_add(
    struct epoll *ep, int fd, struct file *f, const struct epoll_event *ee);
int epoll_change(
    struct epoll *ep, int fd, struct file *f, const struct epoll_event *ee);
/* Report at most max events.  Returns how many. */
unsigned epoll_take(struct epoll *ep, struct epoll_event *ee, unsigned max);

/* The POLL* conditions of a file that now hold. */
uint16_t file_poll(const struct file *f);

/*
 * Signals became pending: files of signalfd4(2) may have become ready for the
 * process that has the signal.  Fast while there is no such file.
 */
void signal_files_changed(void);
extern unsigned nsignal_files; /* open files of signalfd4(2) */
/* The file is closed: remove it from all sets. */
void epoll_forget(struct file *f);
