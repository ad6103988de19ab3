/* Reads PIC 0 directly, without a bound set.  1: it can; 77: without a PMU. */
#include <libcpc.h>
#include <stdio.h>
#include <string.h>

uint64_t pic_read(unsigned n);

static int
never_bound(void)
{
	printf("%llu\n", (unsigned long long)pic_read(0));
	return 1;
}

static int
unbound(cpc_t *cpc)
{
	cpc_set_t *set = cpc_set_create(cpc);

	cpc_set_add_request(
	    cpc, set, "PAPI_tot_cyc", 0, CPC_COUNT_USER, 0, NULL);
	if (cpc_bind_curlwp(cpc, set, 0) == -1 || pic_read(0) == 0)
		return 2;
	puts("read while bound");
	fflush(stdout);
	cpc_unbind(cpc, set);
	return never_bound();
}

int
main(int argc, char **argv)
{
	cpc_t *cpc = cpc_open(CPC_VER_CURRENT);

	if (cpc == NULL)
		return 77;
	return argc > 1 && strcmp(argv[1], "unbound") == 0 ? unbound(cpc)
	                                                   : never_bound();
}
