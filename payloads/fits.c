/*
 * fits EVENT,EVENT...: can this CPU count them all at once, and on which PICs?
 * Status 1 if it cannot; libcpc says why.
 */
#include <errno.h>
#include <libcpc.h>
#include <stdio.h>
#include <string.h>

#define MAXEVENT 100 /* of a set */

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
main(int argc, char **argv)
{
	char *names[MAXEVENT], *name;
	cpc_set_t *set;
	cpc_t *cpc;
	int n = 0;

	if (argc != 2) {
		fputs("usage: fits EVENT,EVENT...\n", stderr);
		return 2;
	}
	if ((cpc = cpc_open(CPC_VER_CURRENT)) == NULL ||
	    (set = cpc_set_create(cpc)) == NULL) {
		fprintf(stderr, "fits: no counters: %s\n", strerror(errno));
		return 77;
	}
	while ((name = strsep(&argv[1], ",")) != NULL) {
		if (n == MAXEVENT) {
			fputs("fits: too many events\n", stderr);
			return 2;
		}
		names[n++] = name;
		if (cpc_set_add_request(
			cpc, set, name, 0, CPC_COUNT_USER, 0, NULL) == -1)
			return 1;
	}
	if (cpc_bind_curlwp(cpc, set, 0) == -1) {
		fprintf(stderr, "fits: %d events do not fit on %u PICs: %s\n",
		    n, cpc_npic(cpc), strerror(errno));
		return 1;
	}
	return where(cpc, set, n, names);
}
