/* Timers with a descriptor, for timerfd_create(2).  Included by kern/. */
#pragma once

#include <stdint.h>

#include "kern/sched/timer.h"

struct file;
struct timer_file;

/* A timer that is not set, with one reference.  NULL if memory runs out. */
struct file *timer_file_new(unsigned flags);
void timer_file_close(struct timer_file *ft);
/* Expire at this tick, and then each `every` ns; 0: once. */
void timer_file_start(struct file *f, uint64_t tick, hrtime_t every);
void timer_file_stop(struct file *f);
/* How often has it expired since it was set or timer_file_take() was called? */
uint64_t timer_file_count(const struct file *f);
/* Reset the count, after it was read as `count`. */
void timer_file_take(struct file *f, uint64_t count);
/* ns until it expires next, at least 1; 0: never.  And its interval. */
hrtime_t timer_file_left(const struct file *f);
hrtime_t timer_file_every(const struct file *f);
