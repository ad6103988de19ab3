/*
 * Another program, waited for.  Included by programs that run others.
 */
#ifndef PAYLOADS_TOOLS_CHILD_H
#define PAYLOADS_TOOLS_CHILD_H

#include <getopt.h>
#include <sys/types.h>

/* The long options of all of them: what usage_option() says of --timeout. */
#define CHILD_TIMEOUT 256
extern const struct option child_options[];

/* As perf stat has it: milliseconds; fails where it is none. */
unsigned child_timeout(const char *text);

/*
 * Wait until pid has ended; end it after so many ms, 0 for never, and say so.
 * How it ended, as shells have it.
 */
int child_wait(pid_t pid, const char *name, unsigned ms);

#endif /* PAYLOADS_TOOLS_CHILD_H */
