/*
 * On the build machine, whose own CPU is not asked for.
 */
#include <stdio.h>

#include "payloads/fits.h"

int
fits_here(char *list)
{
	(void)list;
	fputs("fits: on which CPU?  usage: " FITS_USAGE "\n", stderr);
	return 2;
}
