/*
 * Opens libcpc for cputrack and cpustat, and takes the options that both have.
 */
#include "payloads/cputrack/cpc_tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "payloads/common/usage.h"

#define WHOLE_MAX 1000000000

struct cpc_tool tool;

static const char *arguments;

void
tool_message(const char *fn, const char *fmt, va_list ap)
{
	fprintf(stderr, "%s: ", usage_name());
	if (tool.debug)
		fprintf(stderr, "%s: ", fn);
	vfprintf(stderr, fmt, ap);
}

static void
report_error(const char *fn, int, const char *fmt, va_list ap)
{
	tool_message(fn, fmt, ap);
}

void
tool_open(const char *args, const char *what)
{
	arguments = args;
	usage_is(args, "");
	if ((tool.cpc = cpc_open(CPC_VER_CURRENT)) == NULL)
		fail(1, "cannot access %s - %s", what, strerror(errno));
	cpc_seterrhndlr(tool.cpc, report_error);
}

void
tool_option(int c)
{
	switch (c) {
	case 'c':
		if (tool.nspecs == TOOL_SPECS)
			usage_mistake("too many -c");
		tool.specs[tool.nspecs++] = spec_parse(tool.cpc, optarg);
		cpc_seterrhndlr(tool.cpc, report_error);
		break;
	case 'n':
		tool.no_titles = true;
		break;
	case 't':
		tool.ticks = true;
		break;
	case 'D':
		tool.debug = true;
		break;
	case 'h':
		spec_help(stdout, tool.cpc, usage_name(), arguments);
		exit(0);
	}
}

void
tool_invalid(const char *text)
{
	usage_mistake("invalid argument \"%s\"", text);
}

double
tool_number(const char *text, double max)
{
	char *end;
	double d = strtod(text, &end);

	if (end == text || *end != '\0' || !(d >= 0 && d <= max))
		tool_invalid(text);
	return d;
}

unsigned
tool_whole(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end != '\0' || n < 0 || n > WHOLE_MAX)
		tool_invalid(text);
	return (unsigned)n;
}
