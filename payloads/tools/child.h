/*
 * Waiting for another program, with a time limit, or until Ctrl-C.  Included by
 * stat.h, stat.c, stat_run.c and record.c.
 */
#pragma once

#include <getopt.h>
#include <stdbool.h>
#include <sys/types.h>

/* The long option --timeout, and the value usage_option() returns for it. */
#define CHILD_TIMEOUT 256
extern const struct option child_options[];

/* Parse --timeout, in ms as perf stat's.  Ends the program if it is invalid. */
unsigned child_timeout(const char *text);

/*
 * Did Ctrl-C come on the console's line?  The host passes it on.  A line that
 * is not connected may have characters for ever.
 */
bool child_interrupt_came(void);

/* The looks for Ctrl-C while a program ran.  Each takes a CPU from it. */
struct child_keys {
	unsigned ck_looks;
	bool ck_came; /* Ctrl-C came, and... */
	bool ck_cut;  /* ...ended the program */
};

/*
 * Wait until pid has ended.  After `ms` milliseconds, unless 0, kill it and
 * print that.  Unless ck is NULL, look for Ctrl-C each 200 ms: kill pid then,
 * too.  Returns its status as shells do.
 */
int child_wait(pid_t pid, const char *name, unsigned ms, struct child_keys *ck);

/* In the child: read standard input from what the host's --stdin named. */
void child_input(void);
/*
 * In the child: execute a program, whose argv[0] becomes the last part of its
 * path.  Returns if that fails.
 */
void child_exec(char **program);
