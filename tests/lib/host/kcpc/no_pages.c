/* A kernel without counter pages: the library samples by system call. */
#include "kern/cpc/kcpc_impl.h"
#include "kern/platform/errno.h"

void
kcpc_page_free(struct lwp *l)
{
	(void)l;
}

intptr_t
kcpc_op_page(const uintptr_t *a)
{
	(void)a;
	return -ENOMEM;
}
