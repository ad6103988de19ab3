/* Version 1: the counters of a CPU, by a descriptor of /dev/cpc_shared. */
#include "cpc/v1/v1.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int
cpc_shared_open(void)
{
	if (cpci_v1_cpu().vc_ver == -1)
		return cpci_v1_result(-ENXIO);
	return open("/dev/cpc_shared", O_RDWR | O_CLOEXEC);
}

int
cpc_shared_bind_event(int fd, cpc_event_t *event, int flags)
{
	struct v1_pack pack;
	struct cpc_refusal rf;

	if (event == NULL && flags == 0)
		return cpc_shared_rele(fd);
	int err = flags != 0 ? EINVAL : cpci_v1_pack(event, 0, &pack);
	if (err != 0)
		return cpci_v1_result(-err);
	return cpci_v1_result(cpc_syscall(CPC_OP_BIND, (uintptr_t)&pack, V1_SET,
	    CPC_TARGET_FD(fd), (uintptr_t)&rf));
}

int
cpc_shared_take_sample(int fd, cpc_event_t *event)
{
	int flags;

	return cpci_v1_sample(V1_SET, CPC_TARGET_FD(fd), event, &flags);
}

int
cpc_shared_rele(int fd)
{
	return cpci_v1_result(
	    cpc_syscall(CPC_OP_RELE, V1_SET, 0, 0, CPC_TARGET_FD(fd)));
}

void
cpc_shared_close(int fd)
{
	int err = errno;

	/* Do not close a descriptor of something else. */
	if (cpc_syscall(CPC_OP_RELE, V1_SET, 0, 0, CPC_TARGET_FD(fd)) != -EBADF)
		close(fd);
	errno = err;
}
