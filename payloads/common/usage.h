/*
 * Messages about a program's command line, and its last line after an error.
 * Included by every program of the image and of the build machine.
 */
#pragma once

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Set the usage text: the arguments, as the usage line shows them, and a line
 * for each option, or "".  Call this first.
 */
void usage_is(const char *arguments, const char *options);

/*
 * The next option, as getopt_long(3) has it; letters begin with ':' or "+:",
 * and more may be NULL.  An unknown option ends the program.  So do -h and
 * --help, which print the usage text.
 */
int usage_option(
    int argc, char **argv, const char *letters, const struct option *more);

/*
 * The same for options that are whole words after one dash or two.  They may be
 * abbreviated.
 */
int usage_word(int argc, char **argv, const struct option *words);

/* Print a mistake of the command line and the usage.  Ends with status 2. */
_Noreturn void usage_mistake(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/*
 * Parse a number within [min, max]: decimal, 0x hexadecimal or 0 octal.  Ends
 * the program with a message that names `what` and `unit` if it is invalid.
 */
uint64_t usage_number(const char *what, const char *text, uint64_t min,
    uint64_t max, const char *unit);
/* The same with an optional suffix k, m or g: powers of 1,024. */
uint64_t usage_size(
    const char *what, const char *text, uint64_t min, uint64_t max);

/* The name that the program was called by. */
const char *usage_name(void);
/* Print what is wrong, after the program's name, and exit. */
_Noreturn void fail(int status, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Check memory that was just allocated; fails if it is NULL. */
void *fail_unless_room(void *p);
/* Close a file that was written, in memory too; fails if a part is missing. */
void close_or_fail(FILE *f);
