/*
 * A kernel that was built without SAN=coverage.
 */
#include "kern/platform/errno.h"
#include "kern/sys/coverage.h"

intptr_t
coverage_blocks(void)
{
	return -ENOTSUP;
}
