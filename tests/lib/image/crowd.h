/* A crowd: LWPs that spin and never yield, for tests of the scheduler. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define CROWD_MAX 16
#define SLICE_US  4000 /* kern/sched/sched.c */

struct crowd_lwp {
	pthread_t t;
	int cpu;                  /* -1: not bound */
	volatile int on;          /* crowd_where() */
	volatile uint64_t rounds; /* of its loop */
};

struct crowd {
	unsigned n;
	volatile bool end;
	struct crowd_lwp lwp[CROWD_MAX];
};

/* Start n LWPs that block every signal, and spin on that CPU on return. */
void crowd_start(struct crowd *c, unsigned n, int cpu);
/* Start one more. */
void crowd_add(struct crowd *c, int cpu);
/*
 * The CPU that LWP i runs on.  The LWP looks only when it is asked: while one
 * CPU makes system calls in a loop, QEMU may run no other CPU.
 */
int crowd_where(struct crowd *c, unsigned i);
void crowd_end(struct crowd *c);

void crowd_bind_self(int cpu);
void crowd_sleep_us(int64_t us);
int64_t crowd_now_us(void);
/* How late the latest of ten sleeps of so many us ends. */
int64_t crowd_worst_late_us(int64_t us);
unsigned crowd_ncpu(void);
