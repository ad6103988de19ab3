/*
 * The last error text of libcpc, kept for messages of the programs.
 */
#include "payloads/common/cpc_error.h"

#include "payloads/common/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int last_subcode = -1;
static char text[512];

static void __attribute__((format(printf, 3, 0)))
note(const char *fn, int subcode, const char *fmt, va_list ap)
{
	(void)fn;
	last_subcode = subcode;
	vsnprintf(text, sizeof text, fmt, ap);
	text[strcspn(text, "\n")] = '\0';
}

void
detail_keep(cpc_t *cpc)
{
	detail_forget();
	cpc_seterrhndlr(cpc, note);
}

void
detail_forget(void)
{
	last_subcode = -1;
	text[0] = '\0';
}

int
detail_subcode(void)
{
	return last_subcode;
}

void
cpc_error_override(const char *why)
{
	snprintf(text, sizeof text, "%s", why);
}

const char *
detail_text(void)
{
	if (*text != '\0')
		return text;
	return errno == EAGAIN ? "the counters are in use, by stat or record "
	                         "or a set that is bound to a CPU"
	                       : strerror(errno);
}

const char *
detail_absent(char *buf, size_t size)
{
	if (report_machine("pmu_reason", buf, size) == NULL)
		snprintf(buf, size, "cpc_open: %s", strerror(errno));
	return buf;
}
