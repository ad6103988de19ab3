/*
 * On the build machine, whose own CPU is not asked for.
 */
#include "payloads/tools/fits.h"

#include "payloads/common/usage.h"

int
fits_here(char *list)
{
	(void)list;
	usage_mistake("on which CPU? --cpu NAME");
}
