/*
 * What fits on the PICs of this machine: they are asked, by a bind.
 */
#include <libcpc.h>
#include <stdio.h>
#include <string.h>

#include "payloads/detail.h"
#include "payloads/fits.h"
#include "payloads/options.h"
#include "payloads/symbolic.h"

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

/* Of the list's events a set; how many they are, or -1: a line says why. */
static int
add_all(cpc_t *cpc, cpc_set_t *set, char *list, char **names)
{
	struct event e;
	char *name;
	int n = 0;

	while ((name = options_next(&list)) != NULL) {
		if (n == CPC_MAX_REQS) {
			fprintf(stderr, "fits: more than %d events\n", n);
			return -1;
		}
		if ((names[n++] = strdup(name)) == NULL ||
		    !options_event(&e, name)) {
			fprintf(stderr, "fits: an event without a name\n");
			return -1;
		}
		if (symbolic_add_request(
			cpc, set, e.e_name, 0, e.e_flags, 0, NULL) == -1) {
			fprintf(
			    stderr, "fits: %s: %s\n", e.e_name, detail_text());
			return -1;
		}
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
	    (set = cpc_set_create(cpc)) == NULL) {
		fprintf(stderr, "fits: <not supported>: %s\n",
		    detail_absent(why, sizeof why));
		return 77;
	}
	detail_keep(cpc);
	if ((n = add_all(cpc, set, list, names)) == -1)
		return 1;
	if (cpc_bind_curlwp(cpc, set, 0) == -1) {
		fprintf(stderr, "fits: %d %s not fit on %u PICs: %s\n", n,
		    n == 1 ? "event does" : "events do", cpc_npic(cpc),
		    detail_text());
		return 1;
	}
	return where(cpc, set, n, names);
}
