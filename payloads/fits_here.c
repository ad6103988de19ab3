/*
 * What fits on the PICs of this machine: they are asked, by a bind.
 */
#include <errno.h>
#include <libcpc.h>
#include <stdio.h>
#include <string.h>

#include "payloads/fits.h"

/* What libcpc said last, without the end of its line. */
static char why[256];

static void
note(const char *fn, int subcode, const char *fmt, va_list ap)
{
	(void)fn;
	(void)subcode;
	vsnprintf(why, sizeof why, fmt, ap);
	why[strcspn(why, "\n")] = '\0';
}

static const char *
reason(void)
{
	return *why != '\0' ? why : strerror(errno);
}

static int
where(cpc_t *cpc, cpc_set_t *set, int n, char **names)
{
	cpc_reqinfo_t info;

	for (int i = 0; i < n; i++) {
		if (cpc_request_info(cpc, set, i, &info) == -1) {
			perror("fits");
			return 1;
		}
		printf("%-48s PIC %u  %#llx\n", names[i], info.ri_picnum,
		    (unsigned long long)info.ri_code);
	}
	return 0;
}

int
fits_here(char *list)
{
	char *names[CPC_MAX_REQS], *name;
	cpc_set_t *set;
	cpc_t *cpc;
	int n = 0;

	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL ||
	    (set = cpc_set_create(cpc)) == NULL) {
		fprintf(stderr, "fits: no counters: %s\n", strerror(errno));
		return 77;
	}
	cpc_seterrhndlr(cpc, note);
	while ((name = strsep(&list, ",")) != NULL) {
		if (n == CPC_MAX_REQS) {
			fprintf(stderr, "fits: more than %d events\n", n);
			return 2;
		}
		names[n++] = name;
		if (cpc_set_add_request(
			cpc, set, name, 0, CPC_COUNT_USER, 0, NULL) == -1) {
			fprintf(stderr, "fits: %s: %s\n", name, reason());
			return 1;
		}
	}
	if (cpc_bind_curlwp(cpc, set, 0) == -1) {
		fprintf(stderr, "fits: %d %s not fit on %u PICs: %s\n", n,
		    n == 1 ? "event does" : "events do", cpc_npic(cpc),
		    reason());
		return 1;
	}
	return where(cpc, set, n, names);
}
