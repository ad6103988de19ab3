/* Waiting for files to become ready.  Included by kern/sys/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;

/*
 * Sleep until a pipe, an eventfd or a timer changes, or until the deadline.
 * Returns 0, EINTR for a signal, or ETIMEDOUT.  Check first, and again after 0.
 */
int wait_files(uint64_t deadline);
/* The tick that is ms milliseconds away; ~0 if ms is negative. */
uint64_t deadline_ms(int ms);

/* Use another signal mask during the wait.  uva 0: the own one. */
int wait_mask(uintptr_t uva, size_t bytes);
/* Restore it, unless the wait ended with -EINTR: then a handler runs first. */
intptr_t end_wait_mask(intptr_t found);

/* fd.c: give f a descriptor, or release it: the descriptor, or -errno. */
intptr_t install_file(struct file *f, bool cloexec);

/* event.c: wait for a change.  Returns 0, or the result of the system call. */
intptr_t wait_change(const struct file *f);
/* The calls of eventfd(2)'s files. */
intptr_t event_read(struct file *f, uintptr_t uva, size_t len);
intptr_t event_write(struct file *f, uintptr_t uva, size_t len);
/* signalfd.c: read(2) of signals. */
intptr_t signal_read(struct file *f, uintptr_t uva, size_t len);
/* perf_output.c: the calls of perf_event_open(2)'s files. */
intptr_t perf_read(struct file *f, uintptr_t uva, size_t len);
intptr_t perf_ioctl(struct file *f, unsigned request, uintptr_t arg);
/* mmap(2), which returns 0 or an errno. */
int perf_mmap(struct file *f, uintptr_t va, size_t len, unsigned prot,
    uint64_t offset, bool shared);
/* fcntl(2)'s O_ASYNC of descriptor fd, owner and signal. */
void perf_async(struct file *f, int fd, bool on);
intptr_t perf_fcntl(struct file *f, uintptr_t operation, uintptr_t arg);
/* timerfd.c: read(2) of a timer. */
intptr_t timer_read(struct file *f, uintptr_t uva, size_t len);
