/*
 * What a program says of its command line, and its last line where something
 * went wrong.  Included by every program of the image, and by those that run
 * on the build machine, too.
 */
#ifndef PAYLOADS_COMMON_USAGE_H
#define PAYLOADS_COMMON_USAGE_H

#include <getopt.h>
#include <stdint.h>

/*
 * Before all else: the program's arguments, as the usage line has them, and a
 * line for each of its options, or "".
 */
void usage_is(const char *arguments, const char *options);

/*
 * The next option, as getopt_long(3) has it; letters begin with ':' or "+:",
 * and more may be NULL.  What is no option ends the program, and so do -h and
 * --help, which print all that usage_is() was told.
 */
int usage_option(
    int argc, char **argv, const char *letters, const struct option *more);

/* A mistake of the command line: what it is, and the usage; ends with 2. */
_Noreturn void usage_mistake(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * A number of the command line within [min, max], by strtoull base 0; what it
 * is for and its unit are for the mistake.
 */
uint64_t usage_number(const char *what, const char *text, uint64_t min,
    uint64_t max, const char *unit);
/* The same with an optional suffix k, m or g (powers of 1024). */
uint64_t usage_size(
    const char *what, const char *text, uint64_t min, uint64_t max);

/* What the program was called as. */
const char *usage_name(void);
/* Say what is wrong, a line with the program's name before it; exit. */
_Noreturn void fail(int status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Memory just asked for; fails where there is none. */
void *fail_unless_room(void *p);

#endif /* PAYLOADS_COMMON_USAGE_H */
