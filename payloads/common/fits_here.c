/*
 * Find out which events fit on the PICs of this machine together, by a bind.
 */
#include <errno.h>
#include <libcpc.h>
#include <stdio.h>
#include <string.h>

#include "payloads/common/cpc_error.h"
#include "payloads/common/options.h"
#include "payloads/common/perf_names.h"
#include "payloads/common/usage.h"
#include "payloads/tools/fits.h"

static void
print_where(cpc_t *cpc, cpc_set_t *set, int n, char **names)
{
	cpc_reqinfo_t info;

	for (int i = 0; i < n; i++) {
		if (cpc_request_info(cpc, set, i, &info) == -1)
			fail(1, "%s: %s", names[i], strerror(errno));
		printf("%-48s PIC %u  %#llx\n", names[i], info.ri_picnum,
		    (unsigned long long)info.ri_code);
	}
}

/* Make a set of the list's events.  Returns their number. */
static int
add_all(cpc_t *cpc, cpc_set_t *set, char *list, char **names)
{
	struct event e;
	char *name;
	int n = 0;

	while ((name = options_next(&list)) != NULL) {
		if (n == CPC_MAX_REQS)
			fail(1, "more than %d events", n);
		names[n++] = fail_unless_room(strdup(name));
		if (!options_event(&e, name))
			fail(1, "an event without a name");
		if (symbolic_add_request(
			cpc, set, e.e_name, 0, e.e_flags, 0, NULL) == -1)
			fail(1, "%s: %s", e.e_name, detail_text());
	}
	return n;
}

int
fits_here(char *list)
{
	char *names[CPC_MAX_REQS], why[160];
	cpc_set_t *set;
	cpc_t *cpc;
	int n;

	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL ||
	    (set = cpc_set_create(cpc)) == NULL)
		fail(77, "<not supported>: %s", detail_absent(why, sizeof why));
	detail_keep(cpc);
	n = add_all(cpc, set, list, names);
	if ((unsigned)n > cpc_npic(cpc))
		fail(1, "%d events do not fit on %u PICs", n, cpc_npic(cpc));
	if (cpc_bind_curlwp(cpc, set, 0) == -1)
		fail(1, "%d %s not fit on %u PICs: %s", n,
		    n == 1 ? "event does" : "events do", cpc_npic(cpc),
		    detail_text());
	print_where(cpc, set, n, names);
	return 0;
}
