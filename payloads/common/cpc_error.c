/* The last error text of libcpc, kept for messages of the programs. */
#include "payloads/common/cpc_error.h"

#include "payloads/common/report.h"
#include "payloads/common/usage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int kept_subcode = -1;
static char kept_text[512];

static void __attribute__((format(printf, 3, 0)))
keep_error(const char *, int subcode, const char *fmt, va_list ap)
{
	kept_subcode = subcode;
	vsnprintf(kept_text, sizeof kept_text, fmt, ap);
	kept_text[strcspn(kept_text, "\n")] = '\0';
}

void
cpc_error_keep(cpc_t *cpc)
{
	cpc_error_forget();
	cpc_seterrhndlr(cpc, keep_error);
}

void
cpc_error_forget(void)
{
	kept_subcode = -1;
	kept_text[0] = '\0';
}

int
cpc_error_subcode(void)
{
	return kept_subcode;
}

void
cpc_error_override(const char *why)
{
	snprintf(kept_text, sizeof kept_text, "%s", why);
}

const char *
cpc_error_text(void)
{
	if (*kept_text != '\0')
		return kept_text;
	return errno == EAGAIN ? "the counters are in use, by stat or record "
	                         "or a set that is bound to a CPU"
	                       : strerror(errno);
}

void
cpc_error_of_bind(void)
{
	fail(errno == EAGAIN ? STATUS_NOTHING_COUNTED : 1,
	    "nothing was counted: %s", cpc_error_text());
}

const char *
cpc_error_of_open(char *buf, size_t size)
{
	if (report_machine("pmu_reason", buf, size) == NULL)
		snprintf(buf, size, "cpc_open: %s", strerror(errno));
	return buf;
}
