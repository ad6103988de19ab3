/*
 * Calls outside libcpc(3LIB) that its programs make: gethrtime(3C),
 * gethrvtime(3C), _lwp_self(2).
 */
#include <time.h>

#include <sys/cpc.h>
#include <sys/lwp.h>
#include <sys/time.h>

static hrtime_t
read_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (hrtime_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

hrtime_t
gethrtime(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

hrtime_t
gethrvtime(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

lwpid_t
_lwp_self(void)
{
	return (lwpid_t)cpc_syscall(CPC_OP_LWP_SELF, 0, 0, 0, 0);
}
