/*
 * A program's last line.  Included by programs that run others, whose usage is
 * not that of the benchmarks (payloads/options.h).
 */
#ifndef PAYLOADS_FAIL_H
#define PAYLOADS_FAIL_H

/* The program's: its name, and its arguments as the usage line has them. */
extern const char fail_name[], fail_usage[];

/* Say what is wrong, and how it is used where the status is 2; exit with it. */
_Noreturn void fail(int status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* A number of the command line within [min, max], in unit; else fails. */
long fail_unless_number(
    const char *what, const char *text, long min, long max, const char *unit);

#endif /* PAYLOADS_FAIL_H */
