/*
 * PICs that are not read from here: the kernel samples them.  For tests/host.
 */
#include "cpc/cpci.h"

const bool cpci_can_read = false;
const char cpci_read_end[1], cpci_read_fail[1];

bool
cpci_read(const struct cpc_page *cg, struct cpc_sample *s, cpc_setid_t set,
    uint64_t n)
{
	(void)cg;
	(void)s;
	(void)set;
	(void)n;
	return false;
}
