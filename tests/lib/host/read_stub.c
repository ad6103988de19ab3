/* For cpc/ARCH/read.S: no PIC is read from here, the kernel samples. */
#include "cpc/cpci.h"

const bool cpci_can_read = false;
const char cpci_read_end[1], cpci_read_fail[1];

int
cpci_read(const struct cpc_page *cg, struct cpci_buf *cb)
{
	return cpci_read_else(cg, cb);
}
