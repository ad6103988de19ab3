/*
 * System calls whose allocations fail in turn.  Included by alloc_fail.c and by
 * the files of this folder that list the calls.
 *
 * The test makes a call with its first allocation failing, then with its
 * second, and so on until the call makes fewer allocations.  It does this
 * twice: with one allocation failing, and with all later ones failing too.  A
 * call that fails returns ENOMEM or EAGAIN and leaves the kernel's state
 * unchanged.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct turn_call {
	const char *tc_name; /* NULL: end of the list */
	long tc_number;      /* the system call's */
	uintptr_t tc_args[6];
	void (*tc_prepare)(void);
	long (*tc_make)(void); /* NULL: tc_number with tc_args */
	void (*tc_undo)(long result);
	int tc_errno;  /* its error when memory suffices */
	int tc_exit;   /* exit status of the executed program, with tc_child */
	bool tc_child; /* each turn runs in a new process and ends with it */
	bool tc_loses; /* a failure may change what tc_undo restores */
	unsigned tc_least; /* the least number of its allocations */
};

/* A row of a list: a call with (arguments), then fields by name. */
#define TURN_CALL(name, number, args, ...)                                     \
	{                                                                      \
		.tc_name = (name), .tc_number = (number),                      \
		.tc_args = TURN_ARGS args, __VA_ARGS__                         \
	}
#define TURN_ARGS(...)                                                         \
	{                                                                      \
		__VA_ARGS__                                                    \
	}
/* The same for a call that a function makes. */
#define TURN_MADE(name, number, prepare, make, undo, ...)                      \
	{                                                                      \
		.tc_name = (name), .tc_number = (number),                      \
		.tc_prepare = (prepare), .tc_make = (make), .tc_undo = (undo), \
		__VA_ARGS__                                                    \
	}

extern const struct turn_call turn_files[], turn_machine[], turn_memory[],
    turn_processes[], turn_signals[], turn_page[], turn_counters[], turn_old[];

/* Open descriptors, for turn_files and turn_old. */
enum {
	TURN_ZERO = 40,
	TURN_NULL,
	TURN_ARCHIVE,
	TURN_ROOT,
	TURN_READ, /* a pipe that holds 2,048 bytes */
	TURN_WRITE,
	TURN_RECORD,
	TURN_TMP, /* an empty file in /tmp, without a name */
	TURN_FREE /* not open */
};
void turn_open_files(void);
void turn_close_files(void);
/* Undo a call that opened descriptors: the result, or two in the buffer. */
void turn_close(long r);
void turn_close_both(long r);
/* Send SIGALRM to this process soon; check that its handler ran. */
void turn_alarm_soon(void);
void turn_no_alarm(long r);
/* turn_forked() ends the child of a fork at once. turn_reap() waits for it. */
long turn_forked(long r);
void turn_reap(long r);
/* Make an LWP that ends at once; wait for it; execute another program. */
long turn_make_thread(void);
void turn_join(long r);
long turn_make_execve(void);

/* Make a system call.  Returns the kernel's result: -errno if it failed. */
long turn_raw(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
    uintptr_t e);

/* Memory that calls read and write. */
#define TURN_BUFFER 8192
extern char turn_buffer[TURN_BUFFER];
#define TURN_P ((uintptr_t)turn_buffer)

/* An address near which nothing was ever mapped: no page tables. */
uintptr_t turn_new_place(void);

/* Let allocations of the calling LWP fail, as this turn demands. */
void turn_arm(void);

/* turns.c: take all turns of all calls, and EXPECT that each went well. */
void turns_of(const struct turn_call *calls);
/* Is a call of this number in one of the lists? */
bool turn_listed(long number);
