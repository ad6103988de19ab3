/* A program for PAPI's high-level interface. */
#include <stdio.h>
#include <stdlib.h>

#include "../programs/turns.h"
#include <papi.h>

static void
handle_error(int line, int retval)
{
	fprintf(stderr, "line %d: PAPI error %d: %s\n", line, retval,
	    PAPI_strerror(retval));
	exit(1);
}

int
main(void)
{
	int retval = PAPI_hl_region_begin("computation");

	if (retval != PAPI_OK)
		handle_error(__LINE__, retval);
	make_turns(1000);
	if ((retval = PAPI_hl_read("computation")) != PAPI_OK)
		handle_error(__LINE__, retval);
	make_turns(1000);
	if ((retval = PAPI_hl_region_end("computation")) != PAPI_OK)
		handle_error(__LINE__, retval);
	if (PAPI_hl_region_end("computation") != PAPI_EMISC)
		puts("a region ended twice");
	if ((retval = PAPI_hl_stop()) != PAPI_OK)
		handle_error(__LINE__, retval);
	return 0;
}
