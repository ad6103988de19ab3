/* Reports failures: sets errno, and passes a subcode to the error handler. */
#include "cpc/cpci.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const subcode_text[] = {
	[CPC_INVALID_EVENT] = "Unknown event\n",
	[CPC_INVALID_PICNUM] = "Invalid counter number\n",
	[CPC_INVALID_ATTRIBUTE] = "Unknown attribute\n",
	[CPC_ATTRIBUTE_OUT_OF_RANGE] = "Attribute out of range\n",
	[CPC_RESOURCE_UNAVAIL] = "Hardware resource unavailable\n",
	[CPC_PIC_NOT_CAPABLE] = "Counter cannot count requested event\n",
	[CPC_REQ_INVALID_FLAGS] = "Invalid flags in a request\n",
	[CPC_CONFLICTING_REQS] = "Requests conflict with each other\n",
	[CPC_ATTR_REQUIRES_PRIVILEGE] =
	    "Attribute requires the cpc_cpu privilege\n",
	[CPC_PBIND_FAILED] = "Couldn't bind LWP to requested processor\n",
	[CPC_HV_NO_ACCESS] = "Hypervisor event access denied\n",
};

/* Variadic, because a handler takes a va_list. */
static void
call_handler(
    cpc_errhndlr_t *errfn, const char *fn, int subcode, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	errfn(fn, subcode, fmt, ap);
	va_end(ap);
}

/* Report the subcode's text, and after it why, if that is not empty. */
static void
report_subcode(cpc_t *cpc, const char *fn, int subcode, const char *why)
{
	cpc_errhndlr_t *errfn =
	    __atomic_load_n(&cpc->c_errfn, __ATOMIC_RELAXED);
	char fmt[64];

	if (*why == '\0')
		snprintf(fmt, sizeof fmt, "%s", subcode_text[subcode]);
	else
		snprintf(fmt, sizeof fmt, "%.*s: %%s\n",
		    (int)strlen(subcode_text[subcode]) - 1,
		    subcode_text[subcode]);
	if (errfn != NULL) {
		call_handler(errfn, fn, subcode, fmt, why);
	} else {
		fprintf(stderr, "libcpc: %s: ", fn);
		fprintf(stderr, fmt, why);
	}
}

int
cpci_fail(cpc_t *cpc, const char *fn, int err, int subcode, const char *why)
{
	if (subcode >= CPC_INVALID_EVENT && subcode <= CPC_HV_NO_ACCESS)
		report_subcode(cpc, fn, subcode, why);
	errno = err;
	return -1;
}

int
cpci_invalid(void)
{
	errno = EINVAL;
	return -1;
}

void *
cpci_null(void)
{
	errno = EINVAL;
	return NULL;
}

int
cpc_seterrhndlr(cpc_t *cpc, cpc_errhndlr_t *fn)
{
	if (cpc == NULL)
		return cpci_invalid();
	__atomic_store_n(&cpc->c_errfn, fn, __ATOMIC_RELAXED);
	return 0;
}
