/*
 * A kernel that was built without SAN=coverage.
 */
#include "kern/debug/coverage.h"
#include "kern/platform/errno.h"

intptr_t
coverage_blocks(void)
{
	return -ENOTSUP;
}
