/* The usage text of a program, its options, and its error messages. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "payloads/common/usage.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *arguments = "", *options = "";

void
usage_is(const char *args, const char *opts)
{
	arguments = args;
	options = opts;
}

const char *
usage_name(void)
{
	return program_invocation_short_name;
}

static void
print_usage(FILE *to)
{
	fprintf(to, "usage: %s%s%s\n", usage_name(),
	    *arguments != '\0' ? " " : "", arguments);
}

static void __attribute__((format(printf, 1, 0)))
print_message(const char *fmt, va_list ap)
{
	fprintf(stderr, "%s: ", usage_name());
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void
usage_mistake(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
	print_usage(stderr);
	exit(2);
}

void
fail(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_message(fmt, ap);
	va_end(ap);
	exit(status);
}

void *
fail_unless_room(void *p)
{
	if (p == NULL)
		fail(1, "%s", strerror(errno));
	return p;
}

void
close_or_fail(FILE *f)
{
	bool whole = ferror(f) == 0;

	if (fclose(f) != 0 || !whole)
		fail(1, "cannot write all output: %s", strerror(errno));
}

/* Refuse the option at which getopt_long(3) stopped, or print the help. */
static void
refuse_option(int c, const char *word)
{
	const char *wrong = c == ':' ? "needs an argument" : "no such option";
	bool is_long = optopt == 0 || optopt > UCHAR_MAX;

	if (is_long ? strcmp(word, "--help") == 0 : optopt == 'h') {
		print_usage(stdout);
		fputs(options, stdout);
		exit(0);
	}
	if (is_long)
		usage_mistake("%s: %s", word, wrong);
	usage_mistake("-%c: %s", optopt, wrong);
}

int
usage_option(
    int argc, char **argv, const char *letters, const struct option *more)
{
	static const struct option none[1];
	int c;

	opterr = 0;
	c = getopt_long(argc, argv, letters, more != NULL ? more : none, NULL);
	if (c == '?' || c == ':')
		refuse_option(c, argv[optind - 1]);
	return c;
}

int
usage_word(int argc, char **argv, const struct option *words)
{
	opterr = 0;
	int c = getopt_long_only(argc, argv, ":", words, NULL);
	if (c == '?' || c == ':')
		refuse_option(c, argv[optind - 1]);
	return c;
}

/* Parse the digits of a number.  *rest becomes the text after them. */
static uint64_t
parse_number(const char *what, const char *text, char **rest)
{
	uint64_t v = strtoull(text, rest, 0);

	if (*rest == text || strchr(text, '-') != NULL)
		usage_mistake("%s: not a number: \"%s\"", what, text);
	return v; /* ULLONG_MAX if it is too large */
}

/* The shift of a suffix letter, or 0. */
static unsigned
suffix_shift(char c)
{
	static const char suffixes[] = "kKmMgG";
	const char *s = c != '\0' ? strchr(suffixes, c) : NULL;

	return s != NULL ? 10 * (unsigned)((s - suffixes) / 2 + 1) : 0;
}

static uint64_t
check_range(const char *what, const char *text, uint64_t v, uint64_t min,
    uint64_t max, const char *unit)
{
	if (v < min || v > max)
		usage_mistake("%s: %s is not within %" PRIu64 "..%" PRIu64 "%s",
		    what, text, min, max, unit);
	return v;
}

uint64_t
usage_number(const char *what, const char *text, uint64_t min, uint64_t max,
    const char *unit)
{
	char *rest;
	uint64_t v = parse_number(what, text, &rest);

	/* It is unclear whether k is 1,000 or 1,024.  perf refuses it, too. */
	if (suffix_shift(*rest) != 0 && rest[1] == '\0')
		usage_mistake(
		    "%s: \"%s\": give a number without a suffix", what, text);
	if (*rest != '\0')
		usage_mistake("%s: not a number: \"%s\"", what, text);
	return check_range(what, text, v, min, max, unit);
}

uint64_t
usage_size(const char *what, const char *text, uint64_t min, uint64_t max)
{
	char *rest;
	uint64_t v = parse_number(what, text, &rest);
	unsigned shift = suffix_shift(*rest);

	if (rest[shift != 0] != '\0')
		usage_mistake("%s: not a number: \"%s\"", what, text);
	v = v > UINT64_MAX >> shift ? UINT64_MAX : v << shift;
	return check_range(what, text, v, min, max, "");
}
