/*
 * Calls outside libcpc(3LIB) that its programs make: gethrtime(3C),
 * _lwp_self(2).
 */
#include <time.h>

#include <sys/cpc.h>
#include <sys/lwp.h>
#include <sys/time.h>

hrtime_t
gethrtime(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (hrtime_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

lwpid_t
_lwp_self(void)
{
	return (lwpid_t)cpc_syscall(CPC_OP_LWP_SELF, 0, 0, 0, 0);
}
