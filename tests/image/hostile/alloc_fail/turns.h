/*
 * System calls whose allocations fail in turn.  Included by
 * tests/image/hostile/alloc_fail/alloc_fail.c and tests/image/alloc_fail/,
 * which lists the calls.
 *
 * A call is made with its first allocation failing, then with its second, and
 * so on until it makes no more of them; once with one failure and once with
 * all later allocations failing, too.  A call that fails says ENOMEM or
 * EAGAIN and leaves the kernel's state as it was.
 */
#ifndef TESTS_IMAGE_HOSTILE_ALLOC_FAIL_TURNS_H
#define TESTS_IMAGE_HOSTILE_ALLOC_FAIL_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct turn_call {
	const char *tc_name; /* NULL ends a list */
	long tc_number;      /* of the system call */
	uintptr_t tc_args[6];
	void (*tc_prepare)(void);
	long (*tc_make)(void); /* or NULL: tc_number with tc_args */
	void (*tc_undo)(long result);
	int tc_errno;  /* it fails with this although memory suffices */
	int tc_exit;   /* of tc_child: what the executed program exits with */
	bool tc_child; /* a process is made for each turn, which ends with it */
	bool tc_loses; /* a failure may change what tc_undo undoes */
	unsigned tc_least; /* allocations it makes, at least */
};

extern const struct turn_call turn_files[], turn_machine[], turn_memory[],
    turn_processes[], turn_signals[], turn_page[], turn_counters[], turn_old[];

/* Descriptors that are open: for turn_files, and those of one machine alone. */
enum {
	TURN_ZERO = 40,
	TURN_NULL,
	TURN_ARCHIVE,
	TURN_ROOT,
	TURN_READ, /* a pipe, with something in it */
	TURN_WRITE,
	TURN_RECORD,
	TURN_FREE /* not open */
};
void turn_open_files(void);
void turn_close_files(void);
/* What undoes a call that opened descriptors: the result, or in the buffer. */
void turn_close(long r);
void turn_close_both(long r);
/* SIGALRM, blocked or handled, is about to come. */
void turn_alarm_soon(void);
void turn_no_alarm(long r);
/* Fork's child ends at once; and its parent waits for it. */
long turn_forked(long r);
void turn_reap(long r);
/* An LWP that ends at once, which turn_join() waits for; and this program. */
long turn_make_thread(void);
void turn_join(long r);
long turn_make_execve(void);

/* A result of the kernel's: -errno where the call failed. */
long turn_raw(long number, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,
    uintptr_t e);

/* What calls read and write. */
#define TURN_BUFFER 8192
extern char turn_buffer[TURN_BUFFER];
#define TURN_P ((uintptr_t)turn_buffer)

/* A place nothing was ever mapped near to: page tables are missing there. */
uintptr_t turn_new_place(void);

/* Begin to fail in the caller's LWP, as this turn does it. */
void turn_arm(void);

/* turns.c: what is wrong is said by EXPECT. */
void turns_of(const struct turn_call *calls);
/* Is a call of this number in one of the lists? */
bool turn_listed(long number);

#endif /* TESTS_IMAGE_HOSTILE_ALLOC_FAIL_TURNS_H */
