/*
 * Waiting for another program, with a time limit, or until Ctrl-C.  Included by
 * stat.c and record.c.
 */
#ifndef PAYLOADS_TOOLS_CHILD_H
#define PAYLOADS_TOOLS_CHILD_H

#include <getopt.h>
#include <stdbool.h>
#include <sys/types.h>

/* The long option --timeout, and the value usage_option() returns for it. */
#define CHILD_TIMEOUT 256
extern const struct option child_options[];

/* Parse --timeout in milliseconds, as perf stat does.  Ends if it is invalid.
 */
unsigned child_timeout(const char *text);

/*
 * Did Ctrl-C come on the console's line?  The host passes it on.  A line that
 * is not connected may have characters for ever.
 */
bool child_interrupt_came(void);

/*
 * Wait until pid has ended.  After `ms` milliseconds, unless 0, kill it and
 * print that.  Unless `interrupted` is NULL, look for Ctrl-C each 200 ms: kill
 * pid then, too.  Returns its status as shells do.
 */
int child_wait(pid_t pid, const char *name, unsigned ms, bool *interrupted);

#endif /* PAYLOADS_TOOLS_CHILD_H */
