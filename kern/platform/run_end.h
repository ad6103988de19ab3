/* How a run ends: its statuses and its closing line.  Included by kern/. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Exit statuses of the run that the kernel sets; README.md lists them. */
#define EXIT_UNCOUNTED 77 /* ran, but no counters could be given */
#define EXIT_TIMEOUT   124
#define EXIT_FAILED    125 /* the kernel failed, or a program did not start */

/* Send the frame with the status, print `barecpc: exit N`, end the run. */
_Noreturn void run_end(int status);
/* The last step of it: arch_halt().  No deadline disturbs that. */
_Noreturn void run_halt(bool passed);

/*
 * deadline=: the run may take so many seconds from the image's first
 * instruction.  Then one line says so, and the run ends with EXIT_TIMEOUT.
 * Each CPU has a timer for it, and wait loops ask, by arch_relax().  The CPU
 * that prints, or holds a lock, may never come back.  With a deadline the end
 * is a power-off, unless keep= needs a reset: a machine that was reset would
 * run again.  Firmware that hangs in the power-off itself is not bounded.
 */
void run_deadline_set(unsigned seconds);
/* Its tick, or 0 without one. */
extern uint64_t run_deadline;
/* Whether arch_halt() shall power off after a failure, too. */
extern bool run_powers_off;
void run_deadline_check(void *unused);

/*
 * boot_time.c: the time from the image's first instruction to a payload's.
 * Called before each entry of a payload; only the first call has an effect.
 */
void boottime_first_payload(void);
/* Print the time, if a payload ran. */
void boottime_print(void);
